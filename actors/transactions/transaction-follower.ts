/**
 * Writes the transactions that events cause, a quarter of a second after the events. Every node polls and one at a time
 * writes (storage/transactions/transactions.ts). After a stop or a crash, the next pass of any node does the rest.
 *
 * In a flood of commands payments go first, for a second at most (follower-pace.ts). A reader in the meantime still
 * finds their own latest changes (`catchUp`).
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { followPending, followTransactions } from '../../storage/transactions/transactions.ts'
import { Poller } from '../runtime/poller.ts'
import { untilEvents } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import { FIRST_PACE, paceAfter, type FollowerPace } from './follower-pace.ts'

const TICK_MS = 250
const PENDING_TICK_MS = 1_000
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
  readonly #pending: Poller
  #stopping = false
  #lagMs = 0
  /** The age beyond which a payment under way waits in the list, at the last pass of the slower cursor. */
  #pendingLagMs = 0
  #pace: FollowerPace = FIRST_PACE
  /** The end of the last pass and the commands until then. Epoch milliseconds. */
  #seen: { readonly at: number; readonly commands: number }

  constructor(options: TransactionFollowerOptions) {
    this.#options = options
    this.#seen = { at: options.clock.now(), commands: options.commands() }
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#follow(),
      rest: untilEvents(options, 'transaction_following'),
      onError: (error) => options.onError(error, 'transactions'),
    })
    this.#pending = new Poller({
      everyMs: PENDING_TICK_MS,
      poll: () => this.#followPending(),
      rest: untilEvents(options, 'pending_transaction_following'),
      onError: (error) => options.onError(error, 'pending transactions'),
    })
  }

  /**
   * How far the list is behind, seconds: the age of the oldest event that the last pass of this node found, and for
   * payments under way, which are listed when they have been so for a while, the age beyond that time.
   */
  get lagSeconds(): number {
    return Math.max(this.#lagMs, this.#pendingLagMs) / 1000
  }

  /** Starts following. */
  start(): void {
    this.#poller.start()
    this.#pending.start()
  }

  /** Makes the passes that are due now. */
  async runOnce(): Promise<void> {
    await this.#poller.runOnce()
    await this.#pending.runOnce()
  }

  /** Stops after the pass in progress. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all([this.#poller.stop(), this.#pending.stop()])
  }

  async #follow(): Promise<void> {
    const { database, clock, commands } = this.#options
    for (let more = true; more && !this.#stopping && !this.#isResting(clock.now()); ) {
      const begin = clock.now()
      const pass = await followTransactions(database, begin, this.#pace.eventsMax)
      if (pass.lagMs !== null) this.#lagMs = pass.lagMs
      more = pass.more
      const [before, now] = [this.#seen, { at: clock.now(), commands: commands() }]
      this.#seen = now
      this.#pace = paceAfter({
        passMs: now.at - begin,
        leftMs: pass.leftMs,
        commands: now.commands - before.commands,
        elapsedMs: now.at - before.at,
      })
    }
  }

  async #followPending(): Promise<void> {
    const { database, clock } = this.#options
    for (let more = true; more && !this.#stopping; ) {
      const pass = await followPending(database, clock.now())
      if (pass.lagMs !== null) this.#pendingLagMs = pass.lagMs
      more = pass.more
    }
  }

  /** A clock that was set back ends the rest. */
  #isResting(now: number): boolean {
    return now >= this.#seen.at && now < this.#seen.at + this.#pace.restMs
  }
}
