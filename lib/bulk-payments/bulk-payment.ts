/** Bulk payments: files of payments as a state machine (B1 to B11), and their rows (W1, W2). Pure. */

export const BULK_STATUSES = ['validating', 'ready', 'invalid', 'submitting', 'submitted', 'partially_submitted', 'cancelled'] as const
export type BulkStatus = (typeof BULK_STATUSES)[number]

export const BULK_FORMATS = ['csv', 'xlsx', 'pain001', 'json'] as const
export type BulkFormat = (typeof BULK_FORMATS)[number]

export const ROW_STATUSES = ['pending', 'valid', 'invalid', 'submitting', 'submitted', 'failed'] as const
export type RowStatus = (typeof ROW_STATUSES)[number]

/** Why a valid row did not become a payment. */
export const ROW_FAILURES = [
  'cancelled', 'submission_stalled', 'approval_expired', 'insufficient_funds', 'limit_exceeded', 'recipient_not_approved', 'internal_error',
] as const
export type RowFailure = (typeof ROW_FAILURES)[number]

/** What can happen to a bulk payment. */
export type BulkMove = 'validated' | 'revalidate' | 'submit' | 'end' | 'cancel'

//  validating ──validated──▶ ready ──submit──▶ submitting ──end──▶ submitted | partially_submitted | cancelled
//      ▲            └──────▶ invalid                │
//      └──revalidate── ready | invalid              └─ a run that stands still may be cancelled, or ends by itself
const MOVES: Readonly<Record<BulkStatus, readonly BulkMove[]>> = {
  validating: ['validated', 'cancel'],
  ready: ['revalidate', 'submit', 'cancel'],
  invalid: ['revalidate', 'cancel'],
  submitting: ['submit', 'end'],
  submitted: [],
  partially_submitted: [],
  cancelled: [],
}

/** Whether a move is in the table. */
export const canMove = (status: BulkStatus, move: BulkMove): boolean => MOVES[status].includes(move)

/** The statuses from which a move is possible, for the problem that refuses it. */
export const statusesFor = (move: BulkMove): readonly BulkStatus[] => BULK_STATUSES.filter((status) => canMove(status, move))

/** A run that has made no progress for this long may be cancelled, milliseconds. */
export const STALLED_MS = 2 * 60_000
/** And ends by itself after this. */
export const GIVEN_UP_MS = 30 * 60_000
/** Runs of one operator at a time. */
export const SUBMISSIONS_MAX = 5
/** The same file is a mistake for this long. */
export const DUPLICATE_FILE_MS = 24 * 3_600_000
/** And the same message, by its sender's own name for it. */
export const DUPLICATE_MESSAGE_MS = 90 * 86_400_000

export interface RowCounts {
  readonly total: number
  readonly pending: number
  readonly valid: number
  readonly invalid: number
  readonly submitting: number
  readonly submitted: number
  readonly failed: number
}

export const NO_ROWS: RowCounts = { total: 0, pending: 0, valid: 0, invalid: 0, submitting: 0, submitted: 0, failed: 0 }

/** What validation makes of it: one valid row is enough, unless all were asked for. */
export function afterValidation({ valid, invalid }: Pick<RowCounts, 'valid' | 'invalid'>, requireAllValid: boolean): 'ready' | 'invalid' {
  return valid > 0 && (invalid === 0 || !requireAllValid) ? 'ready' : 'invalid'
}

/** What a run can end as. */
export const AFTER_RUN = ['submitted', 'partially_submitted', 'cancelled'] as const

/** What a run ends as. `gaveUp` is whether it was cancelled or stood still; without one payment nothing was submitted then. */
export function afterRun({ submitted, failed }: Pick<RowCounts, 'submitted' | 'failed'>, gaveUp: boolean): (typeof AFTER_RUN)[number] {
  if (gaveUp && submitted === 0) return 'cancelled'
  return failed === 0 ? 'submitted' : 'partially_submitted'
}

/** What valid rows of one currency come to, minor units. */
export interface CurrencyTotal {
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  readonly rows: number
}

/** Adds rows to totals, which stay in the order of their codes. */
export function addTotals(totals: readonly CurrencyTotal[], rows: readonly { readonly currency: string; readonly amount: bigint; readonly fee: bigint }[]): readonly CurrencyTotal[] {
  const by = new Map(totals.map((total) => [total.currency, total]))
  for (const { currency, amount, fee } of rows) {
    const before = by.get(currency)
    by.set(currency, { currency, amount: (before?.amount ?? 0n) + amount, fee: (before?.fee ?? 0n) + fee, rows: (before?.rows ?? 0) + 1 })
  }
  return [...by.values()].sort((left, right) => (left.currency < right.currency ? -1 : 1))
}

/** The tokens that a name may carry where there is a sandbox. */
export const STALL_TOKEN = 'SBX:STALL'
