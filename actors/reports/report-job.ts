/** The job that makes a report: reads its rows in one snapshot, formats them in a worker thread, and stores one file. */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { NO_RESULT } from '../../lib/jobs/job.ts'
import {
  feeRow,
  REPORT_COLUMNS,
  REPORT_FORMATS,
  safeguardingRow,
  volumeRow,
  type ReportFileFormat,
  type ReportKind,
  type ReportQuestion,
} from '../../lib/reports/report.ts'
import type { Cell } from '../../lib/statements/table.ts'
import type { Database } from '../../storage/db/database.ts'
import { safeguardedDays } from '../../storage/reports/safeguarding.ts'
import { feeSums, volumeSums } from '../../storage/reports/sums.ts'
import type { DocumentPool } from '../../workers/documents/pool.ts'
import type { JobWork } from '../jobs/jobs.ts'
import { writeDocuments } from '../jobs/write-files.ts'

/** The request of the job. */
export interface ReportJobRequest extends ReportQuestion {
  readonly format: ReportFileFormat
}

export interface ReportJobDeps {
  readonly database: Database
  /** Connections for snapshots. */
  readonly snapshots: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly documents: DocumentPool
}

/** Rows that are written at a time. */
const ROWS_AT_ONCE = 500

const TITLES: Readonly<Record<ReportKind, string>> = {
  safeguarding: 'Safeguarding of customer money',
  fees: 'Fees',
  volumes: 'Volumes',
}

/** Reads the rows of a report, as cells of its columns. */
async function* rowsOf(
  snapshots: Database,
  operatorId: string,
  question: ReportQuestion,
): AsyncGenerator<readonly Cell[]> {
  switch (question.kind) {
    case 'safeguarding':
      for await (const days of safeguardedDays(snapshots, operatorId, question)) yield* days.map(safeguardingRow)
      return
    case 'fees':
      for await (const sums of feeSums(snapshots, operatorId, question)) yield* sums.map(feeRow)
      return
    case 'volumes':
      for await (const sums of volumeSums(snapshots, operatorId, question)) yield* sums.map(volumeRow)
      return
    default:
      question.kind satisfies never
  }
}

export function reportJob(deps: ReportJobDeps): JobWork {
  const { snapshots, clock, documents } = deps
  return {
    async run(job, { progress, signal }) {
      const { format, ...question } = job.request as ReportJobRequest
      const { kind, from, to, timezone } = question
      let rows = 0
      // People read names; ids would leave no room for them on a page.
      const columns: readonly string[] = REPORT_COLUMNS[kind]
      const shown = columns.flatMap((name, index) => (format === 'pdf' && name.endsWith('Id') ? [] : [index]))
      async function* batches(): AsyncGenerator<(readonly Cell[])[]> {
        let batch: (readonly Cell[])[] = []
        for await (const row of rowsOf(snapshots, job.tenantId, question)) {
          signal.throwIfAborted()
          batch.push(shown.map((index) => row[index] as Cell))
          rows += 1
          if (batch.length < ROWS_AT_ONCE) continue
          yield batch
          batch = []
          progress(rows, null)
        }
        if (batch.length > 0) yield batch
      }
      using stream = documents.open({
        kind: 'table',
        format,
        sheetName: TITLES[kind],
        caption: `${from} to ${to} (${timezone})`,
        columns: shown.map((index) => columns[index] as string),
        style: { timezone, decimalSeparator: '.' },
        createdAt: clock.now(),
      })
      const { ending, contentType } = REPORT_FORMATS[format]
      const names = [{ fileName: `${kind}-${from}-${to}.${ending}`, contentType }]
      const [file] = await writeDocuments(deps, job.tenantId, names, stream, batches(), signal)
      const { id, fileName, sizeBytes } = file!
      return { result: { ...NO_RESULT, fileName, contentType, sizeBytes, rows }, fileId: id }
    },
  }
}
