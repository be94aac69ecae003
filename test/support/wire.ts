/**
 * A proxy between one node and Postgres that understands enough of the protocol to lose exactly the answer to a commit:
 * the server has committed and answers, but the node never gets the answer.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Prefix of the names of prepared commit statements. */
const COMMIT_STATEMENT = 'commit_'
const BIND = 'B'.charCodeAt(0)
const QUERY = 'Q'.charCodeAt(0)
/** ReadyForQuery outside of any transaction: the statement has been committed, or was refused. */
const READY_IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

interface Line {
  readonly node: Socket
  readonly server: Socket
  /** Bytes so far of the node's next message. */
  pending: Buffer
  /** Whether the first message of the connection, which has no type, was read. */
  greeted: boolean
  /** Whether a commit is on its way to the server, or its answer on its way back. */
  committing: boolean
  /** Bytes so far of the answer, while it is kept from the node. */
  kept: Buffer[]
}

/** A proxy between one node and Postgres. */
export class Wire {
  readonly #server: Server
  readonly #target: { readonly host: string; readonly port: number }
  readonly #lines = new Set<Line>()
  #refusing = false
  #silent = false
  #toLose = 0
  /** Number of lost answers to commits. */
  lost = 0
  /** Number of bytes of the node that were dropped since the silence began. */
  dropped = 0
  readonly url: string

  private constructor(server: Server, databaseUrl: string) {
    this.#server = server
    const url = new URL(databaseUrl)
    this.#target = { host: url.hostname, port: Number(url.port) }
    url.hostname = '127.0.0.1'
    url.port = String((server.address() as AddressInfo).port)
    this.url = url.href
    server.on('connection', (socket) => this.#accept(socket))
  }

  static async open(databaseUrl: string): Promise<Wire> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Wire(server, databaseUrl)
  }

  /** Loses the answers to the next commits, and each time the connection with it. */
  loseCommitAnswers(count: number): void {
    this.#toLose = count
  }

  /** Cuts all connections, and refuses new ones until `mend`. */
  cut(): void {
    this.#refusing = true
    for (const line of [...this.#lines]) this.#end(line)
  }

  /** Drops all bytes in both directions without closing connections, as a network that drops packets, until `mend`. */
  silence(): void {
    this.#silent = true
    this.dropped = 0
  }

  mend(): void {
    this.#refusing = false
    // The bytes of that time are lost, so the connections cannot continue.
    if (this.#silent) for (const line of [...this.#lines]) this.#end(line)
    this.#silent = false
    this.#toLose = 0
  }

  async close(): Promise<void> {
    this.cut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #accept(node: Socket): void {
    if (this.#refusing) {
      node.destroy()
      return
    }
    const server = connect(this.#target)
    const line: Line = { node, server, pending: Buffer.alloc(0), greeted: false, committing: false, kept: [] }
    this.#lines.add(line)
    for (const socket of [node, server])
      socket
        .setNoDelay(true)
        .on('error', () => this.#end(line))
        .on('close', () => this.#end(line))
    node.on('data', (bytes: Buffer) => {
      if (this.#silent) {
        this.dropped += bytes.length
        return
      }
      this.#listen(line, bytes)
      server.write(bytes)
    })
    server.on('data', (bytes: Buffer) => {
      if (this.#silent) return
      if (!line.committing || (this.#toLose === 0 && line.kept.length === 0)) {
        node.write(bytes)
        return
      }
      // The answer is kept until the server reports that it is done; before that, the commit might not have happened.
      line.kept.push(bytes)
      const said = Buffer.concat(line.kept)
      if (said.length < 6 || said[said.length - 6] !== READY_IDLE[0]) return
      line.kept = []
      line.committing = false
      if (this.#toLose > 0 && said.subarray(-6).equals(READY_IDLE)) {
        this.#toLose -= 1
        this.lost += 1
        this.#end(line)
      } else node.write(said)
    })
  }

  #end(line: Line): void {
    this.#lines.delete(line)
    line.node.destroy()
    line.server.destroy()
  }

  /** Reads the node's messages, and records whether the last one is a commit. */
  #listen(line: Line, bytes: Buffer): void {
    line.pending = line.pending.length === 0 ? bytes : Buffer.concat([line.pending, bytes])
    for (;;) {
      const header = line.greeted ? 5 : 4
      if (line.pending.length < header) return
      const length = line.pending.readInt32BE(header - 4) + header - 4
      if (line.pending.length < length) return
      const message = line.pending.subarray(0, length)
      line.pending = line.pending.subarray(length)
      if (line.greeted && (message[0] === BIND || message[0] === QUERY)) {
        // A Bind holds the portal, which has no name, and then the statement.
        line.committing =
          message[0] === BIND
            ? message.toString('latin1', 6, 6 + COMMIT_STATEMENT.length) === COMMIT_STATEMENT
            : message.toString('latin1', 5, 11) === 'commit'
      }
      line.greeted = true
    }
  }
}
