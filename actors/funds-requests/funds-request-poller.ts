/**
 * The pollers of funds requests. The node that owns a request's shard expires it when its time is over, after a pass over
 * the money that has come. Any node, one at a time, matches arrived money with requests
 * (storage/funds-requests/funds-request-matching.ts).
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
import { untilDue, untilEvents } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The poll interval for due requests and for arrivals, and the number of requests taken per poll. */
const TICK_MS = 1_000
const DUE_MAX = 256

export interface FundsRequestsOptions {
  readonly wakes: Wakes
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
    this.#due = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#expireDue(),
      rest: untilDue(options, ['funds_request']),
      onError: (error) => options.onError(error, 'funds requests that are due'),
    })
    this.#arrivals = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#match(),
      rest: untilEvents(options, 'funds_request_matching'),
      onError: (error) => options.onError(error, 'arrivals for funds requests'),
    })
  }

  /** Starts polling. */
  start(): void {
    this.#due.start()
    this.#arrivals.start()
  }

  /** Stops polling; finishes the work in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#due.stop(), this.#arrivals.stop()])
  }

  /** Polls now, because money has arrived or a request's time is over. */
  nudge(): void {
    this.#due.nudge()
    this.#arrivals.nudge()
  }

  /** Polls once, as the timers do; resolves when what was due is done. */
  async runOnce(): Promise<void> {
    await Promise.all([this.#due.runOnce(), this.#arrivals.runOnce()])
  }

  async #match(): Promise<void> {
    const { database, ids, clock } = this.#options
    let matched = true
    while (matched && !this.#stopped) matched = await matchArrivals(database, ids, clock.now())
  }

  async #expireDue(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    const expired = await expiredFundsRequests(database, { now: clock.now(), owned: shards.owned(), max: DUE_MAX })
    if (expired.length > 0) await this.#match()
    for (const id of expired) await this.#expire(id).catch((error: unknown) => onError(error, `funds request ${id}`))
  }

  async #expire(id: string): Promise<void> {
    const { database, clock, ids } = this.#options
    await inTransaction(database, async (client) => {
      const now = clock.now()
      const request = await lockAnyFundsRequest(client, id)
      // Another transaction may have extended or ended the request before this one got the lock.
      if (request === null || request.expiresAt > now) return
      const moved = moveFundsRequest(request, { kind: 'expire' })
      if ('refused' in moved) return
      await writeMove({ client, ids, now }, request, moved, null)
      await writeAudit(client, {
        ...SYSTEM,
        id: ids.next(),
        tenantId: request.customerId,
        at: now,
        action: 'funds_request.expired',
        object: { type: 'funds_request', id },
        before: { status: request.status },
        after: { status: moved.status },
      })
    })
  }
}
