/**
 * Reads a camt.053 in a thread, piece by piece, and gives its entries back in batches. At most one piece and one batch are in
 * memory: the other side sends the next piece when it is asked for.
 *
 * Entities are off: a document type is refused, and the parser knows no entity but XML's own five.
 */
import { createHash } from 'node:crypto'
import { SaxesParser } from 'saxes'
import { Camt053Reader } from '../../lib/reconciliation/camt053.ts'
import { StatementError, type StatementEntry, type StatementHead } from '../../lib/reconciliation/statement.ts'
import { readingSteps } from '../reading/reading.ts'

/** Entries of one batch. */
const BATCH = 1_000
/** A statement larger than this is none of ours: some ten million entries. */
const BYTES_MAX = 8 * 1024 ** 3

/** What was read. */
export interface ReadStatement {
  readonly head: StatementHead
  /** Hexadecimal SHA-256 of the bytes. */
  readonly sha256: string
  /** Why it cannot be used; then `head` says nothing. */
  readonly error: string | null
}

async function* readStatement(_: object, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<StatementEntry, ReadStatement> {
  let batch: StatementEntry[] = []
  const reader = new Camt053Reader((entry) => { batch.push(entry) })
  const parser = new SaxesParser()
  parser.on('doctype', () => { throw new StatementError('The statement has a document type, which is refused.') })
  parser.on('opentag', ({ name, attributes }) => reader.open(name, attributes['Ccy'] ?? null))
  parser.on('text', (text) => reader.text(text))
  parser.on('cdata', (text) => reader.text(text))
  parser.on('closetag', () => reader.close())
  parser.on('error', (error) => { throw new StatementError(`The statement is not well-formed: ${error.message}`) })
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
    // A class of errors does not survive the way between threads.
    if (!(error instanceof StatementError) && !(error instanceof TypeError)) throw error
    return { head: { id: '', account: '', currency: '', opening: 0n, closing: 0n }, sha256: '', error: error.message }
  }
}

export default readingSteps(readStatement, BATCH)
