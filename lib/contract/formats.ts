/**
 * Dates and times as clients write them. TypeBox accepts texts that later code cannot read (leap seconds, names of
 * zones in brackets, the year 0), so its two formats are replaced by those that both storage and calendar accept: RFC
 * 3339, years 1 to 9999, also after conversion to UTC.
 */
import { Format } from 'typebox/format'
import { LAST_MS } from '../base/clock.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/
const INSTANT =
  /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z')

/** Returns the start of a day (`YYYY-MM-DD`) in UTC, epoch milliseconds; NaN when the calendar has no such day. */
export function dayStart(text: string): number {
  const start = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // `Date.parse` reads 30 February as 2 March.
  return start >= FIRST_MS && new Date(start).toISOString().slice(0, 10) === text ? start : Number.NaN
}

/** Reads a time of RFC 3339 as epoch milliseconds; NaN for any other text. */
export function instantOf(text: string): number {
  const instant = INSTANT.test(text) && !Number.isNaN(dayStart(text.slice(0, 10))) ? Date.parse(text) : Number.NaN
  return instant >= FIRST_MS && instant <= LAST_MS ? instant : Number.NaN
}

Format.Set('date', (text) => !Number.isNaN(dayStart(text)))
Format.Set('date-time', (text) => !Number.isNaN(instantOf(text)))
