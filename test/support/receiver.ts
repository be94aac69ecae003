/** A receiver of callbacks: a small real server that records the requests and answers as a test tells it. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook, type VerifiedEvent } from '../../lib/webhooks/verify.ts'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly event: VerifiedEvent
  /** Milliseconds since the start of the process. */
  readonly at: number
}

export type Answer = (response: ServerResponse, request: IncomingMessage, received: Received) => void

/** A server that records callbacks. */
export class Receiver implements AsyncDisposable {
  readonly received: Received[] = []
  /** Sends the answer; 204 by default. */
  answer: Answer = (response) => void response.writeHead(204).end()
  /** Connections accepted so far. */
  connections = 0
  /** The highest number of requests under way at a time. */
  underWayMost = 0
  #underWay = 0
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    this.#underWay += 1
    this.underWayMost = Math.max(this.underWayMost, this.#underWay)
    response.once('close', () => {
      this.#underWay -= 1
    })
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('error', () => undefined)
    response.once('error', () => undefined)
    request.once('end', () => {
      const body = Buffer.concat(chunks).toString()
      const received: Received = {
        path: request.url as string,
        headers: request.headers,
        body,
        event: JSON.parse(body) as VerifiedEvent,
        at: performance.now(),
      }
      this.received.push(received)
      this.answer(response, request, received)
    })
  }).on('connection', () => {
    this.connections += 1
  })

  static async open(answer?: Answer): Promise<Receiver> {
    const receiver = new Receiver()
    if (answer !== undefined) receiver.answer = answer
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks`
  }

  /** Lists the received events of one type. */
  ofType(type: string): Received[] {
    return this.received.filter(({ event }) => event.type === type)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** Whether a callback is signed with one of the secrets, checked as a receiver would check it. */
export function isSigned({ body, headers }: Received, secrets: readonly string[], now: number): boolean {
  try {
    verifyWebhook({ body, headers, secrets, now })
    return true
  } catch {
    return false
  }
}
