/** Statements of partners, read by a thread of their own: one may take minutes, and nobody else waits for it. */
import type { StatementEntry } from '../../lib/reconciliation/statement.ts'
import type { ReadStatement } from './read-statement.ts'
import { createFileReader } from '../reading/reader.ts'

/** A statement is never in memory whole. */
const THREAD_HEAP_MB = 256

/**
 * Reads a camt.053: `take` gets its entries, batch by batch, and the next piece is read when it is done with one.
 *
 * @throws what the pieces and `take` throw; a statement that cannot be used is no error but the result's
 */
export type ReadPartnerStatement = (pieces: AsyncIterable<Uint8Array>, take: (entries: readonly StatementEntry[]) => Promise<void>) => Promise<ReadStatement>

export interface StatementReader {
  readonly read: ReadPartnerStatement
  close(): Promise<void>
}

export function createStatementReader(): StatementReader {
  const reader = createFileReader<object, StatementEntry, ReadStatement>({ module: new URL('./read-statement.ts', import.meta.url), heapMb: THREAD_HEAP_MB })
  return { read: (pieces, take) => reader.read({ task: {}, pieces, take }), close: reader.close }
}
