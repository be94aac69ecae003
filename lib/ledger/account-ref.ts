/**
 * One side of a posting: a customer's balance, or an internal account of the chart. The commit gives a balance its next
 * sequence number and running balance; an internal account has neither.
 *
 * A credit of a balance says how it is kept from a balance that takes no money any more (closing or closed). The member is required:
 * a credit without a fence does not compile.
 *  * `open`: the commit looks at the balance under its lock, and refuses the whole decision (`credit_refused`). Whoever asked has
 *    another answer then: a refusal, or the same decision with the money in suspense (suspense.ts).
 *  * `own_turn`: the balance decides by itself, and the commit compares the version that it has read its status with.
 */
export type CreditFence = 'open' | 'own_turn'

/** A balance that is credited. */
export interface CreditedBalance {
  readonly id: string
  readonly fence: CreditFence
}

interface InternalAccount { readonly kind: 'internal'; readonly id: string }

/** What a posting takes from. */
export type DebitRef = { readonly kind: 'balance'; readonly id: string } | InternalAccount
/** What a posting gives to. */
export type CreditRef = ({ readonly kind: 'balance' } & CreditedBalance) | InternalAccount

export const debitRef = (id: string): DebitRef => ({ kind: 'balance', id })
export const creditRef = ({ id, fence }: CreditedBalance): CreditRef => ({ kind: 'balance', id, fence })
export const internalRef = (id: string): InternalAccount => ({ kind: 'internal', id })
