/**
 * Lets work on one thing run one after the other within this process. It keeps two commands about one row out of one commit,
 * which writes a row once; between processes versions do that (I3).
 */
export class InTurn {
  /** The last work on each thing. */
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Runs the work when what was begun on the same thing before has ended, well or not. */
  async run<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(id)
    const mine = before === undefined ? work() : before.then(work, work)
    this.#tails.set(id, mine)
    try {
      return await mine
    } finally {
      if (this.#tails.get(id) === mine) this.#tails.delete(id)
    }
  }
}
