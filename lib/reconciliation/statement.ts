/** A partner's statement of one day, independent of its format. Amounts are bigint minor units, days `YYYY-MM-DD`. */

/** The direction as in camt, from the side of the account: `CRDT` came in, `DBIT` went out. */
export type Direction = 'CRDT' | 'DBIT'

export interface PartnerStatementHead {
  /** The partner's own id of the statement. */
  readonly id: string
  readonly account: string
  readonly currency: string
  readonly opening: bigint
  readonly closing: bigint
}

export interface StatementEntry {
  /** Our reference, if the partner reports one: the id of the payment, credit or other object that moved the money. */
  readonly reference: string | null
  readonly direction: Direction
  readonly amount: bigint
  readonly bookedOn: string
  readonly valueDate: string
  /** The partner's own reference. */
  readonly bankRef: string | null
  readonly code: string | null
  readonly text: string | null
}

/** A statement that cannot be read, or whose sums are wrong. */
export class StatementError extends Error {
  override readonly name = 'StatementError'
}

/** Returns the amount with its sign: positive for a credit of the account. */
export function signed({ direction, amount }: Pick<StatementEntry, 'direction' | 'amount'>): bigint {
  return direction === 'CRDT' ? amount : -amount
}
