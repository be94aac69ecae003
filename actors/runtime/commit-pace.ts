/**
 * When the next commit of a lane begins. A commit costs a backend some 450 µs however few commands it has, and 45 µs
 * for each of them, so commits that follow each other as quickly as they can waste most of what they cost. After a
 * shared commit the next one therefore begins PACE_MS after that one began.
 *
 * A commit waits for nothing when it follows one of a single command or one that took as long as the pace, or when
 * ENOUGH commands wait for it, as they do under many callers that each wait for an answer. It waits no longer when as
 * many commands wait as were under way when the last commit ended: callers that send a command when they have the answer
 * to the one before are all back then, and no other will come.
 */

/** From the beginning of a shared commit to that of the next one, milliseconds. */
const PACE_MS = 6
/** A commit of so many commands and more is shared. */
const SHARED_MIN = 2
/** Commands that are worth a commit without a pause: each bears less than half of its own cost on top. */
const ENOUGH = 24

export class CommitPace {
  readonly #now: () => number
  #beganAt = Number.NEGATIVE_INFINITY
  /** Commands of the last commit; 0 while a commit is under way, and after one that wrote nothing. */
  #committed = 0
  /** Commands that were under way when the last commit ended: its own, and those that waited. */
  #underWay = 0
  #endPause: (() => void) | undefined

  /** `now` is a monotonic clock, milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Notes that a commit is sent. */
  began(): void {
    this.#beganAt = this.#now()
    this.#committed = 0
  }

  /** Notes that the commit has written its commands; `waiting` is the number of those that came meanwhile. */
  ended(commands: number, waiting: number): void {
    this.#committed = commands
    this.#underWay = commands + waiting
  }

  /** Returns the pause before a commit for which so many commands wait; undefined when it begins at once. */
  pause(waiting: number): Promise<void> | undefined {
    if (this.#committed < SHARED_MIN || waiting >= Math.min(ENOUGH, this.#underWay)) return undefined
    // Timers count whole milliseconds.
    const ms = Math.floor(this.#beganAt + PACE_MS - this.#now())
    if (ms < 1) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => this.#endPause?.(), ms)
    this.#endPause = () => {
      clearTimeout(timer)
      this.#endPause = undefined
      resolve()
    }
    return promise
  }

  /** Notes that a command came; `waiting` is the number of all that wait now. */
  arrived(waiting: number): void {
    if (waiting >= this.#underWay) this.#endPause?.()
  }
}
