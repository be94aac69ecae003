/**
 * A place for files at an SFTP server. The server proves itself by a key that the configuration names, at every
 * connection, the first one included. The address is checked as those of webhooks are, so that no connection of an
 * operator reaches hosts inside of the service's own network.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import ssh2, { type Client, type DirectoryEntry, type FileAttributes, type SFTPWrapper } from 'ssh2'
import {
  PlaceUnreachable,
  type FileEndpoint,
  type FilePlace,
  type FileSession,
  type FoundFile,
} from '../adapters/partner-files.ts'
import { isOffered, plainName } from './file-names.ts'

/** Bytes of one message of SFTP that every server takes. */
const PIECE_BYTES = 32 * 1024
/** A server that answers none of three questions in this distance is gone. */
const KEEP_ALIVE_MS = 5_000
/** The time that a server has to close a connection that has done its work. */
const CLOSE_MS = 2_000
/** `SSH_FX_NO_SUCH_FILE` */
const NO_SUCH_FILE = 2
const S_IFMT = 0o170000
const S_IFREG = 0o100000

export type SftpEndpoint = FileEndpoint & { readonly server: NonNullable<FileEndpoint['server']> }

/** @param addressOf returns the address to connect to; throws PlaceUnreachable for one that is not allowed */
export function sftpPlace(endpoint: SftpEndpoint, addressOf: (host: string) => Promise<string>): FilePlace {
  const { paths } = endpoint
  const use: FilePlace['use'] = async (work) => {
    const { client, sftp, closed } = await connect(endpoint, await addressOf(endpoint.server.host))
    try {
      return await work(sessionOf(sftp, paths))
    } finally {
      client.end()
      // A server that does not close its side is cut off.
      const timer = setTimeout(() => client.destroy(), CLOSE_MS)
      await closed.finally(() => clearTimeout(timer))
    }
  }
  const { host, port, username } = endpoint.server
  return {
    name: `sftp://${username}@${host}:${port}/${paths.outgoing}`,
    use,
    async probe() {
      const begun = performance.now()
      await use(async (session) => {
        await session.list()
        await session.has('.probe')
      })
      return Math.round(performance.now() - begun)
    },
  }
}

interface Connected {
  readonly client: Client
  readonly sftp: SFTPWrapper
  /** Resolves when the connection has ended, by whichever side. */
  readonly closed: Promise<void>
}

async function connect(
  { server: { host, port, username, hostKeys, password, privateKey, passphrase }, timeoutMs }: SftpEndpoint,
  address: string,
): Promise<Connected> {
  const client = new ssh2.Client()
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
  let shown: string | null = null
  return await new Promise<Connected>((resolve, reject) => {
    const give = (message: string, cause?: unknown) => {
      client.destroy()
      reject(new PlaceUnreachable(message, { cause }))
    }
    client.on('error', (error: Error) => {
      if (shown !== null) return give(`${host} showed the key ${shown}, which the connection does not name.`)
      give(`${host} ${reasonOf(error)}.`, withoutSecrets(error))
    })
    client.on('close', () => give(`${host} closed the connection.`))
    client.once('ready', () =>
      client.sftp((error, sftp) => {
        if (sftp === undefined) give(`${host} has no SFTP.`, error)
        else resolve({ client, sftp, closed })
      }),
    )
    try {
      client.connect({
        host: address,
        port,
        username,
        ...(password === null ? {} : { password }),
        ...(privateKey === null ? {} : { privateKey }),
        ...(passphrase === null ? {} : { passphrase }),
        readyTimeout: timeoutMs,
        keepaliveInterval: KEEP_ALIVE_MS,
        keepaliveCountMax: 3,
        // Signatures with SHA-1 prove nothing any more.
        algorithms: { serverHostKey: { remove: ['ssh-rsa'] } },
        hostVerifier: (key: Buffer) => {
          const fingerprint = fingerprintOf(key)
          const isKnown = hostKeys.some((each) => isSame(each, fingerprint))
          if (!isKnown) shown = fingerprint
          return isKnown
        },
      })
    } catch (error) {
      // A key that cannot be read.
      give('The private key of the connection cannot be used.', withoutSecrets(error))
    }
  })
}

/** Returns the fingerprint of a key as OpenSSH prints it. */
export function fingerprintOf(key: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function reasonOf(error: Error & { readonly level?: string; readonly code?: string }): string {
  if (error.level === 'client-authentication') return 'refused the credentials'
  if (error.level === 'client-timeout') return 'did not answer in time'
  return `cannot be reached${error.code === undefined ? '' : ` (${error.code})`}`
}

/** The message of an error of ssh2 tells of the protocol; its other members may hold what was sent. */
const withoutSecrets = (error: unknown): Error => new Error(error instanceof Error ? error.message : 'unknown')

function sessionOf(sftp: SFTPWrapper, { incoming, outgoing, archive }: FileEndpoint['paths']): FileSession {
  const incomingPath = (name: string) => `${incoming}/${plainName(name)}`
  const outgoingPath = (name: string) => `${outgoing}/${plainName(name)}`
  return {
    async list() {
      const entries = await answer<DirectoryEntry[]>(`list ${incoming}`, (done) => sftp.readdir(incoming, done))
      return entries
        .filter(({ filename, attrs }) => (attrs.mode & S_IFMT) === S_IFREG && isOffered(filename))
        .map(
          ({ filename, attrs }): FoundFile => ({
            name: filename,
            bytes: attrs.size,
            modifiedAt: attrs.mtime * 1_000,
          }),
        )
        .sort((one, other) => one.modifiedAt - other.modifiedAt || (one.name < other.name ? -1 : 1))
    },
    async *read(name) {
      const path = incomingPath(name)
      const handle = await answer<Buffer>(`open ${path}`, (done) => sftp.open(path, 'r', done))
      try {
        for (let position = 0; ; ) {
          const piece = Buffer.allocUnsafe(PIECE_BYTES)
          const count = await readAt(sftp, { handle, piece, position, what: path })
          if (count === 0) return
          position += count
          yield piece.subarray(0, count)
        }
      } finally {
        await answer<void>(`close ${path}`, (done) => sftp.close(handle, done))
      }
    },
    async archive(name, newName) {
      if (archive === null) return
      const path = incomingPath(name)
      await answer<void>(`archive ${path}`, (done) => sftp.rename(path, `${archive}/${plainName(newName)}`, done))
    },
    async has(name) {
      const found = await answer<FileAttributes | null>(`look for ${name}`, (done) =>
        sftp.stat(outgoingPath(name), done as Parameters<typeof sftp.stat>[1]),
      ).catch((error: unknown) => {
        if (isMissing(error)) return null
        throw error
      })
      // Only of a folder that is there it can be said what it does not hold.
      if (found === null) await answer<FileAttributes>(`look into ${outgoing}`, (done) => sftp.stat(outgoing, done))
      return found !== null
    },
    async write(name, pieces) {
      const path = outgoingPath(name)
      const handle = await answer<Buffer>(`open ${path}`, (done) => sftp.open(path, 'w', done))
      let position = 0
      try {
        for await (const whole of pieces)
          for (let from = 0; from < whole.byteLength; from += PIECE_BYTES) {
            const piece = Buffer.from(whole.subarray(from, from + PIECE_BYTES))
            await answer<void>(`write ${path}`, (done) =>
              sftp.write(handle, piece, 0, piece.byteLength, position, done),
            )
            position += piece.byteLength
          }
        // Servers without the extension decide by themselves when a file is on their disk.
        await answer<void>(`flush ${path}`, (done) => sftp.ext_openssh_fsync(handle, done)).catch(() => undefined)
      } finally {
        await answer<void>(`close ${path}`, (done) => sftp.close(handle, done))
      }
      const { size } = await answer<FileAttributes>(`look at ${path}`, (done) => sftp.stat(path, done))
      if (size !== position) throw new PlaceUnreachable(`${path} has ${size} of ${position} bytes.`)
    },
    async rename(from, to) {
      // A file in the way makes it fail: none is ever replaced.
      await answer<void>(`rename ${from}`, (done) => sftp.rename(outgoingPath(from), outgoingPath(to), done))
    },
    async remove(name) {
      await answer<void>(`remove ${name}`, (done) => sftp.unlink(outgoingPath(name), done)).catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
    },
  }
}

/** Waits for the answer to a request. A connection that is lost answers all of them with an error. */
function answer<Result>(
  what: string,
  ask: (done: (error: Error | null | undefined, result?: Result) => void) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new PlaceUnreachable(`The server did not ${what} (${error.message}).`, { cause: error }))
    try {
      ask((error, result) => (error ? fail(error) : resolve(result as Result)))
    } catch (error) {
      // An extension that the server lacks.
      fail(error as Error)
    }
  })
}

const isMissing = (error: unknown): boolean =>
  ((error as Error).cause as { readonly code?: unknown } | undefined)?.code === NO_SUCH_FILE

/** Reads at a position; 0 at the end of the file. */
function readAt(
  sftp: SFTPWrapper,
  {
    handle,
    piece,
    position,
    what,
  }: { readonly handle: Buffer; readonly piece: Buffer; readonly position: number; readonly what: string },
): Promise<number> {
  return answer<number>(`read ${what}`, (done) => sftp.read(handle, piece, 0, piece.byteLength, position, done))
}
