/**
 * The load generator. It runs in a process of its own and shares the machine with what it measures, so it is written
 * for little work per request: raw sockets, requests rendered beforehand, a parser that reads two numbers, and one
 * array for all latencies. On two cores it takes 13 to 18 µs of processor time a request, two thirds of it in the
 * kernel, against 52 µs of the bare server: it drives 35 000 requests a second from one core.
 *
 * Two ways to load a server:
 *  * closed loop: every connection sends its next request when the answer to the last has come. It finds the peak.
 *  * open loop: requests fall due at a fixed rate, whatever the server does. A request's latency counts from when it
 * was
 *    due, also when it had to wait for a free connection, so a server that falls behind cannot hide it.
 */
import { randomBytes } from 'node:crypto'
import { type Socket, connect } from 'node:net'
import { Draw } from './draw.ts'
import { Histogram } from './histogram.ts'
import { answerParent } from './process.ts'
import { ResponseReader } from './response-reader.ts'

/** Stands for a fresh Idempotency-Key wherever it appears in a header's value or the path. */
export const FRESH_KEY = '00000000-0000-4000-8000-000000000000'
/** Stands for the id that was captured from the answer before; in the path or the body. */
export const CAPTURED_ID = '11111111-1111-4111-8111-111111111111'

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The status that counts as success. */
  readonly expect: number
  /** Keeps the `id` member of the answer for the request that follows in the operation. */
  readonly capture?: boolean
}

/** The unit that is counted: mostly one request, or several that follow one another on one connection. */
export type Operation = readonly LoadRequest[]

export interface LoadPlan {
  /** Where to; connections are dealt out in turn. */
  readonly targets: readonly string[]
  /** An operation is drawn at random each time, evenly. */
  readonly operations: readonly Operation[]
  readonly connections: number
  readonly warmupSeconds: number
  readonly seconds: number
  /** Given: open loop. */
  readonly arrivalsPerSecond?: number
}

export interface LoadReport {
  /** Operations that succeeded, a second. */
  readonly rate: number
  /** Operations that were counted, successful or not. */
  readonly operations: number
  /** Operations whose answer did not come, was wrong or could not be read. */
  readonly failures: number
  /** Requests that were sent and never answered, warm-up included: what they asked for may or may not have happened. */
  readonly unanswered: number
  /** Answers by status, during the measurement and, in `allStatuses`, during the warm-up as well. */
  readonly statuses: Readonly<Record<string, number>>
  readonly allStatuses: Readonly<Record<string, number>>
  /** Faults of connections, by message. */
  readonly errors: Readonly<Record<string, number>>
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly histogram: readonly number[]
  /** The same of those that succeeded, and of those that were answered 503. */
  readonly accepted: Latencies
  readonly refused: Latencies
  /** Processor time of this process per operation, microseconds. */
  readonly cpuMicros: number
}

/** How long answers of one kind took, from when they were due. */
export interface Latencies {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Requests that are still due when an open loop ends get this long; so do the last answers of a closed one. */
const DRAIN_MS = 10_000
/** How often an open loop looks at what has fallen due. It adds up to this to every latency, and spares a core. */
const TICK_MS = 1

const READ_BYTES = 64 * 1024
const KEY_BYTES = FRESH_KEY.length
const HEX = Buffer.from('0123456789abcdef')
const ID_MEMBER = Buffer.from('"id":"')

interface Rendered {
  readonly bytes: Buffer
  readonly keyAt: number
  readonly capturedAt: number
  readonly expect: number
  readonly capture: boolean
}

function render(request: LoadRequest, host: string): Rendered {
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
interface Run {
  readonly operations: readonly (readonly Rendered[])[]
  readonly requestBytesMax: number
  onStatus(status: number): void
  onDone(connection: LoadConnection, succeeded: boolean, status: number): void
  onLost(connection: LoadConnection, reason: string): void
}

class LoadConnection {
  /** When the operation in progress was sent, or fell due; milliseconds. */
  since = 0
  busy = false
  readonly #run: Run
  readonly #socket: Socket
  readonly #out: Buffer
  readonly #captured = Buffer.alloc(KEY_BYTES)
  readonly #keys = new KeySource()
  readonly #draw: Draw
  readonly #reader: ResponseReader
  #operation: readonly Rendered[] = []
  #step = 0

  private constructor(run: Run, target: URL, seed: number, onConnect: () => void) {
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

  static async open(run: Run, target: URL, seed: number): Promise<LoadConnection> {
    return await new Promise((resolve, reject) => {
      const connection: LoadConnection = new LoadConnection(run, target, seed, () => {
        connection.#socket.off('error', reject)
        resolve(connection)
      })
      connection.#socket.once('error', reject)
    })
  }

  /** Starts an operation. @param since from when its latency counts */
  start(since: number): void {
    this.busy = true
    this.since = since
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

/** Runs a plan in this process. */
export async function runLoad(plan: LoadPlan): Promise<LoadReport> {
  const targets = plan.targets.map((target) => new URL(target))
  const operations = plan.operations.map((operation) =>
    operation.map((request) => render(request, (targets[0] as URL).host)),
  )
  const histogram = new Histogram()
  const acceptedOnes = new Histogram()
  const refusedOnes = new Histogram()
  const statuses = new Map<number, number>()
  const allStatuses = new Map<number, number>()
  const errors = new Map<string, number>()
  const interval = plan.arrivalsPerSecond === undefined ? 0 : 1000 / plan.arrivalsPerSecond
  const open = interval > 0
  const connections: LoadConnection[] = []
  const idle: LoadConnection[] = []
  let alive = 0
  let inFlight = 0
  let succeeded = 0
  let failures = 0
  let refused = 0
  let unanswered = 0
  let arrival = 0
  // Everything before `from` is warm-up. Set when the connections stand.
  let start = 0
  let from = Number.POSITIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  let finish: () => void = () => undefined

  const run: Run = {
    operations,
    requestBytesMax: Math.max(...operations.flat().map(({ bytes }) => bytes.length)),
    onStatus(status) {
      allStatuses.set(status, (allStatuses.get(status) ?? 0) + 1)
      // Answers of the warm-up's last requests may fall into the measurement; in a count of tens of thousands it is no
      // matter.
      if (performance.now() >= from) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    },
    onDone(connection, good, status) {
      const now = performance.now()
      inFlight -= 1
      account(connection.since, now, good, status)
      if (open) {
        idle.push(connection)
        pump(now)
      } else if (now < until) {
        inFlight += 1
        connection.start(now)
      }
      if (now >= until && inFlight === 0 && arrivalsLeft() === 0) finish()
    },
    onLost(connection, reason) {
      errors.set(reason, (errors.get(reason) ?? 0) + 1)
      alive -= 1
      if (connection.busy) {
        connection.busy = false
        inFlight -= 1
        unanswered += 1
        account(connection.since, performance.now(), false, null)
      } else if (open) {
        idle.splice(idle.indexOf(connection), 1)
      }
      if (alive === 0) finish()
    },
  }

  /** A closed loop counts what ends within the measurement; an open one what falls due in it, whenever it ends. */
  function account(since: number, now: number, good: boolean, status: number | null): void {
    const counts = open ? since >= from && since < until : now >= from && now < until
    if (!counts) return
    histogram.record((now - since) * 1000)
    if (good) acceptedOnes.record((now - since) * 1000)
    else if (status === 503) {
      refusedOnes.record((now - since) * 1000)
      refused += 1
    }
    if (good) succeeded += 1
    else failures += 1
  }

  /** Sends what has fallen due and has a connection to go over; the rest stays due. */
  function pump(now: number): void {
    while (idle.length > 0) {
      const due = start + arrival * interval
      if (due > now || due >= until) return
      arrival += 1
      inFlight += 1
      ;(idle.pop() as LoadConnection).start(due)
    }
  }

  function arrivalsLeft(): number {
    return open ? Math.max(0, Math.ceil((until - start) / interval) - arrival) : 0
  }

  for (let nth = 0; nth < plan.connections; nth++) {
    connections.push(await LoadConnection.open(run, targets[nth % targets.length] as URL, nth * 7_919 + 1))
    alive += 1
  }
  start = performance.now()
  from = start + plan.warmupSeconds * 1000
  until = from + plan.seconds * 1000
  let cpuAtStart = process.cpuUsage()
  const atFrom = setTimeout(() => {
    cpuAtStart = process.cpuUsage()
  }, from - start)
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const patience = setTimeout(() => finish(), until - start + DRAIN_MS)
  let ticker: NodeJS.Timeout | undefined
  let cpu: NodeJS.CpuUsage | undefined
  const atUntil = setTimeout(() => {
    cpu = process.cpuUsage(cpuAtStart)
    if (inFlight === 0 && arrivalsLeft() === 0) finish()
  }, until - start)
  if (open) {
    idle.push(...connections)
    ticker = setInterval(() => pump(performance.now()), TICK_MS)
  } else {
    for (const connection of connections) {
      inFlight += 1
      connection.start(performance.now())
    }
  }
  await finished
  // The last answer may come before the timer does.
  cpu ??= process.cpuUsage(cpuAtStart)
  clearTimeout(atFrom)
  clearTimeout(atUntil)
  clearTimeout(patience)
  clearInterval(ticker)
  // A request without an answer counts with the time that it has waited, and as failed.
  const end = performance.now()
  for (const connection of connections) {
    if (connection.busy) {
      unanswered += 1
      account(connection.since, end, false, null)
    }
    connection.close()
  }
  for (; arrivalsLeft() > 0; arrival++) account(start + arrival * interval, end, false, null)

  return {
    rate: succeeded / plan.seconds,
    operations: succeeded + failures,
    failures,
    unanswered,
    statuses: Object.fromEntries(statuses),
    allStatuses: Object.fromEntries(allStatuses),
    errors: Object.fromEntries(errors),
    p50Ms: histogram.quantile(0.5) / 1000,
    p99Ms: histogram.quantile(0.99) / 1000,
    maxMs: histogram.max / 1000,
    histogram: histogram.sparse(),
    accepted: { count: succeeded, p50Ms: acceptedOnes.quantile(0.5) / 1000, p99Ms: acceptedOnes.quantile(0.99) / 1000 },
    refused: { count: refused, p50Ms: refusedOnes.quantile(0.5) / 1000, p99Ms: refusedOnes.quantile(0.99) / 1000 },
    cpuMicros: (cpu.user + cpu.system) / Math.max(1, succeeded + failures),
  }
}

if (process.argv[1] === import.meta.filename) answerParent<LoadPlan, LoadReport>(runLoad)
