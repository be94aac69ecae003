/**
 * A false Column on loopback, which behaves as the bank's documentation says: basic authentication, one transfer for an
 * idempotency key, lists with the newest first, events for each change, and webhooks with a signature over the body.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Trouble } from '../../actors/providers/adapter-kit.ts'

export const API_KEY = 'test_false_column_key_9d1c'
export const SECRET = 'false-column-webhook-secret-77aa'
export const ACCOUNT = 'bacc_false1'

const HUGE_BYTES = 5 * 1024 * 1024

export interface Transfer {
  readonly id: string
  readonly idempotency_key: string
  readonly amount: number
  readonly created_at: string
  readonly type: 'CREDIT'
  readonly is_incoming: false
  status: string
  settled_at: string | null
  return_details: readonly { readonly return_code: string }[]
  readonly request: Readonly<Record<string, unknown>>
}

export interface ColumnEvent {
  readonly id: string
  readonly created_at: string
  readonly type: string
  readonly data: object
}

export class FakeColumn {
  /** Newest first, as the bank lists them. */
  readonly transfers: Transfer[] = []
  readonly events: ColumnEvent[] = []
  /** When each request came, by the monotonic clock. */
  readonly times: number[] = []
  /** The troubles of the next transfers. */
  readonly troubles: Trouble[] = []
  /** The answer to the next transfer in place of the transfer. */
  refusal: { readonly status: number; readonly code: string } | null = null
  readonly #now: () => number
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  constructor(now: () => number) {
    this.#now = now
  }

  /** Starts to listen on loopback; resolves with the address. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** The transfers of one of our references. */
  transfersOf(reference: string): readonly Transfer[] {
    return this.transfers.filter(({ idempotency_key }) => idempotency_key === reference)
  }

  /** Moves a transfer on, and tells of it. `told`: the last word of the event. */
  moves(reference: string, status: string, told: string, code: string | null = null): ColumnEvent {
    const [transfer] = this.transfersOf(reference)
    if (transfer === undefined) throw new Error('The bank has no such transfer.')
    transfer.status = status
    if (status === 'SETTLED') transfer.settled_at = new Date(this.#now()).toISOString()
    if (code !== null) transfer.return_details = [{ return_code: code }]
    return this.tell(`ach.outgoing_transfer.${told}`, transfer)
  }

  /** Makes an event, which the list has from now on. */
  tell(type: string, data: object): ColumnEvent {
    const event = {
      id: `evnt_${randomUUID()}`,
      created_at: new Date(this.#now()).toISOString(),
      type,
      data: { ...data },
    }
    this.events.unshift(event)
    return event
  }

  /** The header of a webhook. */
  signed(body: Uint8Array): Readonly<Record<string, string>> {
    return { 'column-signature': createHmac('sha256', SECRET).update(body).digest('hex') }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.times.push(performance.now())
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const url = new URL(request.url ?? '/', 'http://false')
    const isTransfer = request.method === 'POST' && url.pathname === '/transfers/ach'
    const trouble = isTransfer ? this.troubles.shift() : undefined
    if (trouble === 'request_lost') return void request.socket.destroy()
    if (trouble === 'too_many') return answer(response, 429, { code: 'rate_limited' }, { 'retry-after': '1' })
    if (trouble === 'echo')
      return answer(response, 400, { code: 'invalid', message: JSON.stringify(request.headers) + body })
    if (request.headers.authorization !== `Basic ${Buffer.from(`:${API_KEY}`).toString('base64')}`)
      return answer(response, 401, { code: 'unauthorized' })
    const [status, found] = isTransfer ? this.#create(request, body) : this.#read(url)
    if (trouble === 'answer_lost') return void request.socket.destroy()
    if (trouble === 'empty_answer' || trouble === 'huge_answer') {
      response.writeHead(status, { 'content-type': 'application/json' })
      return void response.end(Buffer.alloc(trouble === 'huge_answer' ? HUGE_BYTES : 0, 0x20))
    }
    answer(response, status, found)
  }

  #create({ headers }: IncomingMessage, body: string): readonly [number, object] {
    const key = String(headers['idempotency-key'])
    const [known] = this.transfersOf(key)
    if (known !== undefined) return [200, known]
    if (this.refusal !== null) return [this.refusal.status, { code: this.refusal.code }]
    const request = JSON.parse(body) as Readonly<Record<string, unknown>>
    const transfer: Transfer = {
      id: `acht_${randomUUID()}`,
      idempotency_key: key,
      amount: Number(request['amount']),
      created_at: new Date(this.#now()).toISOString(),
      type: 'CREDIT',
      is_incoming: false,
      status: 'INITIATED',
      settled_at: null,
      return_details: [],
      request,
    }
    this.transfers.unshift(transfer)
    return [200, transfer]
  }

  #read({ pathname, searchParams }: URL): readonly [number, object] {
    if (pathname === `/bank-accounts/${ACCOUNT}`) return [200, { id: ACCOUNT }]
    if (pathname === '/events') return [200, pageOf('events', this.events, searchParams)]
    if (pathname === '/transfers/ach') return [200, pageOf('transfers', this.transfers, searchParams)]
    const found = this.transfers.find(({ id }) => pathname === `/transfers/ach/${id}`)
    return found === undefined ? [404, { code: 'resource_not_found' }] : [200, found]
  }
}

function pageOf(
  name: string,
  rows: readonly { readonly id: string; readonly created_at: string }[],
  query: URLSearchParams,
): object {
  const since = Date.parse(query.get('created.gte') ?? '1970-01-01T00:00:00Z')
  const after = query.get('starting_after')
  const limit = Number(query.get('limit') ?? 10)
  const fitting = rows.filter(({ created_at }) => Date.parse(created_at) >= since)
  const from = after === null ? 0 : fitting.findIndex(({ id }) => id === after) + 1
  return { [name]: fitting.slice(from, from + limit), has_more: fitting.length > from + limit }
}

function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
