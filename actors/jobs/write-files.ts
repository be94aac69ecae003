/** Documents from a thread into the store of files, a batch at a time: what is under way is in memory, nothing else. */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeFile, type StoredFile } from '../../storage/documents/files.ts'
import type { DocumentStream } from '../../workers/documents/pool.ts'
import type { Gained } from '../../workers/documents/write.ts'

/** A million lines of camt.053, the longest of the formats, are 0.8 GB. */
const FILE_BYTES_MAX = 2 ** 31 - 1

export interface FileNames {
  readonly fileName: string
  readonly contentType: string
}

/**
 * Writes what comes of the batches as files that are lent for an hour, one for each name. Batches are asked for when the
 * files have taken what came of those before.
 *
 * @throws what the batches, the thread and the store throw, and the reason of the signal
 */
export async function writeDocuments<Row>(
  { database, clock, ids }: { readonly database: Database; readonly clock: Clock; readonly ids: IdSource },
  tenantId: string, names: readonly FileNames[], stream: DocumentStream<Row>, batches: AsyncIterable<readonly Row[]>, signal: AbortSignal,
): Promise<readonly StoredFile[]> {
  const pipes = names.map(() => new PassThrough())
  const files = Promise.all(pipes.map((pipe, index) => writeFile(database, pipe, { ...names[index]!, id: ids.next(), tenantId, maxBytes: FILE_BYTES_MAX, now: clock.now() })))
  // Whoever waits for the files hears of it; until then a failure shows as a pipe that is gone.
  files.catch((error: unknown) => { for (const pipe of pipes) pipe.destroy(error as Error) })
  for (const pipe of pipes) pipe.on('error', () => { /* See above. */ })
  const put = async (gained: Gained): Promise<void> => {
    await Promise.all(gained.map(async (bytes, index) => {
      const pipe = pipes[index]!
      if (bytes.byteLength > 0 && !pipe.write(bytes)) await once(pipe, 'drain', { signal })
    }))
  }
  try {
    for await (const batch of batches) {
      signal.throwIfAborted()
      await put(await stream.write(batch))
    }
    await put(await stream.end())
    for (const pipe of pipes) pipe.end()
    return await files
  } catch (error) {
    for (const pipe of pipes) pipe.destroy(error as Error)
    await files.catch(() => undefined)
    throw error
  }
}
