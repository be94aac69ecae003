/**
 * Turns the bank's messages, and its answers to status requests, into moves of payments; and tells what messages would
 * do, without doing it.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { PaymentMoveContext } from '../../lib/payments/payment-state.ts'
import type { Database } from '../../storage/db/database.ts'
import { isKeptAlready, keepMessages } from '../../storage/providers/provider-events.ts'
import { paymentActor } from './payment.ts'
import type { PaymentMove, PaymentMover } from './payment-mover.ts'
import type { BankMessage, OrderStatus } from '../providers/bank.ts'
import type { Foreseen } from '../providers/inbox/inbox-ports.ts'

/** A bank that does not know the outcome of a payment yet is asked again after this time. */
export const ASK_AGAIN_MS = 5_000
/** The scheme's reason code for a refusal without a reason. */
const NO_REASON = 'NARR'

export interface TakeMessagesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly mover: PaymentMover
  readonly onError: (error: unknown, what: string) => void
}

/** Processes the bank's messages; resolves with the ids of the messages that the bank need not send again. */
export async function takeMessages(
  { database, clock, mover, onError }: TakeMessagesOptions,
  messages: readonly BankMessage[],
): Promise<readonly string[]> {
  const acknowledged: string[] = []
  // Messages that come late or twice, that contradict an earlier message, or of a connection that the payment has left.
  const ignored: BankMessage[] = []
  const contexts = await mover.contextsOf(messages.map(({ reference }) => reference))
  await Promise.all(
    messages.map(async (message) => {
      const { id, reference, shard, connectionId } = message
      const context = contexts.get(reference)
      // A reference of no payment here: logged once and acknowledged, because the bank would send the message for
      // ever.
      if (context === undefined) {
        onError(new Error(`The bank reports on ${reference}, which is not a payment of ours.`), 'bank message')
        acknowledged.push(id)
        return
      }
      if (connectionId !== undefined && connectionId !== context.connectionId) {
        ignored.push(message)
        return
      }
      try {
        const outcome = await mover.ask(reference, shard, moveOf(message, context, clock.now() + ASK_AGAIN_MS))
        if (outcome.kind === 'decided' && outcome.reply.kind === 'ignored') ignored.push(message)
        else acknowledged.push(id)
      } catch (error) {
        if (isKeptAlready(error)) {
          acknowledged.push(id)
          return
        }
        // Not acknowledged, so the bank sends it again. If its move was committed after all, the repeat fits no row.
        onError(error, 'bank message')
      }
    }),
  )
  if (ignored.length > 0) {
    await keepMessages(database, ignored, clock.now())
    acknowledged.push(...ignored.map(({ id }) => id))
  }
  return acknowledged
}

/**
 * The move that a message requires. `askAgainAtMs`: when to ask again, if the bank does not know the outcome either.
 */
export function moveOf(
  { id, type, schemeCode, amount }: BankMessage,
  context: Omit<PaymentMoveContext, 'ids'>,
  askAgainAtMs: number,
): PaymentMove {
  const event = { id, type }
  switch (type) {
    case 'settled':
    case 'rejected':
      return { kind: type, schemeCode, context, event }
    case 'returned':
      return { kind: type, schemeCode: schemeCode ?? NO_REASON, amount: amount ?? 0n, context, event }
    case 'pending':
      return { kind: 'accepted', context, event }
    case 'unclear':
      return { kind: type, context, askAgainAt: askAgainAtMs, event }
    case 'recall_rejected':
      return { kind: type, schemeCode: schemeCode ?? NO_REASON, event }
    default:
      return type satisfies never
  }
}

/** The move that an answer requires; null where the answer does not end the payment. */
export function outcomeOf(
  status: OrderStatus | undefined,
  context: Omit<PaymentMoveContext, 'ids'>,
): PaymentMove | null {
  switch (status?.kind) {
    case 'settled':
      return { kind: 'settled', schemeCode: null, context, event: null }
    case 'rejected':
      return { kind: 'rejected', schemeCode: status.schemeCode, context, event: null }
    case 'returned':
      return { kind: 'returned', schemeCode: status.schemeCode, amount: status.amount, context, event: null }
    default:
      return null
  }
}

/**
 * Decides messages one after the other on the payments as they are stored.
 *
 * @returns the statuses by the ids of the messages; a message about no payment is absent
 * @throws what the driver throws
 */
export async function foreseeMessages(
  { mover, ids, clock }: { readonly mover: PaymentMover; readonly ids: IdSource; readonly clock: Clock },
  messages: readonly BankMessage[],
): Promise<ReadonlyMap<string, Foreseen>> {
  const references = [...new Set(messages.map(({ reference }) => reference))]
  const [states, contexts] = await Promise.all([mover.statesOf(references), mover.contextsOf(references)])
  const now = clock.now()
  const foreseen = new Map<string, Foreseen>()
  for (const message of messages) {
    const before = states.get(message.reference)
    const context = contexts.get(message.reference)
    if (before === undefined || context === undefined) continue
    const { state } = paymentActor.decide(before, { ...moveOf(message, context, now), seed: ids.next() }, now)
    const after = state ?? before
    states.set(message.reference, after)
    foreseen.set(message.id, { before: before.status, after: after.status })
  }
  return foreseen
}
