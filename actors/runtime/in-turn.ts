import { LIMITS } from '../../lib/base/limits.ts'
import { Overloaded } from './lane.ts'

/**
 * Runs the work on each key one after the other within this node. Without it, commands about one row would meet in one
 * commit, or wait for one lock with a connection each; all but one of them would be read and decided again, once for
 * each that comes first. Between nodes the versions and locks of the rows decide (I3).
 */
export class InTurn {
  /** For each key that is worked on here: the last work, and the number of works that have not ended. */
  readonly #turns = new Map<string, { tail: Promise<unknown>; waiting: number }>()

  /** Tells whether work on a key would begin at once. */
  isFree(key: string): boolean {
    return !this.#turns.has(key)
  }

  /**
   * Runs the work when the work begun before it on the same key has ended, successfully or not.
   *
   * @throws Overloaded when too many wait for the key; the errors of the work
   */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turns.get(key) ?? { tail: Promise.resolve(), waiting: 0 }
    if (turn.waiting >= LIMITS.turnsMax) throw new Overloaded('Too many requests are waiting; try again shortly.')
    const own = turn.waiting === 0 ? work() : turn.tail.then(work, work)
    turn.tail = own
    turn.waiting += 1
    this.#turns.set(key, turn)
    try {
      return await own
    } finally {
      turn.waiting -= 1
      if (turn.waiting === 0) this.#turns.delete(key)
    }
  }
}
