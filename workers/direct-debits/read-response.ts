/**
 * Reads an answer of a bank about direct debits in a thread, piece by piece, and answers with its items in batches. At
 * most one piece and one batch are in memory: the next piece is sent when the thread wants it.
 */
import { createHash } from 'node:crypto'
import {
  ResponseReading,
  type ResponseFormat,
  type ResponseItem,
} from '../../lib/direct-debits/files/response-reading.ts'
import { BankFileError } from '../../lib/providers/iso20022/bank-file-error.ts'
import type { BankFileFault } from '../../lib/providers/iso20022/reports.ts'
import { readingSteps } from '../reading/reading.ts'

/** Items of one batch. */
const BATCH = 200
/** Bytes that are parsed at a time, so that a large piece does not become a large number of items at once. */
const STEP_BYTES = 64 * 1024

/** The result of reading a file. */
export interface ReadResponse {
  /** Hexadecimal SHA-256 of the bytes; empty for a file with an error, which is not read to its end. */
  readonly sha256: string
  /** Null where the file is none of the formats. */
  readonly format: ResponseFormat | null
  /** Why the file cannot be used; the items before it are then void. */
  readonly error: {
    readonly fault: BankFileFault
    readonly path: string
    readonly line: number | null
    readonly message: string
  } | null
}

async function* readResponse(_: object, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ResponseItem, ReadResponse> {
  const reading = new ResponseReading()
  const hash = createHash('sha256')
  try {
    for await (const piece of pieces) {
      hash.update(piece)
      for (let at = 0; at < piece.byteLength; at += STEP_BYTES)
        yield* reading.write(piece.subarray(at, at + STEP_BYTES))
    }
    yield* reading.end()
    return { sha256: hash.digest('hex'), format: reading.format, error: null }
  } catch (error) {
    // Returned, not thrown: the class of an error is lost between threads.
    if (!(error instanceof BankFileError)) throw error
    const { fault, path, line, message } = error
    return { sha256: '', format: reading.format, error: { fault, path, line, message } }
  }
}

export default readingSteps(readResponse, BATCH)
