/**
 * The job that exports transactions: reads batch by batch, formats in a worker thread, stores one file. camt.053 and
 * MT940 are statements by nature, so they are made from the journal lines of one balance and not from the list.
 */
import { hasSandboxToken } from '../../lib/sandbox/triggers.ts'
import { type Clock, dateIn } from '../../lib/base/clock.ts'
import {
  defaultColumns,
  isExportColumn,
  tableRow,
  type ExportedTransaction,
  type ExportFormat,
} from '../../lib/transactions/transaction-table.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { FAIL_CODE, NO_RESULT } from '../../lib/jobs/job.ts'
import { refuse } from '../../lib/base/problems.ts'
import { fitsMt940 } from '../../lib/statements/mt940.ts'
import { FORMATS } from '../../lib/statements/statement.ts'
import type { Cell } from '../../lib/statements/table.ts'
import { transactionJson } from '../../lib/transactions/transaction.ts'
import { annotationsOf } from '../../storage/transactions/annotations.ts'
import type { Database } from '../../storage/db/database.ts'
import { attachmentsOf } from '../../storage/documents/documents.ts'
import { transactionsOf, type ExportQuestion } from '../../storage/transactions/exports.ts'
import { findFile, type StoredFile } from '../../storage/documents/files.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { TransactionFilters } from '../../storage/transactions/transaction-queries.ts'
import { holderOf, statementBalance } from '../../storage/statements/statements.ts'
import { measureStatement } from '../../storage/statements/statement-plan.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { DocumentPool } from '../../workers/documents/pool.ts'
import type { JobContext, JobOutcome, JobWork } from '../jobs/jobs.ts'
import { LINES_AT_ONCE, linesOf } from '../statements/statement-job.ts'
import { writeDocuments, type FileNames } from '../jobs/write-files.ts'
import { writeZip, type ZipEntry } from '../jobs/zip-file.ts'

const ZIP_BYTES_MAX = 2 ** 31 - 1

/** The request of the job. */
export interface ExportJobRequest {
  readonly format: ExportFormat
  /** Amounts are strings. */
  readonly filters: Omit<TransactionFilters, 'amountFrom' | 'amountTo'> & {
    readonly amountFrom?: string
    readonly amountTo?: string
  }
  readonly q: string | null
  readonly columns: readonly string[] | null
  readonly timezone: string
  readonly decimalSeparator: '.' | ','
  readonly includeAnnotations: boolean
  readonly includeAttachments: boolean
  readonly sandbox: boolean
}

export interface ExportJobDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly documents: DocumentPool
}

const TYPES: Readonly<
  Record<Exclude<ExportFormat, 'camt053' | 'mt940'>, { readonly ending: string; readonly contentType: string }>
> = {
  csv: FORMATS.csv,
  xlsx: FORMATS.xlsx,
  json: { ending: 'json', contentType: 'application/json' },
}

/** The query of a request. */
export function questionOf(
  customerId: string,
  { filters, q }: Pick<ExportJobRequest, 'filters' | 'q'>,
): ExportQuestion {
  const { amountFrom, amountTo, ...others } = filters
  return {
    customerId,
    q,
    filters: {
      ...others,
      ...(amountFrom === undefined ? {} : { amountFrom: BigInt(amountFrom) }),
      ...(amountTo === undefined ? {} : { amountTo: BigInt(amountTo) }),
    },
  }
}

/**
 * The days that an export of one balance covers, both included. A period that reaches into the future ends today, the
 * last day with a known balance.
 */
function periodOf(
  { filters }: Pick<ExportJobRequest, 'filters'>,
  now: number,
): { readonly from: string; readonly to: string } {
  const { bookedFrom, bookedTo } = filters
  const today = dateIn(now, 'UTC')
  const from = bookedFrom === undefined ? '1970-01-01' : bookedFrom.slice(0, 10)
  const to = bookedTo === undefined ? today : dateIn(Date.parse(bookedTo.before) - 1, 'UTC')
  return { from, to: to > today && from <= today ? today : to }
}

/** The order for an export: the customer, the request and an id. */
export interface ExportOrder {
  readonly id: string
  readonly customerId: string
  readonly request: ExportJobRequest
}

/**
 * Makes an export: a temporary file that is stored for an hour.
 *
 * @throws ProblemError for a failure that no retry can help
 */
export async function makeExport(deps: ExportJobDeps, order: ExportOrder, context: JobContext): Promise<JobOutcome> {
  const { request } = order
  if (request.sandbox && request.columns?.some((column) => hasSandboxToken(column, FAIL_CODE)) === true)
    refuse('internal-error', 'The sandbox was asked to let this job fail.')
  const exported =
    request.format === 'camt053' || request.format === 'mt940'
      ? await statementFile(deps, order, context)
      : await listFile(deps, order, context)
  const file = request.includeAttachments ? await packed(deps, order, exported.file, context) : exported.file
  const { fileName, contentType, sizeBytes } = file
  return { result: { ...NO_RESULT, fileName, contentType, sizeBytes, rows: exported.rows }, fileId: file.id }
}

/** Writes the list as a table or as JSON. */
async function listFile(
  deps: ExportJobDeps,
  { customerId, request }: ExportOrder,
  context: JobContext,
): Promise<{ readonly file: StoredFile; readonly rows: number }> {
  const { database, clock, documents } = deps
  const { format, timezone, decimalSeparator, includeAnnotations } = request
  const columns = request.columns?.filter(isExportColumn) ?? defaultColumns(includeAnnotations)
  const { ending, contentType } = TYPES[format as keyof typeof TYPES]
  const name: FileNames = { fileName: `transactions-${dateIn(clock.now(), 'UTC')}.${ending}`, contentType }
  let rows = 0
  async function* batches<Row>(shown: (row: ExportedTransaction) => Row): AsyncGenerator<Row[]> {
    for await (const records of transactionsOf(
      readDatabase(database),
      questionOf(customerId, request),
      LINES_AT_ONCE,
    )) {
      const batch: Row[] = []
      for (const record of records) {
        const annotations =
          includeAnnotations && record.annotationCount > 0 ? await annotationsOf(database, record.id) : []
        batch.push(shown({ ...record, annotations }))
      }
      rows += batch.length
      yield batch
      context.progress(rows, null)
    }
  }
  if (format === 'json') {
    using stream = documents.open({ kind: 'json' })
    const json = (row: ExportedTransaction): string =>
      JSON.stringify(
        includeAnnotations ? { ...transactionJson(row), annotations: row.annotations } : transactionJson(row),
      )
    const [file] = await writeDocuments(deps, customerId, [name], stream, batches(json), context.signal)
    return { file: file!, rows }
  }
  using stream = documents.open({
    kind: 'table',
    format: format as 'csv' | 'xlsx',
    sheetName: 'Transactions',
    columns,
    style: { timezone, decimalSeparator },
    createdAt: clock.now(),
  })
  const [file] = await writeDocuments(
    deps,
    customerId,
    [name],
    stream,
    batches((row): readonly Cell[] => tableRow(row, columns)),
    context.signal,
  )
  return { file: file!, rows }
}

/** Writes the lines of one balance as a statement without a number. */
async function statementFile(
  deps: ExportJobDeps,
  { id, customerId, request }: ExportOrder,
  context: JobContext,
): Promise<{ readonly file: StoredFile; readonly rows: number }> {
  const { database, clock, documents } = deps
  const format = request.format as 'camt053' | 'mt940'
  const now = clock.now()
  const balance = await statementBalance(database, customerId, request.filters.balanceId?.[0] ?? '')
  if (balance === null) refuse('not-found', 'The balance is gone.')
  const period = periodOf(request, now)
  const holder = await holderOf(database, balance.id)
  const measured = await inTransaction(database, (client) => measureStatement(client, balance.id, period))
  const head = {
    ...measured,
    id,
    kind: 'custom' as const,
    sequenceNumber: 0,
    ...period,
    currency: balance.currency,
    createdAt: now,
    holder,
  }
  if (format === 'mt940' && !fitsMt940(head, measured.largest)) {
    const message = 'An amount is too large for MT940.'
    refuse('validation-error', message, { errors: [{ field: '/format', code: 'too_large', message }] })
  }
  using stream = documents.open({
    kind: 'statement',
    head,
    formats: [format],
    style: { timezone: 'UTC', decimalSeparator: '.' },
  })
  const { ending, contentType } = FORMATS[format]
  const [file] = await writeDocuments(
    deps,
    customerId,
    [{ fileName: `transactions-${dateIn(now, 'UTC')}.${ending}`, contentType }],
    stream,
    linesOf(database, head, context),
    context.signal,
  )
  return { file: file!, rows: head.creditCount + head.debitCount }
}

/** Packs the export and the clean attachments of its transactions into one ZIP file. */
async function packed(
  { database, clock, ids }: ExportJobDeps,
  { customerId, request }: ExportOrder,
  exported: StoredFile,
  { signal }: JobContext,
): Promise<StoredFile> {
  const now = clock.now()
  async function* entries(): AsyncGenerator<ZipEntry> {
    yield { path: exported.fileName, file: exported }
    for await (const records of transactionsOf(
      readDatabase(database),
      questionOf(customerId, request),
      LINES_AT_ONCE,
    )) {
      signal.throwIfAborted()
      for (const { id, attachmentCount } of records) {
        if (attachmentCount === 0) continue
        for (const [nth, { status, fileId, fileName }] of (await attachmentsOf(database, id)).entries()) {
          const file = status === 'clean' ? await findFile(database, fileId, now) : null
          if (file !== null) yield { path: `attachments/${id}/${nth + 1}-${fileName.replace(/[/\\]/g, '_')}`, file }
        }
      }
    }
  }
  return await writeZip(database, entries(), {
    id: ids.next(),
    tenantId: customerId,
    fileName: `${exported.fileName.replace(/\..*$/, '')}.zip`,
    contentType: 'application/zip',
    maxBytes: ZIP_BYTES_MAX,
    now,
  })
}

export function exportJob(deps: ExportJobDeps): JobWork {
  return {
    run: (job, context) =>
      makeExport(deps, { id: job.id, customerId: job.tenantId, request: job.request as ExportJobRequest }, context),
  }
}
