/**
 * Webhooks that are hints: before one moves a payment, the provider is asked, and its answer counts. Pure.
 */
import type { BankMessage, OrderStatus } from '../bank.ts'

/** How far an order has come. A status request may be behind a webhook for a moment, and is then asked again. */
const PROGRESS: Readonly<Record<string, number>> = { unknown: 0, pending: 1, settled: 2, rejected: 3, returned: 3 }

/** `wait`: the answer is behind the hint. `isCorrected`: the answer is another one than the hint's. */
export type Judgement =
  | { readonly kind: 'wait'; readonly says: string }
  | { readonly kind: 'take'; readonly message: BankMessage; readonly isCorrected: boolean }

/** Messages that tell how an order has ended, or that it goes on: a status request can confirm them. */
export const isAskable = ({ type }: Pick<BankMessage, 'type'>): boolean =>
  type !== 'recall_rejected' && type !== 'unclear'

/** Judges a hint by the provider's answer about its order; undefined: the provider has not answered. */
export function judgeHint(hint: BankMessage, status: OrderStatus | undefined): Judgement {
  const kind = status?.kind ?? 'unknown'
  if ((PROGRESS[kind] ?? 0) < (PROGRESS[hint.type] ?? 0)) return { kind: 'wait', says: kind }
  switch (status?.kind) {
    case 'settled':
    case 'pending':
      return take(hint, { type: status.kind, schemeCode: hint.schemeCode, amount: null })
    case 'rejected':
      return take(hint, { type: 'rejected', schemeCode: status.schemeCode, amount: null })
    case 'returned':
      return take(hint, { type: 'returned', schemeCode: status.schemeCode, amount: status.amount })
    default:
      return { kind: 'wait', says: kind }
  }
}

const take = (hint: BankMessage, answer: Pick<BankMessage, 'type' | 'schemeCode' | 'amount'>): Judgement => ({
  kind: 'take',
  message: { ...hint, ...answer },
  isCorrected: answer.type !== hint.type || (answer.amount !== null && answer.amount !== hint.amount),
})
