/** What a partner's statement of one day says, whatever form it came in. Amounts are bigint minor units, days `YYYY-MM-DD`. */

/** As camt says it, from the side of the account: `CRDT` came in, `DBIT` went out. */
export type Direction = 'CRDT' | 'DBIT'

export interface StatementHead {
  /** The partner's own id of it. */
  readonly id: string
  readonly account: string
  readonly currency: string
  readonly opening: bigint
  readonly closing: bigint
}

export interface StatementEntry {
  /** Ours, where the partner says one: the id of a payment, of a credit, of whatever moved the money. */
  readonly reference: string | null
  readonly direction: Direction
  readonly amount: bigint
  readonly bookedOn: string
  readonly valueDate: string
  /** The partner's own. */
  readonly bankRef: string | null
  readonly code: string | null
  readonly text: string | null
}

/** A statement that cannot be read, or that does not add up. */
export class StatementError extends Error {
  override readonly name = 'StatementError'
}

/** What an entry does to the account. */
export function signed({ direction, amount }: Pick<StatementEntry, 'direction' | 'amount'>): bigint {
  return direction === 'CRDT' ? amount : -amount
}
