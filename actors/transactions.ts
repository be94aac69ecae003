/**
 * Keeps transactions up with what causes them, a quarter of a second behind. Every node looks and one at a time writes
 * (storage/transactions.ts); what was not done when a node stopped or died is done by the next pass of any.
 */
import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database.ts'
import { followTransactions } from '../storage/transactions.ts'
import { Lookout } from './runtime/lookout.ts'

const TICK_MS = 250

export interface TransactionFollowerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
}

export class TransactionFollower {
  readonly #options: TransactionFollowerOptions
  readonly #lookout: Lookout
  #stopping = false
  #lagMs = 0

  constructor(options: TransactionFollowerOptions) {
    this.#options = options
    this.#lookout = new Lookout({ everyMs: TICK_MS, look: () => this.#follow(), onError: (error) => options.onError(error, 'transactions') })
  }

  /** How old the oldest event was that the last pass of this node found, seconds. */
  get lagSeconds(): number { return this.#lagMs / 1000 }

  /** Begins to follow. */
  start(): void {
    this.#lookout.start()
  }

  /** Stops after the pass that was begun. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#lookout.stop()
  }

  async #follow(): Promise<void> {
    const { database, clock } = this.#options
    for (let more = true; more && !this.#stopping;) {
      const pass = await followTransactions(database, clock.now())
      if (pass.lagMs !== null) this.#lagMs = pass.lagMs
      more = pass.more
    }
  }
}
