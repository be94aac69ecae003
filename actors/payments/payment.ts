/** The actor of a payment: takes a payment to its end, one move at a time, and handles recalls after it. */
import { withIds, type Seeded } from '../../lib/decisions/seeded.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { PaymentCommand, PaymentDecision, PaymentReply, PaymentState } from '../../lib/payments/payment-state.ts'
import { moveRecall, type RecallCommand } from '../../lib/payments/recall.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import type { ActorKind } from '../runtime/actor.ts'

export const paymentActor: ActorKind<PaymentState, Seeded<PaymentCommand | RecallCommand>, PaymentReply> = {
  name: 'payment',
  lockRank: 1,
  onStale: 'reload',
  turnMax: 1,
  staleAs: ['payment_stale'],
  load: loadPayments,
  decide,
  // The effects carry the payment's version as their fence; their postings on the balance need no decision of the
  // balance.
  fence: () => null,
}

function decide(
  payment: PaymentState | null,
  seeded: Seeded<PaymentCommand | RecallCommand>,
  now: number,
): PaymentDecision {
  const command = withIds<PaymentCommand | RecallCommand>(seeded)
  switch (command.kind) {
    case 'request_recall':
    case 'recall_sent':
    case 'recall_rejected':
    case 'recall_expired':
      return moveRecall(payment, command, now)
    default:
      return movePayment(payment, command, now)
  }
}
