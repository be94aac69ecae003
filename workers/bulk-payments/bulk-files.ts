/** Bulk files, read in a thread of their own. */
import type { FileError } from '../../lib/bulk-payments/file-error.ts'
import type { BulkRow, FileFacts } from '../../lib/bulk-payments/instruction.ts'
import type { BulkFileFormat, BulkFileResult, BulkFileTask } from './read-bulk-file.ts'
import { createFileReader } from '../reading/reader.ts'

/** The largest spreadsheet with its packed bytes and shared texts. */
const THREAD_HEAP_MB = 768

export interface BulkReading {
  /** Of the file. */
  readonly bytes: AsyncIterable<Uint8Array>
  readonly task: BulkFileTask
  /** Called with the rows in their order; the thread goes on when it resolves. What it rejects with ends the reading. */
  readonly onRows: (rows: readonly BulkRow[]) => Promise<void>
  readonly signal?: AbortSignal
}

export interface BulkFiles {
  /** Reads a file to its end. Errors of the file void all rows. @throws ReadingFailed; what `bytes` and `onRows` reject with; the reason of the signal */
  read(reading: BulkReading): Promise<{ readonly facts: FileFacts } | { readonly errors: readonly FileError[] }>
  close(): Promise<void>
}

/** Opens the thread. */
export function createBulkFiles(): BulkFiles {
  const reader = createFileReader<BulkFileTask, BulkRow, BulkFileResult>({ module: new URL('./read-bulk-file.ts', import.meta.url), heapMb: THREAD_HEAP_MB })
  return { read: ({ bytes, task, onRows, signal }) => reader.read({ task, pieces: bytes, take: onRows, ...(signal === undefined ? {} : { signal }) }), close: reader.close }
}

const BYTE_ORDER_MARK = 0xfe_ff

/** The format of a file by how it begins: spreadsheets are archives, messages are XML, all else is a table of text. */
export function formatOf(beginning: Uint8Array): BulkFileFormat {
  if (beginning[0] === 0x50 && beginning[1] === 0x4b) return 'xlsx'
  const text = new TextDecoder().decode(beginning)
  const first = text.codePointAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
  return first.trimStart().startsWith('<') ? 'pain001' : 'csv'
}
