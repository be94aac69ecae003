/**
 * The state of an order that was sent in a file, and how what the bank's files tell of it moves that state.
 *
 * A status report tells of the order, a booking on the account tells of the money. Where they contradict each other the
 * booking counts, whichever came first, and the contradiction is kept with the order and shown to staff.
 */

/**
 * `gathered`: waits for its file. `sent`: the bank has the file. `accepted`: the bank has taken the order. The others
 * are outcomes.
 */
export const FILE_ORDER_STATUSES = ['gathered', 'sent', 'accepted', 'rejected', 'settled', 'returned'] as const
export type FileOrderStatus = (typeof FILE_ORDER_STATUSES)[number]

export interface FileOrderState {
  readonly status: FileOrderStatus
  /** Whether a booking has proved the status. */
  readonly isBooked: boolean
  /** Minor units. */
  readonly amount: bigint
}

/** The status of an order, as a file tells it. */
export interface Told {
  readonly by: 'status' | 'booking'
  readonly status: 'accepted' | 'rejected' | 'settled' | 'returned'
  /** The amount of the booking, minor units; null in a status report. */
  readonly amount: bigint | null
}

export interface StateAfter {
  readonly status: FileOrderStatus
  readonly isBooked: boolean
  /** Whether the payment is told, which may have been told the same before: what was told stands. */
  readonly counts: boolean
  /** In words for staff; null where nothing is contradicted. */
  readonly contradiction: string | null
}

/** Moves the state of an order by what a file tells. */
export function hear(order: FileOrderState, told: Told): StateAfter {
  return told.by === 'booking' ? hearBooking(order, told) : hearStatus(order, told)
}

/** The state stays as it is; what was told counts unless it contradicts that state. */
const same = ({ status, isBooked }: FileOrderState, contradiction: string | null = null): StateAfter => ({
  status,
  isBooked,
  counts: contradiction === null,
  contradiction,
})

function hearStatus(order: FileOrderState, { status }: Told): StateAfter {
  const { status: before, isBooked } = order
  if (before === 'settled' || before === 'rejected' || before === 'returned')
    return same(order, contradicts(before, status))
  return { status, isBooked, counts: true, contradiction: null }
}

/** A report that the bank has taken an order says nothing new after its settlement. */
function contradicts(before: FileOrderStatus, told: Told['status']): string | null {
  if (told === before || (told !== 'rejected' && before !== 'rejected')) return null
  return `The bank reported ${told} for an order that was ${before}.`
}

function hearBooking(order: FileOrderState, { status, amount }: Told): StateAfter {
  const { status: before, amount: ordered } = order
  if (status === 'settled' && amount !== ordered)
    return same(order, `The account was debited with ${amount}, the order was for ${ordered} (minor units).`)
  if (status === 'returned' && amount !== null && amount > ordered)
    return same(order, `The account was credited with ${amount}, the order was for ${ordered} (minor units).`)
  if (before === 'returned') return same(order)
  const contradiction =
    before === 'rejected' ? `The account shows an order as ${status} that the bank had rejected.` : null
  return { status, isBooked: true, counts: true, contradiction }
}
