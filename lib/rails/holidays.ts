/** Computes the dates on which the holidays of a calendar are observed. Pure: dates are `YYYY-MM-DD`. */
import type { BusinessCalendar, HolidayRule, OtherCalendar, SolarDay } from './national-calendars.ts'

/** Computes Easter Sunday of a Gregorian year (the anonymous algorithm of 1876). */
export function easterSunday(year: number): string {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const rest = year % 100
  const epact =
    (19 * golden +
      century -
      Math.floor(century / 4) -
      Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3) +
      15) %
    30
  const weekday = (32 + 2 * (century % 4) + 2 * Math.floor(rest / 4) - epact - (rest % 4)) % 7
  const late = Math.floor((golden + 11 * epact + 22 * weekday) / 451)
  const sum = epact + weekday - 7 * late + 114
  return Temporal.PlainDate.from({ year, month: Math.floor(sum / 31), day: (sum % 31) + 1 }).toString()
}

/** Days between the Julian and the Gregorian calendar, from 1900 to 2099. */
const JULIAN_DAYS = 13

/** Computes Easter Sunday of the orthodox churches, who use the Julian calendar; as a Gregorian date. */
export function orthodoxEaster(year: number): string {
  const moon = (19 * (year % 19) + 15) % 30
  const weekday = (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7
  const sum = moon + weekday + 114
  return Temporal.PlainDate.from({ year, month: Math.floor(sum / 31), day: (sum % 31) + 1 })
    .add({ days: JULIAN_DAYS })
    .toString()
}

/** The day of the month in the epoch year and the yearly drift, in millionths of a day; valid from 1980 to 2099. */
const SOLAR: {
  readonly [day in SolarDay]: { readonly month: number; readonly epoch: number; readonly start: number }
} = {
  spring_equinox: { month: 3, epoch: 1980, start: 20_843_100 },
  autumn_equinox: { month: 9, epoch: 1980, start: 23_248_800 },
  ching_ming: { month: 4, epoch: 2000, start: 4_810_000 },
}
const YEAR_DRIFT = 242_194
const MILLION = 1_000_000

function solarDay(day: SolarDay, year: number): Temporal.PlainDate {
  const { month, epoch, start } = SOLAR[day]
  const years = year - epoch
  return Temporal.PlainDate.from({
    year,
    month,
    day: Math.floor((start + YEAR_DRIFT * years) / MILLION) - Math.floor(years / 4),
  })
}

/** Finds a day of another calendar within a Gregorian year: at most twice. Leap months have no festivals. */
function datesIn(
  calendar: OtherCalendar,
  { month, day }: { readonly month: number; readonly day: number },
  year: number,
): Temporal.PlainDate[] {
  const monthCode = `M${String(month).padStart(2, '0')}`
  const first = Temporal.PlainDate.from({ year, month: 1, day: 1 }).withCalendar(calendar).year
  return [first, first + 1]
    .map((other) => Temporal.PlainDate.from({ calendar, year: other, monthCode, day }).withCalendar('iso8601'))
    .filter((date) => date.year === year)
}

function datesOf(rule: HolidayRule, year: number): readonly Temporal.PlainDate[] {
  const first = (month: number, day = 1) => Temporal.PlainDate.from({ year, month, day })
  const onOrAfter = (date: Temporal.PlainDate, weekday: number) =>
    date.add({ days: (weekday - date.dayOfWeek + 7) % 7 })
  switch (rule.kind) {
    case 'fixed':
      return [first(rule.month, rule.day)]
    case 'easter':
      return [Temporal.PlainDate.from(easterSunday(year)).add({ days: rule.offset })]
    case 'orthodox_easter':
      return [Temporal.PlainDate.from(orthodoxEaster(year)).add({ days: rule.offset })]
    case 'from':
      return [onOrAfter(first(rule.month, rule.day), rule.weekday)]
    case 'nth': {
      if (rule.nth > 0) return [onOrAfter(first(rule.month), rule.weekday).add({ days: 7 * (rule.nth - 1) })]
      const last = first(rule.month).add({ months: 1 }).subtract({ days: 1 })
      return [last.subtract({ days: ((last.dayOfWeek - rule.weekday + 7) % 7) + 7 * (-rule.nth - 1) })]
    }
    case 'other':
      return datesIn(rule.calendar, rule, year)
    case 'solar':
      return [solarDay(rule.day, year)]
    case 'announced':
      return rule.dates.map((date) => Temporal.PlainDate.from(date)).filter((date) => date.year === year)
    default:
      return rule satisfies never
  }
}

/**
 * Returns the holidays of a year as observed. Holidays on weekdays stay; those that move take the next free weekday.
 */
export function keptHolidays({ holidays, weekend, bridged }: BusinessCalendar, year: number): ReadonlySet<string> {
  const dated = holidays
    .filter(({ since }) => since === undefined || year >= since)
    .flatMap((rule) => datesOf(rule, year).map((date) => ({ rule, date })))
    .sort((one, other) => Temporal.PlainDate.compare(one.date, other.date))
  const kept = new Set(dated.filter(({ date }) => !weekend.has(date.dayOfWeek)).map(({ date }) => date.toString()))
  for (const {
    rule: { substitute },
    date,
  } of dated) {
    if (!weekend.has(date.dayOfWeek) || substitute === 'none' || (substitute === 'from_sunday' && date.dayOfWeek !== 7))
      continue
    let moved = date.add({ days: 1 })
    while (weekend.has(moved.dayOfWeek) || kept.has(moved.toString())) moved = moved.add({ days: 1 })
    kept.add(moved.toString())
  }
  if (bridged === true)
    for (const { date } of dated) {
      const between = date.add({ days: 1 })
      if (!weekend.has(between.dayOfWeek) && dated.some((other) => other.date.equals(date.add({ days: 2 }))))
        kept.add(between.toString())
    }
  return kept
}
