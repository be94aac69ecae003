/** An arrival of an open loop. */
export interface Arrival {
  /** When it falls due, milliseconds from the start of the loop. */
  readonly dueMs: number
  /** Whether it falls due in the measurement, and not in the warm-up. */
  readonly counted: boolean
}

/** A share of an arrival that is the error of a product of fractions, and no arrival. */
const ROUNDING = 1e-6

/**
 * The arrivals of an open loop, by number: arrival n falls due n / `perSecond` seconds after the start. How many there
 * are is computed once, from the plan alone. A second computation from the times of a clock may come to another number,
 * because such times are not exact, and a loop then waits at its end for an arrival that never comes.
 */
export class Arrivals {
  readonly #intervalMs: number
  readonly #uncounted: number
  readonly #total: number
  #taken = 0

  constructor({
    perSecond,
    warmupSeconds,
    seconds,
  }: {
    readonly perSecond: number
    readonly warmupSeconds: number
    readonly seconds: number
  }) {
    this.#intervalMs = 1000 / perSecond
    this.#uncounted = Math.ceil(warmupSeconds * perSecond - ROUNDING)
    this.#total = this.#uncounted + Math.ceil(seconds * perSecond - ROUNDING)
  }

  /** The number of arrivals that were not taken yet, due or not. */
  get left(): number {
    return this.#total - this.#taken
  }

  /** Takes the next arrival if it has fallen due by then, milliseconds from the start; null otherwise. */
  take(elapsedMs: number): Arrival | null {
    const nth = this.#taken
    const dueMs = nth * this.#intervalMs
    if (nth >= this.#total || dueMs > elapsedMs) return null
    this.#taken += 1
    return { dueMs, counted: nth >= this.#uncounted }
  }
}
