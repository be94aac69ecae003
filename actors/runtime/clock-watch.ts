/**
 * The node's clock beside that of Postgres. Rows carry the node's time, and Postgres decides which partition they are in, what an
 * hour ago was and when a lock ends, so a node whose clock is far off does not start, and one whose clock runs away says so.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { StartError } from '../../lib/base/errors.ts'
import type { Database } from '../../storage/db/database.ts'
import { measureClock } from '../../storage/db/server-clock.ts'
import { Poller } from './poller.ts'

/**
 * Clocks that are set by NTP are within a tenth of a second. At 5 s a code of an authenticator (30 s) still holds, and events of
 * two nodes are in an order that people can follow; beyond it something is wrong with the machine.
 */
export const CLOCK_TOLERANCE_MS = 5_000
const TICK_MS = 60_000

export interface ClockWatchOptions {
  readonly database: Database
  /** The machine's own clock. */
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
  /** Told every minute while the clocks are further apart than is tolerated. Milliseconds; positive: this node is ahead. */
  readonly onDifference: (aheadMs: number) => void
}

export class ClockWatch extends Poller {
  readonly #options: ClockWatchOptions
  #aheadMs = 0

  constructor(options: ClockWatchOptions) {
    super({ everyMs: TICK_MS, poll: () => this.poll(), onError: (error) => options.onError(error, 'the clock') })
    this.#options = options
  }

  /** By how many seconds this node's clock was ahead of Postgres' when it was measured last. */
  get aheadSeconds(): number { return this.#aheadMs / 1_000 }

  /** Measures, and tells of a difference that is not tolerated. @throws what the driver throws */
  async poll(): Promise<void> {
    const aheadMs = await this.#measure()
    if (aheadMs !== null) this.#options.onDifference(aheadMs)
  }

  /** Measures for the first time. @throws StartError when the clocks are too far apart */
  async check(): Promise<void> {
    const aheadMs = await this.#measure()
    if (aheadMs === null) return
    const seconds = Math.round(Math.abs(aheadMs) / 1_000)
    throw new StartError(`The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database, more than the ${CLOCK_TOLERANCE_MS / 1_000} s allowed; set both by NTP.`)
  }

  /** @returns the difference when it is not tolerated, whatever the measurement may be wrong by; else null */
  async #measure(): Promise<number | null> {
    const { aheadMs, withinMs } = await measureClock(this.#options.database, this.#options.clock)
    this.#aheadMs = aheadMs
    return Math.abs(aheadMs) - withinMs > CLOCK_TOLERANCE_MS ? aheadMs : null
  }
}
