/**
 * Runs the work on each key one after the other within this node, so that commands about one row do not meet in one
 * commit, which refuses all but one of them. Between nodes the versions of the rows decide (I3).
 */
export class InTurn {
  /** The last work on each key. */
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Runs the work when the work begun before it on the same key has ended, successfully or not. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key)
    const own = before === undefined ? work() : before.then(work, work)
    this.#tails.set(key, own)
    try {
      return await own
    } finally {
      if (this.#tails.get(key) === own) this.#tails.delete(key)
    }
  }
}
