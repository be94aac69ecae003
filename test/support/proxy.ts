/** A proxy between a node and its Postgres that can cut connections at a chosen moment. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A proxy that a test can tell to cut connections. */
export class DatabaseProxy {
  readonly #server: Server
  readonly #target: { readonly host: string; readonly port: number }
  readonly #upstream = new Set<Socket>()
  readonly #downstream = new Set<Socket>()
  #refusing = false
  #cutNextAnswer = false
  #cutWhenAsked: string | null = null
  readonly url: string

  private constructor(server: Server, target: URL) {
    this.#server = server
    this.#target = { host: target.hostname, port: Number(target.port) }
    const url = new URL(target.href)
    url.hostname = '127.0.0.1'
    url.port = String((server.address() as AddressInfo).port)
    this.url = url.href
    server.on('connection', (socket) => this.#accept(socket))
  }

  static async open(databaseUrl: string): Promise<DatabaseProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new DatabaseProxy(server, new URL(databaseUrl))
  }

  /** The ports by which Postgres knows the connections (pg_stat_activity.client_port). */
  get ports(): number[] {
    return [...this.#upstream].map(({ localPort }) => localPort).filter((port) => port !== undefined)
  }

  /** Drops the server's next message, and the connection with it. The server has already done the work. */
  cutNextAnswer(): void {
    this.#cutNextAnswer = true
  }

  /** Cuts the connection of a client that sends this text, before the server has read it. */
  cutWhenAsked(text: string): void {
    this.#cutWhenAsked = text
  }

  /** Cuts all connections, and refuses new ones until `mend`. */
  cut(): void {
    this.#refusing = true
    for (const socket of [...this.#upstream, ...this.#downstream]) socket.destroy()
  }

  mend(): void {
    this.#refusing = false
  }

  async close(): Promise<void> {
    this.cut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #accept(client: Socket): void {
    if (this.#refusing) {
      client.destroy()
      return
    }
    const server = connect(this.#target)
    this.#downstream.add(client)
    this.#upstream.add(server)
    const end = () => {
      client.destroy()
      server.destroy()
      this.#downstream.delete(client)
      this.#upstream.delete(server)
    }
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', end).on('close', end)
    client.on('data', (bytes) => {
      if (this.#cutWhenAsked === null || !bytes.includes(this.#cutWhenAsked)) {
        server.write(bytes)
        return
      }
      this.#cutWhenAsked = null
      end()
    })
    server.on('data', (bytes) => {
      if (!this.#cutNextAnswer) {
        client.write(bytes)
        return
      }
      this.#cutNextAnswer = false
      end()
    })
  }
}
