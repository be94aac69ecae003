/**
 * Reports a transaction that stays open too long. Events are read only up to the oldest open transaction of the
 * database. A transaction that is left open (in a session, or prepared) stops callbacks, lists of transactions and all
 * other work with events until it ends.
 */
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { readHorizon } from '../../storage/outbox/event-horizon.ts'
import { Poller } from './poller.ts'

const TICK_MS = 30_000
/** Our own transactions end within 20 s; an older one is stuck or belongs to another program. */
const ALARM_MS = 30_000
/** The interval between two reports of the same transaction. */
const REPEAT_MS = MINUTE_MS

export interface HorizonWatchOptions {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
  /**
   * Called when the horizon stands still. `pid`: the Postgres process of the open transaction; null for a prepared one.
   */
  readonly onStanding: (what: {
    readonly transaction: string
    readonly pid: number | null
    readonly ageMs: number
  }) => void
}

export class HorizonWatch extends Poller {
  readonly #options: HorizonWatchOptions
  #seen: { readonly transaction: string; readonly since: number } | null = null
  #ageMs = 0
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(options: HorizonWatchOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.poll(),
      onError: (error) => options.onError(error, 'the horizon of events'),
    })
    this.#options = options
  }

  /** The age of the oldest open transaction at the last poll of this node, seconds. */
  get ageSeconds(): number {
    return this.#ageMs / 1_000
  }

  /** Polls once. @throws database errors */
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
    // A role that may not see the start of the transaction uses the time when it first saw it.
    this.#ageMs = ageMs ?? now - this.#seen.since
    if (this.#ageMs < ALARM_MS || now - this.#toldAt < REPEAT_MS) return
    this.#toldAt = now
    onStanding({ transaction, pid, ageMs: Math.round(this.#ageMs) })
  }
}
