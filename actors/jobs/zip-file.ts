/**
 * Packs stored files into one ZIP file, which is written into the store as it grows. Entries are not compressed,
 * because most files are compressed already.
 */
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Database } from '../../storage/db/database.ts'
import { readFile, writeFile, type FileToWrite, type StoredFile } from '../../storage/documents/files.ts'

/** A file, and its path in the package. */
export interface ZipEntry {
  readonly path: string
  readonly file: StoredFile
}

/**
 * Writes a temporary package that is stored for an hour. Each entry is opened only when its turn comes.
 *
 * @throws FileTooLarge, and the errors of reading and writing
 */
export async function writeZip(
  database: Database,
  entries: AsyncIterable<ZipEntry>,
  target: FileToWrite,
): Promise<StoredFile> {
  const zip = new ZipFile()
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => undefined)
  zip.on('error', broken.reject)
  const mtime = new Date(target.now)
  for await (const { path, file } of entries) {
    zip.addReadStreamLazy(path, { compress: false, mtime }, (take) => {
      const stream = Readable.from(readFile(database, file))
      stream.on('error', broken.reject)
      take(null, stream)
    })
  }
  zip.end()
  const output = zip.outputStream as unknown as AsyncIterable<Uint8Array>
  return await Promise.race([writeFile(database, output, target), broken.promise])
}
