/** The types of the package `ssh2` that this service uses: its client, and SFTP over it. The package has none. */
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events'

  export interface ConnectConfig {
    readonly host: string
    readonly port: number
    readonly username: string
    readonly password?: string
    readonly privateKey?: string
    readonly passphrase?: string
    /** Milliseconds. */
    readonly readyTimeout: number
    readonly keepaliveInterval: number
    readonly keepaliveCountMax: number
    readonly algorithms: { readonly serverHostKey: { readonly remove: readonly string[] } }
    /** Gets the server's public key; false ends the connection before anything is sent that identifies the client. */
    readonly hostVerifier: (key: Buffer) => boolean
  }

  type Done<Result = void> = (error: Error | null | undefined, result?: Result) => void

  /** `mtime` is in seconds. */
  export interface FileAttributes {
    readonly mode: number
    readonly size: number
    readonly mtime: number
  }

  export interface DirectoryEntry {
    readonly filename: string
    readonly attrs: FileAttributes
  }

  export interface SFTPWrapper extends EventEmitter {
    readdir(path: string, done: Done<DirectoryEntry[]>): void
    stat(path: string, done: Done<FileAttributes>): void
    open(path: string, flags: 'r' | 'w', done: Done<Buffer>): void
    close(handle: Buffer, done: Done): void
    read(handle: Buffer, into: Buffer, offset: number, length: number, position: number, done: Done<number>): void
    write(handle: Buffer, from: Buffer, offset: number, length: number, position: number, done: Done): void
    rename(from: string, to: string, done: Done): void
    unlink(path: string, done: Done): void
    /** @throws Error when the server has no such extension */
    ext_openssh_fsync(handle: Buffer, done: Done): void
  }

  /** Emits `ready`, `error` and `close`. */
  export class Client extends EventEmitter {
    /** @throws Error for a private key that cannot be read */
    connect(config: ConnectConfig): this
    sftp(done: Done<SFTPWrapper>): void
    end(): this
    destroy(): this
  }

  const ssh2: { readonly Client: typeof Client }
  export default ssh2
}
