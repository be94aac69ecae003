/**
 * The timing of a payment: its execution date, the moment when it becomes due, and the end of its wait for missing
 * money.
 *
 * Sandboxes keep no cut-offs and no calendars unless their connection is set to; a payment with a future date waits for
 * its day everywhere.
 */
import { addDays, timestamp } from '../base/clock.ts'
import {
  addBusinessDays,
  businessDayFrom,
  cutOffOf,
  endOfDay,
  momentOf,
  nextBusinessDay,
  railDate,
  type CalendarTerms,
} from './business-days.ts'
import { RAILS, type Rail } from './rails.ts'

/** The time that the sandbox takes for a payment, where no trigger sets another. */
export const INSTANT_MS = 2_000

export const ORDINARY_MS = 10_000

/** The latest execution date, in days from today. */
export const EXECUTION_DAYS_MAX = 366

/**
 * A time in the rail's zone on the execution date. Not midnight, when the clocks of two machines may still show two
 * dates.
 */
const DUE_TIME = '00:05'

export interface Timing {
  readonly executionDate: string
  /** The moment when the payment becomes due, epoch milliseconds; null: now. */
  readonly dueAt: number | null
  /** The end of the wait for missing money, epoch milliseconds. */
  readonly until: number
}

/**
 * Computes the timing of a payment.
 *
 * @param wanted the requested date; null is as soon as possible, and so is a date that has passed
 * @param calendar null where cut-offs and calendars are ignored
 * @throws CalendarUnknown
 */
export function timingOf(rail: Rail, wanted: string | null, calendar: CalendarTerms | null, now: number): Timing {
  const today = railDate(rail, now)
  const executionDate =
    calendar === null
      ? wanted !== null && wanted > today
        ? wanted
        : today
      : releaseDay(rail, wanted, today, calendar, now)
  const dueAt = executionDate > today ? momentOf(rail, executionDate, DUE_TIME) : null
  return { executionDate, dueAt, until: dueAt === null ? now : lastChance(rail, executionDate, calendar) }
}

/**
 * Computes the timing of a payment that has a date and all its approvals: that date, or when it has passed the first
 * day that is still possible.
 */
export function dueTiming(
  rail: Rail,
  executionDate: string,
  calendar: CalendarTerms | null,
  now: number,
): { readonly dueAt: number; readonly until: number } {
  const timing = timingOf(rail, executionDate, calendar, now)
  return timing.dueAt === null
    ? { dueAt: now, until: lastChance(rail, timing.executionDate, calendar) }
    : { dueAt: timing.dueAt, until: timing.until }
}

/** Estimates when the money arrives, epoch milliseconds. */
export function arrivalOf(
  rail: Rail,
  instant: boolean,
  { executionDate, dueAt }: Timing,
  calendar: CalendarTerms | null,
  now: number,
): number {
  const from = dueAt ?? now
  if (instant || calendar === null) return from + (instant ? INSTANT_MS : ORDINARY_MS)
  const days = RAILS.get(rail)?.businessDays.max ?? 0
  return endOfDay(rail, addBusinessDays(rail, executionDate, days, calendar))
}

/** The same as text (RFC 3339). */
export const arrivalText = (...args: Parameters<typeof arrivalOf>): string => timestamp(arrivalOf(...args))

/** Returns the last execution date that may be requested. */
export const latestDate = (today: string): string => addDays(today, EXECUTION_DAYS_MAX)

function releaseDay(rail: Rail, wanted: string | null, today: string, calendar: CalendarTerms, now: number): string {
  const open = businessDayFrom(rail, today, calendar)
  const first = open === today && now > cutOffOf(rail, today, calendar) ? nextBusinessDay(rail, today, calendar) : open
  return wanted === null || wanted <= first ? first : businessDayFrom(rail, wanted, calendar)
}

const lastChance = (rail: Rail, date: string, calendar: CalendarTerms | null): number =>
  calendar === null ? endOfDay(rail, date) : cutOffOf(rail, date, calendar)
