/** The times at which a failed delivery is tried again. The texts of the contract and of the README follow them. */
import { HOUR_MS, MINUTE_MS } from '../base/clock.ts'

/** Delays after the first failure, the second, and so on; the last one repeats. */
export const RETRY_DELAYS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
] as const
/** A delivery is tried for this long, counted from its event or its redelivery. */
export const RETRY_WINDOW_MS = 72 * HOUR_MS
/** An endpoint is paused after so many failures in a row. */
export const PAUSE_AFTER_FAILURES = 20
/** An endpoint is disabled after failing for this long without a success. */
export const DISABLE_AFTER_MS = 72 * HOUR_MS
/**
 * A random addition of up to this part of a delay, so that a receiver that recovers does not get all deliveries at
 * once.
 */
const JITTER = 0.1

export interface FailedAttempt {
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** Attempts made in this window, this one included. */
  readonly attempts: number
  readonly windowEndsAt: number
  /** The delay that the receiver asked for in `Retry-After`. */
  readonly retryAfterMs: number | null
  /** A random number, 0 to 1. */
  readonly chance: number
}

/**
 * Returns the time of the next attempt; null when none is left within the window. A receiver may ask for a longer
 * delay, but not for a longer one than the step after this one.
 */
export function nextAttemptAt({ endedAt, attempts, windowEndsAt, retryAfterMs, chance }: FailedAttempt): number | null {
  const step = (nth: number): number => RETRY_DELAYS_MS[Math.min(nth, RETRY_DELAYS_MS.length - 1)] as number
  const delay = Math.round(step(attempts - 1) * (1 + JITTER * chance))
  const patient = retryAfterMs === null ? delay : Math.max(delay, Math.min(retryAfterMs, step(attempts)))
  const at = endedAt + patient
  return at <= windowEndsAt ? at : null
}

/** Parses `Retry-After`, seconds or a date, to milliseconds. Null when it is absent or invalid. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  // Date.parse also reads a plain number as a year, so only texts with letters are parsed.
  const at = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
