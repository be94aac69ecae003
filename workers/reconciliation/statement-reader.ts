/** Reads partner statements in a thread of its own: a statement may take minutes, and no other work waits for it. */
import type { StatementEntry } from '../../lib/reconciliation/statement.ts'
import type { ReadStatement } from './read-statement.ts'
import { createFileReader } from '../reading/reader.ts'

/** Small, because a statement is never in memory as a whole. */
const THREAD_HEAP_MB = 256

/**
 * Reads a camt.053: `take` gets its entries, batch by batch, and the next piece is read after its promise has resolved.
 *
 * @throws errors of the pieces and of `take`; a statement that cannot be used is a result with `error`, not an
 *   exception
 */
export type ReadPartnerStatement = (
  pieces: AsyncIterable<Uint8Array>,
  take: (entries: readonly StatementEntry[]) => Promise<void>,
) => Promise<ReadStatement>

export interface StatementReader {
  readonly read: ReadPartnerStatement
  close(): Promise<void>
}

export function createStatementReader(): StatementReader {
  const reader = createFileReader<object, StatementEntry, ReadStatement>({
    module: new URL('./read-statement.ts', import.meta.url),
    heapMb: THREAD_HEAP_MB,
  })
  return { read: (pieces, take) => reader.read({ task: {}, pieces, take }), close: reader.close }
}
