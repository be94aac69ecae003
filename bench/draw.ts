/**
 * Draws from 0 to `count` - 1, evenly. A linear congruence is random enough to spread load and costs next to nothing.
 */
export class Draw {
  readonly #count: number
  #state: number

  constructor(count: number, seed = 1) {
    this.#count = count
    this.#state = seed
  }

  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * this.#count)
  }
}
