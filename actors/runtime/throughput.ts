/** Measures how many things are done in a second, over windows of time; at least `min`, also before the first window. */
import type { Clock } from '../../lib/base/clock.ts'

export class Throughput {
  readonly #options: { readonly clock: Clock; readonly min: number; readonly windowMs: number }
  #since = 0
  #count = 0
  #perSecond: number

  constructor(options: { readonly clock: Clock; readonly min: number; readonly windowMs: number }) {
    this.#options = options
    this.#perSecond = options.min
  }

  get perSecond(): number {
    return this.#perSecond
  }

  /** Counts things that were done now. */
  count(done: number): void {
    const { clock, min, windowMs } = this.#options
    const now = clock.now()
    if (now - this.#since > windowMs) {
      if (this.#count > 0) this.#perSecond = Math.max(min, Math.round((this.#count * 1_000) / (now - this.#since)))
      this.#since = now
      this.#count = 0
    }
    this.#count += done
  }
}
