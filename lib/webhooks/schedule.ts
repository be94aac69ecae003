/** When a failed delivery is tried again. */
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** After the first failure, the second, and so on; the last one repeats. */
export const RETRY_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS] as const
/** How long a delivery is tried, counted from its event or its redelivery. */
export const RETRY_WINDOW_MS = 72 * HOUR_MS
/** An endpoint that fails this often in a row is paused. */
export const PAUSE_AFTER_FAILURES = 20
/** An endpoint that has failed for this long without a success is disabled. */
export const DISABLE_AFTER_MS = 72 * HOUR_MS
/** Up to this part of a delay is added by chance, so that a receiver that comes back is not met by everything at once. */
const JITTER = 0.1

export interface FailedAttempt {
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** Attempts made in this window, this one included. */
  readonly attempts: number
  readonly windowEndsAt: number
  /** What the receiver asked for in `Retry-After`. */
  readonly retryAfterMs: number | null
  /** 0 to 1. */
  readonly chance: number
}

/**
 * When the next attempt is due; null when none is left within the window. A receiver may ask for more patience, but not for
 * more than the step after this one.
 */
export function nextAttemptAt({ endedAt, attempts, windowEndsAt, retryAfterMs, chance }: FailedAttempt): number | null {
  const step = (nth: number): number => RETRY_DELAYS_MS[Math.min(nth, RETRY_DELAYS_MS.length - 1)] as number
  const delay = Math.round(step(attempts - 1) * (1 + JITTER * chance))
  const patient = retryAfterMs === null ? delay : Math.max(delay, Math.min(retryAfterMs, step(attempts)))
  const at = endedAt + patient
  return at <= windowEndsAt ? at : null
}

/** `Retry-After` in milliseconds: seconds or a date. Null when it is absent or makes no sense. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  // Date.parse also takes numbers for years.
  const at = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
