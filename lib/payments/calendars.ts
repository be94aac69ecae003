/**
 * Which days the rails are closed on, as data: a calendar for each clearing, and which calendar and zone a rail goes by.
 *
 * TARGET, the bank holidays of England and Wales and those of the Federal Reserve are complete; of the other clearings only the
 * weekends are known here. What a calendar does not know can be set for a connection (`closedDays`).
 */
import { PARTNER_ZONE, RAILS, type Rail } from './rails.ts'

/** When a holiday falls on a weekend: it is lost, it moves to the next free weekday, or it moves from Sunday alone. */
export type Substitute = 'none' | 'next_free' | 'from_sunday'

/** A holiday of every year. Months are 1 to 12, weekdays 1 (Monday) to 7; `nth` counts from the end when it is negative. */
export type HolidayRule =
  | { readonly kind: 'fixed'; readonly month: number; readonly day: number; readonly substitute: Substitute }
  /** Days after Easter Sunday. */
  | { readonly kind: 'easter'; readonly offset: number }
  | { readonly kind: 'nth'; readonly nth: number; readonly weekday: number; readonly month: number }

export interface BusinessCalendar {
  readonly name: string
  /** Weekdays that are never business days. */
  readonly weekend: ReadonlySet<number>
  readonly holidays: readonly HolidayRule[]
  /** The years it is known for, both included. */
  readonly from: number
  readonly to: number
}

const WEEKEND: ReadonlySet<number> = new Set([6, 7])
const fixed = (month: number, day: number, substitute: Substitute = 'none'): HolidayRule => ({ kind: 'fixed', month, day, substitute })
const easter = (offset: number): HolidayRule => ({ kind: 'easter', offset })
const nth = (count: number, weekday: number, month: number): HolidayRule => ({ kind: 'nth', nth: count, weekday, month })

/** Before 2024 the rules had exceptions; beyond the last year nobody should plan without looking at them again. */
const YEARS = { from: 2024, to: 2050 } as const
const GOOD_FRIDAY = easter(-2)
const EASTER_MONDAY = easter(1)

export const TARGET: BusinessCalendar = {
  name: 'TARGET', weekend: WEEKEND, ...YEARS,
  holidays: [fixed(1, 1), GOOD_FRIDAY, EASTER_MONDAY, fixed(5, 1), fixed(12, 25), fixed(12, 26)],
}

export const ENGLAND: BusinessCalendar = {
  name: 'England and Wales', weekend: WEEKEND, ...YEARS,
  holidays: [
    fixed(1, 1, 'next_free'), GOOD_FRIDAY, EASTER_MONDAY, nth(1, 1, 5), nth(-1, 1, 5), nth(-1, 1, 8), fixed(12, 25, 'next_free'), fixed(12, 26, 'next_free'),
  ],
}

/** A holiday on a Saturday is not kept on the Friday before: the banks of the Federal Reserve are open then. */
export const FEDERAL_RESERVE: BusinessCalendar = {
  name: 'Federal Reserve', weekend: WEEKEND, ...YEARS,
  holidays: [
    fixed(1, 1, 'from_sunday'), nth(3, 1, 1), nth(3, 1, 2), nth(-1, 1, 5), fixed(6, 19, 'from_sunday'), fixed(7, 4, 'from_sunday'), nth(1, 1, 9),
    nth(2, 1, 10), fixed(11, 11, 'from_sunday'), nth(4, 4, 11), fixed(12, 25, 'from_sunday'),
  ],
}

/** Where only the weekends are known. */
export const WEEKENDS: BusinessCalendar = { name: 'weekends', weekend: WEEKEND, holidays: [], ...YEARS }

/** Where and by which calendar a rail counts its days. */
export interface RailDays {
  readonly zone: string
  /** Null: open on every day. */
  readonly calendar: BusinessCalendar | null
}

const CALENDARS: Partial<Record<Rail, BusinessCalendar>> = {
  sepa: TARGET, target2: TARGET, chaps: ENGLAND, bacs: ENGLAND, ach: FEDERAL_RESERVE, ach_same_day: FEDERAL_RESERVE, fedwire: FEDERAL_RESERVE,
}

/** Of the rails that are open around the clock; the others say their zone with their cut-off. */
const ZONES: Partial<Record<Rail, string>> = {
  sepa_instant: 'Europe/Brussels', faster_payments: 'Europe/London', rtp: 'America/New_York', fednow: 'America/New_York', pl_express_elixir: 'Europe/Warsaw',
  au_npp: 'Australia/Sydney', sg_fast: 'Asia/Singapore', hk_fps: 'Asia/Hong_Kong', in_imps: 'Asia/Kolkata', in_neft: 'Asia/Kolkata', in_rtgs: 'Asia/Kolkata',
  mx_spei: 'America/Mexico_City', za_rtc: 'Africa/Johannesburg',
}

const RAIL_DAYS: ReadonlyMap<Rail, RailDays> = new Map([...RAILS.values()].map(({ rail, cutOff }): [Rail, RailDays] => {
  const zone = cutOff === null ? ZONES[rail] : cutOff.zone
  return [rail, { zone: zone === undefined || zone === PARTNER_ZONE ? 'UTC' : zone, calendar: cutOff === null ? null : CALENDARS[rail] ?? WEEKENDS }]
}))
const UNKNOWN: RailDays = { zone: 'UTC', calendar: null }

/** The days of a rail; of one that is not known: every day, in UTC. */
export function railDays(rail: string): RailDays {
  return RAIL_DAYS.get(rail as Rail) ?? UNKNOWN
}
