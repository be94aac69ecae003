/**
 * A place for files in a directory of the machine: below the root that the settings name, in a directory named after
 * the connection. No path of a configuration leads out of it, and neither does a link that is put there.
 */
import { constants } from 'node:fs'
import { access, lstat, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { performance } from 'node:perf_hooks'
import {
  PlaceUnreachable,
  type FileEndpoint,
  type FilePlace,
  type FileSession,
  type FoundFile,
} from '../adapters/partner-files.ts'
import { isOffered, plainName } from './file-names.ts'

/** Bytes that are read at once. */
const PIECE_BYTES = 256 * 1024

export function directoryPlace(root: string, { connectionId, paths }: Omit<FileEndpoint, 'server'>): FilePlace {
  const base = join(root, connectionId)

  /**
   * Returns the real path of a folder. None is made: where one is missing, a disk may not be mounted, and what is not
   * there says nothing.
   */
  const folder = async (path: string): Promise<string> => {
    const [inside, real] = await Promise.all([realpath(base), realpath(join(base, path))])
    const within = join(await realpath(root), connectionId)
    if (inside !== within || !real.startsWith(inside + sep))
      throw new PlaceUnreachable(`The folder ${path} leads out of the directory of the connection.`)
    return real
  }
  const inFolder = async (path: string, name: string): Promise<string> => join(await folder(path), plainName(name))

  const session: FileSession = {
    async list() {
      const directory = await folder(paths.incoming)
      const found: FoundFile[] = []
      for (const { name } of (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isFile())) {
        if (!isOffered(name)) continue
        const stats = await lstat(join(directory, name)).catch(missing)
        if (stats?.isFile()) found.push({ name, bytes: stats.size, modifiedAt: Math.floor(stats.mtimeMs) })
      }
      return found.sort((one, other) => one.modifiedAt - other.modifiedAt || (one.name < other.name ? -1 : 1))
    },
    async *read(name) {
      // A link in place of the file is not followed.
      const file = await open(await inFolder(paths.incoming, name), constants.O_RDONLY | constants.O_NOFOLLOW)
      try {
        if (!(await file.stat()).isFile()) throw new PlaceUnreachable(`${name} is no file.`)
        for (;;) {
          const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES)
          if (bytesRead === 0) return
          yield buffer.subarray(0, bytesRead)
        }
      } finally {
        await file.close()
      }
    },
    async archive(name, newName) {
      if (paths.archive !== null)
        await rename(await inFolder(paths.incoming, name), await inFolder(paths.archive, newName))
    },
    async has(name) {
      return (await lstat(await inFolder(paths.outgoing, name)).catch(missing)) !== null
    },
    async write(name, pieces) {
      const path = await inFolder(paths.outgoing, name)
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
      const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o640)
      try {
        for await (const piece of pieces) await file.writeFile(piece)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    async rename(from, to) {
      const directory = await folder(paths.outgoing)
      await rename(join(directory, plainName(from)), join(directory, plainName(to)))
      const handle = await open(directory, constants.O_RDONLY)
      await handle.sync().finally(() => handle.close())
    },
    async remove(name) {
      await rm(await inFolder(paths.outgoing, name), { force: true })
    },
  }
  const use: FilePlace['use'] = async (work) => {
    try {
      return await work(session)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) throw error
      throw new PlaceUnreachable(`A folder of the connection cannot be used (${code}).`, { cause: error })
    }
  }
  return {
    name: `${connectionId}/${paths.outgoing}`,
    use,
    async probe() {
      const begun = performance.now()
      await use(async () => {
        for (const path of [paths.outgoing, paths.incoming, ...(paths.archive === null ? [] : [paths.archive])])
          await access(await folder(path), constants.R_OK | constants.W_OK)
      })
      return Math.round(performance.now() - begun)
    },
  }
}

/** A file that is not there is null; other errors go on. */
function missing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
