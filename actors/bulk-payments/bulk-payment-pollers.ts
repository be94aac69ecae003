/**
 * The poller of bulk payments: ends a run that stands still, stops a run whose approval has ended, and moves
 * the payments that waited for an ended approval. When a poll breaks off, even with its node, the node that owns the
 * shard then continues where it was.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import { claimDueBulks, wakeBulk } from '../../storage/bulk-payments/bulk-runs.ts'
import type { Database } from '../../storage/db/database.ts'
import { followApproval, type FollowDeps } from './approve-bulk-payment.ts'
import { lockRun, overseeRun } from './bulk-runs.ts'
import { decideInTransaction } from '../approvals/decision-transaction.ts'
import { DueRowPoller } from '../runtime/due-row-poller.ts'
import type { Wakes } from '../runtime/wakes.ts'

const TICK_MS = 1_000
/** The number of bulk payments followed at a time: each takes a connection. */
const DUE_MAX = 2
/** The claim time: after it, another node takes over from a dead one. Each lot of payments renews the claim. */
const TAKEN_MS = 20_000

export interface BulkPaymentsOptions extends FollowDeps {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class BulkPayments extends DueRowPoller<BulkRecord> {
  readonly #options: BulkPaymentsOptions
  #stopping = false

  constructor(options: BulkPaymentsOptions) {
    super({
      ...options,
      work: 'bulk_payment',
      everyMs: TICK_MS,
      max: DUE_MAX,
      takenMs: TAKEN_MS,
      what: 'bulk payments that are due',
      take: (claim) => claimDueBulks(options.database, claim),
      follow: (bulk) => this.#follow(bulk),
      nameOf: ({ id }) => `bulk payment ${id}`,
    })
    this.#options = options
  }

  /** Stops polling. Work in progress ends after the current lot; another node continues. */
  override async stop(): Promise<void> {
    this.#stopping = true
    await super.stop()
  }

  async #follow({ id, status }: BulkRecord): Promise<void> {
    if (status === 'submitting') return await this.#oversee(id)
    const { database, clock } = this.#options
    for (let more = true; more; ) {
      if (this.#stopping) return await wakeBulk(database.pool, id, clock.now())
      more = await decideInTransaction(this.#options, (tx, afterwards) =>
        followApproval(this.#options, tx, id, tx.now + TAKEN_MS, afterwards),
      )
    }
  }

  async #oversee(id: string): Promise<void> {
    await decideInTransaction(this.#options, async (tx) => {
      const run = await lockRun(tx.client, id)
      // The bulk payment ended in between and set its next due time, which the claim has overwritten.
      if (run === null) return
      const next = run.bulk.status === 'submitting' ? await overseeRun(tx, run) : tx.now
      if (next !== null) await wakeBulk(tx.client, id, next)
    })
  }
}
