/**
 * Writes the transactions that events cause, a quarter of a second after the events. Every node polls and one at a time
 * writes (storage/transactions/transactions.ts). After a stop or a crash, the next pass of any node does the rest.
 *
 * In a flood of commands payments go first: making a transaction row costs Postgres about as much as making the
 * payment, so a pass is then followed by a rest of REST_TIMES its own time. The follower falls behind and catches up
 * when the flood is over. A reader in the meantime still finds their own latest changes (`catchUp`).
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { followTransactions } from '../../storage/transactions/transactions.ts'
import { Poller } from '../runtime/poller.ts'
import { untilEvents } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'

const TICK_MS = 250
/** The number of commands per second of this node that counts as a flood. A follower with rests keeps up with fewer. */
const FLOOD_PER_SECOND = 500
/** In a flood, the rest after a pass as a multiple of the pass: the follower then uses a ninth of one connection. */
const REST_TIMES = 8
const REST_MAX_MS = 2_000

/**
 * Computes the rest after a pass of `passMs`, from the commands that this node has committed in the last `elapsedMs`.
 */
export function restAfter(passMs: number, commands: number, elapsedMs: number): number {
  return commands * 1_000 > FLOOD_PER_SECOND * elapsedMs ? Math.min(passMs * REST_TIMES, REST_MAX_MS) : 0
}

export interface TransactionFollowerOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  /** Returns the number of commands that this node has committed so far. */
  readonly commands: () => number
  readonly onError: (error: unknown, what: string) => void
}

export class TransactionFollower {
  readonly #options: TransactionFollowerOptions
  readonly #poller: Poller
  #stopping = false
  #lagMs = 0
  /** No pass begins before this time; monotonic milliseconds. */
  #restUntil = 0
  #seen: { readonly at: number; readonly commands: number }

  constructor(options: TransactionFollowerOptions) {
    this.#options = options
    this.#seen = { at: performance.now(), commands: options.commands() }
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#follow(),
      rest: untilEvents(options, 'transaction_following'),
      onError: (error) => options.onError(error, 'transactions'),
    })
  }

  /** The age of the oldest event that the last pass of this node found, seconds. */
  get lagSeconds(): number {
    return this.#lagMs / 1000
  }

  /** Starts following. */
  start(): void {
    this.#poller.start()
  }

  /** Stops after the pass in progress. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#poller.stop()
  }

  async #follow(): Promise<void> {
    const { database, clock } = this.#options
    for (let more = true; more && !this.#stopping && performance.now() >= this.#restUntil; ) {
      const begin = performance.now()
      const pass = await followTransactions(database, clock.now())
      if (pass.lagMs !== null) this.#lagMs = pass.lagMs
      more = pass.more
      const [before, now] = [this.#seen, { at: performance.now(), commands: this.#options.commands() }]
      this.#seen = now
      this.#restUntil = now.at + restAfter(now.at - begin, now.commands - before.commands, now.at - before.at)
    }
  }
}
