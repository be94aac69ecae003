/**
 * One side of a posting: a customer's balance, or an internal account of the chart. The commit gives a balance its next
 * sequence number and running balance; an internal account has neither.
 */
export type AccountRef =
  | { readonly kind: 'balance'; readonly id: string }
  | { readonly kind: 'internal'; readonly id: string }

export const balanceRef = (id: string): AccountRef => ({ kind: 'balance', id })
export const internalRef = (id: string): AccountRef => ({ kind: 'internal', id })
