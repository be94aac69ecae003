/** Bulk payments: files of payments and their rows, with the statuses and moves of each. Pure. */
import { DAY_MS, MINUTE_MS } from '../base/clock.ts'

export const BULK_STATUSES = [
  'validating',
  'ready',
  'invalid',
  'submitting',
  'submitted',
  'partially_submitted',
  'cancelled',
] as const
export type BulkStatus = (typeof BULK_STATUSES)[number]

export const ROW_STATUSES = ['pending', 'valid', 'invalid', 'submitting', 'submitted', 'failed'] as const
export type RowStatus = (typeof ROW_STATUSES)[number]

/** The reasons why a valid row did not become a payment. */
export const ROW_FAILURES = [
  'cancelled',
  'submission_stalled',
  'approval_expired',
  'insufficient_funds',
  'limit_exceeded',
  'recipient_not_approved',
  'customer_restricted',
  'customer_not_active',
  'internal_error',
] as const
export type RowFailure = (typeof ROW_FAILURES)[number]

/** The moves of a bulk payment. */
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

/** Whether the table above allows a move from a status. */
export const canMove = (status: BulkStatus, move: BulkMove): boolean => MOVES[status].includes(move)

/** The statuses from which a move is possible, for the problem that refuses it. */
export const statusesFor = (move: BulkMove): readonly BulkStatus[] =>
  BULK_STATUSES.filter((status) => canMove(status, move))

/** A submission without progress for this long may be cancelled, milliseconds. */
export const STALLED_MS = 2 * MINUTE_MS
/** A submission without progress for this long ends by itself, milliseconds. */
export const GIVEN_UP_MS = 30 * MINUTE_MS
/** Concurrent submissions of one operator. */
export const SUBMISSIONS_MAX = 5
/** Uploading the same file again within this time is taken for a mistake, milliseconds. */
export const DUPLICATE_FILE_MS = DAY_MS
/** Uploading a message with the same message id of its sender within this time is taken for a mistake, milliseconds. */
export const DUPLICATE_MESSAGE_MS = 90 * DAY_MS

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

/** Returns the status after validation: one valid row is enough, unless the customer requires all rows to be valid. */
export function afterValidation(
  { valid, invalid }: Pick<RowCounts, 'valid' | 'invalid'>,
  requireAllValid: boolean,
): 'ready' | 'invalid' {
  return valid > 0 && (invalid === 0 || !requireAllValid) ? 'ready' : 'invalid'
}

/** The statuses in which a submission can end. */
export const AFTER_RUN = ['submitted', 'partially_submitted', 'cancelled'] as const

/**
 * Returns the status after a submission. `gaveUp` is true when it was cancelled or stalled; the bulk payment is then
 * cancelled if no payment was made.
 */
export function afterRun(
  { submitted, failed }: Pick<RowCounts, 'submitted' | 'failed'>,
  gaveUp: boolean,
): (typeof AFTER_RUN)[number] {
  if (gaveUp && submitted === 0) return 'cancelled'
  return failed === 0 ? 'submitted' : 'partially_submitted'
}

/** The total of the valid rows of one currency, minor units. */
export interface CurrencyTotal {
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  readonly rows: number
}

/** Adds rows to totals; the totals stay sorted by currency code. */
export function addTotals(
  totals: readonly CurrencyTotal[],
  rows: readonly { readonly currency: string; readonly amount: bigint; readonly fee: bigint }[],
): readonly CurrencyTotal[] {
  const by = new Map(totals.map((total) => [total.currency, total]))
  for (const { currency, amount, fee } of rows) {
    const before = by.get(currency)
    by.set(currency, {
      currency,
      amount: (before?.amount ?? 0n) + amount,
      fee: (before?.fee ?? 0n) + fee,
      rows: (before?.rows ?? 0) + 1,
    })
  }
  return [...by.values()].sort((left, right) => (left.currency < right.currency ? -1 : 1))
}

/** With `SBX:STALL` in its name the submission of a bulk payment stalls, in the sandbox only. */
export const STALL_CODE = 'STALL'
