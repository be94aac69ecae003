/** The contents of a bank's file, as they are written: changes of orders, pages of statements, and events. */
import type { DayBooking } from './day-statement.ts'
import type { FileOrderStatus } from './order-state.ts'

/** A change of an order. */
export interface OrderChange {
  readonly reference: string
  readonly status: FileOrderStatus
  readonly isBooked: boolean
  readonly schemeCode: string | null
  readonly returnedAmount: bigint | null
  readonly bankRef: string | null
  readonly contradiction: string | null
}

/** A page of a statement, its bookings by our references. */
export interface StatementPage {
  readonly currency: string
  readonly day: string
  /** The bank's number or id of the statement. */
  readonly number: string
  readonly page: number
  readonly isLast: boolean
  /** Minor units, signed; null on a page that does not begin, or end, the statement. */
  readonly opening: bigint | null
  readonly closing: bigint | null
  readonly bookings: readonly DayBooking[]
}

/** An event that a file of the bank tells. */
export interface NewBookEvent {
  readonly source: 'file' | 'statement'
  readonly type: string
  readonly body: Uint8Array
}
