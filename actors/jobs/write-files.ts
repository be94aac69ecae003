/**
 * Writes documents from a worker thread into the file store, batch by batch: only the batch in progress is in memory.
 */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeFile, type StoredFile } from '../../storage/documents/files.ts'
import type { DocumentStream } from '../../workers/documents/pool.ts'
import type { Gained } from '../../workers/documents/write.ts'

/** The limit of a file, bytes. A million lines of camt.053, the longest of the formats, take 0.8 GB. */
const FILE_BYTES_MAX = 2 ** 31 - 1

export interface FileNames {
  readonly fileName: string
  readonly contentType: string
}

/**
 * Writes the documents made from the batches as temporary files that are stored for an hour, one for each name. The
 * next batch is requested when the files have taken the output of the one before.
 *
 * @throws the errors of the batches, the thread and the store, and the reason of the signal
 */
export async function writeDocuments<Row>(
  { database, clock, ids }: { readonly database: Database; readonly clock: Clock; readonly ids: IdSource },
  tenantId: string,
  names: readonly FileNames[],
  stream: DocumentStream<Row>,
  batches: AsyncIterable<readonly Row[]>,
  signal: AbortSignal,
): Promise<readonly StoredFile[]> {
  const pipes = names.map(() => new PassThrough())
  const files = Promise.all(
    pipes.map((pipe, index) =>
      writeFile(database, pipe, {
        ...names[index]!,
        id: ids.next(),
        tenantId,
        maxBytes: FILE_BYTES_MAX,
        now: clock.now(),
      }),
    ),
  )
  // The caller that awaits the files gets the error; until then a failure appears as a destroyed pipe.
  files.catch((error: unknown) => {
    for (const pipe of pipes) pipe.destroy(error as Error)
  })
  for (const pipe of pipes)
    pipe.on('error', () => {
      /* See above. */
    })
  const put = async (gained: Gained): Promise<void> => {
    await Promise.all(
      gained.map(async (bytes, index) => {
        const pipe = pipes[index]!
        if (bytes.byteLength > 0 && !pipe.write(bytes)) await once(pipe, 'drain', { signal })
      }),
    )
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
