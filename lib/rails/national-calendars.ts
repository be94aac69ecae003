/**
 * The calendars of clearings, as data: the holidays of each and the way they are observed. Pure.
 *
 * Nearly all holidays follow lasting rules: a date, a weekday of a month, a number of days after Easter, a day of
 * another calendar, an equinox. Dates that a government announces year by year are listed as far as they are announced;
 * a later year is unknown until its days are set for a connection. Days that cannot be foreseen (of mourning, of
 * elections) are set in the same way.
 */

/** A holiday on a weekend is lost, moves to the next free weekday, or moves only from a Sunday. */
export type Substitute = 'none' | 'next_free' | 'from_sunday'

/** Calendars of the runtime that some holidays follow. */
export type OtherCalendar = 'chinese' | 'islamic-umalqura'

/**
 * Days that follow the sun: the equinoxes in Japan, and Ching Ming in China, when the sun is 15 degrees past the spring
 * equinox.
 */
export type SolarDay = 'spring_equinox' | 'autumn_equinox' | 'ching_ming'

/** Months are 1 to 12, weekdays 1 (Monday) to 7; `nth` counts from the end when it is negative. */
export type HolidayDay =
  | { readonly kind: 'fixed'; readonly month: number; readonly day: number }
  /** Days after Easter Sunday, of the western or of the orthodox churches. */
  | { readonly kind: 'easter' | 'orthodox_easter'; readonly offset: number }
  | { readonly kind: 'nth'; readonly nth: number; readonly weekday: number; readonly month: number }
  /** The first such weekday on or after a date. */
  | { readonly kind: 'from'; readonly weekday: number; readonly month: number; readonly day: number }
  /** A day of another calendar; a year may have it twice, or not at all. */
  | { readonly kind: 'other'; readonly calendar: OtherCalendar; readonly month: number; readonly day: number }
  | { readonly kind: 'solar'; readonly day: SolarDay }
  /** Announced dates, `YYYY-MM-DD`. */
  | { readonly kind: 'announced'; readonly dates: readonly string[] }

/** A holiday of every year, or of every year from `since` on. */
export type HolidayRule = HolidayDay & { readonly substitute: Substitute; readonly since?: number }

export interface BusinessCalendar {
  readonly name: string
  /** Weekdays that are never business days. */
  readonly weekend: ReadonlySet<number>
  readonly holidays: readonly HolidayRule[]
  /** A weekday between two holidays is a holiday, too. */
  readonly bridged?: true
  /** The years that the calendar covers, both included. */
  readonly from: number
  readonly to: number
  /**
   * Where holidays are announced: the last year of which all are listed. Later years are known only where they are set
   * for a connection.
   */
  readonly announcedTo?: number
}

/** Before 2024 the rules had exceptions; beyond the last year the rules must be checked again. */
const YEARS = { from: 2024, to: 2050 } as const
const WEEKEND: ReadonlySet<number> = new Set([6, 7])

const fixed = (month: number, day: number, substitute: Substitute = 'none'): HolidayRule => ({
  kind: 'fixed',
  month,
  day,
  substitute,
})
const easter = (offset: number, substitute: Substitute = 'none'): HolidayRule => ({
  kind: 'easter',
  offset,
  substitute,
})
const orthodox = (offset: number): HolidayRule => ({ kind: 'orthodox_easter', offset, substitute: 'none' })
const nth = (count: number, weekday: number, month: number): HolidayRule => ({
  kind: 'nth',
  nth: count,
  weekday,
  month,
  substitute: 'none',
})
const from = (weekday: number, month: number, day: number): HolidayRule => ({
  kind: 'from',
  weekday,
  month,
  day,
  substitute: 'none',
})
const other = (calendar: OtherCalendar, month: number, day: number, substitute: Substitute): HolidayRule => ({
  kind: 'other',
  calendar,
  month,
  day,
  substitute,
})
const solar = (day: SolarDay): HolidayRule => ({ kind: 'solar', day, substitute: 'from_sunday' })
const since = (year: number, rule: HolidayRule): HolidayRule => ({ ...rule, since: year })

const [MONDAY, FRIDAY] = [1, 5] as const
const MAUNDY_THURSDAY = easter(-3)
const GOOD_FRIDAY = easter(-2)
const EASTER_MONDAY = easter(1)
const ASCENSION = easter(39)
const WHIT_MONDAY = easter(50)
const NEW_YEAR = fixed(1, 1)
const CHRISTMAS = [fixed(12, 25), fixed(12, 26)] as const

function calendar(name: string, holidays: readonly HolidayRule[]): BusinessCalendar {
  const announced = holidays.flatMap((rule) =>
    rule.kind === 'announced' ? [Math.max(...rule.dates.map((date) => Number(date.slice(0, 4))))] : [],
  )
  return {
    name,
    weekend: WEEKEND,
    holidays,
    ...YEARS,
    ...(announced.length === 0 ? {} : { announcedTo: Math.min(...announced) }),
  }
}

export const TARGET = calendar('TARGET', [NEW_YEAR, GOOD_FRIDAY, EASTER_MONDAY, fixed(5, 1), ...CHRISTMAS])

export const ENGLAND = calendar('England and Wales', [
  fixed(1, 1, 'next_free'),
  GOOD_FRIDAY,
  EASTER_MONDAY,
  nth(1, MONDAY, 5),
  nth(-1, MONDAY, 5),
  nth(-1, MONDAY, 8),
  fixed(12, 25, 'next_free'),
  fixed(12, 26, 'next_free'),
])

/** A holiday on a Saturday is not observed on the Friday before: the Federal Reserve Banks are open then. */
export const FEDERAL_RESERVE = calendar('Federal Reserve', [
  fixed(1, 1, 'from_sunday'),
  nth(3, MONDAY, 1),
  nth(3, MONDAY, 2),
  nth(-1, MONDAY, 5),
  fixed(6, 19, 'from_sunday'),
  fixed(7, 4, 'from_sunday'),
  nth(1, MONDAY, 9),
  nth(2, MONDAY, 10),
  fixed(11, 11, 'from_sunday'),
  nth(4, 4, 11),
  fixed(12, 25, 'from_sunday'),
])

export const POLAND = calendar('Poland', [
  NEW_YEAR,
  fixed(1, 6),
  EASTER_MONDAY,
  fixed(5, 1),
  fixed(5, 3),
  easter(60),
  fixed(8, 15),
  fixed(11, 1),
  fixed(11, 11),
  since(2025, fixed(12, 24)),
  ...CHRISTMAS,
])

export const SWITZERLAND = calendar('Swiss banks', [
  NEW_YEAR,
  fixed(1, 2),
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(5, 1),
  ASCENSION,
  WHIT_MONDAY,
  fixed(8, 1),
  ...CHRISTMAS,
])

/** Includes the eves of Midsummer, Christmas and New Year, on which Swedish banks are closed. */
export const SWEDEN = calendar('Swedish banks', [
  NEW_YEAR,
  fixed(1, 6),
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(5, 1),
  ASCENSION,
  fixed(6, 6),
  from(FRIDAY, 6, 19),
  fixed(12, 24),
  ...CHRISTMAS,
  fixed(12, 31),
])

export const NORWAY = calendar('Norway', [
  NEW_YEAR,
  MAUNDY_THURSDAY,
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(5, 1),
  ASCENSION,
  fixed(5, 17),
  WHIT_MONDAY,
  ...CHRISTMAS,
])

/** Includes the day after Ascension, Constitution Day and the eves, on which Danish banks are closed. */
export const DENMARK = calendar('Danish banks', [
  NEW_YEAR,
  MAUNDY_THURSDAY,
  GOOD_FRIDAY,
  EASTER_MONDAY,
  ASCENSION,
  easter(40),
  WHIT_MONDAY,
  fixed(6, 5),
  fixed(12, 24),
  ...CHRISTMAS,
  fixed(12, 31),
])

export const CZECHIA = calendar('Czechia', [
  NEW_YEAR,
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(5, 1),
  fixed(5, 8),
  fixed(7, 5),
  fixed(7, 6),
  fixed(9, 28),
  fixed(10, 28),
  fixed(11, 17),
  fixed(12, 24),
  ...CHRISTMAS,
])

/** Does not include working days that a decree moves to a Saturday. */
export const HUNGARY = calendar('Hungary', [
  NEW_YEAR,
  fixed(3, 15),
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(5, 1),
  WHIT_MONDAY,
  fixed(8, 20),
  fixed(10, 23),
  fixed(11, 1),
  ...CHRISTMAS,
])

export const ROMANIA = calendar('Romania', [
  NEW_YEAR,
  fixed(1, 2),
  fixed(1, 6),
  fixed(1, 7),
  fixed(1, 24),
  orthodox(-2),
  orthodox(1),
  fixed(5, 1),
  fixed(6, 1),
  orthodox(50),
  fixed(8, 15),
  fixed(11, 30),
  fixed(12, 1),
  ...CHRISTMAS,
])

/** National holidays only: a holiday of one state does not close the rail. Anzac Day is not moved. */
export const AUSTRALIA = calendar('Australia', [
  fixed(1, 1, 'next_free'),
  fixed(1, 26, 'next_free'),
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(4, 25),
  nth(2, MONDAY, 6),
  fixed(12, 25, 'next_free'),
  fixed(12, 26, 'next_free'),
])

export const CANADA = calendar('Payments Canada', [
  fixed(1, 1, 'next_free'),
  GOOD_FRIDAY,
  from(MONDAY, 5, 18),
  fixed(7, 1, 'next_free'),
  nth(1, MONDAY, 9),
  fixed(9, 30, 'next_free'),
  nth(2, MONDAY, 10),
  fixed(11, 11, 'next_free'),
  fixed(12, 25, 'next_free'),
  fixed(12, 26, 'next_free'),
])

/** Its festivals by the moon are announced a year ahead. */
export const SINGAPORE = calendar('Singapore', [
  fixed(1, 1, 'from_sunday'),
  other('chinese', 1, 1, 'from_sunday'),
  other('chinese', 1, 2, 'from_sunday'),
  GOOD_FRIDAY,
  fixed(5, 1, 'from_sunday'),
  other('chinese', 4, 15, 'from_sunday'),
  fixed(8, 9, 'from_sunday'),
  fixed(12, 25, 'from_sunday'),
  // Hari Raya Puasa, Hari Raya Haji, Deepavali.
  {
    kind: 'announced',
    substitute: 'from_sunday',
    dates: [
      '2024-04-10',
      '2024-06-17',
      '2024-10-31',
      '2025-03-31',
      '2025-06-07',
      '2025-10-20',
      '2026-03-21',
      '2026-05-27',
      '2026-11-08',
    ],
  },
])

export const HONG_KONG = calendar('Hong Kong', [
  fixed(1, 1, 'from_sunday'),
  other('chinese', 1, 1, 'from_sunday'),
  other('chinese', 1, 2, 'from_sunday'),
  other('chinese', 1, 3, 'from_sunday'),
  solar('ching_ming'),
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(5, 1, 'from_sunday'),
  other('chinese', 4, 8, 'from_sunday'),
  other('chinese', 5, 5, 'from_sunday'),
  fixed(7, 1, 'from_sunday'),
  other('chinese', 8, 16, 'none'),
  fixed(10, 1, 'from_sunday'),
  other('chinese', 9, 9, 'from_sunday'),
  fixed(12, 25, 'from_sunday'),
  fixed(12, 26, 'from_sunday'),
])

/** Includes the days around the New Year, on which Japanese banks are closed. */
export const JAPAN: BusinessCalendar = {
  ...calendar('Japan', [
    fixed(1, 1),
    fixed(1, 2),
    fixed(1, 3),
    nth(2, MONDAY, 1),
    fixed(2, 11, 'from_sunday'),
    fixed(2, 23, 'from_sunday'),
    solar('spring_equinox'),
    fixed(4, 29, 'from_sunday'),
    fixed(5, 3, 'from_sunday'),
    fixed(5, 4, 'from_sunday'),
    fixed(5, 5, 'from_sunday'),
    nth(3, MONDAY, 7),
    fixed(8, 11, 'from_sunday'),
    nth(3, MONDAY, 9),
    solar('autumn_equinox'),
    nth(2, MONDAY, 10),
    fixed(11, 3, 'from_sunday'),
    fixed(11, 23, 'from_sunday'),
    fixed(12, 31),
  ]),
  bridged: true,
}

export const SOUTH_AFRICA = calendar('South Africa', [
  fixed(1, 1, 'from_sunday'),
  fixed(3, 21, 'from_sunday'),
  GOOD_FRIDAY,
  EASTER_MONDAY,
  fixed(4, 27, 'from_sunday'),
  fixed(5, 1, 'from_sunday'),
  fixed(6, 16, 'from_sunday'),
  fixed(8, 9, 'from_sunday'),
  fixed(9, 24, 'from_sunday'),
  fixed(12, 16, 'from_sunday'),
  fixed(12, 25, 'from_sunday'),
  fixed(12, 26, 'from_sunday'),
])

/** Follows the Umm al-Qura calendar, from which the country's authorities differ by a day now and then. */
export const EMIRATES = calendar('United Arab Emirates', [
  NEW_YEAR,
  ...[1, 2, 3].map((day) => other('islamic-umalqura', 10, day, 'none')),
  ...[9, 10, 11, 12].map((day) => other('islamic-umalqura', 12, day, 'none')),
  other('islamic-umalqura', 1, 1, 'none'),
  other('islamic-umalqura', 3, 12, 'none'),
  fixed(12, 2),
  fixed(12, 3),
])

/** For rails of which only the weekends are known. */
export const WEEKENDS = calendar('weekends', [])

/** For rails whose banks exchange payments on every day of the year; only the cut-off counts. */
export const EVERY_DAY: BusinessCalendar = { name: 'every day', weekend: new Set(), holidays: [], ...YEARS }
