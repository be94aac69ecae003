/** Reads the answers of banks about direct debits in a thread of its own: one may take minutes, and no other work waits. */
import type { ResponseItem } from '../../lib/direct-debits/files/response-reading.ts'
import { createFileReader } from '../reading/reader.ts'
import type { ReadResponse } from './read-response.ts'

/** Small, because a file is never in memory as a whole. */
const THREAD_HEAP_MB = 256

export interface ResponseReader {
  /**
   * Reads a file: `take` gets its items in their order, batch by batch, and the next piece is read after its promise
   * has resolved. Sums are known only at the end, so the items of a file with an error are void.
   *
   * @throws errors of the pieces and of `take`, ReadingFailed when the thread is lost, and the reason of the signal; a
   *   file that cannot be used is a result with `error`, not an exception
   */
  read(reading: {
    readonly pieces: AsyncIterable<Uint8Array>
    readonly take: (items: readonly ResponseItem[]) => Promise<void>
    readonly signal: AbortSignal
  }): Promise<ReadResponse>
  close(): Promise<void>
}

/** Makes the reader. Its thread starts with the first file. */
export function createResponseReader(): ResponseReader {
  const reader = createFileReader<object, ResponseItem, ReadResponse>({
    module: new URL('./read-response.ts', import.meta.url),
    heapMb: THREAD_HEAP_MB,
  })
  return { read: (reading) => reader.read({ task: {}, ...reading }), close: reader.close }
}
