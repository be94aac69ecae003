/**
 * The calendar and the time zone by which each rail counts its days.
 *
 * A payment by `swift` goes through countries that are not known beforehand, so for `swift` only weekends are known.
 * Days that a calendar does not know can be set for a connection (`closedDays`).
 */
import type { BusinessCalendar } from './national-calendars.ts'
import { PARTNER_ZONE, RAILS, type Rail } from './rails.ts'

/** The zone and the calendar of a rail. */
export interface RailDays {
  readonly zone: string
  /** Null: open on every day. */
  readonly calendar: BusinessCalendar | null
}

/** The zone of the partner's own country, in which its cut-offs are: that of the sandbox bank. */
const PARTNERS_OWN_ZONE = 'UTC'

const RAIL_DAYS: ReadonlyMap<Rail, RailDays> = new Map(
  [...RAILS.values()].map(({ rail, zone, calendar }) => [
    rail,
    { zone: zone === PARTNER_ZONE ? PARTNERS_OWN_ZONE : zone, calendar },
  ]),
)
const UNKNOWN: RailDays = { zone: 'UTC', calendar: null }

/** Returns the days of a rail. A rail that is not known is open every day, in UTC. */
export function railDays(rail: Rail): RailDays {
  return RAIL_DAYS.get(rail) ?? UNKNOWN
}
