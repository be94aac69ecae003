/**
 * Keeps transactions up with what causes them, a quarter of a second behind. Every node looks and one at a time writes
 * (storage/transactions/transactions.ts); what was not done when a node stopped or died is done by the next pass of any.
 *
 * In a flood of commands payments go first: making a row costs Postgres about what making the payment costs, so a pass is then
 * followed by a rest of REST_TIMES its own time. The follower falls behind and makes up for it when the flood is over; whoever
 * reads meanwhile still finds what they have just done (`catchUp`).
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { followTransactions } from '../../storage/transactions/transactions.ts'
import { Poller } from '../runtime/poller.ts'

const TICK_MS = 250
/** Commands a second of this node that are a flood. A rested follower keeps up with fewer. */
const FLOOD_PER_SECOND = 500
/** How long a pass is followed by nothing in a flood, as a multiple of its own time: a ninth of one connection is its share. */
const REST_TIMES = 8
const REST_MAX_MS = 2_000

/** How long the follower rests after a pass of `passMs`, by the commands that this node has committed in the last `elapsedMs`. */
export function restAfter(passMs: number, commands: number, elapsedMs: number): number {
  return commands * 1_000 > FLOOD_PER_SECOND * elapsedMs ? Math.min(passMs * REST_TIMES, REST_MAX_MS) : 0
}

export interface TransactionFollowerOptions {
  readonly database: Database
  readonly clock: Clock
  /** Commands that this node has committed so far. */
  readonly commands: () => number
  readonly onError: (error: unknown, what: string) => void
}

export class TransactionFollower {
  readonly #options: TransactionFollowerOptions
  readonly #poller: Poller
  #stopping = false
  #lagMs = 0
  /** Monotonic milliseconds; before then nothing is done. */
  #restUntil = 0
  #seen: { readonly at: number; readonly commands: number }

  constructor(options: TransactionFollowerOptions) {
    this.#options = options
    this.#seen = { at: performance.now(), commands: options.commands() }
    this.#poller = new Poller({ everyMs: TICK_MS, poll: () => this.#follow(), onError: (error) => options.onError(error, 'transactions') })
  }

  /** How old the oldest event was that the last pass of this node found, seconds. */
  get lagSeconds(): number { return this.#lagMs / 1000 }

  /** Begins to follow. */
  start(): void {
    this.#poller.start()
  }

  /** Stops after the pass that was begun. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#poller.stop()
  }

  async #follow(): Promise<void> {
    const { database, clock } = this.#options
    for (let more = true; more && !this.#stopping && performance.now() >= this.#restUntil;) {
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
