/** A client of the API as an integrator would write it: bound to one key and one tenant, JSON in and out. */
import { randomUUID } from 'node:crypto'

import type { Balance } from '../../lib/balances/balance-schema.ts'
import type { Hold } from '../../lib/balances/hold-schema.ts'
import type { JournalLine } from '../../lib/balances/journal-line-schema.ts'
import type { Payment, PaymentCreate } from '../../lib/payments/payment-schema.ts'
import type { Recipient } from '../../lib/recipients/recipient-schema.ts'
import type { Transfer, TransferCreate } from '../../lib/transfers/transfer-schema.ts'
import { until } from './until.ts'

/** A problem document, with its extension members by name. */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly code: string
  readonly requestId: string
  readonly retryable: boolean
  readonly errors?: readonly { readonly field: string; readonly code: string; readonly message: string }[]
  readonly retryAfterSeconds?: number
  readonly [extension: string]: unknown
}

export interface PageBody<Row> {
  readonly data: readonly Row[]
  readonly page: {
    readonly nextCursor: string | null
    readonly prevCursor: string | null
    readonly limit: number
    readonly total?: number
  }
}

/** An answer whose body has been read. */
export class Reply<Body> {
  readonly status: number
  readonly headers: Headers
  readonly text: string

  constructor(status: number, headers: Headers, text: string) {
    this.status = status
    this.headers = headers
    this.text = text
  }

  /** The JSON of a success. @throws Error with the body of the answer when it is not a success */
  get body(): Body {
    if (this.status >= 300) throw new Error(`A success was expected, not ${this.status}: ${this.text}`)
    return JSON.parse(this.text) as Body
  }

  /** The JSON of a refusal. @throws Error when the answer is not a refusal */
  get problem(): ProblemBody {
    if (this.status < 400) throw new Error(`A problem was expected, not ${this.status}: ${this.text}`)
    return JSON.parse(this.text) as ProblemBody
  }
}

export interface RawRequest {
  readonly method?: string
  /** Undefined omits a header that is otherwise sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Sent unchanged. */
  readonly body?: string | Uint8Array
}

export interface Access {
  /**
   * Returns the address of the service, without `/v1`. Called for every request, because a restart changes the address.
   */
  readonly url: () => string
  readonly apiKey: string
  readonly tenantId: string
}

const POLL_MS = 25

/** Sends requests with one key for one tenant. */
export class Client {
  readonly tenantId: string
  readonly #access: Access

  constructor(access: Access) {
    this.tenantId = access.tenantId
    this.#access = access
  }

  /** Makes the same client with other credentials. */
  with(access: Partial<Access>): Client {
    return new Client({ ...this.#access, ...access })
  }

  /** Sends one request with the credentials, and reads its answer. @throws every error of fetch */
  async send<Body = unknown>(path: string, request: RawRequest = {}): Promise<Reply<Body>> {
    const headers: Record<string, string> = {}
    const given: Record<string, string | undefined> = {
      authorization: `Bearer ${this.#access.apiKey}`,
      'x-tenant-id': this.#access.tenantId,
      ...Object.fromEntries(Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])),
    }
    for (const [name, value] of Object.entries(given)) if (value !== undefined) headers[name] = value
    const response = await fetch(`${this.#access.url()}${path}`, {
      method: request.method ?? 'GET',
      headers,
      ...(request.body === undefined ? {} : { body: request.body as string }),
    })
    return new Reply<Body>(response.status, response.headers, await response.text())
  }

  get<Body>(path: string, headers: RawRequest['headers'] = {}): Promise<Reply<Body>> {
    return this.send<Body>(`/v1${path}`, { headers })
  }

  /** Downloads a file. @throws Error when there is none */
  async download(path: string): Promise<{ readonly headers: Headers; readonly bytes: Buffer }> {
    const response = await fetch(`${this.#access.url()}/v1${path}`, {
      headers: { authorization: `Bearer ${this.#access.apiKey}`, 'x-tenant-id': this.#access.tenantId },
    })
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
    return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }

  /** Reads one page of a list; the parameters are encoded. */
  list<Row>(
    path: string,
    parameters: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<Reply<PageBody<Row>>> {
    const query = new URLSearchParams(
      Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()
    return this.get<PageBody<Row>>(query === '' ? path : `${path}?${query}`)
  }

  post<Body>(
    path: string,
    body: unknown,
    key: string = randomUUID(),
    headers: RawRequest['headers'] = {},
  ): Promise<Reply<Body>> {
    return this.send<Body>(`/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key, ...headers },
      body: JSON.stringify(body),
    })
  }

  createPayment(body: PaymentCreate, key?: string): Promise<Reply<Payment>> {
    return this.post<Payment>('/payments', body, key)
  }

  createTransfer(body: TransferCreate, key?: string): Promise<Reply<Transfer>> {
    return this.post<Transfer>('/transfers', body, key)
  }

  async payment(id: string): Promise<Payment> {
    return (await this.get<Payment>(`/payments/${id}`)).body
  }

  async balance(id: string): Promise<Balance> {
    return (await this.get<Balance>(`/balances/${id}`)).body
  }

  async recipient(id: string): Promise<Recipient> {
    return (await this.get<Recipient>(`/recipients/${id}`)).body
  }

  async journal(
    balanceId: string,
    parameters: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<readonly JournalLine[]> {
    return (await this.list<JournalLine>(`/balances/${balanceId}/journal`, { limit: 100, ...parameters })).body.data
  }

  async holds(balanceId: string, status = 'active'): Promise<readonly Hold[]> {
    return (await this.list<Hold>(`/balances/${balanceId}/holds`, { limit: 100, 'filter[status]': status })).body.data
  }

  /**
   * Waits until a payment has the status.
   *
   * @throws Error when time is up, or when the payment has another final status
   */
  paymentReaching(id: string, status: Payment['status'], deadlineMs?: number): Promise<Payment> {
    return until(
      `payment ${id} is ${status}`,
      async () => {
        const payment = await this.payment(id)
        if (payment.status === status) return payment
        if (payment.status === 'failed' || (payment.status === 'completed' && status !== 'returned'))
          throw new Error(`Payment ${id} is ${payment.status}, not ${status}.`)
        return null
      },
      { deadlineMs, pollMs: POLL_MS },
    )
  }

  /** Waits until none of the customer's payments is processing. */
  async paymentsSettled(deadlineMs?: number): Promise<void> {
    await until(
      'no payment is processing',
      async () =>
        (await this.list<Payment>('/payments', { 'filter[status]': 'processing', limit: 1 })).body.data.length === 0,
      { deadlineMs, pollMs: POLL_MS * 4 },
    )
  }
}
