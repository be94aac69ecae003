/** Malicious receivers, as raw sockets: each takes a request and misbehaves in its own way. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

export type Misbehaviour =
  | 'hangs'
  | 'drips headers'
  | 'drips the body'
  | 'redirects'
  | 'resets'
  | 'sends 2 GB'
  | 'gzip bomb'
  | 'endless headers'
  | 'no HTTP'
  | 'endless 1xx'
  | 'closes at once'

const CHUNK = Buffer.alloc(64 * 1024, 'x')
const TWO_GB = 2 * 1024 ** 3
/** A hundred megabytes of zeros, compressed. */
const BOMB = gzipSync(Buffer.alloc(100 * 1024 * 1024))
const DRIP_MS = 200

/** A malicious receiver of one kind. */
export class Hostile implements AsyncDisposable {
  readonly kind: Misbehaviour
  requests = 0
  /** Bytes that this receiver was able to write. */
  written = 0
  readonly #sockets = new Set<Socket>()
  readonly #location: string
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.once('data', () => {
      this.requests += 1
      this.#misbehave(socket)
    })
  })

  private constructor(kind: Misbehaviour, location: string) {
    this.kind = kind
    this.#location = location
  }

  /** Opens a receiver. `location` is the target of its redirect. */
  static async open(kind: Misbehaviour, location = 'http://127.0.0.1:1/'): Promise<Hostile> {
    const hostile = new Hostile(kind, location)
    hostile.#server.listen(0, '127.0.0.1')
    await once(hostile.#server, 'listening')
    return hostile
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }
  get open(): number {
    return this.#sockets.size
  }

  #misbehave(socket: Socket): void {
    switch (this.kind) {
      case 'hangs':
        return
      case 'resets':
        socket.resetAndDestroy()
        return
      case 'closes at once':
        socket.end()
        return
      case 'no HTTP':
        socket.end('220 mail.example ESMTP\r\n')
        return
      case 'redirects':
        socket.end(`HTTP/1.1 302 Found\r\nLocation: ${this.#location}\r\nContent-Length: 0\r\n\r\n`)
        return
      case 'gzip bomb':
        socket.end(
          Buffer.concat([
            Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`),
            BOMB,
          ]),
        )
        return
      case 'drips headers':
        socket.write('HTTP/1.1 200 OK\r\n')
        this.#drip(socket, (nth) => `X-Drip-${nth}: ${nth}\r\n`)
        return
      case 'drips the body':
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n')
        this.#drip(socket, () => 'x')
        return
      case 'endless 1xx':
        this.#pour(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)))
        return
      case 'endless headers':
        socket.write('HTTP/1.1 200 OK\r\n')
        this.#pour(socket, Buffer.from(`X-More: ${'x'.repeat(1_000)}\r\n`))
        return
      case 'sends 2 GB':
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${TWO_GB}\r\n\r\n`)
        this.#pour(socket, CHUNK)
        return
      default:
        this.kind satisfies never
    }
  }

  #drip(socket: Socket, text: (nth: number) => string): void {
    let nth = 0
    const timer = setInterval(() => {
      if (socket.writable) socket.write(text(nth++))
    }, DRIP_MS)
    socket.once('close', () => clearInterval(timer))
  }

  #pour(socket: Socket, chunk: Buffer): void {
    let left = TWO_GB
    const more = (): void => {
      while (socket.writable && left > 0) {
        left -= chunk.length
        this.written += chunk.length
        if (!socket.write(chunk)) {
          socket.once('drain', more)
          return
        }
      }
    }
    more()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
