/**
 * Reads a camt.053 in a thread, piece by piece, and answers with its entries in batches. At most one piece and one
 * batch are in memory: the next piece is sent when the thread wants it.
 *
 * No entities are expanded: a document type is refused, and the parser knows only the five entities of XML itself.
 */
import { createHash } from 'node:crypto'
import { SaxesParser } from 'saxes'
import { Camt053Reader } from '../../lib/reconciliation/camt053.ts'
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
  let batch: StatementEntry[] = []
  const reader = new Camt053Reader((entry) => {
    batch.push(entry)
  })
  const parser = new SaxesParser()
  parser.on('doctype', () => {
    throw new StatementError('The statement has a document type, which is refused.')
  })
  parser.on('opentag', ({ name, attributes }) => reader.open(name, attributes['Ccy'] ?? null))
  parser.on('text', (text) => reader.text(text))
  parser.on('cdata', (text) => reader.text(text))
  parser.on('closetag', () => reader.close())
  parser.on('error', (error) => {
    throw new StatementError(`The statement is not well-formed: ${error.message}`)
  })
  const hash = createHash('sha256')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let size = 0
  try {
    for await (const piece of pieces) {
      size += piece.byteLength
      if (size > BYTES_MAX) throw new StatementError('The statement is too large.')
      hash.update(piece)
      parser.write(decoder.decode(piece, { stream: true }))
      yield* batch
      batch = []
    }
    parser.write(decoder.decode()).close()
    yield* batch
    return { head: reader.head(), sha256: hash.digest('hex'), error: null }
  } catch (error) {
    // Returned, not thrown: the class of an error is lost between threads.
    if (!(error instanceof StatementError) && !(error instanceof TypeError)) throw error
    return { head: { id: '', account: '', currency: '', opening: 0n, closing: 0n }, sha256: '', error: error.message }
  }
}

export default readingSteps(readStatement, BATCH)
