/**
 * Business days: the days on which a rail works, and the cut-off on such a day. Pure: dates are `YYYY-MM-DD` in the
 * rail's own zone, moments are epoch milliseconds.
 */
import { addDays, dateIn } from '../base/clock.ts'
import { CalendarUnknown, isOpenDay, openDayFrom, zonedMoment } from './calendar-days.ts'
import { railDays } from './calendars.ts'
import { RAILS, type Rail } from './rails.ts'

/** Settings of a connection that replace the table: cut-offs (`HH:mm`) and further closed days, by rail. */
export interface CalendarTerms {
  readonly cutOffs?: Readonly<Partial<Record<Rail, string>>>
  readonly closedDays?: Readonly<Partial<Record<Rail, readonly string[]>>>
}

/** The rules of the table, without settings. */
export const PLAIN_CALENDAR: CalendarTerms = {}

/** Tells whether a rail works on a date. Rails that are open around the clock always do. @throws CalendarUnknown */
export function isBusinessDay(rail: Rail, date: string, { closedDays }: CalendarTerms = PLAIN_CALENDAR): boolean {
  const { calendar } = railDays(rail)
  if (calendar === null) return true
  const { year } = Temporal.PlainDate.from(date)
  const closed = closedDays?.[rail] ?? []
  if (year > (calendar.announcedTo ?? year) && !closed.some((day) => day.startsWith(`${year}-`))) {
    throw new CalendarUnknown(
      `The holidays of ${calendar.name} in ${year} are announced; none has been set for the connection yet.`,
      { retryAfterSeconds: 3600 },
    )
  }
  return isOpenDay(calendar, date, closed)
}

/** Returns the date itself if it is a business day, else the first business day after it. @throws CalendarUnknown */
export function businessDayFrom(rail: Rail, date: string, terms: CalendarTerms = PLAIN_CALENDAR): string {
  return openDayFrom(date, 1, (day) => isBusinessDay(rail, day, terms), rail)
}

/** Returns the first business day after a date. @throws CalendarUnknown */
export function nextBusinessDay(rail: Rail, date: string, terms: CalendarTerms = PLAIN_CALENDAR): string {
  return businessDayFrom(rail, addDays(date, 1), terms)
}

/** Returns the last business day before a date. @throws CalendarUnknown */
export function previousBusinessDay(rail: Rail, date: string, terms: CalendarTerms = PLAIN_CALENDAR): string {
  return openDayFrom(addDays(date, -1), -1, (day) => isBusinessDay(rail, day, terms), rail)
}

/**
 * Returns the business day `count` business days after a date; 0 is the date itself if it is a business day, else the
 * next one. @throws CalendarUnknown
 */
export function addBusinessDays(
  rail: Rail,
  date: string,
  count: number,
  terms: CalendarTerms = PLAIN_CALENDAR,
): string {
  let day = businessDayFrom(rail, date, terms)
  for (let left = count; left > 0; left--) day = nextBusinessDay(rail, day, terms)
  return day
}

/** Returns the date at `now` in the zone of a rail. */
export function railDate(rail: Rail, now: number): string {
  return dateIn(now, railDays(rail).zone)
}

/**
 * Returns the moment of a wall-clock time (`HH:mm`) on a date in a rail's zone. A time that a clock change skips is
 * moved forward by the length of the change.
 */
export function momentOf(rail: Rail, date: string, time: string): number {
  return zonedMoment(railDays(rail).zone, date, time)
}

/**
 * Returns the latest moment of a date at which a release still counts as that day: the cut-off, or else the end of the
 * day.
 */
export function cutOffOf(rail: Rail, date: string, { cutOffs }: CalendarTerms = PLAIN_CALENDAR): number {
  const time = cutOffs?.[rail] ?? RAILS.get(rail)?.cutOff?.time
  return time === undefined ? endOfDay(rail, date) : momentOf(rail, date, time)
}

/** Returns the first moment after a date in a rail's zone. */
export function endOfDay(rail: Rail, date: string): number {
  return momentOf(rail, addDays(date, 1), '00:00')
}
