/**
 * What time and approvals make of bulk payments: a run that stands still comes to its end (B7), one whose approval has ended
 * goes no further (B8), and payments follow the end of the approval that they waited for. A look that breaks off, with its
 * node even, is taken up where it was, by whoever owns the shard then.
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

const TICK_MS = 1_000
/** Bulk payments that are followed at a time: each takes a connection. */
const DUE_MAX = 2
/** One whose node has died is taken up by another after this. It is said anew with each lot of payments. */
const TAKEN_MS = 20_000

export interface BulkPaymentsOptions extends FollowDeps {
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
      ...options, everyMs: TICK_MS, max: DUE_MAX, takenMs: TAKEN_MS, what: 'bulk payments that are due',
      take: (claim) => claimDueBulks(options.database, claim), follow: (bulk) => this.#follow(bulk), nameOf: ({ id }) => `bulk payment ${id}`,
    })
    this.#options = options
  }

  /** Stops looking; what is under way ends with the payments that are being moved, for another node to go on. */
  override async stop(): Promise<void> {
    this.#stopping = true
    await super.stop()
  }

  async #follow({ id, status }: BulkRecord): Promise<void> {
    if (status === 'submitting') return await this.#oversee(id)
    const { database, clock } = this.#options
    for (let more = true; more;) {
      if (this.#stopping) return await wakeBulk(database.pool, id, clock.now())
      more = await decideInTransaction(this.#options, (tx, afterwards) => followApproval(this.#options, tx, id, tx.now + TAKEN_MS, afterwards))
    }
  }

  async #oversee(id: string): Promise<void> {
    await decideInTransaction(this.#options, async (tx) => {
      const run = await lockRun(tx.client, id)
      // Its end, which came in between, has said when it is looked at next; the claim has written over that.
      if (run === null) return
      const next = run.bulk.status === 'submitting' ? await overseeRun(tx, run) : tx.now
      if (next !== null) await wakeBulk(tx.client, id, next)
    })
  }
}
