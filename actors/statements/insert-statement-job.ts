/** The job that makes a statement. */
import { createHash } from 'node:crypto'
import type { StatementJobRequest } from './statement-job.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import { insertJob } from '../../storage/jobs/jobs.ts'
import { statementBalance, type StatementBalance } from '../../storage/statements/statements.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { RunOnceDeps } from '../commands/run-once.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { JobRecord } from '../../storage/jobs/jobs.ts'

/** The dependencies of statement operations. */
export interface StatementDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly sandbox: boolean
  readonly downloads: DownloadReads
}

/** Computes a value in the form of a UUID that is the same for equal requests. */
function fingerprintOf(question: unknown): string {
  const hex = createHash('sha256').update(JSON.stringify(question)).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** Finds a balance of the caller's customer. @throws ProblemError `not-found` */
export async function balanceOf(
  { database }: Pick<StatementDeps, 'database'>,
  by: Caller,
  balanceId: string,
): Promise<StatementBalance> {
  const balance = await statementBalance(database, by.tenant.id, balanceId)
  return balance ?? refuseNotFound()
}

/** Inserts the job that makes a statement, or finds the job of an equal request that has not ended. */
export async function insertStatementJob(
  client: TransactionClient,
  by: Caller,
  balance: StatementBalance,
  { id, request, now }: { readonly id: string; readonly request: StatementJobRequest; readonly now: number },
): Promise<JobRecord> {
  return await insertJob(client, {
    id,
    tenantId: by.tenant.id,
    operatorId: balance.operatorId,
    customerId: by.tenant.id,
    shard: balance.shard,
    kind: 'statement',
    request,
    fingerprint: fingerprintOf(request),
    subject: { object: 'balance', id: request.balanceId },
    requestedBy: by.principal.id,
    requestId: by.requestId,
    now,
  })
}
