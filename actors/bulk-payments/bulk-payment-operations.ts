/**
 * The operations on existing bulk payments for the HTTP layer. Jobs check and pay their rows (actors/bulk-payments).
 */
import { cancelBulk, revalidate } from './bulk-validations.ts'
import { lockRun, type Run } from './bulk-runs.ts'
import { writeBulkTrail } from './bulk-trail.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  bulkPaymentJson,
  findBulkPayment,
  listBulkPaymentRows,
  listBulkPayments,
} from '../../storage/bulk-payments/bulk-payment-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { decideOnce, runOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type {
  BulkPayment,
  BulkPaymentRow,
  bulkPaymentList,
  bulkRowList,
} from '../../lib/bulk-payments/bulk-payment-schema.ts'
import type { CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The reads. Null means: no such row in this tenant. */
export interface BulkPaymentReads {
  list(query: ListQuery<typeof bulkPaymentList>): Promise<ListResult<BulkPayment>>
  get(tenant: Tenant, id: string): Promise<Versioned<BulkPayment> | null>
  rows(
    query: ListQuery<typeof bulkRowList> & { readonly bulkPaymentId: string },
  ): Promise<ListResult<BulkPaymentRow> | null>
}

/** The writes. Every refusal is thrown as a problem. */
export interface BulkPaymentCommands {
  /** @throws ProblemError `not-found`, `invalid-transition` */
  revalidate(by: Caller, id: string, idempotency: Idempotency | null): Promise<CommandAnswer<BulkPayment, 202>>
  /** @throws ProblemError `not-found`, `not-cancellable` */
  cancel(by: Caller, id: string, idempotency: Idempotency | null): Promise<CommandAnswer<BulkPayment, 200>>
}

export interface BulkPaymentDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
}

/** Renders a bulk payment. */
export const bulkPaymentView = (record: BulkRecord): Versioned<BulkPayment> => ({
  version: record.version,
  view: bulkPaymentJson(record),
})

/** Creates the reads of bulk payments. */
export function createBulkPaymentReads({ database }: { readonly database: Database }): BulkPaymentReads {
  const db = readDatabase(database)
  return {
    list: (query) => listBulkPayments(db, query),
    async get(tenant, id) {
      const found = await findBulkPayment(database, tenant, id)
      return found === null ? null : bulkPaymentView(found)
    },
    rows: (query) => listBulkPaymentRows(database, db, query),
  }
}

/** Creates the commands on existing bulk payments. */
export function createBulkPaymentCommands(deps: BulkPaymentDeps): BulkPaymentCommands {
  const { ids, clock } = deps

  async function locked(tx: ApprovalTx, by: Caller, id: string): Promise<Run> {
    const run = await lockRun(tx.client, id)
    if (run === null || run.bulk.customerId !== by.tenant.id) refuseNotFound()
    return run
  }

  return {
    async revalidate(by, id, idempotency) {
      return await decideOnce(deps, { idempotency }, 202, async (client) => {
        const tx = { client, ids, now: clock.now() }
        const { bulk } = await locked(tx, by, id)
        const trail = auditCaller(by)
        const after = await revalidate(tx, bulk, { actor: trail.actor, requestId: by.requestId })
        await writeBulkTrail(tx, trail, 'revalidated', bulk, after)
        return { shown: bulkPaymentView(after), tagged: true }
      })
    },

    cancel: (by, id, idempotency) =>
      runOnce(deps, idempotency, 200, async (client) => {
        const tx = { client, ids, now: clock.now() }
        const run = await locked(tx, by, id)
        const after = await cancelBulk(tx, run)
        await writeBulkTrail(tx, auditCaller(by), 'cancelled', run.bulk, after)
        return bulkPaymentView(after).view
      }),
  }
}
