/**
 * Reads bulk files in a thread. Errors of a file are its result, not an exception; rows that were read before them are
 * void.
 */
import { BulkFileError, type FileError } from '../../lib/bulk-payments/file-error.ts'
import type { BulkRow, DecimalSeparator, FileFacts } from '../../lib/bulk-payments/instruction.ts'
import { ROWS_AT_A_TIME } from '../../lib/bulk-payments/limits.ts'
import { readCsv, type Delimiter } from './csv.ts'
import { readPain001 } from './pain001.ts'
import { readXlsx } from './xlsx.ts'
import { readingSteps } from '../reading/reading.ts'

export type BulkFileFormat = 'csv' | 'xlsx' | 'pain001'

export interface BulkFileTask {
  readonly format: BulkFileFormat
  readonly delimiter: Delimiter | null
  readonly decimalSeparator: DecimalSeparator
}

export type BulkFileResult = { readonly facts: FileFacts } | { readonly errors: readonly FileError[] }

async function* readBulkFile(
  task: BulkFileTask,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<BulkRow, BulkFileResult> {
  try {
    return { facts: yield* rowsOf(task, pieces) }
  } catch (error) {
    if (error instanceof BulkFileError) return { errors: error.errors }
    throw error
  }
}

function rowsOf(
  { format, ...options }: BulkFileTask,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<BulkRow, FileFacts> {
  switch (format) {
    case 'csv':
      return readCsv(pieces, options)
    case 'xlsx':
      return readXlsx(pieces, options)
    case 'pain001':
      return readPain001(pieces)
  }
}

export default readingSteps(readBulkFile, ROWS_AT_A_TIME)
