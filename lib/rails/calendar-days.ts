/**
 * Business days of a calendar: what is open, and counting forward and back. Pure: dates are `YYYY-MM-DD` in the zone of
 * whoever keeps the calendar. Rails count by it (business-days.ts), and so do the schemes of direct debits.
 */
import { addDays } from '../base/clock.ts'
import { OperatingError } from '../base/errors.ts'
import { keptHolidays } from './holidays.ts'
import type { BusinessCalendar } from './national-calendars.ts'

/** A date lies in a year that a calendar does not cover: bank holidays are never guessed. */
export class CalendarUnknown extends OperatingError {
  override readonly name = 'CalendarUnknown'
}

/** No calendar is closed for longer than this; a longer search means that it has no business day. */
const CLOSED_DAYS_MAX = 60

/** Holidays by calendar and year, computed once: about twenty calendars and a few years. */
const known = new WeakMap<BusinessCalendar, Map<number, ReadonlySet<string>>>()

function holidaysOf(calendar: BusinessCalendar, year: number): ReadonlySet<string> {
  if (year < calendar.from || year > calendar.to)
    throw new CalendarUnknown(`The calendar ${calendar.name} is not known for ${year}.`, { retryAfterSeconds: 3600 })
  const years = known.get(calendar) ?? new Map<number, ReadonlySet<string>>()
  known.set(calendar, years)
  const found = years.get(year) ?? keptHolidays(calendar, year)
  years.set(year, found)
  return found
}

/** Tells whether a calendar has a business day on a date. `closed`: further closed days. @throws CalendarUnknown */
export function isOpenDay(calendar: BusinessCalendar, date: string, closed: readonly string[] = []): boolean {
  const { year, dayOfWeek } = Temporal.PlainDate.from(date)
  return !calendar.weekend.has(dayOfWeek) && !holidaysOf(calendar, year).has(date) && !closed.includes(date)
}

/**
 * Finds the first date, from a date on and one day at a time (`step` 1 forward, -1 back), that is open.
 *
 * @throws CalendarUnknown
 */
export function openDayFrom(date: string, step: 1 | -1, isOpen: (date: string) => boolean, name: string): string {
  let day = date
  for (let closed = 0; closed <= CLOSED_DAYS_MAX; closed++, day = addDays(day, step)) if (isOpen(day)) return day
  const side = step === 1 ? 'after' : 'before'
  throw new CalendarUnknown(`${name} has no business day within ${CLOSED_DAYS_MAX} days ${side} ${date}.`)
}

/** Returns the date itself if it is a business day of a calendar, else the last one before it. @throws CalendarUnknown */
export const openDayUntil = (calendar: BusinessCalendar, date: string): string =>
  openDayFrom(date, -1, (day) => isOpenDay(calendar, day), calendar.name)

/**
 * Counts business days from a date: the date itself if it is open, else the next open one (before it, when `count` is
 * negative), and from there `count` open days on. @throws CalendarUnknown
 */
export function shiftOpenDays(calendar: BusinessCalendar, date: string, count: number): string {
  const step = count < 0 ? -1 : 1
  const isOpen = (day: string) => isOpenDay(calendar, day)
  let day = openDayFrom(date, step, isOpen, calendar.name)
  for (let left = Math.abs(count); left > 0; left--) day = openDayFrom(addDays(day, step), step, isOpen, calendar.name)
  return day
}

/**
 * Returns the moment of a wall-clock time (`HH:mm`) on a date in a zone, epoch milliseconds. A time that a clock change
 * skips is moved forward by the length of the change.
 */
export function zonedMoment(zone: string, date: string, time: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: zone, plainTime: Temporal.PlainTime.from(time) })
    .epochMilliseconds
}
