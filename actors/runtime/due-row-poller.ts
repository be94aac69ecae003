/**
 * Polls due rows of the shards of this node and follows each row on its own. A row is claimed until a time, after which
 * another node may claim it, so that the row of a dead node is taken again. The code that follows a row sets its next
 * due time.
 */
import type { Shards } from '../../lib/shards/shards.ts'
import { plainArrayOrNull } from '../../storage/db/array-literal.ts'
import type { DueWork } from '../../storage/db/due-work.ts'
import { Poller } from './poller.ts'
import { untilDue, type RestDeps } from './rest.ts'
import type { Wake } from './wakes.ts'

/** The rows to claim, and the end of the claim. Times are epoch milliseconds. */
export interface DueClaim {
  readonly now: number
  readonly until: number
  /** The shards as an array literal; null for all. */
  readonly shards: string | null
  readonly max: number
}

export interface DueRowPollerOptions<Row> extends RestDeps {
  /** The table of the rows. */
  readonly work: DueWork
  /** Further wakes that end the rest, for a table without a trigger. */
  readonly also?: readonly Wake[]
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
  /** The poll interval, and the number of rows taken per poll. */
  readonly everyMs: number
  readonly max: number
  /** The claim time, longer than the work on any row takes. After it, another node takes the row of a dead node. */
  readonly takenMs: number
  /** A name for the rows, for the log. */
  readonly what: string
  readonly take: (claim: DueClaim) => Promise<readonly Row[]>
  readonly follow: (row: Row) => Promise<void>
  readonly nameOf: (row: Row) => string
}

export abstract class DueRowPoller<Row> extends Poller {
  readonly #options: DueRowPollerOptions<Row>

  constructor(options: DueRowPollerOptions<Row>) {
    super({
      everyMs: options.everyMs,
      poll: () => this.#poll(),
      rest: untilDue(options, [options.work], options.also),
      onError: (error) => options.onError(error, options.what),
    })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { clock, shards, take, takenMs, max, follow, nameOf, onError } = this.#options
    const [now, owned] = [clock.now(), shards.owned()]
    const due = await take({ now, until: now + takenMs, shards: plainArrayOrNull(owned), max })
    await Promise.all(due.map((row) => follow(row).catch((error: unknown) => onError(error, nameOf(row)))))
  }
}
