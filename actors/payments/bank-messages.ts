/** Turns the bank's messages, and its answers to status requests, into moves of payments. */
import type { PaymentMoveContext } from '../../lib/payments/payment-state.ts'
import type { PaymentMove } from './payment-mover.ts'
import type { BankMessage, OrderStatus } from '../providers/bank.ts'

/** The scheme's reason code for a refusal without a reason. */
const NO_REASON = 'NARR'

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
