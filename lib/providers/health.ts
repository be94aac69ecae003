/**
 * The health of a connection to a banking partner, from the calls of the last minutes on all nodes. Pure.
 *
 * A call counts as an error for a technical reason alone: no answer, an answer that cannot be read, a server error, a
 * credential that is refused. The refusal of an order is an answer.
 */
import { MINUTE_MS } from '../base/clock.ts'

/**
 * `healthy`; `degraded`: slow, or some calls fail; `down`: most calls fail; `paused`: so many calls in a row have failed
 * that only probes are sent until one succeeds.
 */
export const HEALTH_STATES = ['healthy', 'degraded', 'down', 'paused'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

/** The calls of this time count, in slots of this length. */
export const HEALTH_WINDOW_MS = 5 * MINUTE_MS
export const HEALTH_SLOT_MS = 10_000

/** Failures in a row after which a connection is down, and after which it is not polled any more. */
const DOWN_AFTER = 3
export const PAUSED_AFTER = 10
/** Shares of failed calls, each with the calls that are needed to judge by it. */
const DOWN = { calls: 4, percent: 50 } as const
const DEGRADED = { calls: 10, percent: 10 } as const
/** Calls slower than this at the 95th percentile make a connection `degraded`: half of what a call may take. */
const SLOW_MS = 5_000

/** Upper bounds of the classes of latencies, milliseconds; a last class holds what took longer. */
export const LATENCY_BOUNDS_MS = [50, 100, 200, 500, 1_000, 2_000, SLOW_MS, 10_000, 30_000] as const

/** The result of one call. */
export interface CallOutcome {
  readonly ok: boolean
  readonly latencyMs: number
  /** The fault, in words for staff and without secrets. */
  readonly error?: string
}

/** Calls, counted. `latencies` has one number more than `LATENCY_BOUNDS_MS`. */
export interface CallCount {
  readonly calls: number
  readonly errors: number
  readonly latencies: readonly number[]
}

export const NO_CALLS: CallCount = { calls: 0, errors: 0, latencies: LATENCY_BOUNDS_MS.map(() => 0).concat(0) }

/** The calls since a node last told of them, with those that failed since the last success. */
export interface CallTally extends CallCount {
  readonly failuresInRow: number
  /** Whether any of them succeeded: then failures that other nodes saw before are over. */
  readonly succeeded: boolean
  readonly lastError: string | null
}

export const NO_TALLY: CallTally = { ...NO_CALLS, failuresInRow: 0, succeeded: false, lastError: null }

const classOf = (latencyMs: number): number => {
  const found = LATENCY_BOUNDS_MS.findIndex((bound) => latencyMs <= bound)
  return found === -1 ? LATENCY_BOUNDS_MS.length : found
}

/** Adds a call. */
export function countCall(tally: CallTally, { ok, latencyMs, error }: CallOutcome): CallTally {
  const at = classOf(latencyMs)
  return {
    calls: tally.calls + 1,
    errors: tally.errors + (ok ? 0 : 1),
    latencies: tally.latencies.map((count, index) => (index === at ? count + 1 : count)),
    failuresInRow: ok ? 0 : tally.failuresInRow + 1,
    succeeded: tally.succeeded || ok,
    lastError: ok ? tally.lastError : (error ?? 'The provider did not answer as expected.'),
  }
}

/** Adds up the failures in a row: a success among the newer calls ends those before. */
export const failuresAfter = (before: number, { failuresInRow, succeeded }: CallTally): number =>
  succeeded ? failuresInRow : before + failuresInRow

/** The slot of a time, epoch milliseconds. */
export const slotOf = (now: number): number => now - (now % HEALTH_SLOT_MS)

/** The bound that 95 of 100 calls did not exceed, milliseconds; null without calls, and where calls took longer. */
export function p95Of({ calls, latencies }: CallCount): number | null {
  if (calls === 0) return null
  let left = Math.ceil(calls * 0.95)
  for (const [index, count] of latencies.entries()) {
    left -= count
    if (left <= 0) return LATENCY_BOUNDS_MS[index] ?? null
  }
  return null
}

/** Judges the calls of the window. Without calls a connection is healthy, unless failures were the last that it had. */
export function healthOf(window: CallCount, failuresInRow: number): HealthState {
  const { calls, errors } = window
  const atLeast = (limit: typeof DOWN | typeof DEGRADED) =>
    calls >= limit.calls && errors * 100 >= limit.percent * calls
  if (failuresInRow >= PAUSED_AFTER) return 'paused'
  if (failuresInRow >= DOWN_AFTER || (failuresInRow > 0 && atLeast(DOWN))) return 'down'
  const p95 = p95Of(window)
  if (atLeast(DEGRADED) || (calls > 0 && (p95 === null || p95 > SLOW_MS))) return 'degraded'
  return 'healthy'
}
