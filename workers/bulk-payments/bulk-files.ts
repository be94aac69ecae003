/** Reads bulk files in a thread of their own. */
import type { FileError } from '../../lib/bulk-payments/file-error.ts'
import type { BulkRow, FileFacts } from '../../lib/bulk-payments/instruction.ts'
import type { BulkFileResult, BulkFileTask } from './read-bulk-file.ts'
import { createFileReader } from '../reading/reader.ts'

/** Enough for the packed bytes and the shared texts of the largest spreadsheet. */
const THREAD_HEAP_MB = 768

export interface BulkReading {
  /** The bytes of the file. */
  readonly bytes: AsyncIterable<Uint8Array>
  readonly task: BulkFileTask
  /** Called with the rows in their order; reading goes on when the promise resolves, and ends with its rejection. */
  readonly onRows: (rows: readonly BulkRow[]) => Promise<void>
  readonly signal?: AbortSignal
}

export interface BulkFiles {
  /**
   * Reads a file to its end. Errors of the file void all rows.
   * @throws ReadingFailed; the rejection of `bytes` or `onRows`; the reason of the signal
   */
  read(reading: BulkReading): Promise<{ readonly facts: FileFacts } | { readonly errors: readonly FileError[] }>
  close(): Promise<void>
}

/** Makes the reader. Its thread starts with the first file. */
export function createBulkFiles(): BulkFiles {
  const reader = createFileReader<BulkFileTask, BulkRow, BulkFileResult>({
    module: new URL('./read-bulk-file.ts', import.meta.url),
    heapMb: THREAD_HEAP_MB,
  })
  return {
    read: ({ bytes, task, onRows, signal }) =>
      reader.read({ task, pieces: bytes, take: onRows, ...(signal === undefined ? {} : { signal }) }),
    close: reader.close,
  }
}
