/**
 * Exports of transactions: a checked request becomes a job. A small export runs at once: its file is written before the
 * job's row, which is inserted as succeeded. After a crash in between, only a temporary file remains, which expires.
 */
import { DAY_MS } from '../../lib/base/clock.ts'
import type { Job } from '../../lib/jobs/job-schema.ts'
import { makeExport, questionOf, type ExportJobRequest } from './export-job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { isExportColumn } from '../../lib/transactions/transaction-table.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { FAIL_TOKEN } from '../../lib/jobs/job.ts'
import { ProblemError, refuse, refuseField } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { Database } from '../../storage/db/database.ts'
import { countTransactions } from '../../storage/transactions/exports.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { endJob, insertJob, type NewJob } from '../../storage/jobs/jobs.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { TransactionFilters } from '../../storage/transactions/transaction-queries.ts'
import { statementBalance } from '../../storage/statements/statements.ts'
import type { DocumentPool } from '../../workers/documents/pool.ts'
import { createCursors } from '../../lib/contract/cursor.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import { auditCaller } from '../commands/trail.ts'
import type { IdentityReads } from '../identity/identity.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import { createJobView } from '../jobs/job-operations.ts'
import { compileList } from '../../lib/contract/query.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { ExportRequest } from '../../lib/transactions/export-schema.ts'
import { transactionList } from '../../lib/transactions/transaction-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'

/** The maximum number of rows of one export, and of days of an export that names days. */
const ROWS_MAX = 500_000
const DAYS_MAX = 366
/** An export with at most this number of rows runs while its caller waits. */
const AT_ONCE_MAX = 1_000
/** The filters that camt.053 and MT940 accept. */
const STATEMENT_FILTERS: ReadonlySet<string> = new Set(['balanceId', 'bookedFrom', 'bookedTo'])

export interface ExportCommands {
  /** @throws ProblemError */
  create(by: ByCaller, command: Command<ExportRequest>): Promise<CommandAnswer<Job, 202>>
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
  readonly jobs: Pick<Jobs, 'nudge'>
}

/** Turns a problem of a query string into a problem of the body whose members made up that query string. */
function inBody(error: unknown): unknown {
  if (
    !(error instanceof ProblemError) ||
    (error.problem.slug !== 'malformed-request' && error.problem.slug !== 'too_many_filter_values')
  )
    return error
  const errors = error.problem.errors?.map((each) => ({
    ...each,
    field: each.field.replace(/^query\.filter\[(.*)\]$/, '/filter/$1').replace(/^query\.q$/, '/q'),
  }))
  return new ProblemError({
    slug: 'validation-error',
    detail: 'Some fields of the body are not valid.',
    errors: errors ?? [{ field: '/filter', code: 'too_large', message: 'Has too many values.' }],
  })
}

/** Creates the commands of exports. */
export function createExportCommands(world: ExportDeps): ExportCommands {
  const { database, clock, ids, identity, sandbox, findIdempotencyRecord } = world
  const db = readDatabase(database)
  const parse = compileList(transactionList, createCursors(world.cursorKey))
  const view = createJobView(world)

  /** Parses the filters with the parser of the transaction list. */
  function filtersOf(by: ByCaller, { filter = {}, q = null }: ExportRequest) {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(filter))
      query.append(`filter[${name}]`, Array.isArray(value) ? value.join(',') : String(value))
    if (q !== null) query.append('q', q)
    try {
      return parse(query.toString(), by.tenant, 'exportTransactions')
    } catch (error) {
      throw inBody(error)
    }
  }

  function requestOf(
    by: ByCaller,
    body: ExportRequest,
  ): { readonly request: ExportJobRequest; readonly isFull: boolean } {
    const {
      format,
      columns = null,
      timezone = 'UTC',
      decimalSeparator = '.',
      includeAnnotations = false,
      includeAttachments = false,
    } = body
    const { filters, q } = filtersOf(by, body)
    // The type comes from the declaration of this list; the parser is generic for all lists.
    const { amountFrom, amountTo, ...others } = filters as TransactionFilters
    const fails = sandbox && columns?.some((column) => column.includes(FAIL_TOKEN)) === true
    columns?.forEach((column, index) => {
      if (!isExportColumn(column) && !fails)
        refuseField(`/columns/${index}`, 'invalid_value', 'There is no such column.')
    })
    if (columns !== null && !fails && format !== 'csv' && format !== 'xlsx')
      refuseField('/columns', 'not_applicable', 'Only CSV and XLSX have columns.')
    try {
      Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timezone)
    } catch {
      // The calendar throws for an unknown zone, without further detail.
      refuseField('/timezone', 'invalid_value', 'There is no such time zone.')
    }
    if (format === 'camt053' || format === 'mt940') {
      for (const name of Object.keys(body.filter ?? {}))
        if (!STATEMENT_FILTERS.has(name))
          refuseField(`/filter/${name}`, 'not_applicable', 'Does not narrow a statement.')
      if (q !== null) refuseField('/q', 'not_applicable', 'Does not narrow a statement.')
      if (others.balanceId?.length !== 1) refuseField('/filter/balanceId', 'required', 'A statement is of one balance.')
      if (includeAnnotations) refuseField('/includeAnnotations', 'not_applicable', 'A statement has none.')
    }
    const spans = [
      [others.bookedFrom, others.bookedTo],
      [others.createdFrom, others.createdTo],
    ] as const
    for (const [from, to] of spans) {
      if (from === undefined) continue
      const end = to === undefined ? clock.now() : Date.parse(to.before)
      if (end - Date.parse(from) > DAYS_MAX * DAY_MS)
        refuseField('/filter', 'too_large', `An export covers at most ${DAYS_MAX} days.`, { max: DAYS_MAX })
    }
    const isLimited = others.balanceId !== undefined && spans.some(([from]) => from !== undefined)
    return {
      isFull: includeAttachments || !isLimited,
      request: {
        format,
        q,
        columns,
        timezone,
        decimalSeparator,
        includeAnnotations,
        includeAttachments,
        sandbox,
        filters: {
          ...others,
          ...(amountFrom === undefined ? {} : { amountFrom: String(amountFrom) }),
          ...(amountTo === undefined ? {} : { amountTo: String(amountTo) }),
        },
      },
    }
  }

  /** Requires a fresh step-up proof for full exports requested by people. */
  async function checkProof({ session, tenant }: ByCaller): Promise<void> {
    if (session === null) return
    const action = 'statement.full_export'
    if (await identity.hasProof({ sessionId: session.id, tenantId: tenant.id, action, subjectId: null, bound: false }))
      return
    refuse('step-up-required', 'Prove yourself for this action first, then send the same request again.', {
      extra: { action, challengeUrl: '/v1/step-up/challenges' },
    })
  }

  return {
    async create(by, command) {
      const { idempotency, body } = command
      const customerId = by.tenant.id
      const { request, isFull } = requestOf(by, body)
      if (isFull) await checkProof(by)
      // A key with an answer gets that answer without repeating the work.
      const known = idempotency === null ? null : await findIdempotencyRecord(idempotency.id)
      const [balanceId] = request.filters.balanceId ?? []
      if (
        (request.format === 'camt053' || request.format === 'mt940') &&
        (await statementBalance(database, customerId, balanceId ?? '')) === null
      ) {
        refuseField('/filter/balanceId', 'not_found', 'No such balance.')
      }
      const count =
        known === null
          ? await countTransactions(database, db, questionOf(customerId, request), ROWS_MAX, clock.now())
          : 0
      if (count > ROWS_MAX)
        refuseField('/filter', 'too_large', `An export has at most ${ROWS_MAX} rows.`, { max: ROWS_MAX })
      const id = ids.next()
      const fails = sandbox && request.columns?.some((column) => column.includes(FAIL_TOKEN)) === true
      const isSmall = known === null && count <= AT_ONCE_MAX && !request.includeAttachments && !fails
      const made = isSmall
        ? await makeExport(
            world,
            { id, customerId, request },
            { progress: () => undefined, signal: AbortSignal.timeout(command.deadline - clock.now()) },
          )
        : null
      const operatorId = await identity.operatorOf(customerId)
      if (operatorId === null) refuse('not-found', 'No such customer.')
      const answer = await decideOnce(world, command, 202, async (client) => {
        const now = clock.now()
        const asked: NewJob = {
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
        }
        const waiting = await insertJob(client, asked)
        await writeAudit(client, {
          ...auditCaller(by),
          id: ids.next(),
          tenantId: customerId,
          at: now,
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
        return { shown: view(job ?? waiting), made: { id, location: `/v1/jobs/${id}` } }
      })
      world.jobs.nudge()
      return answer
    },
  }
}
