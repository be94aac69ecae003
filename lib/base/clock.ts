/**
 * Time: the only reader of the wall clock, timestamps as the API prints them, and calendar dates in a rail's own zone.
 * All other code receives a `Clock`.
 */

/** Lengths of time in milliseconds. A day here is 24 hours, as in UTC, which has no clock changes. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A source of the current time. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
  /**
   * Registers a listener, which is called when the clock was moved. Clocks that run evenly have none; a sleep of 30 s
   * at most (actors/runtime/poller.ts) bounds what a moved clock of the machine delays.
   */
  onJump?(listener: () => void): void
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() }

/**
 * Computes the time of a change that follows another change: always at least one millisecond after it. The code may
 * have waited for a lock since it read its clock, or the other node's clock may be ahead; sorting by time still gives
 * the order in which the changes happened. Epoch milliseconds.
 */
export function laterThan(last: number, now: number): number {
  return Math.max(now, Math.floor(last) + 1)
}

/** A clock that stands still until it is moved: for tests and simulations. */
export class ManualClock implements Clock {
  #ms: number
  readonly #onJump: (() => void)[] = []

  /** Starts at the given epoch milliseconds. */
  constructor(ms: number) {
    this.#ms = ms
  }

  now(): number {
    return this.#ms
  }

  /** Moves the clock forward, or back when `ms` is negative. */
  advance(ms: number): void {
    this.#ms += ms
    for (const listener of this.#onJump) listener()
  }

  onJump(listener: () => void): void {
    this.#onJump.push(listener)
  }
}

const MS_SUFFIX = Array.from({ length: 1000 }, (_, ms) => `.${ms.toString().padStart(3, '0')}Z`)

// Rows written together share a few different seconds (now, the expected arrival, a day ago), so the eight seconds
// formatted last are cached; the low three bits of a second choose its slot.
const KEPT_SECONDS = 8
const keptSeconds = new Float64Array(KEPT_SECONDS).fill(Number.NaN)
const keptPrefixes = new Array<string>(KEPT_SECONDS).fill('')

/** The last millisecond that RFC 3339 can write, in epoch milliseconds. */
export const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Epoch milliseconds as RFC 3339 in UTC with milliseconds, for example `2026-03-01T09:30:00.000Z`.
 * Throws RangeError outside the years 0000 to 9999, which RFC 3339 cannot write.
 */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000)
  const place = second & (KEPT_SECONDS - 1)
  if (keptSeconds[place] !== second) {
    const text = new Date(second * 1000).toISOString()
    if (text.length !== 24) throw new RangeError(`time ${ms} lies outside the years RFC 3339 can write`)
    keptPrefixes[place] = text.slice(0, 19)
    keptSeconds[place] = second
  }
  return keptPrefixes[place]! + MS_SUFFIX[Math.floor(ms - second * 1000)]!
}

// The current day of each zone in use: a few dozen rail zones, so the cache needs no bound.
const days = new Map<string, { readonly date: string; readonly from: number; readonly until: number }>()

/**
 * Returns the calendar date (`YYYY-MM-DD`) that clocks in an IANA zone show at a moment. The last local day of each
 * zone is cached with its first and last millisecond, so daylight saving changes are exact and most calls cost two
 * comparisons. Throws RangeError when the zone is unknown.
 */
export function dateIn(ms: number, zone: string): string {
  const known = days.get(zone)
  if (known !== undefined && ms >= known.from && ms < known.until) return known.date
  const date = Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(zone).toPlainDate()
  const day = {
    date: date.toString(),
    from: date.toZonedDateTime(zone).epochMilliseconds,
    until: date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds,
  }
  days.set(zone, day)
  return day.date
}

/**
 * Returns the date `n` calendar days after a `YYYY-MM-DD` date, or before it when `n` is negative. Throws RangeError on
 * an invalid date.
 */
export function addDays(date: string, n: number): string {
  return Temporal.PlainDate.from(date).add({ days: n }).toString()
}
