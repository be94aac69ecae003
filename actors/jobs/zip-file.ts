/** Files of the store in one package, written into the store as it is put together. Nothing is packed: most are packed already. */
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Database } from '../../storage/db/database.ts'
import { readFile, writeFile, type FileToWrite, type StoredFile } from '../../storage/documents/files.ts'

/** A file, and what it is called in the package. */
export interface ZipEntry {
  readonly path: string
  readonly file: StoredFile
}

/**
 * Writes a package that is lent for an hour. Each entry is opened when its turn has come.
 *
 * @throws FileTooLarge, and what reading and writing throw
 */
export async function writeZip(database: Database, entries: AsyncIterable<ZipEntry>, target: FileToWrite): Promise<StoredFile> {
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
