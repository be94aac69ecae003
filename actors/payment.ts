/** The payment's actor: one at a time, it moves a payment from waiting to its end. */
import { movePayment, type PaymentCommand, type PaymentReply, type PaymentState } from '../lib/payments/payment-moves.ts'
import { loadPayments } from '../storage/states.ts'
import type { ActorKind } from './runtime/actor.ts'

export const paymentActor: ActorKind<PaymentState, PaymentCommand, PaymentReply> = {
  name: 'payment',
  turnMax: 1,
  load: loadPayments,
  decide: movePayment,
  // A payment's changes carry its version themselves; what they do to the balance needs no decision of the balance.
  fence: () => null,
}
