/**
 * Compares the node's clock with that of Postgres. Rows carry the node's time, while Postgres determines their
 * partition, the range of the last hour and the end of locks. So a node whose clock is far off does not start, and a
 * node whose clock drifts away reports it.
 */
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import { StartError } from '../../lib/base/errors.ts'
import type { Database } from '../../storage/db/database.ts'
import { measureClock } from '../../storage/db/server-clock.ts'
import { Poller } from './poller.ts'

/**
 * Clocks that are set by NTP differ by less than a tenth of a second. At a difference of 5 s, a code of an
 * authenticator (30 s) still works, and events of two nodes are still in a plausible order; a larger difference means a
 * fault of the machine.
 */
export const CLOCK_TOLERANCE_MS = 5_000
const TICK_MS = MINUTE_MS

export interface ClockWatchOptions {
  readonly database: Database
  /** The machine's own clock. */
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
  /** Called every minute while the difference is above the tolerance. Milliseconds; positive: this node is ahead. */
  readonly onDifference: (aheadMs: number) => void
}

export class ClockWatch extends Poller {
  readonly #options: ClockWatchOptions
  #aheadMs = 0

  constructor(options: ClockWatchOptions) {
    super({ everyMs: TICK_MS, poll: () => this.poll(), onError: (error) => options.onError(error, 'the clock') })
    this.#options = options
  }

  /** The seconds by which this node's clock was ahead of Postgres at the last measurement. */
  get aheadSeconds(): number {
    return this.#aheadMs / 1_000
  }

  /** Measures, and reports a difference above the tolerance. @throws database errors */
  async poll(): Promise<void> {
    const aheadMs = await this.#measure()
    if (aheadMs !== null) this.#options.onDifference(aheadMs)
  }

  /** Measures for the first time. @throws StartError when the clocks differ too much */
  async check(): Promise<void> {
    const aheadMs = await this.#measure()
    if (aheadMs === null) return
    const seconds = Math.round(Math.abs(aheadMs) / 1_000)
    throw new StartError(
      `The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database, ` +
        `more than the ${CLOCK_TOLERANCE_MS / 1_000} s allowed; set both by NTP.`,
    )
  }

  /**
   * @returns the difference when it is above the tolerance even after subtracting the error of measurement; otherwise
   *   null
   */
  async #measure(): Promise<number | null> {
    const { aheadMs, withinMs } = await measureClock(this.#options.database, this.#options.clock)
    this.#aheadMs = aheadMs
    return Math.abs(aheadMs) - withinMs > CLOCK_TOLERANCE_MS ? aheadMs : null
  }
}
