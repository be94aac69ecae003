/**
 * When a payment is carried out: its execution date, the moment it becomes due, and until when it waits for money then.
 *
 * Sandboxes keep no cut-offs and no calendars unless their connection says so; a date in the future waits for its day
 * everywhere.
 */
import { addDays, timestamp } from '../base/clock.ts'
import { addBusinessDays, businessDayFrom, cutOffOf, endOfDay, momentOf, nextBusinessDay, railDate, type CalendarTerms } from './business-days.ts'
import { RAILS, type Rail } from './rails.ts'

/** How long the sandbox takes when nothing says otherwise. */
export const INSTANT_MS = 2_000

export const ORDINARY_MS = 10_000

/** The latest execution date, in days from today. */
export const EXECUTION_DAYS_MAX = 366

/** In the rail's zone, on the execution date: not at midnight, when clocks of two machines may still show two dates. */
const DUE_TIME = '00:05'

export interface Timing {
  readonly executionDate: string
  /** When it becomes due, epoch milliseconds; null: now. */
  readonly dueAt: number | null
  /** Until when it then waits for money that is missing, epoch milliseconds. */
  readonly until: number
}

/**
 * The timing of a payment.
 *
 * @param wanted the date that was asked for; null is as soon as possible. A date that has passed means the same.
 * @param calendar null where cut-offs and calendars are ignored
 * @throws CalendarUnknown
 */
export function timingOf(rail: string, wanted: string | null, calendar: CalendarTerms | null, now: number): Timing {
  const today = railDate(rail, now)
  const executionDate = calendar === null ? (wanted !== null && wanted > today ? wanted : today) : releaseDay(rail, wanted, today, calendar, now)
  const dueAt = executionDate > today ? momentOf(rail, executionDate, DUE_TIME) : null
  return { executionDate, dueAt, until: dueAt === null ? now : lastChance(rail, executionDate, calendar) }
}

/**
 * The timing of a payment that has a date and may go now, because everybody has agreed: on that date, or when it has passed
 * on the first day that will still do.
 */
export function dueTiming(rail: string, executionDate: string, calendar: CalendarTerms | null, now: number): { readonly dueAt: number; readonly until: number } {
  const timing = timingOf(rail, executionDate, calendar, now)
  return timing.dueAt === null ? { dueAt: now, until: lastChance(rail, timing.executionDate, calendar) } : { dueAt: timing.dueAt, until: timing.until }
}

/** When the money is there, as far as can be said; epoch milliseconds. */
export function arrivalOf(rail: string, instant: boolean, { executionDate, dueAt }: Timing, calendar: CalendarTerms | null, now: number): number {
  const from = dueAt ?? now
  if (instant || calendar === null) return from + (instant ? INSTANT_MS : ORDINARY_MS)
  const days = RAILS.get(rail as Rail)?.businessDays.max ?? 0
  return endOfDay(rail, addBusinessDays(rail, executionDate, days, calendar))
}

/** The same as text. */
export const arrivalText = (...args: Parameters<typeof arrivalOf>): string => timestamp(arrivalOf(...args))

/** The last date that may be asked for. */
export const latestDate = (today: string): string => addDays(today, EXECUTION_DAYS_MAX)

function releaseDay(rail: string, wanted: string | null, today: string, calendar: CalendarTerms, now: number): string {
  const open = businessDayFrom(rail, today, calendar)
  const first = open === today && now > cutOffOf(rail, today, calendar) ? nextBusinessDay(rail, today, calendar) : open
  return wanted === null || wanted <= first ? first : businessDayFrom(rail, wanted, calendar)
}

const lastChance = (rail: string, date: string, calendar: CalendarTerms | null): number => (calendar === null ? endOfDay(rail, date) : cutOffOf(rail, date, calendar))
