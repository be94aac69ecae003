/**
 * Which days the rails are closed on: by which calendar and in which zone each counts.
 *
 * By `swift` a payment goes through countries that nobody knows beforehand, so of it only the weekends are known. What a calendar does
 * not know can be set for a connection (`closedDays`).
 */
import {
  AUSTRALIA, CANADA, CZECHIA, DENMARK, EMIRATES, ENGLAND, EVERY_DAY, FEDERAL_RESERVE, HONG_KONG, HUNGARY, JAPAN, NORWAY, POLAND, ROMANIA, SINGAPORE, SOUTH_AFRICA, SWEDEN, SWITZERLAND, TARGET,
  WEEKENDS, type BusinessCalendar,
} from './national-calendars.ts'
import { PARTNER_ZONE, RAILS, type Rail } from './rails.ts'

/** Where and by which calendar a rail counts its days. */
export interface RailDays {
  readonly zone: string
  /** Null: open on every day. */
  readonly calendar: BusinessCalendar | null
}

const CALENDARS: Partial<Record<Rail, BusinessCalendar>> = {
  sepa: TARGET, target2: TARGET, chaps: ENGLAND, bacs: ENGLAND, ach: FEDERAL_RESERVE, ach_same_day: FEDERAL_RESERVE, fedwire: FEDERAL_RESERVE,
  pl_elixir: POLAND, ch_sic: SWITZERLAND, se_domestic: SWEDEN, no_domestic: NORWAY, dk_domestic: DENMARK, cz_certis: CZECHIA, hu_giro: HUNGARY, ro_transfond: ROMANIA,
  au_becs: AUSTRALIA, nz_becs: EVERY_DAY, ca_eft: CANADA, sg_giro: SINGAPORE, hk_chats: HONG_KONG, jp_zengin: JAPAN, za_eft: SOUTH_AFRICA, ae_uaefts: EMIRATES,
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
