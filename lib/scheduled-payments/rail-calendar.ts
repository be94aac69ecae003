/** The calendar of a rail, in the form that schedules need. */
import {
  businessDayFrom,
  isBusinessDay,
  momentOf,
  PLAIN_CALENDAR,
  previousBusinessDay,
  type CalendarTerms,
} from '../rails/business-days.ts'
import { CalendarUnknown } from '../rails/calendar-days.ts'
import { following, type Occurrence, type Series } from './occurrences.ts'
import type { RailCalendar } from './schedule.ts'
import type { Rail } from '../rails/rails.ts'

/**
 * A time in the rail's zone on the day of the payment. Not midnight, when the clocks of two machines may still show two
 * dates.
 */
const DUE_TIME = '00:05'

/**
 * Makes the calendar of a rail, with the settings of the connection that sends the payment. Its functions throw
 * CalendarUnknown for years that the calendar does not cover.
 */
export function calendarOf(rail: Rail, terms: CalendarTerms | null = null): RailCalendar {
  const set = terms ?? PLAIN_CALENDAR
  return {
    days: {
      onOrAfter: (date) => businessDayFrom(rail, date, set),
      onOrBefore: (date) => (isBusinessDay(rail, date, set) ? date : previousBusinessDay(rail, date, set)),
    },
    dueAt: (date) => momentOf(rail, date, DUE_TIME),
  }
}

/** Returns the next occurrences from one on, at most `count`; fewer where the calendar does not reach so far. */
export function foreseeable(
  series: Series,
  first: Occurrence | null,
  count: number,
  rail: Rail,
  terms: CalendarTerms | null = null,
): readonly Occurrence[] {
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
