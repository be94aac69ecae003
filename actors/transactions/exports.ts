/**
 * Exports of transactions: a checked request becomes a job. A small export runs at once: its file is written before the
 * job's row, which is inserted as succeeded. After a crash in between, only a temporary file remains, which expires.
 */
import { hasSandboxToken } from '../../lib/sandbox/triggers.ts'
import { makeExport, questionOf } from './export-job.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { FAIL_CODE } from '../../lib/jobs/job.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { Database } from '../../storage/db/database.ts'
import { countTransactions } from '../../storage/transactions/exports.ts'
import { endJob, insertJob } from '../../storage/jobs/jobs.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { statementBalance } from '../../storage/statements/statements.ts'
import type { DocumentPool } from '../../workers/documents/pool.ts'
import { createCursors } from '../../lib/contract/cursor.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { IdentityReads } from '../identity/identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { createJobView } from '../jobs/job-operations.ts'
import { compileList } from '../../lib/contract/query.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { ExportRequest } from '../../lib/transactions/export-schema.ts'
import { transactionList } from '../../lib/transactions/transaction-schema.ts'
import type { Job } from '../../lib/jobs/job-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { isStatementFormat, readExportRequest } from './read-export-request.ts'
import type { ListParser } from '../../lib/contract/query.ts'

/** The maximum number of rows of one export. */
const ROWS_MAX = 500_000
/** An export with at most this number of rows runs while its caller waits. */
const AT_ONCE_MAX = 1_000
export interface ExportCommands {
  /** @throws ProblemError */
  create(by: Caller, command: Command<ExportRequest>): Promise<CommandAnswer<Job, 202>>
}

export interface ExportDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly sandbox: boolean
  readonly cursorKey: Uint8Array
  readonly downloads: DownloadReads
  readonly documents: DocumentPool
  readonly identity: Pick<IdentityReads, 'hasProof' | 'operatorOf'>
}

/** Creates the commands of exports. */
export function createExportCommands(deps: ExportDeps): ExportCommands {
  const parse = compileList(transactionList, createCursors(deps.cursorKey))
  return { create: (by, command) => createExport(deps, parse, by, command) }
}

/** Requires a fresh step-up proof for full exports requested by people. @throws ProblemError `step-up-required` */
async function checkProof({ identity }: Pick<ExportDeps, 'identity'>, { session, tenant }: Caller): Promise<void> {
  if (session === null) return
  const action = 'statement.full_export'
  if (await identity.hasProof({ sessionId: session.id, tenantId: tenant.id, action, subjectId: null, bound: false }))
    return
  refuse('step-up-required', 'Prove yourself for this action first, then send the same request again.', {
    extra: { action, challengeUrl: '/v1/step-up/challenges' },
  })
}

/**
 * Makes a small export by `deadline`, in epoch milliseconds; null for an export with attachments, or one that is to
 * fail in the sandbox, which its job makes.
 */
async function makeAtOnce(
  deps: ExportDeps,
  asked: Parameters<typeof makeExport>[1],
  deadline: number,
): Promise<Awaited<ReturnType<typeof makeExport>> | null> {
  const { request } = asked
  const fails = deps.sandbox && request.columns?.some((column) => hasSandboxToken(column, FAIL_CODE)) === true
  if (request.includeAttachments || fails) return null
  return await makeExport(deps, asked, {
    progress: () => undefined,
    signal: AbortSignal.timeout(deadline - deps.clock.now()),
  })
}

/**
 * Requests an export of transactions. A small one is made at once, so that its answer is the finished job.
 *
 * @throws ProblemError `validation-error`, `step-up-required`, and what `decideOnce` throws
 */
async function createExport(
  deps: ExportDeps,
  parse: ListParser,
  by: Caller,
  command: Command<ExportRequest>,
): Promise<CommandAnswer<Job, 202>> {
  const { database, clock, ids, identity, sandbox, findIdempotencyRecord } = deps
  const { idempotency, body } = command
  const customerId = by.tenant.id
  const { request, isFull } = readExportRequest({ clock, sandbox, parse }, by, body)
  if (isFull) await checkProof(deps, by)
  // A key with an answer gets that answer without repeating the work.
  const known = idempotency === null ? null : await findIdempotencyRecord(idempotency.id)
  const [balanceId] = request.filters.balanceId ?? []
  if (isStatementFormat(request.format) && (await statementBalance(database, customerId, balanceId ?? '')) === null) {
    refuseField('/filter/balanceId', 'not_found', 'No such balance.')
  }
  const count =
    known === null
      ? await countTransactions(
          database,
          readDatabase(database),
          questionOf(customerId, request),
          ROWS_MAX,
          clock.now(),
        )
      : 0
  if (count > ROWS_MAX)
    refuseField('/filter', 'too_large', `An export has at most ${ROWS_MAX} rows.`, { max: ROWS_MAX })
  const id = ids.next()
  const made =
    known === null && count <= AT_ONCE_MAX
      ? await makeAtOnce(deps, { id, customerId, request }, command.deadline)
      : null
  const operatorId = await identity.operatorOf(customerId)
  if (operatorId === null) refuse('not-found', 'No such customer.')
  return await decideOnce(deps, command, 202, async (client) => {
    const now = clock.now()
    const waiting = await insertJob(client, {
      id,
      tenantId: customerId,
      operatorId,
      customerId,
      shard: shardOf(customerId),
      kind: 'transaction_export',
      request,
      fingerprint: null,
      subject:
        balanceId !== undefined && request.filters.balanceId?.length === 1
          ? { object: 'balance', id: balanceId }
          : { object: 'customer', id: customerId },
      requestedBy: by.principal.id,
      requestId: by.requestId,
      now,
    })
    await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
      action: 'transactions.exported',
      object: { type: 'job', id },
      before: null,
      after: { format: request.format, filter: body.filter ?? {}, includeAttachments: request.includeAttachments },
    })
    const job =
      made === null
        ? waiting
        : await endJob(
            { client, ids, now },
            { ...waiting, status: 'running' },
            { move: 'succeed', result: made.result, fileId: made.fileId },
          )
    return { shown: createJobView(deps)(job ?? waiting), made: { type: 'job', id } }
  })
}
