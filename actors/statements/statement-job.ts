/**
 * The job that makes a statement: plans it once, then reads its lines and writes them in all formats at the same time.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { NO_RESULT } from '../../lib/jobs/job.ts'
import { refuse } from '../../lib/base/problems.ts'
import { fitsMt940 } from '../../lib/statements/mt940.ts'
import {
  FORMATS,
  statementFileName,
  type StatementFormat,
  type StatementKind,
  type StatementLine,
} from '../../lib/statements/statement.ts'
import type { Database } from '../../storage/db/database.ts'
import type { JobTx } from '../../storage/jobs/jobs.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import {
  failStatement,
  finishStatement,
  holderOf,
  readLines,
  statementBalance,
  type StatementRecord,
} from '../../storage/statements/statements.ts'
import { planStatement } from '../../storage/statements/statement-plan.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { DocumentPool } from '../../workers/documents/pool.ts'
import type { JobContext, JobWork } from '../jobs/jobs.ts'
import { writeDocuments } from '../jobs/write-files.ts'

/** The number of lines read and written at a time: in all formats together about three megabytes. */
export const LINES_AT_ONCE = 1_000
const STYLE = { timezone: 'UTC', decimalSeparator: '.' } as const

/** The request of the job. */
export interface StatementJobRequest {
  readonly balanceId: string
  readonly kind: StatementKind
  readonly from: string
  readonly to: string
  readonly formats: readonly StatementFormat[]
  /** True when the sandbox was asked to let the job fail. */
  readonly fails: boolean
}

export interface StatementJobDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly documents: DocumentPool
}

/** Reads the lines of a statement in batches, and reports the progress. */
export async function* linesOf(
  database: Database,
  {
    firstSequence,
    lastSequence,
    holder: { balanceId },
  }: Pick<StatementRecord, 'firstSequence' | 'lastSequence' | 'holder'>,
  { progress, signal }: JobContext,
): AsyncGenerator<StatementLine[]> {
  const total = lastSequence - firstSequence + 1
  progress(0, total)
  for (let from = firstSequence; from <= lastSequence; from += LINES_AT_ONCE) {
    signal.throwIfAborted()
    const lines = await readLines(database, balanceId, from, Math.min(from + LINES_AT_ONCE - 1, lastSequence))
    yield lines
    progress(from - firstSequence + lines.length, total)
  }
}

/** The roles that are told of a monthly statement; any other statement is announced to its requester. */
const ROLES = ['owner', 'admin', 'accountant'] as const

async function tellReady(
  { client, ids, now }: JobTx,
  { id, customerId, kind, from, to, currency, holder }: StatementRecord,
  requestedBy: string,
): Promise<void> {
  const people = kind === 'monthly' ? await peopleInRoles(client, customerId, ROLES) : [requestedBy]
  const title = `The statement of ${holder.balanceName} is ready`
  const text = `The ${currency} statement of the balance ${holder.balanceName} from ${from} to ${to} can be downloaded now.`
  await insertNotices(
    client,
    ids,
    people,
    { tenantId: customerId, type: 'statement_ready', title, text, object: { type: 'statement', id } },
    now,
  )
}

export function statementJob(deps: StatementJobDeps): JobWork {
  const { database, clock, ids, documents } = deps
  return {
    async run(job, context) {
      const request = job.request as StatementJobRequest
      if (request.fails) refuse('internal-error', 'The sandbox was asked to let this job fail.')
      const balance = await statementBalance(database, job.tenantId, request.balanceId)
      if (balance === null) throw new Error(`The balance ${request.balanceId} has vanished.`)
      const holder = await holderOf(database, balance.id)
      const statement = await inTransaction(database, (client) =>
        planStatement(client, { ...request, id: ids.next(), jobId: job.id, balance, holder, now: clock.now() }),
      )
      // The month already has its statement: another job was faster.
      if (statement === null) return { result: NO_RESULT, fileId: null }
      const formats = request.formats.filter((format) => format !== 'mt940' || fitsMt940(statement, statement.largest))
      const name = statementFileName(statement)
      using stream = documents.open({ kind: 'statement', head: statement, formats, style: STYLE })
      const files = await writeDocuments(
        deps,
        job.tenantId,
        formats.map((format) => ({
          fileName: `${name}.${FORMATS[format].ending}`,
          contentType: FORMATS[format].contentType,
        })),
        stream,
        linesOf(database, statement, context),
        context.signal,
      )
      const [only] = files
      return {
        result: {
          ...NO_RESULT,
          rows: statement.creditCount + statement.debitCount,
          statementId: statement.id,
          ...(only === undefined || files.length !== 1
            ? {}
            : { fileName: only.fileName, contentType: only.contentType, sizeBytes: only.sizeBytes }),
        },
        // The files belong to the statement permanently, and not to the job.
        fileId: null,
        finish: async (tx) => {
          await finishStatement(
            tx.client,
            statement.id,
            formats.map((format, index) => ({ format, fileId: files[index]!.id })),
          )
          await tellReady(tx, statement, job.requestedBy)
        },
      }
    },
    abandoned: ({ client }, { id }) => failStatement(client, id),
  }
}
