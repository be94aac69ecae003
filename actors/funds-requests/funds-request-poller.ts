/**
 * What time and money make of funds requests. Whoever owns a request's shard lets it expire when its time is over (N3); any
 * node matches what has arrived with what was asked for (storage/funds-requests/funds-request-matching.ts), one at a time.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { moveFundsRequest } from '../../lib/funds-requests/funds-request.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { matchArrivals } from '../../storage/funds-requests/funds-request-matching.ts'
import { expiredFundsRequests, lockAnyFundsRequest, writeMove } from '../../storage/funds-requests/funds-requests.ts'
import { SYSTEM, writeAudit } from '../../storage/trail/trail.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { Poller } from '../runtime/poller.ts'

/** How often a node looks for requests that are due and for arrivals, and how many requests it takes at a time. */
const TICK_MS = 1_000
const DUE_MAX = 256

export interface FundsRequestsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class FundsRequests {
  readonly #options: FundsRequestsOptions
  readonly #due: Poller
  readonly #arrivals: Poller
  #stopped = false

  constructor(options: FundsRequestsOptions) {
    this.#options = options
    this.#due = new Poller({ everyMs: TICK_MS, poll: () => this.#expireDue(), onError: (error) => options.onError(error, 'funds requests that are due') })
    this.#arrivals = new Poller({ everyMs: TICK_MS, poll: () => this.#match(), onError: (error) => options.onError(error, 'arrivals for funds requests') })
  }

  /** Begins to look. */
  start(): void {
    this.#due.start()
    this.#arrivals.start()
  }

  /** Stops looking; what was begun is finished. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#due.stop(), this.#arrivals.stop()])
  }

  /** Looks now: money has arrived, or a request's time is over. */
  nudge(): void {
    this.#due.nudge()
    this.#arrivals.nudge()
  }

  async #match(): Promise<void> {
    const { database, ids, clock } = this.#options
    while (!this.#stopped && await matchArrivals(database, ids, clock.now())) continue
  }

  async #expireDue(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    const expired = await expiredFundsRequests(database, { now: clock.now(), owned: shards.owned(), max: DUE_MAX })
    for (const id of expired) await this.#expire(id).catch((error: unknown) => onError(error, `funds request ${id}`))
  }

  async #expire(id: string): Promise<void> {
    const { database, clock, ids } = this.#options
    await inTransaction(database, async (client) => {
      const now = clock.now()
      const request = await lockAnyFundsRequest(client, id)
      // Somebody may have given it more time, or ended it, before the lock was ours.
      if (request === null || request.expiresAt > now) return
      const moved = moveFundsRequest(request, { kind: 'expire' })
      if ('refused' in moved) return
      await writeMove({ client, ids, now }, request, moved, null)
      await writeAudit(client, {
        ...SYSTEM, id: ids.next(), tenantId: request.customerId, at: now, action: 'funds_request.expired', object: { type: 'funds_request', id },
        before: { status: request.status }, after: { status: moved.status },
      })
    })
  }
}
