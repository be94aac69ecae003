/**
 * Reads a bank's file in a thread, piece by piece, and answers with its items in batches. At most one piece and one
 * batch are in memory: the next piece is sent when the thread wants it.
 */
import { createHash } from 'node:crypto'
import { BankFileError } from '../../lib/providers/iso20022/bank-file-error.ts'
import { BankFileReading, type BankMessageName } from '../../lib/providers/iso20022/bank-file.ts'
import type { BankFileFault, BankFileItem } from '../../lib/providers/iso20022/reports.ts'
import { readingSteps } from '../reading/reading.ts'

/** Items of one batch. */
const BATCH = 200
/** The largest file that is read: about ten million entries. */
const BYTES_MAX = 8 * 1024 ** 3
/** Bytes that are parsed at a time, so that a large piece does not become a large number of items at once. */
const STEP_BYTES = 64 * 1024

/** The result of reading a file. */
export interface ReadBankFile {
  /** Hexadecimal SHA-256 of the bytes; empty for a file with an error, which is not read to its end. */
  readonly sha256: string
  readonly bytes: number
  /** Null where the file is none of the messages that are read. */
  readonly message: BankMessageName | null
  /** Why the file cannot be used; the items before it are then void. */
  readonly error: {
    readonly fault: BankFileFault
    readonly path: string
    readonly line: number | null
    readonly message: string
  } | null
}

async function* readBankFile(_: object, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<BankFileItem, ReadBankFile> {
  const reading = new BankFileReading()
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const piece of pieces) {
      bytes += piece.byteLength
      if (bytes > BYTES_MAX) throw new BankFileError('too_large', 'The file is too large.')
      hash.update(piece)
      for (let at = 0; at < piece.byteLength; at += STEP_BYTES)
        yield* reading.write(piece.subarray(at, at + STEP_BYTES))
    }
    yield* reading.end()
    return { sha256: hash.digest('hex'), bytes, message: reading.message, error: null }
  } catch (error) {
    // Returned, not thrown: the class of an error is lost between threads.
    if (!(error instanceof BankFileError)) throw error
    const { fault, path, line, message } = error
    return { sha256: '', bytes, message: reading.message, error: { fault, path, line, message } }
  }
}

export default readingSteps(readBankFile, BATCH)
