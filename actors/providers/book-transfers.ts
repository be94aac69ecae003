/**
 * The port to a partner that moves money between our own accounts, on one connection or between two. The partner
 * accepts a reference once, however often it is sent. Unlike with payments, the partner sends no messages; its status
 * is polled.
 */

/** An order for one transfer. */
export interface BookOrder {
  /** Our reference: the transfer's id. */
  readonly reference: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
}

/**
 * The result of sending one order. `timeout`: the outcome is unknown (I7). `by_staff`: no partner moves the cash, so the
 * operator's staff do.
 */
export type BookSubmission = 'accepted' | 'timeout' | 'by_staff'

/** The partner's answer to a status request. `unknown`: the partner has no such order. */
export type BookStatus =
  | { readonly kind: 'unknown' | 'pending' | 'settled' }
  | { readonly kind: 'rejected'; readonly schemeCode: string }

export interface BookTransferPartner {
  /** Sends an order. @throws when it is unknown whether the order has arrived */
  book(order: BookOrder): Promise<BookSubmission>
  /** Asks for the outcome; null when the partner does not tell. @throws when the partner does not answer */
  status(order: BookOrder): Promise<BookStatus | null>
}
