/** The days of a rail as schedules ask for them. */
import { businessDayFrom, CalendarUnknown, isBusinessDay, momentOf, PLAIN_CALENDAR, previousBusinessDay, type CalendarTerms } from '../rails/business-days.ts'
import { following, type Occurrence, type Series } from './occurrences.ts'
import type { RailCalendar } from './schedule.ts'

/** In the rail's zone, on the day of the payment: not at midnight, when clocks of two machines may still show two dates. */
const DUE_TIME = '00:05'

/** The calendar of a rail, with what is set for the connection that the money leaves by. Its functions throw CalendarUnknown in years that nobody has looked at yet. */
export function calendarOf(rail: string, terms: CalendarTerms | null = null): RailCalendar {
  const set = terms ?? PLAIN_CALENDAR
  return {
    days: {
      onOrAfter: (date) => businessDayFrom(rail, date, set),
      onOrBefore: (date) => (isBusinessDay(rail, date, set) ? date : previousBusinessDay(rail, date, set)),
    },
    dueAt: (date) => momentOf(rail, date, DUE_TIME),
  }
}

/** The next occurrences from one on, at most `count`; fewer where the calendar is not known so far ahead. */
export function foreseeable(series: Series, first: Occurrence | null, count: number, rail: string, terms: CalendarTerms | null = null): readonly Occurrence[] {
  const found: Occurrence[] = []
  try {
    for (const occurrence of following(series, first, calendarOf(rail, terms).days)) {
      if (found.length >= count) break
      found.push(occurrence)
    }
  } catch (error) {
    if (!(error instanceof CalendarUnknown)) throw error
  }
  return found
}
