/**
 * Whether a rate holds: the arithmetic of P13. Payments under way must not grow in number, and what follows the
 * payments' events must not fall behind, or a part of each life is paid later, when nobody measures.
 */

/** The longest time that a follower may be behind at the end of a measurement, seconds. */
export const LAG_MAX_SECONDS = 2
/** A follower whose lag has risen by this much from the first readings to the last is falling behind, seconds. */
const LAG_RISE_MAX_SECONDS = 1
/** Of the rate, a second. Less than this is the breathing of batches, not growth. */
const GROWTH_MAX = 0.02
/** A queue also grows before the door: requests that wait this long for their answer are not being kept up with. */
const WAIT_MAX_MS = 1_000

/** A value at a time, milliseconds. */
export interface Reading {
  readonly at: number
  readonly value: number
}

/** How far a follower was behind during a measurement, seconds. */
export interface Lag {
  readonly begin: number
  readonly end: number
  readonly most: number
}

/**
 * Sums up the readings of a lag, one a second. A follower works in passes, and its lag falls with each: at the beginning
 * and at the end the lowest of `perPass` readings counts, which is what a pass leaves behind. Without readings the lag
 * is unknown and has no bound.
 */
export function lagOf(seconds: readonly number[], perPass: number): Lag {
  const unknown = Number.POSITIVE_INFINITY
  return {
    begin: Math.min(unknown, ...seconds.slice(0, perPass)),
    end: Math.min(unknown, ...seconds.slice(-perPass)),
    most: seconds.length === 0 ? unknown : Math.max(...seconds),
  }
}

/** Whether a follower keeps up: it is little behind at the end, and not on its way to more. */
export function lagIsBounded({ begin, end }: Lag): boolean {
  return end < LAG_MAX_SECONDS && end - begin < LAG_RISE_MAX_SECONDS
}

/**
 * The lag of the journal's chain, seconds, from lines: those that wait, at the pace at which lines were written between
 * the first reading and the last. All lists have the same length.
 */
export function chainLag(waiting: readonly Reading[], written: readonly Reading[]): number[] {
  const [first, last] = [written[0], written.at(-1)]
  if (first === undefined || last === undefined) return []
  const perSecond = ((last.value - first.value) * 1000) / (last.at - first.at)
  return waiting.map(({ value }) => (value === 0 ? 0 : perSecond > 0 ? value / perSecond : Number.POSITIVE_INFINITY))
}

/** The slope of the line through the readings, a second; zero when there are fewer than two. */
export function growthOf(readings: readonly Reading[]): number {
  if (readings.length < 2) return 0
  const meanAt = readings.reduce((sum, { at }) => sum + at, 0) / readings.length
  const mean = readings.reduce((sum, { value }) => sum + value, 0) / readings.length
  const above = readings.reduce((sum, { at, value }) => sum + (at - meanAt) * (value - mean), 0)
  const below = readings.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0)
  return (above / below) * 1000
}

/** What a rate came to. */
export interface Held {
  readonly arrivalsPerSecond: number
  /** Of requests that succeeded. */
  readonly rate: number
  readonly failures: number
  readonly p50Ms: number
  /** Of payments under way, a second. */
  readonly growth: number
  readonly lags: Readonly<Record<string, Lag>>
}

/** Whether the rate holds: every request is answered in time, and nothing behind the answers grows. */
export function holds({ arrivalsPerSecond, rate, failures, p50Ms, growth, lags }: Held): boolean {
  return (
    growth <= GROWTH_MAX * arrivalsPerSecond &&
    failures === 0 &&
    p50Ms <= WAIT_MAX_MS &&
    rate >= (1 - GROWTH_MAX) * arrivalsPerSecond &&
    Object.values(lags).every(lagIsBounded)
  )
}

/** The lags in words: at the end, and the most. */
export function lagText(lags: Readonly<Record<string, Lag>>): string {
  const each = Object.entries(lags).map(([name, { end, most }]) => `${name} ${end.toFixed(1)} (${most.toFixed(1)})`)
  return `lag at the end (most), s: ${each.join(', ')}`
}
