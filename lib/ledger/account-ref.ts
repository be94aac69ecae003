/**
 * One side of a posting: a customer's balance, or an internal account of the chart. The commit gives a balance its next
 * sequence number and running balance; an internal account has neither.
 *
 * Each credit of a balance names a fence, which keeps money away from a closing or closed balance. The member is
 * required: a credit without a fence does not compile.
 *  * `open`: the commit reads the balance's status under its lock, and refuses the whole decision (`credit_refused`).
 *    The caller then decides again: a refusal, or the same decision with the money in suspense (suspense.ts).
 *  * `own_turn`: the balance itself decides, and the commit compares the version with which its status was read.
 */
export type CreditFence = 'open' | 'own_turn'

/** A balance that is credited, with its fence. */
export interface CreditedBalance {
  readonly id: string
  readonly fence: CreditFence
}

interface InternalAccount {
  readonly kind: 'internal'
  readonly id: string
}

/** The debit side of a posting. */
export type DebitRef = { readonly kind: 'balance'; readonly id: string } | InternalAccount
/** The credit side of a posting. */
export type CreditRef = ({ readonly kind: 'balance' } & CreditedBalance) | InternalAccount

export const debitRef = (id: string): DebitRef => ({ kind: 'balance', id })
export const creditRef = ({ id, fence }: CreditedBalance): CreditRef => ({ kind: 'balance', id, fence })
export const internalRef = (id: string): InternalAccount => ({ kind: 'internal', id })
