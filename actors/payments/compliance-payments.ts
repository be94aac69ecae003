/** Moves a payment under review when staff decide on its compliance hold. */
import { movePayment } from '../../lib/payments/payment-moves.ts'
import { readPayment } from '../../storage/payments/payment-states.ts'
import type { HeldSubjectKind } from '../compliance/compliance-holds.ts'
import type { PaymentQueue } from './payment-queue.ts'

/**
 * Payments as the subjects of compliance holds: a released payment waits for the partner again, a blocked payment has
 * failed.
 */
export function heldPayment({ queue }: { readonly queue: Pick<PaymentQueue, 'offer'> }): HeldSubjectKind {
  return {
    async decided({ client, ids, now }, { subjectId }, decision, { freezeFunds }) {
      const payment = await readPayment(client, subjectId)
      const { reply, effects } = movePayment(
        payment,
        decision === 'released'
          ? { kind: 'release', context: { ids } }
          : { kind: 'block', freezeFunds, context: { ids } },
        now,
      )
      // A payment leaves `on_hold` with its hold and in no other way, so this would be a bug.
      if (reply.kind !== 'moved') throw new Error(`The payment ${subjectId} is ${reply.status ?? 'gone'}, not on_hold.`)
      return {
        effects: effects ?? {},
        ...(decision === 'released' ? { after: () => queue.offer(reply.state.id, reply.state.shard) } : {}),
      }
    },
  }
}
