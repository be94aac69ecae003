/**
 * Events are followed up to the oldest transaction that is under way in the database. One that is left open (somebody's session, a
 * prepared transaction) stops callbacks, lists of transactions and all that is done with events, for as long as it is: this says so.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { readHorizon } from '../../storage/outbox/event-horizon.ts'
import { Poller } from './poller.ts'

const TICK_MS = 5_000
/** Our own transactions end within 20 s; one that is older than that is not ours, or is stuck. */
const ALARM_MS = 30_000
/** While it lasts it is said so often. */
const REPEAT_MS = 60_000

export interface HorizonWatchOptions {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
  /** The horizon stands still. `pid`: the process of Postgres whose transaction is open; null for a prepared one. */
  readonly onStanding: (what: { readonly transaction: string; readonly pid: number | null; readonly ageMs: number }) => void
}

export class HorizonWatch extends Poller {
  readonly #options: HorizonWatchOptions
  #seen: { readonly transaction: string; readonly since: number } | null = null
  #ageMs = 0
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(options: HorizonWatchOptions) {
    super({ everyMs: TICK_MS, poll: () => this.poll(), onError: (error) => options.onError(error, 'the horizon of events') })
    this.#options = options
  }

  /** How long the oldest transaction of the database was under way when this node looked last, seconds. */
  get ageSeconds(): number { return this.#ageMs / 1_000 }

  /** Looks once. @throws what the driver throws */
  async poll(): Promise<void> {
    const { database, clock, onStanding } = this.#options
    const { oldest, ageMs } = await readHorizon(database)
    const now = clock.now()
    if (oldest === null) {
      this.#seen = null
      this.#ageMs = 0
      return
    }
    const { transaction, pid } = oldest
    if (this.#seen?.transaction !== transaction) this.#seen = { transaction, since: now }
    // A role that may not see when the transaction began knows at least since when it has seen it.
    this.#ageMs = ageMs ?? now - this.#seen.since
    if (this.#ageMs < ALARM_MS || now - this.#toldAt < REPEAT_MS) return
    this.#toldAt = now
    onStanding({ transaction, pid, ageMs: Math.round(this.#ageMs) })
  }
}
