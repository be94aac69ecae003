/** Statements of partners, read by a thread of their own: one may take minutes, and nobody else waits for it. */
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { StatementEntry } from '../lib/reconciliation/statement.ts'
import type { FromReader, ReadStatement } from './read-statement.ts'

const THREAD_IDLE_MS = 30_000

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
  const pool = new Piscina<object, ReadStatement>({ filename: new URL('./read-statement.ts', import.meta.url).href, minThreads: 0, maxThreads: 1, idleTimeout: THREAD_IDLE_MS })

  const read: ReadPartnerStatement = async (pieces, take) => {
    const { port1: ours, port2: theirs } = new MessageChannel()
    const result = pool.run({ port: theirs }, { transferList: [theirs] as never })
    const source = pieces[Symbol.asyncIterator]()
    let failure: unknown
    // One after the other, in the order in which the thread speaks.
    let turn = Promise.resolve()
    const done = Promise.withResolvers<void>()
    ours.on('message', (said: FromReader) => {
      turn = turn.then(async () => {
        if (said === 'done') { done.resolve(); return }
        try {
          if (failure !== undefined) throw failure
          if (said !== 'next') { await take(said.entries); return }
          const piece = await source.next()
          ours.postMessage(piece.done === true ? 'end' : piece.value)
        } catch (error) {
          failure ??= error
          ours.postMessage('broken')
        }
      })
    })
    try {
      const statement = await result
      await done.promise
      if (failure !== undefined) throw failure
      return statement
    } finally {
      ours.close()
      await source.return?.()
    }
  }
  return { read, close: () => pool.destroy() }
}
