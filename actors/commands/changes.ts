/** Changes of resources: the transaction of a change, and its entry in the trail. */
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { writeAudit, writePersonalAudit, type AuditBy, type AuditChange } from '../../storage/trail/trail.ts'

export interface ChangeDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
}

/** The transaction of a change: its connection, the source of new ids, and the time at which it began. */
export interface ChangeTransaction {
  readonly client: TransactionClient
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

/** Runs a change in a transaction, which is rolled back when the work throws. @throws what the work throws */
export async function runChange<Result>(
  { database, ids, clock }: ChangeDeps,
  work: (tx: ChangeTransaction) => Promise<Result>,
): Promise<Result> {
  return await inTransaction(database, async (client) => await work({ client, ids, now: clock.now() }))
}

/** Writes a change into the trail of the tenant, in the transaction of the change. */
export async function recordChange(
  { client, ids, now }: ChangeTransaction,
  by: AuditBy,
  tenantId: string,
  change: AuditChange,
): Promise<void> {
  await writeAudit(client, { ...by, ...change, id: ids.next(), tenantId, at: now })
}

/** Writes a change that a person makes to their own account into the trail of each tenant they belong to. */
export async function recordPersonalChange(
  { client, ids, now }: ChangeTransaction,
  by: AuditBy,
  change: AuditChange,
): Promise<void> {
  await writePersonalAudit(client, { ...by, ...change, nextId: () => ids.next(), at: now })
}
