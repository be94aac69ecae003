/**
 * A wire between one node and Postgres that understands enough of what is said on it to lose exactly the answer to a
 * commit: the server has done what it was told and says so, and nobody hears it.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** How the statements of commits are named when they are prepared. */
const COMMIT_STATEMENT = 'commit_'
const BIND = 'B'.charCodeAt(0)
const QUERY = 'Q'.charCodeAt(0)
/** ReadyForQuery outside of any transaction: what was asked for has been committed, or was refused. */
const READY_IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

interface Line {
  readonly node: Socket
  readonly server: Socket
  /** What of the node's next message has arrived. */
  pending: Buffer
  /** The first message of a connection has no type. */
  greeted: boolean
  /** A commit is on its way to the server, or its answer back. */
  committing: boolean
  /** The answer as far as it has come, while it is kept from the node. */
  kept: Buffer[]
}

export class Wire {
  readonly #server: Server
  readonly #target: { readonly host: string; readonly port: number }
  readonly #lines = new Set<Line>()
  #refusing = false
  #silent = false
  #toLose = 0
  /** Answers to commits that were lost so far. */
  lost = 0
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

  /** The answers to the next commits are lost, and each time the connection with it. */
  loseCommitAnswers(count: number): void { this.#toLose = count }

  /** Cuts everything; new connections are refused until `mend`. */
  cut(): void {
    this.#refusing = true
    for (const line of [...this.#lines]) this.#end(line)
  }

  /** Nothing arrives any more on either side, and no side is told: a network that drops packets. Until `mend`. */
  silence(): void { this.#silent = true }

  mend(): void {
    this.#refusing = false
    // What was said meanwhile is gone, so the connections cannot go on.
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
    if (this.#refusing) { node.destroy(); return }
    const server = connect(this.#target)
    const line: Line = { node, server, pending: Buffer.alloc(0), greeted: false, committing: false, kept: [] }
    this.#lines.add(line)
    for (const socket of [node, server]) socket.setNoDelay(true).on('error', () => this.#end(line)).on('close', () => this.#end(line))
    node.on('data', (bytes: Buffer) => {
      if (this.#silent) return
      this.#listen(line, bytes)
      server.write(bytes)
    })
    server.on('data', (bytes: Buffer) => {
      if (this.#silent) return
      if (!line.committing || (this.#toLose === 0 && line.kept.length === 0)) { node.write(bytes); return }
      // Kept until the server has said that it is done: before, the commit might not have happened.
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

  /** Reads along: is this a commit? */
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
        // Of a Bind: the portal, which has no name, then the statement.
        line.committing = message[0] === BIND
          ? message.toString('latin1', 6, 6 + COMMIT_STATEMENT.length) === COMMIT_STATEMENT
          : message.toString('latin1', 5, 11) === 'commit'
      }
      line.greeted = true
    }
  }
}
