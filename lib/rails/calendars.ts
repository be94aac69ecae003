/**
 * The calendar and the time zone by which each rail counts its days.
 *
 * A payment by `swift` goes through countries that are not known beforehand, so for `swift` only weekends are known.
 * Days that a calendar does not know can be set for a connection (`closedDays`).
 */
import {
  AUSTRALIA,
  CANADA,
  CZECHIA,
  DENMARK,
  EMIRATES,
  ENGLAND,
  EVERY_DAY,
  FEDERAL_RESERVE,
  HONG_KONG,
  HUNGARY,
  JAPAN,
  NORWAY,
  POLAND,
  ROMANIA,
  SINGAPORE,
  SOUTH_AFRICA,
  SWEDEN,
  SWITZERLAND,
  TARGET,
  WEEKENDS,
  type BusinessCalendar,
} from './national-calendars.ts'
import { PARTNER_ZONE, RAILS, type Rail } from './rails.ts'

/** The zone and the calendar of a rail. */
export interface RailDays {
  readonly zone: string
  /** Null: open on every day. */
  readonly calendar: BusinessCalendar | null
}

const CALENDARS: Partial<Record<Rail, BusinessCalendar>> = {
  sepa: TARGET,
  target2: TARGET,
  chaps: ENGLAND,
  bacs: ENGLAND,
  ach: FEDERAL_RESERVE,
  ach_same_day: FEDERAL_RESERVE,
  fedwire: FEDERAL_RESERVE,
  pl_elixir: POLAND,
  ch_sic: SWITZERLAND,
  se_domestic: SWEDEN,
  no_domestic: NORWAY,
  dk_domestic: DENMARK,
  cz_certis: CZECHIA,
  hu_giro: HUNGARY,
  ro_transfond: ROMANIA,
  au_becs: AUSTRALIA,
  nz_becs: EVERY_DAY,
  ca_eft: CANADA,
  sg_giro: SINGAPORE,
  hk_chats: HONG_KONG,
  jp_zengin: JAPAN,
  za_eft: SOUTH_AFRICA,
  ae_uaefts: EMIRATES,
}

/** Zones of the rails that are open around the clock; the zone of each other rail is that of its cut-off. */
const ZONES: Partial<Record<Rail, string>> = {
  sepa_instant: 'Europe/Brussels',
  faster_payments: 'Europe/London',
  rtp: 'America/New_York',
  fednow: 'America/New_York',
  pl_express_elixir: 'Europe/Warsaw',
  au_npp: 'Australia/Sydney',
  sg_fast: 'Asia/Singapore',
  hk_fps: 'Asia/Hong_Kong',
  in_imps: 'Asia/Kolkata',
  in_neft: 'Asia/Kolkata',
  in_rtgs: 'Asia/Kolkata',
  mx_spei: 'America/Mexico_City',
  za_rtc: 'Africa/Johannesburg',
}

const RAIL_DAYS: ReadonlyMap<Rail, RailDays> = new Map(
  [...RAILS.values()].map(({ rail, cutOff }): [Rail, RailDays] => {
    const zone = cutOff === null ? ZONES[rail] : cutOff.zone
    return [
      rail,
      {
        zone: zone === undefined || zone === PARTNER_ZONE ? 'UTC' : zone,
        calendar: cutOff === null ? null : (CALENDARS[rail] ?? WEEKENDS),
      },
    ]
  }),
)
const UNKNOWN: RailDays = { zone: 'UTC', calendar: null }

/** Returns the days of a rail. A rail that is not known is open every day, in UTC. */
export function railDays(rail: string): RailDays {
  return RAIL_DAYS.get(rail as Rail) ?? UNKNOWN
}
