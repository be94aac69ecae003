/** Increase on loopback, in the shapes of its documentation, with a harness of the adapter over the real client. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RawProviderEvent } from '../../../../actors/providers/adapters/adapter.ts'
import { increaseAdapter } from '../../../../actors/providers/adapters/increase/increase-adapter.ts'
import type { PaymentOrder } from '../../../../actors/providers/bank.ts'
import { CallLimiter } from '../../../../actors/providers/io/call-limiter.ts'
import { PartnerHttpClient } from '../../../../actors/providers/io/partner-http-client.ts'
import { systemClock } from '../../../../lib/base/clock.ts'
import { redactor } from '../../../../lib/providers/redaction.ts'
import type { AdapterHarness, ProviderOutcome, Trouble } from '../adapter-kit.ts'

export const CONNECTION = '019ff000-0000-7000-8000-00000000c0de'
export const ACCOUNT = 'account_in71c4amph0vgo2qllky'
const API_KEY = 'increase-api-key-4711-secret'
const SECRET = 'increase-webhook-secret-0815'
export const NOW = Date.UTC(2026, 4, 4, 9, 30)
const PAGE = 100
const SETTLED_AT = new Date(NOW).toISOString()
const RETURNED_AT = new Date(NOW + 1_000).toISOString()

interface SimulatedTransfer {
  readonly [member: string]: unknown
  readonly id: string
  readonly idempotency_key: string
  status: string
  settlement: { readonly settled_at: string } | null
  return: { readonly created_at: string; readonly raw_return_reason_code: string | null } | null
}

interface SimulatedEvent {
  readonly id: string
  readonly type: 'event'
  readonly category: string
  readonly created_at: string
  readonly associated_object_type: 'ach_transfer'
  readonly associated_object_id: string
}

/** Increase: takes a key once, tells the state of a transfer, and lists events that name transfers. */
export class IncreaseBank {
  readonly transfers = new Map<string, SimulatedTransfer>()
  readonly events: SimulatedEvent[] = []
  readonly calls: number[] = []
  /** The bodies of the transfers that were asked for. */
  readonly requests: Record<string, unknown>[] = []
  next: Trouble | null = null
  /** The next transfer is answered with this status and body. */
  answer: { readonly status: number; readonly body: unknown } | null = null
  #busyUntil = 0

  readonly server = createServer((request, response) => {
    this.calls.push(performance.now())
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => this.#handle(request, response, Buffer.concat(chunks).toString('utf8')))
  })

  #handle(request: IncomingMessage, response: ServerResponse, body: string): void {
    const url = new URL(request.url ?? '/', 'http://increase.example')
    if (performance.now() < this.#busyUntil) return busy(response)
    if (request.headers.authorization !== `Bearer ${API_KEY}`)
      return json(response, 401, problem(401, 'invalid_api_key_error'))
    if (request.method === 'POST') return this.#create(request, response, body)
    const [, noun, id] = url.pathname.split('/')
    if (noun === 'accounts') return json(response, 200, { id: ACCOUNT, type: 'account' })
    if (noun === 'events') return json(response, 200, this.#page(url.searchParams))
    const all = [...this.transfers.values()]
    const key = url.searchParams.get('idempotency_key')
    if (key !== null)
      return json(response, 200, { data: all.filter((each) => each.idempotency_key === key), next_cursor: null })
    const found = all.find((each) => each.id === id)
    if (found === undefined) return json(response, 404, problem(404, 'object_not_found_error'))
    json(response, 200, found)
  }

  #create(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { next: trouble, answer } = this
    this.next = null
    this.answer = null
    if (answer !== null) return json(response, answer.status, answer.body)
    if (trouble === 'too_many') {
      this.#busyUntil = performance.now() + 1_000
      return busy(response)
    }
    if (trouble === 'request_lost') return void request.socket.destroy()
    if (trouble === 'echo')
      return json(response, 400, { ...problem(400, 'invalid_parameters_error'), request: request.headers, body })
    const key = request.headers['idempotency-key'] as string
    const wanted = JSON.parse(body) as Record<string, unknown>
    const known = this.transfers.get(key)
    const transfer = known ?? this.#made(key, wanted)
    if (known !== undefined && known.amount !== wanted.amount)
      return json(response, 409, {
        ...problem(409, 'idempotency_key_already_used_error'),
        resource_id: known.id,
      })
    if (trouble === 'answer_lost') return void request.socket.destroy()
    if (trouble === 'empty_answer') return void response.writeHead(200).end()
    if (trouble === 'huge_answer') return void response.writeHead(200).end(' '.repeat(5_000_000))
    json(response, 200, transfer)
  }

  #made(key: string, wanted: Record<string, unknown>): SimulatedTransfer {
    this.requests.push(wanted)
    const transfer: SimulatedTransfer = {
      ...wanted,
      id: `ach_transfer_${this.transfers.size}`,
      type: 'ach_transfer',
      currency: 'USD',
      network: 'ach',
      created_at: new Date(NOW).toISOString(),
      idempotency_key: key,
      status: 'pending_submission',
      submission: null,
      acknowledgement: null,
      settlement: null,
      return: null,
    }
    this.transfers.set(key, transfer)
    this.#tell(transfer.id, 'ach_transfer.created')
    return transfer
  }

  #tell(transferId: string, category: string): SimulatedEvent {
    const event: SimulatedEvent = {
      id: `event_${this.events.length}`,
      type: 'event',
      category,
      created_at: new Date(NOW).toISOString(),
      associated_object_type: 'ach_transfer',
      associated_object_id: transferId,
    }
    this.events.push(event)
    return event
  }

  #page(query: URLSearchParams) {
    const from = Number(query.get('cursor') ?? 0)
    const data = this.events.slice(from, from + PAGE)
    return { data, next_cursor: from + PAGE < this.events.length ? String(from + PAGE) : null }
  }

  end(key: string, { kind, code }: ProviderOutcome): { readonly event: SimulatedEvent; readonly body: Buffer } {
    const transfer = this.transfers.get(key)
    if (transfer === undefined) throw new Error('Increase has no such transfer.')
    if (kind !== 'rejected') {
      transfer.settlement = { settled_at: SETTLED_AT }
      transfer.status = 'submitted'
    }
    if (kind !== 'settled') {
      transfer.return = { created_at: RETURNED_AT, raw_return_reason_code: code }
      transfer.status = 'returned'
    }
    return { event: this.#tell(transfer.id, 'ach_transfer.updated'), body: Buffer.from(JSON.stringify(transfer)) }
  }
}

const problem = (status: number, type: string) => ({ type, status, title: 'It went wrong.', detail: null })

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function busy(response: ServerResponse): void {
  response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' })
  response.end(JSON.stringify({ ...problem(429, 'rate_limited_error'), retry_after: 1 }))
}

export const orderOf = (reference: string): PaymentOrder => ({
  reference,
  shard: 0,
  connectionId: CONNECTION,
  rail: 'ach',
  currency: 'USD',
  amount: 1_000n,
  creditorName: 'Ada Lovelace',
  remittance: 'Invoice 1',
  parties: {
    debtor: { name: 'National Phonograph Company', address: null, account: null },
    creditor: {
      name: 'Ada Lovelace',
      type: 'individual',
      address: null,
      bankCountry: 'US',
      account: { routingNumber: '101050001', accountNumber: '987654321', accountType: 'checking' },
      bankAddress: null,
    },
    endToEndId: 'PAY-1',
    uetr: null,
    purposeCode: null,
    purpose: null,
    chargeBearer: 'shared',
    executionDate: '2026-05-04',
    bulkPaymentId: null,
  },
})

/** Signs a webhook by the rules of Standard Webhooks. */
export function signed(bytes: Uint8Array, at: number) {
  const id = 'webhook_1'
  const time = String(Math.floor(at / 1_000))
  const hmac = createHmac('sha256', SECRET).update(`${id}.${time}.`).update(bytes).digest('base64')
  return { bytes, headers: { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${hmac}` } }
}

export async function openIncreaseHarness(): Promise<AdapterHarness & { readonly bank: IncreaseBank }> {
  const bank = new IncreaseBank()
  await new Promise<void>((listening) => bank.server.listen(0, '127.0.0.1', listening))
  const recorded: unknown[] = []
  const limiter = new CallLimiter({ perSecond: 10_000, concurrent: 8, share: () => 1 })
  const clients: PartnerHttpClient[] = []
  const connection = increaseAdapter.open(
    {
      id: CONNECTION,
      operatorId: '019ff000-0000-7000-8000-0000000000aa',
      environment: 'sandbox',
      config: {
        baseUrl: `http://127.0.0.1:${(bank.server.address() as AddressInfo).port}`,
        settlementAccounts: [{ currency: 'USD', accountRef: ACCOUNT }],
      },
      credentials: { apiKey: API_KEY },
    },
    {
      http(endpoint) {
        const client = new PartnerHttpClient(
          {
            connectionId: CONNECTION,
            targets: { policy: 'any', networks: [] },
            concurrent: 8,
            limiter,
            redact: redactor([API_KEY, SECRET]),
            clock: systemClock,
            record: (call) => recorded.push(call),
            report: (outcome) => recorded.push(outcome),
          },
          endpoint,
        )
        clients.push(client)
        return client
      },
      get files(): never {
        throw new Error('Increase exchanges no files.')
      },
    },
  )
  return {
    bank,
    connection,
    now: NOW,
    order: orderOf,
    troubles: new Set<Trouble>(['answer_lost', 'request_lost', 'empty_answer', 'huge_answer', 'too_many', 'echo']),
    trouble(trouble) {
      bank.next = trouble
    },
    carried: (reference) => (bank.transfers.has(reference) ? 1 : 0),
    calls: bank.calls,
    async end(reference, outcome) {
      const { event, body } = bank.end(reference, outcome)
      const told: RawProviderEvent = {
        source: 'poll',
        eventId: event.id,
        type: event.category,
        body,
        headers: {},
        occurredAt: NOW,
      }
      return [told]
    },
    sign: signed,
    webhookSecret: SECRET,
    signsTime: true,
    largeBody: (bytes) => Buffer.from(JSON.stringify({ type: 'event', category: 'x', note: 'x'.repeat(bytes) })),
    secrets: [API_KEY, SECRET],
    recorded: async () => recorded.map((call) => JSON.stringify(call)),
    async close() {
      limiter.close()
      await Promise.all(clients.map((client) => client.close()))
      bank.server.closeAllConnections()
      await new Promise((closed) => bank.server.close(closed))
    },
  }
}
