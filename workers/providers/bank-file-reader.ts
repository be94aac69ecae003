/** Reads the files of banks in a thread of its own: a statement may take minutes, and no other work waits for it. */
import type { BankFileItem } from '../../lib/providers/iso20022/reports.ts'
import { createFileReader } from '../reading/reader.ts'
import type { ReadBankFile } from './read-bank-file.ts'

/** Small, because a file is never in memory as a whole. */
const THREAD_HEAP_MB = 256

export interface BankFileReader {
  /**
   * Reads a file: `take` gets its items in their order, batch by batch, and the next piece is read after its promise
   * has resolved. Sums are known only at the end, so the items of a file with an error are void.
   *
   * @throws errors of the pieces and of `take`, and ReadingFailed when the thread is lost; a file that cannot be used
   *   is a result with `error`, not an exception
   */
  read(
    pieces: AsyncIterable<Uint8Array>,
    take: (items: readonly BankFileItem[]) => Promise<void>,
  ): Promise<ReadBankFile>
  close(): Promise<void>
}

/** Makes the reader. Its thread starts with the first file. */
export function createBankFileReader(): BankFileReader {
  const reader = createFileReader<object, BankFileItem, ReadBankFile>({
    module: new URL('./read-bank-file.ts', import.meta.url),
    heapMb: THREAD_HEAP_MB,
  })
  return { read: (pieces, take) => reader.read({ task: {}, pieces, take }), close: reader.close }
}
