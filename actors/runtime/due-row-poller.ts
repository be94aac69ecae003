/**
 * Rows that are due where this node is at home, each followed on its own: taken with a time from which another node may take
 * them, so one whose node dies is taken up again. What follows a row says when it is due the next time.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { plainArrayOrNull } from '../../storage/db/array-literal.ts'
import { Poller } from './poller.ts'

/** Which rows are taken, and until when. Times are epoch milliseconds. */
export interface DueClaim {
  readonly now: number
  readonly until: number
  /** As an array literal; null for all. */
  readonly shards: string | null
  readonly max: number
}

export interface DueRowPollerOptions<Row> {
  readonly clock: Clock
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
  /** How often a node looks, and how many rows it takes at a time. */
  readonly everyMs: number
  readonly max: number
  /** A row whose node died is taken up by another after this; longer than anything that follows it takes. */
  readonly takenMs: number
  /** What the rows are, for the log. */
  readonly what: string
  readonly take: (claim: DueClaim) => Promise<readonly Row[]>
  readonly follow: (row: Row) => Promise<void>
  readonly nameOf: (row: Row) => string
}

export abstract class DueRowPoller<Row> extends Poller {
  readonly #options: DueRowPollerOptions<Row>

  constructor(options: DueRowPollerOptions<Row>) {
    super({ everyMs: options.everyMs, poll: () => this.#poll(), onError: (error) => options.onError(error, options.what) })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { clock, shards, take, takenMs, max, follow, nameOf, onError } = this.#options
    const [now, owned] = [clock.now(), shards.owned()]
    const due = await take({ now, until: now + takenMs, shards: plainArrayOrNull(owned), max })
    await Promise.all(due.map((row) => follow(row).catch((error: unknown) => onError(error, nameOf(row)))))
  }
}
