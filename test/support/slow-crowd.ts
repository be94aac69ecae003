/**
 * Clients that hold connections open: they connect and send nothing, half of their headers, half of their body, or a
 * body byte by byte. A connection that the service closes is opened again, so their number stays the same until `stop`.
 */
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'

import { until } from './until.ts'

/** The bytes that a client sends: `text` at once, then `drip` every DRIP_MS for as long as the connection is open. */
export interface SlowClient {
  readonly text: string
  readonly drip?: string
}

const DRIP_MS = 1_000
/** Delay before a closed connection is opened again, so that the clients do not become a flood of connections. */
const AGAIN_MS = 250
const ANSWER_CHARACTERS = 'HTTP/1.1 200'.length

export interface SlowCrowd {
  /** Connections that are open now. */
  readonly open: number
  /** First answers by status, over all connections. */
  readonly statuses: ReadonlyMap<string, number>
  stop(): void
}

/** Connects all clients to a node, and waits until every connection was open once. */
export async function gather(url: string, clients: readonly SlowClient[]): Promise<SlowCrowd> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const statuses = new Map<string, number>()
  const timers = new Set<NodeJS.Timeout>()
  let connected = 0
  let stopped = false

  function join(client: SlowClient): void {
    if (stopped) return
    let answer = ''
    let dripping: NodeJS.Timeout | undefined
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      connected += 1
      if (client.text !== '') socket.write(client.text)
      const { drip } = client
      if (drip !== undefined)
        dripping = setInterval(() => {
          if (socket.writable) socket.write(drip)
        }, DRIP_MS)
    })
    socket.setEncoding('latin1')
    sockets.add(socket)
    socket.on('data', (text: string) => {
      if (answer.length >= ANSWER_CHARACTERS) return
      answer += text
      if (answer.length < ANSWER_CHARACTERS) return
      const status = answer.slice(ANSWER_CHARACTERS - 3, ANSWER_CHARACTERS)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(dripping)
      sockets.delete(socket)
      const timer = setTimeout(() => {
        timers.delete(timer)
        join(client)
      }, AGAIN_MS)
      timers.add(timer)
    })
  }

  for (const client of clients) join(client)
  await until('every slow client was connected', () => connected >= clients.length)
  return {
    get open() {
      return sockets.size
    },
    statuses,
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Makes the head of a POST that announces more body than it sends. */
export function halfSent(
  path: string,
  headers: Readonly<Record<string, string>>,
  options: { readonly length?: number; readonly body?: string } = {},
): string {
  const { length = 2_000, body = '{"a":' } = options
  const lines = Object.entries({
    Host: 'localhost',
    'Content-Type': 'application/json',
    'Content-Length': String(length),
    'Idempotency-Key': randomUUID(),
    ...headers,
  })
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** Makes the same for a form with a file. */
export function halfUploaded(path: string, headers: Readonly<Record<string, string>>): string {
  const boundary = 'slow-crowd'
  return halfSent(
    path,
    { ...headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    {
      length: 1_000_000,
      body: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.csv"\r\nContent-Type: text/csv\r\n\r\nrecipient_id,currency`,
    },
  )
}
