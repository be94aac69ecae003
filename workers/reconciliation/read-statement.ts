/**
 * Reads a camt.053 in a thread, piece by piece, and answers with its entries in batches. At most one piece and one
 * batch are in memory: the next piece is sent when the thread wants it.
 */
import { createHash } from 'node:crypto'
import { BankFileError } from '../../lib/providers/iso20022/bank-file-error.ts'
import { BankFileReading } from '../../lib/providers/iso20022/bank-file.ts'
import { StatementEntries } from './statement-entries.ts'
import { StatementError, type StatementEntry, type PartnerStatementHead } from '../../lib/reconciliation/statement.ts'
import { readingSteps } from '../reading/reading.ts'

/** Entries of one batch. */
const BATCH = 1_000
/** The largest statement that is read: about ten million entries. */
const BYTES_MAX = 8 * 1024 ** 3

/** The result of reading a statement. */
export interface ReadStatement {
  readonly head: PartnerStatementHead
  /** Hexadecimal SHA-256 of the bytes. */
  readonly sha256: string
  /** The reason why the statement cannot be used; `head` is then empty. */
  readonly error: string | null
}

async function* readStatement(
  _: object,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<StatementEntry, ReadStatement> {
  // The sums are compared with the entries that were stored, and with the day before.
  const reading = new BankFileReading({ areSumsChecked: false })
  const statement = new StatementEntries()
  const hash = createHash('sha256')
  let size = 0
  try {
    for await (const piece of pieces) {
      size += piece.byteLength
      if (size > BYTES_MAX) throw new StatementError('The statement is too large.')
      hash.update(piece)
      for (const item of reading.write(piece)) yield* statement.take(item)
    }
    for (const item of reading.end()) yield* statement.take(item)
    return { head: statement.head(), sha256: hash.digest('hex'), error: null }
  } catch (error) {
    // Returned, not thrown: the class of an error is lost between threads.
    if (!(error instanceof StatementError) && !(error instanceof BankFileError)) throw error
    return {
      head: { id: '', account: '', currency: '', opening: 0n, closing: 0n },
      sha256: '',
      error: error instanceof BankFileError ? sentence(error) : error.message,
    }
  }
}

/** Returns what is wrong with the file, with the place. */
function sentence({ fault, message, path, line }: BankFileError): string {
  const place = line === null ? '' : ` (line ${line}${path === '' ? '' : `, ${path}`})`
  if (fault === 'not_well_formed') return `The statement is not well-formed: ${message}${place}`
  return fault === 'unsupported_message' ? `The file has no statement: ${message}${place}` : `${message}${place}`
}

export default readingSteps(readStatement, BATCH)
