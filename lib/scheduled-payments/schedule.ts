/**
 * A scheduled payment as a state machine. Every function is pure: the caller passes the time and the rail's calendar.
 *
 *   none ──open──▶ active ──pause──▶ paused ──resume──▶ active         resume without a further occurrence: completed
 *                    ├─ an occurrence was begun ─▶ active, or completed when it was the last
 *                    ├─ the third failure in a row ─▶ failed
 *                    ├─ its recipient is blocked ─▶ paused
 *                    └─ cancel ─▶ cancelled ◀─ cancel ─ paused
 *
 * A payment that becomes due while the schedule is active is made, even if late. Occurrences that fall into a pause are
 * skipped.
 */
import type { FieldErrorCode } from '../base/problems.ts'
import {
  countsMonths,
  occurrenceAfter,
  occurrenceFrom,
  placeNear,
  type Occurrence,
  type Series,
  type WorkingDays,
} from './occurrences.ts'

export const SCHEDULE_STATUSES = ['active', 'paused', 'completed', 'cancelled', 'failed'] as const
export type ScheduleStatus = (typeof SCHEDULE_STATUSES)[number]

/** So many failed occurrences in a row end a schedule. */
export const FAILURES_MAX = 3

/** The state of a schedule. Times are epoch milliseconds. */
export interface ScheduleState {
  readonly status: ScheduleStatus
  readonly series: Series
  /** The largest number of occurrences, failed ones included; null for no limit. */
  readonly maxOccurrences: number | null
  /** The next occurrence, also while paused; null when there is none. */
  readonly next: Occurrence | null
  /** The time when the next occurrence is due; null unless the schedule is active. */
  readonly nextOccurrenceAt: number | null
  /** Occurrences so far, including one in progress. */
  readonly occurrencesBegun: number
  /** Occurrences that became payments. */
  readonly occurrencesCreated: number
  readonly consecutiveFailures: number
  readonly pausedAt: number | null
}

/** The calendar of a rail. */
export interface RailCalendar {
  readonly days: WorkingDays
  /** The time when the work of a date begins, epoch milliseconds. */
  dueAt(date: string): number
}

/** The operations of people on a schedule, and the statuses that allow each. */
export const ALLOWED_IN = {
  update: ['active', 'paused'],
  pause: ['active'],
  resume: ['paused'],
  cancel: ['active', 'paused'],
  runNow: ['active'],
} as const satisfies Readonly<Record<string, readonly ScheduleStatus[]>>
export type ScheduleMove = keyof typeof ALLOWED_IN

/** Tells whether the operation is allowed in this status. */
export function isAllowed(move: ScheduleMove, status: ScheduleStatus): boolean {
  const allowed: readonly ScheduleStatus[] = ALLOWED_IN[move]
  return allowed.includes(status)
}

const isFull = ({
  maxOccurrences,
  occurrencesBegun,
}: Pick<ScheduleState, 'maxOccurrences' | 'occurrencesBegun'>): boolean =>
  maxOccurrences !== null && occurrencesBegun >= maxOccurrences

/** Continues a schedule with the next occurrence, or completes it when there is none. */
function goingOn(state: ScheduleState, next: Occurrence | null, calendar: RailCalendar): ScheduleState {
  const left = isFull(state) ? null : next
  return left === null
    ? { ...state, status: 'completed', next: null, nextOccurrenceAt: null, pausedAt: null }
    : { ...state, status: 'active', next: left, nextOccurrenceAt: calendar.dueAt(left.executionDate), pausedAt: null }
}

/** Opens a schedule; a first occurrence in the past is due now. `first` is `occurrenceFrom` of index 0. */
export function opened(
  series: Series,
  maxOccurrences: number | null,
  first: Occurrence,
  calendar: RailCalendar,
  now: number,
): ScheduleState {
  return {
    status: 'active',
    series,
    maxOccurrences,
    next: first,
    nextOccurrenceAt: Math.max(now, calendar.dueAt(first.executionDate)),
    occurrencesBegun: 0,
    occurrencesCreated: 0,
    consecutiveFailures: 0,
    pausedAt: null,
  }
}

/** Pauses a schedule: no payment is made until it is resumed. */
export function paused(state: ScheduleState, now: number): ScheduleState {
  return { ...state, status: 'paused', nextOccurrenceAt: null, pausedAt: now }
}

/** Resumes a schedule with the first occurrence that is not yet due. */
export function resumed(state: ScheduleState, calendar: RailCalendar, now: number): ScheduleState {
  const { series, next } = state
  if (next === null) return goingOn(state, null, calendar)
  // A date in UTC differs from that of a rail by one day at most; occurrences near it are checked one by one.
  const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(now))
    .toZonedDateTimeISO('UTC')
    .toPlainDate()
    .toString()
  let found =
    next.index < placeNear(series, today)
      ? occurrenceFrom(series, placeNear(series, today), null, calendar.days)
      : again(series, next.index, calendar)
  while (found !== null && calendar.dueAt(found.executionDate) <= now)
    found = occurrenceAfter(series, found, calendar.days)
  return goingOn(state, found, calendar)
}

/** Returns the occurrence at an index by the current terms. */
const again = (series: Series, index: number, { days }: RailCalendar): Occurrence | null =>
  occurrenceFrom(series, index, null, days)

export function cancelled(state: ScheduleState): ScheduleState {
  return { ...state, status: 'cancelled', next: null, nextOccurrenceAt: null }
}

/**
 * Changes the terms of a schedule from the next occurrence on; a schedule without a further occurrence is completed.
 */
export function changed(
  state: ScheduleState,
  terms: Pick<ScheduleState, 'series' | 'maxOccurrences'>,
  calendar: RailCalendar,
): ScheduleState {
  const after = { ...state, ...terms }
  const next = state.next === null || isFull(after) ? null : again(terms.series, state.next.index, calendar)
  if (next === null || state.status === 'active') return goingOn(after, next, calendar)
  return { ...after, next }
}

/** Makes the next occurrence due now. */
export function dueNow(state: ScheduleState, now: number): ScheduleState {
  return { ...state, nextOccurrenceAt: Math.min(now, state.nextOccurrenceAt ?? now) }
}

/** Counts the next occurrence as begun. */
export function begun(state: ScheduleState): ScheduleState {
  return { ...state, occurrencesBegun: state.occurrencesBegun + 1 }
}

/** The result of an occurrence: a payment; a refusal; or nothing because the schedule was stopped in the meantime. */
export type MadeOutcome = 'created' | 'refused' | 'skipped'

/**
 * Records the result of an occurrence that was begun. The schedule continues after it, unless it was paused, cancelled
 * or moved on in the meantime: then the result is only counted.
 */
export function made(
  state: ScheduleState,
  occurrence: Pick<Occurrence, 'index' | 'executionDate'>,
  outcome: MadeOutcome,
  calendar: RailCalendar,
): ScheduleState {
  const counted: ScheduleState =
    outcome === 'created'
      ? { ...state, occurrencesCreated: state.occurrencesCreated + 1 }
      : outcome === 'refused'
        ? { ...state, consecutiveFailures: state.consecutiveFailures + 1 }
        : state
  if (state.next === null || state.next.index !== occurrence.index) return stopped(counted)
  const next = isFull(counted) ? null : occurrenceAfter(state.series, occurrence, calendar.days)
  if (state.status === 'paused') return { ...counted, next }
  if (state.status !== 'active') return counted
  const failed = stopped(counted)
  return failed.status === 'failed' ? failed : goingOn(counted, next, calendar)
}

/** Records the end of a payment of the schedule. A withdrawn payment is neither a failure nor a success. */
export function paymentEnded(state: ScheduleState, outcome: PaymentOutcome): ScheduleState {
  switch (outcome) {
    case 'completed':
      return { ...state, consecutiveFailures: 0 }
    case 'failed':
      return stopped({ ...state, consecutiveFailures: state.consecutiveFailures + 1 })
    case 'withdrawn':
      return state
    default:
      return outcome satisfies never
  }
}

export type PaymentOutcome = 'completed' | 'failed' | 'withdrawn'

function stopped(state: ScheduleState): ScheduleState {
  return state.status === 'active' && state.consecutiveFailures >= FAILURES_MAX
    ? { ...state, status: 'failed', next: null, nextOccurrenceAt: null }
    : state
}

// ── Terms
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface TermsFault {
  readonly field: string
  readonly code: FieldErrorCode
  readonly message: string
  readonly params?: Readonly<Record<string, string | number>>
}

/** Returns the fault of a schedule's dates; null when there is none. `instant`: whether its rail works every day. */
export function seriesFault(
  { series, maxOccurrences }: Pick<ScheduleState, 'series' | 'maxOccurrences'>,
  instant: boolean,
): TermsFault | null {
  const { frequency, startDate, endDate, dayPolicy, lastDayOfMonth } = series
  if (lastDayOfMonth && !countsMonths(frequency))
    return {
      field: '/lastDayOfMonth',
      code: 'not_applicable',
      message: 'Only a frequency in months has a last day of the month.',
    }
  if (frequency === 'once' && endDate !== null)
    return { field: '/endDate', code: 'not_applicable', message: 'A single payment has no end date.' }
  if (frequency === 'once' && maxOccurrences !== null)
    return {
      field: '/maxOccurrences',
      code: 'not_applicable',
      message: 'A single payment has no number of occurrences.',
    }
  if (endDate !== null && maxOccurrences !== null)
    return {
      field: '/maxOccurrences',
      code: 'not_applicable',
      message: 'Give an end date or a number of occurrences, not both.',
    }
  if (endDate !== null && endDate < startDate)
    return {
      field: '/endDate',
      code: 'too_small',
      message: 'The end date is before the start date.',
      params: { min: startDate },
    }
  if (dayPolicy === 'exact' && !instant)
    return {
      field: '/dayPolicy',
      code: 'not_applicable',
      message: 'Only a rail that is always open can keep an exact day.',
    }
  return null
}
