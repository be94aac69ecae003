/**
 * The dates of direct debits: when a collection is submitted and may be due, how long it can come back, when it is
 * presented again, and when a mandate is dormant. Pure: dates are `YYYY-MM-DD` in the scheme's zone, moments epoch
 * milliseconds. Everything that differs between schemes comes in as `SchemeDays`, columns of the table of schemes.
 *
 * Every function throws CalendarUnknown for a year that the scheme's calendar does not cover.
 */
import { addDays, dateIn } from '../base/clock.ts'
import { isOpenDay, openDayUntil, shiftOpenDays, zonedMoment } from '../rails/calendar-days.ts'
import type { BusinessCalendar } from '../rails/national-calendars.ts'

/** A length of time as rulebooks write it. `working` days are days of the scheme's calendar. */
export interface Period {
  readonly count: number
  readonly unit: 'calendar' | 'working' | 'weeks' | 'months'
}

/** The columns of a scheme that fix its dates (schemes.ts). */
export interface SchemeDays {
  readonly calendar: BusinessCalendar
  /** IANA zone of the calendar's dates and of the cut-off. */
  readonly zone: string
  /** `HH:mm`: a collection that is handed over later counts as one of the next business day. */
  readonly cutOff: string
  /** Business days between the submission and the due date. */
  readonly daysToSettle: number
  /** Business days between the day of creation and the earliest due date. */
  readonly earliestDays: number
  /** Calendar days between the day of creation and the latest due date. */
  readonly dueMaxDays: number
  /** Months without a collection after which a mandate is dormant; null: never. */
  readonly dormancyMonths: number | null
  /** Business days after the due date within which banks report what became of a collection. */
  readonly answerDays: number
}

/** Returns the scheme's date at a moment. */
export const schemeDate = ({ zone }: Pick<SchemeDays, 'zone'>, now: number): string => dateIn(now, zone)

/** Tells whether a scheme settles on a date. */
export const isSettlementDay = ({ calendar }: Pick<SchemeDays, 'calendar'>, date: string): boolean =>
  isOpenDay(calendar, date)

/** Returns the moment of the cut-off on a date. */
export const cutOffOn = ({ zone, cutOff }: Pick<SchemeDays, 'zone' | 'cutOff'>, date: string): number =>
  zonedMoment(zone, date, cutOff)

/** Returns the first day on which a collection that is made now can still be submitted. */
export function submissionDayFrom(scheme: SchemeDays, now: number): string {
  const today = schemeDate(scheme, now)
  const open = shiftOpenDays(scheme.calendar, today, 0)
  return open === today && now >= cutOffOn(scheme, today) ? shiftOpenDays(scheme.calendar, today, 1) : open
}

/** Returns the last moment at which a collection for a due date can be submitted. */
export function submissionDeadline(scheme: SchemeDays, dueDate: string): number {
  const settles = shiftOpenDays(scheme.calendar, dueDate, 0)
  return cutOffOn(scheme, shiftOpenDays(scheme.calendar, settles, -scheme.daysToSettle))
}

/** Returns the date on which a period that begins on a date ends: the last date within it. */
export function endOfPeriod({ calendar }: Pick<SchemeDays, 'calendar'>, from: string, { count, unit }: Period): string {
  switch (unit) {
    case 'calendar':
      return addDays(from, count)
    case 'working':
      return shiftOpenDays(calendar, from, count)
    case 'weeks':
      return addDays(from, 7 * count)
    case 'months':
      return Temporal.PlainDate.from(from).add({ months: count }).toString()
    default:
      return unit satisfies never
  }
}

/** Returns the last date of a window that opens on a date; null when the window never ends. */
export const endOfWindow = (
  scheme: Pick<SchemeDays, 'calendar'>,
  from: string,
  window: Period | 'unlimited',
): string | null => (window === 'unlimited' ? null : endOfPeriod(scheme, from, window))

/** Returns the first moment after a period that begins on a date. */
export const afterPeriod = (scheme: Pick<SchemeDays, 'calendar' | 'zone'>, from: string, period: Period): number =>
  afterDay(scheme, endOfPeriod(scheme, from, period))

/** Tells whether a date is within a window that opened on another; null: the scheme has no such window. */
export function isWithin(
  scheme: Pick<SchemeDays, 'calendar'>,
  { from, on }: { readonly from: string; readonly on: string },
  window: Period | 'unlimited' | null,
): boolean {
  if (window === null) return false
  const end = endOfWindow(scheme, from, window)
  return end === null || on <= end
}

/** Returns the first moment of the day after a date. */
const afterDay = ({ zone }: Pick<SchemeDays, 'zone'>, date: string): number =>
  zonedMoment(zone, addDays(date, 1), '00:00')

/**
 * Returns the earliest due date of a collection that is made now: the scheme can still submit it, and its debtor has the
 * agreed notice before it. `notice` null: none is needed, as for a presentation of the same collection again.
 */
export function earliestDueDate(scheme: SchemeDays, now: number, notice: Period | null): string {
  const { calendar, daysToSettle, earliestDays } = scheme
  const submitted = shiftOpenDays(calendar, submissionDayFrom(scheme, now), Math.max(daysToSettle, earliestDays))
  if (notice === null) return submitted
  const noticed = shiftOpenDays(calendar, endOfPeriod(scheme, schemeDate(scheme, now), notice), 0)
  return noticed > submitted ? noticed : submitted
}

/** Returns the latest due date of a collection that is made now; it need not be a business day. */
export const latestDueDate = (scheme: SchemeDays, now: number): string =>
  addDays(schemeDate(scheme, now), scheme.dueMaxDays)

/** The faults of a due date. */
export type DueDateFault = 'too_early' | 'too_late' | 'not_a_business_day'

/** Judges a due date that was asked for; null when the scheme can collect on it. */
export function faultOfDueDate(
  scheme: SchemeDays,
  dueDate: string,
  now: number,
  notice: Period | null,
): DueDateFault | null {
  if (dueDate < earliestDueDate(scheme, now, notice)) return 'too_early'
  if (dueDate > latestDueDate(scheme, now)) return 'too_late'
  return isSettlementDay(scheme, dueDate) ? null : 'not_a_business_day'
}

/**
 * Returns the last date on which the debtor has to be told of a collection. May lie before the collection was made; the
 * debtor is then told at once.
 */
export const noticeDate = (scheme: Pick<SchemeDays, 'calendar'>, dueDate: string, { count, unit }: Period): string =>
  endOfPeriod(scheme, dueDate, { count: -count, unit })

// ── Afterwards
// ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Returns the moment from which a submitted collection without an answer is an exception. */
export const answerOverdueAt = (scheme: SchemeDays, dueDate: string): number =>
  afterDay(scheme, shiftOpenDays(scheme.calendar, dueDate, scheme.answerDays))

/** Returns the moment from which a mandate is dormant, counted from its last collection or its signature; null: never. */
export function dormantAt(scheme: SchemeDays, lastUsedAt: number): number | null {
  const { dormancyMonths } = scheme
  if (dormancyMonths === null) return null
  const used = Temporal.PlainDate.from(schemeDate(scheme, lastUsedAt))
  return afterDay(scheme, used.add({ months: dormancyMonths }).toString())
}

/** Returns the date up to which an indemnity claim can be challenged; null where the scheme knows no challenge. */
export const challengeUntil = (
  { calendar, challengeDays }: Pick<SchemeDays, 'calendar'> & { readonly challengeDays: number | null },
  claimedOn: string,
): string | null => (challengeDays === null ? null : shiftOpenDays(calendar, claimedOn, challengeDays))

/**
 * Returns the due date of the next presentation of a collection that failed for lack of funds; null when none is left.
 * Presentations are spread evenly over the days that the client allows, because a debtor who had no money yesterday has
 * none today; each is due on a business day that the scheme can still reach, and none after the last day.
 *
 * @param made the presentations so far, the first included
 * @param schemeMax the presentations after the first that the scheme allows
 */
export function nextAttemptDate(
  scheme: SchemeDays,
  {
    firstDueDate,
    made,
    retry: { maxAttempts, withinDays },
    schemeMax,
  }: {
    readonly firstDueDate: string
    readonly made: number
    /** Presentations after the first, and the calendar days after the first due date, that the client allows. */
    readonly retry: { readonly maxAttempts: number; readonly withinDays: number }
    readonly schemeMax: number
  },
  now: number,
): string | null {
  const attempts = Math.min(maxAttempts, schemeMax)
  if (made > attempts) return null
  const last = addDays(firstDueDate, withinDays)
  const spread = addDays(firstDueDate, Math.floor((withinDays * made) / attempts))
  const earliest = earliestDueDate(scheme, now, null)
  const onTime = openDayUntil(scheme.calendar, spread)
  const date = onTime < earliest ? earliest : onTime
  return date > last ? null : date
}
