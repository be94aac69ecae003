/** The threads that write documents, and the streams that feed them. */
import { MINUTE_MS } from '../../lib/base/clock.ts'
import { Piscina } from 'piscina'
import type { ReportRow } from '../../lib/bulk-payments/report.ts'
import type { FileLine } from '../../lib/direct-debits/files/file-rows.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import type { StatementLine } from '../../lib/statements/statement.ts'
import type { Cell } from '../../lib/statements/table.ts'
import type { CollectionFileTask } from './collection-file.ts'
import type {
  DocumentStep,
  DocumentTask,
  Gained,
  JsonTask,
  StatementTask,
  StatusReportTask,
  TableTask,
} from './write.ts'

/** Documents have no priority over other work; two at a time leave CPU for the rest. */
const THREADS_MAX = 2
/** Steps that wait for a thread: one per document. */
const QUEUE_MAX = 64
/** A document that gets no rows for this time is lost with its thread, and its job starts again. */
const THREAD_IDLE_MS = MINUTE_MS
/** Memory limit of a thread; a document that needs more ends its thread, not the process. */
const THREAD_HEAP_MB = 384
/**
 * A batch of a thousand rows takes a second at most, also with a PDF; a thread that needs this long is stuck and is
 * abandoned.
 */
const STEP_MS = MINUTE_MS

/** The thread that wrote a document has failed, or did not answer in time. */
export class DocumentFailed extends OperatingError {
  override readonly name = 'DocumentFailed'
}

/** Writes the documents of one task. Each call waits for the one before. */
export interface DocumentStream<Row> extends Disposable {
  /** @throws DocumentFailed */
  write(rows: readonly Row[]): Promise<Gained>
  /** @throws DocumentFailed */
  end(): Promise<Gained>
}

type RowOf<Task extends DocumentTask> = Task extends StatementTask
  ? StatementLine
  : Task extends TableTask
    ? readonly Cell[]
    : Task extends JsonTask
      ? string
      : Task extends StatusReportTask
        ? ReportRow
        : Task extends CollectionFileTask
          ? FileLine
          : never

export interface DocumentPool {
  /**
   * Begins the documents of a task: one per format of a statement, otherwise one. Disposing the stream abandons an
   * unfinished document.
   */
  open<Task extends DocumentTask>(task: Task): DocumentStream<RowOf<Task>>
  close(): Promise<void>
}

/** Opens the pool. Threads start with their first document. */
export function createDocumentPool(): DocumentPool {
  // The state of a document is in its thread, so each thread is a pool of its own.
  const lanes = Array.from({ length: THREADS_MAX }, () => ({
    documents: 0,
    pool: new Piscina<DocumentStep, Gained>({
      filename: new URL('./write.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: QUEUE_MAX,
      idleTimeout: THREAD_IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    }),
  }))
  let opened = 0

  function begin<Task extends DocumentTask>(task: Task): DocumentStream<RowOf<Task>> {
    const lane = lanes.reduce((least, each) => (each.documents < least.documents ? each : least))
    const id = String(opened++)
    let state: 'new' | 'open' | 'over' = 'new'
    lane.documents += 1

    async function step(rows: readonly RowOf<Task>[] | null): Promise<Gained> {
      if (state === 'over') throw new DocumentFailed('The document is over.')
      const isFirst = state === 'new'
      state = rows === null ? 'over' : 'open'
      try {
        return await lane.pool.run(
          { id, task: isFirst ? task : null, rows: rows as readonly never[] | null, isGivenUp: false },
          { signal: AbortSignal.timeout(STEP_MS) },
        )
      } catch (error) {
        state = 'over'
        throw new DocumentFailed('A document could not be written.', { cause: error })
      }
    }

    return {
      write: (rows) => step(rows),
      end: () => step(null),
      [Symbol.dispose]() {
        lane.documents -= 1
        // A thread that has failed no longer has the document.
        if (state === 'open') lane.pool.run({ id, task: null, rows: null, isGivenUp: true }).catch(() => undefined)
        state = 'over'
      },
    }
  }

  return {
    open: begin,
    close: async () => {
      await Promise.all(lanes.map(({ pool }) => pool.destroy()))
    },
  }
}
