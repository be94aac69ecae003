/**
 * Templates and reports of bulk payments. A report is written on request, as a file that is stored for an hour. The
 * same file is served until the data that it shows changes, or, while payments are being made, for half a minute.
 * Requests at the same time wait for one write; a request that waits too long for a large report is told to come back.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { writeDocuments } from '../jobs/write-files.ts'
import { REPORT_COLUMNS, reportCells, type ReportFormat, type ReportRow } from '../../lib/bulk-payments/report.ts'
import type { TemplateFormat } from '../../lib/bulk-payments/formats.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { FORMATS } from '../../lib/statements/statement.ts'
import type { Cell } from '../../lib/statements/table.ts'
import type { BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import {
  keepReport,
  keptReport,
  readReport,
  reportState,
  type ReportSnapshot,
} from '../../storage/bulk-payments/bulk-reports.ts'
import type { Database } from '../../storage/db/database.ts'
import { findFile, readFile, type StoredFile } from '../../storage/documents/files.ts'
import { findBulkPayment } from '../../storage/bulk-payments/bulk-payment-queries.ts'
import { messageHeadOf } from '../../workers/bulk-payments/readers.ts'
import type { DocumentPool } from '../../workers/documents/pool.ts'
import { LINK_MS, type DownloadReads } from '../documents/downloads.ts'
import type { Answer, FileBytes } from '../../lib/commands/answer.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { writeTemplate } from './bulk-templates.ts'

/**
 * The maximum number of reports that one node writes at a time: each holds a connection, and a thread while it writes.
 */
const WRITTEN_MAX = 2
/**
 * While its payments are being made, a report is stale at once. A report up to this age is served all the same, because
 * otherwise no request would ever get one. Milliseconds.
 */
const MOVING_MS = 30_000
/** The maximum time that a caller waits; milliseconds. */
const WAIT_MS = 8_000
/** The time limit for writing a report: a hundred thousand rows take a few seconds. */
const WRITING_MS = 120_000

export interface BulkReportReads {
  template(format: TemplateFormat): Promise<Answer<FileBytes, 200>>
  /** @throws ProblemError `not-found`, `document-not-ready` */
  report(tenant: Tenant, id: string, format: ReportFormat): Promise<DownloadLink>
}

export interface BulkReportDeps {
  readonly database: Database
  /**
   * Reads all rows of a report in one snapshot. Separate from `database`, through which the file is written meanwhile.
   */
  readonly snapshots: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly documents: DocumentPool
  readonly downloads: DownloadReads
}

/** Creates the reads of templates and reports. */
export function createBulkReportReads(deps: BulkReportDeps): BulkReportReads {
  const { database, downloads } = deps
  const templates = new Map<TemplateFormat, Promise<Answer<FileBytes, 200>>>()
  const reports = new BulkReports(deps)
  return {
    async template(format) {
      const made = templates.get(format) ?? writeTemplate(deps, format)
      templates.set(format, made)
      // After an error, the next request makes the template again.
      made.catch(() => templates.delete(format))
      return await made
    },
    async report(tenant, id, format) {
      const bulk = await findBulkPayment(database, tenant, id)
      if (bulk === null) refuseNotFound()
      if (bulk.status === 'validating')
        refuse('document-not-ready', 'The file is being validated; the report is available afterwards.', {
          retryAfterSeconds: 1,
        })
      return downloads.link(await reports.file(bulk, format))
    },
  }
}

/** The reports that are being written on this node, and the files of those that were. */
class BulkReports {
  readonly #deps: BulkReportDeps
  /** The reports being written, by bulk payment and format, and by state once no payments are being made. */
  readonly #underWay = new Map<string, Promise<StoredFile>>()

  constructor(deps: BulkReportDeps) {
    this.#deps = deps
  }

  /**
   * Returns the file of a report, written now when there is none that is fresh.
   *
   * @throws ProblemError `document-not-ready`
   */
  async file(bulk: BulkRecord, format: ReportFormat): Promise<StoredFile> {
    const state = await reportState(this.#deps.database, bulk.id)
    const last = await keptReport(this.#deps.database, bulk.id, format)
    // A file that expires before its link does is written again.
    const kept =
      last === null ? null : await findFile(this.#deps.database, last.fileId, this.#deps.clock.now() + LINK_MS)
    const isMoving = bulk.status === 'submitting'
    if (kept !== null && (last?.state === state || (isMoving && kept.createdAt + MOVING_MS > this.#deps.clock.now())))
      return kept
    const key = `${bulk.id} ${format}${isMoving ? '' : ` ${state}`}`
    const writing =
      this.#underWay.get(key) ??
      this.#begin(key, async () => {
        const file = await readReport(this.#deps.snapshots, bulk.id, (snapshot) => this.#write(bulk, format, snapshot))
        await keepReport(this.#deps.database, bulk.id, format, state, file.id)
        return file
      })
    const waited = new AbortController()
    const file = await Promise.race([
      writing,
      pause(WAIT_MS, null, { signal: waited.signal }).catch(() => null),
    ]).finally(() => waited.abort())
    return file ?? refuse('document-not-ready', 'The report is being written.', { retryAfterSeconds: 2 })
  }

  #begin(key: string, make: () => Promise<StoredFile>): Promise<StoredFile> {
    if (this.#underWay.size >= WRITTEN_MAX)
      refuse('document-not-ready', 'Other reports are being written.', { retryAfterSeconds: 2 })
    const writing = make().finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, writing)
    // Callers that still wait get the error.
    writing.catch(() => undefined)
    return writing
  }

  async #write(bulk: BulkRecord, format: ReportFormat, { counts, batches }: ReportSnapshot): Promise<StoredFile> {
    const now = this.#deps.clock.now()
    const { ending, contentType } =
      format === 'csv' ? FORMATS.csv : { ending: 'pain002.xml', contentType: 'application/xml' }
    const names = [{ fileName: `bulk-payment-${bulk.number}.${ending}`, contentType }]
    const signal = AbortSignal.timeout(WRITING_MS)
    if (format === 'csv') {
      using stream = this.#deps.documents.open({
        kind: 'table',
        format,
        sheetName: 'Report',
        columns: REPORT_COLUMNS,
        style: { timezone: 'UTC', decimalSeparator: '.' },
        createdAt: now,
      })
      const [file] = await writeDocuments(this.#deps, bulk.customerId, names, stream, tableOf(batches), signal)
      return file!
    }
    const head = messageHeadOf(bulk.format)
    const original =
      bulk.messageId === null || head === null
        ? { id: bulk.number, name: bulk.format.toUpperCase() }
        : { id: bulk.messageId, name: head.nameOf(await beginningOf(this.#deps, bulk)) }
    using stream = this.#deps.documents.open({
      kind: 'pain002',
      head: { id: this.#deps.ids.next(), createdAt: now, original, counts, fileErrors: bulk.fileErrors },
    })
    const [file] = await writeDocuments(this.#deps, bulk.customerId, names, stream, batches, signal)
    return file!
  }
}

/** Reads the first bytes of the uploaded file; none when the file is gone. */
async function beginningOf({ clock, database }: BulkReportDeps, { fileId }: BulkRecord): Promise<Uint8Array> {
  const file = await findFile(database, fileId, clock.now())
  if (file !== null) for await (const piece of readFile(database, file)) return piece
  return new Uint8Array()
}

async function* tableOf(batches: AsyncIterable<readonly ReportRow[]>): AsyncGenerator<(readonly Cell[])[]> {
  for await (const batch of batches) yield batch.map(reportCells)
}
