/**
 * Reads bulk files in a thread. Errors of a file are its result, not an exception; rows that were read before them are
 * void.
 */
import { BulkFileError, type FileError } from '../../lib/bulk-payments/file-error.ts'
import type { BulkFileFormat } from '../../lib/bulk-payments/formats.ts'
import type { BulkRow, FileFacts } from '../../lib/bulk-payments/instruction.ts'
import { ROWS_AT_A_TIME } from '../../lib/bulk-payments/limits.ts'
import { readingSteps } from '../reading/reading.ts'
import { readerOf, type BulkReadingOptions } from './readers.ts'

export interface BulkFileTask extends BulkReadingOptions {
  readonly format: BulkFileFormat
}

export type BulkFileResult = { readonly facts: FileFacts } | { readonly errors: readonly FileError[] }

async function* readBulkFile(
  { format, ...options }: BulkFileTask,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<BulkRow, BulkFileResult> {
  try {
    return { facts: yield* readerOf(format).read(pieces, options) }
  } catch (error) {
    if (error instanceof BulkFileError) return { errors: error.errors }
    throw error
  }
}

export default readingSteps(readBulkFile, ROWS_AT_A_TIME)
