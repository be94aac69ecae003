/** A connection of the load generator: raw bytes out, the status and sometimes the id of the answer back. */
import { randomBytes } from 'node:crypto'
import { type Socket, connect } from 'node:net'
import { Draw } from './draw.ts'
import { CAPTURED_ID, FRESH_KEY, type LoadRequest } from './load-plan.ts'
import { ResponseReader } from './response-reader.ts'

const READ_BYTES = 64 * 1024
const KEY_BYTES = FRESH_KEY.length
const HEX = Buffer.from('0123456789abcdef')
const ID_MEMBER = Buffer.from('"id":"')

/** A request as it is sent. */
export interface Rendered {
  readonly bytes: Buffer
  readonly keyAt: number
  readonly capturedAt: number
  readonly expect: number
  readonly capture: boolean
}

/** Renders a request beforehand. */
export function render(request: LoadRequest, host: string): Rendered {
  const body = request.body ?? ''
  const headers = [
    `Host: ${host}`,
    ...Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ]
  if (body !== '') headers.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  const bytes = Buffer.from(`${request.method} ${request.path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  return {
    bytes,
    keyAt: bytes.indexOf(FRESH_KEY),
    capturedAt: bytes.indexOf(CAPTURED_ID),
    expect: request.expect,
    capture: request.capture === true,
  }
}

/** A key that no other connection or run makes: a random start, then a counter in its last twelve digits. */
class KeySource {
  readonly #key: Buffer

  constructor() {
    const hex = randomBytes(16).toString('hex')
    this.#key = Buffer.from(
      `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-000000000000`,
    )
  }

  writeNext(to: Buffer, at: number): void {
    const key = this.#key
    for (let i = KEY_BYTES - 1; ; i--) {
      const digit = key[i] as number
      if (digit === HEX[15]) {
        key[i] = HEX[0] as number
        continue
      }
      key[i] = digit === HEX[9] ? (HEX[10] as number) : digit + 1
      break
    }
    to.set(key, at)
  }
}

/** The state of a run that all connections share. */
export interface LoadRunState {
  readonly operations: readonly (readonly Rendered[])[]
  readonly requestBytesMax: number
  onStatus(status: number): void
  onDone(connection: LoadConnection, succeeded: boolean, status: number): void
  onLost(connection: LoadConnection, reason: string): void
}

export class LoadConnection {
  /** When the operation in progress was sent, or fell due; milliseconds. */
  since = 0
  /** Whether the operation in progress belongs to the measurement. Only an open loop knows it beforehand. */
  counted = false
  busy = false
  readonly #run: LoadRunState
  readonly #socket: Socket
  readonly #out: Buffer
  readonly #captured = Buffer.alloc(KEY_BYTES)
  readonly #keys = new KeySource()
  readonly #draw: Draw
  readonly #reader: ResponseReader
  #operation: readonly Rendered[] = []
  #step = 0

  private constructor(run: LoadRunState, target: URL, seed: number, onConnect: () => void) {
    this.#run = run
    this.#out = Buffer.alloc(run.requestBytesMax)
    this.#draw = new Draw(run.operations.length, seed)
    this.#reader = new ResponseReader((status, body) => this.#answered(status, body))
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    this.#socket = connect(
      {
        host: target.hostname,
        port: Number(target.port),
        noDelay: true,
        // Reads into one buffer, without the machinery of a stream.
        onread: {
          buffer,
          callback: (length) => {
            try {
              this.#reader.push(buffer, length)
            } catch (error) {
              this.#lost((error as Error).message)
            }
            return true
          },
        },
      },
      onConnect,
    )
    this.#socket.on('error', (error) => this.#lost(error.message))
    this.#socket.on('close', () => this.#lost('The server closed the connection.'))
  }

  static async open(run: LoadRunState, target: URL, seed: number): Promise<LoadConnection> {
    return await new Promise((resolve, reject) => {
      const connection: LoadConnection = new LoadConnection(run, target, seed, () => {
        connection.#socket.off('error', reject)
        resolve(connection)
      })
      connection.#socket.once('error', reject)
    })
  }

  /** Starts an operation; its latency counts from `since`, milliseconds. */
  start(since: number, counted: boolean): void {
    this.busy = true
    this.since = since
    this.counted = counted
    this.#operation = this.#run.operations[this.#draw.next()] as readonly Rendered[]
    this.#step = 0
    this.#send()
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #send(): void {
    const request = this.#operation[this.#step] as Rendered
    const { bytes } = request
    // The socket may hold on to what it is given until it is on its way, and the answer proves that it is.
    const out = this.#out
    bytes.copy(out)
    if (request.keyAt >= 0) this.#keys.writeNext(out, request.keyAt)
    if (request.capturedAt >= 0) out.set(this.#captured, request.capturedAt)
    this.#reader.keepBody = request.capture
    this.#socket.write(bytes.length === out.length ? out : out.subarray(0, bytes.length))
  }

  #answered(status: number, body: Uint8Array | null): void {
    const request = this.#operation[this.#step] as Rendered
    this.#run.onStatus(status)
    const good = status === request.expect
    if (good && this.#step + 1 < this.#operation.length) {
      if (body !== null) this.#keep(body)
      this.#step += 1
      this.#send()
      return
    }
    this.busy = false
    this.#run.onDone(this, good, status)
  }

  #keep(body: Uint8Array): void {
    const at = Buffer.from(body.buffer, body.byteOffset, body.length).indexOf(ID_MEMBER) + ID_MEMBER.length
    this.#captured.set(body.subarray(at, at + KEY_BYTES))
  }

  #lost(reason: string): void {
    this.close()
    this.#run.onLost(this, reason)
  }
}
