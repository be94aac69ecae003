/**
 * The port to whoever moves money between accounts of our own, on one connection or between two. As with payments the partner
 * takes a reference once, however often it is sent; unlike them it sends no messages and is asked.
 */

/** An order of such a transfer. */
export interface BookOrder {
  /** Ours: the transfer's id. */
  readonly reference: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
}

/** What became of one order. `timeout` means: nobody knows (I7). */
export type BookSubmission = 'accepted' | 'timeout'

/** What the partner says of a reference. `unknown`: it has no such order. */
export type BookStatus =
  | { readonly kind: 'unknown' | 'pending' | 'settled' }
  | { readonly kind: 'rejected'; readonly schemeCode: string }

export interface BookTransferPartner {
  /** Hands an order over. @throws when nobody knows whether it has arrived */
  book(order: BookOrder): Promise<BookSubmission>
  /** Asks; null: it does not say. @throws when the partner does not answer */
  status(reference: string): Promise<BookStatus | null>
}
