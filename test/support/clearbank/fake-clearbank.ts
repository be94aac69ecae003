/**
 * A false ClearBank on loopback, which behaves as the bank's documentation says: a token and a signature for each
 * request, one request for each X-Request-Id in 24 hours, payments taken with 202 and decided later, lists in pages,
 * and signed webhooks that want a signed answer. The examples are written anew in our own words.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeKeys, signatureFits, signatureOver, type KeyPair } from './clearbank-keys.ts'

export const TOKEN = 'false-clearbank-token-5f2c'
export const ACCOUNT_IBAN = 'GB90CLRB04190000001107'
const ACCOUNT_ID = '9140d28b-58d4-4e14-a5fe-43a655c82162'

/** What goes wrong with the next request; `on`: with the next one of a method and path, such as `POST /v1/Test`. */
export type Trouble = TroubleKind & { readonly on?: string }

type TroubleKind =
  /** The connection breaks before the bank has looked at the request. */
  | { readonly kind: 'lost' }
  /** The bank does what it was asked for, and the answer never arrives. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number; readonly body?: object }
  /** The bank takes the payment, and answers as if it had not. */
  | { readonly kind: 'taken_then'; readonly status: number }
  /** The bank does what it was asked for, and answers with spaces. */
  | { readonly kind: 'nothing'; readonly bytes: number }
  /** The bank does nothing, and repeats the request with its headers. */
  | { readonly kind: 'echo' }

export interface Transaction {
  readonly transactionId: string
  readonly endToEndIdentifier: string
  readonly debitCreditCode: 'DBIT' | 'CRDT'
  readonly pounds: number
  readonly reference: string
  readonly name: string
  readonly at: number
  status: 'PDNG' | 'ACSC' | 'RJCT'
  /** The id of the scheme. */
  readonly fpid: string
}

/** A webhook as the bank sends it. */
export interface Webhook {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

// Keys take a second to make, so all false banks of a process have the same.
const BANK_KEYS = makeKeys()
const CUSTOMER_KEYS = makeKeys()

export class FakeClearbank {
  readonly bank: KeyPair = BANK_KEYS
  readonly customer: KeyPair = CUSTOMER_KEYS
  /** Newest first, as the bank lists them. */
  readonly transactions: Transaction[] = []
  readonly returns: { readonly TransactionId: string; readonly ReasonForReturn: string }[] = []
  /** Each request that was let in, by method and path without the query. */
  readonly requests: string[] = []
  /** When each request came, by the monotonic clock. */
  readonly times: number[] = []
  readonly troubles: Trouble[] = []
  /** The answer to the next payments in place of `Accepted`. */
  response = 'Accepted'
  readonly #requestIds = new Map<string, number>()
  readonly #now: () => number
  readonly #server: Server
  #nonce = 1_000

  constructor(now: () => number) {
    this.#now = now
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  /** Starts to listen on loopback; resolves with the address. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** The configuration and the credentials of a connection to this bank. */
  config(baseUrl: string) {
    return { baseUrl, timeoutMs: 30_000, settlementAccounts: [{ currency: 'GBP', accountRef: ACCOUNT_IBAN }] }
  }

  credentials() {
    return { apiToken: TOKEN, privateKey: this.customer.privatePem }
  }

  /** The payment of one of our references. */
  paymentOf(reference: string): Transaction | undefined {
    const id = reference.replaceAll('-', '')
    return this.transactions.find((each) => each.endToEndIdentifier === id && each.debitCreditCode === 'DBIT')
  }

  /** A credit that comes in from elsewhere. */
  receive(credit: { readonly pounds: number; readonly name?: string; readonly reference?: string }): Transaction {
    return this.#book({
      transactionId: randomUUID(),
      endToEndIdentifier: `IN${this.#nonce}`,
      debitCreditCode: 'CRDT',
      pounds: credit.pounds,
      reference: credit.reference ?? 'Invoice 7',
      name: credit.name ?? 'Ada Payer',
      at: this.#now(),
      status: 'ACSC',
      fpid: `FPID${this.#nonce++}`,
    })
  }

  /** The webhook of money that has moved. `isReturn`: the money of an earlier transaction came back. */
  settled(
    transaction: Transaction,
    { isReturn = false, supplements = {}, iban = ACCOUNT_IBAN }: SettledOptions = {},
  ): Webhook {
    transaction.status = 'ACSC'
    const { transactionId, endToEndIdentifier, debitCreditCode, pounds, reference, name, at, fpid } = transaction
    return this.webhook('TransactionSettled', 6, {
      TransactionId: transactionId.toUpperCase(),
      Status: 'Settled',
      Scheme: 'FasterPayments',
      EndToEndTransactionId: endToEndIdentifier,
      Amount: pounds,
      TimestampSettled: new Date(this.#now()).toISOString(),
      TimestampCreated: new Date(at).toISOString(),
      CurrencyCode: 'GBP',
      DebitCreditCode: debitCreditCode === 'DBIT' ? 'Debit' : 'Credit',
      Reference: reference,
      IsReturn: isReturn,
      Account: { IBAN: iban, BBAN: iban.slice(4), OwnerName: 'Our Customer', TransactionOwnerName: 'Our Customer' },
      CounterpartAccount: {
        IBAN: 'GB33BUKB20201555555555',
        OwnerName: name,
        TransactionOwnerName: name,
        InstitutionName: 'Other Bank',
      },
      ActualEndToEndTransactionId: fpid,
      SupplementaryData: Object.entries(supplements).map(([Name, Value]) => ({ Name, Value })),
    })
  }

  /** The webhook of a payment that was rejected. */
  rejected(transaction: Transaction, code: string | null): Webhook {
    transaction.status = 'RJCT'
    return this.webhook('TransactionRejected', 2, {
      TransactionId: transaction.transactionId,
      Status: 'Rejected',
      Scheme: 'FasterPayments',
      EndToEndTransactionId: transaction.endToEndIdentifier,
      Amount: transaction.pounds,
      TimestampModified: new Date(this.#now()).toISOString(),
      CurrencyCode: 'GBP',
      DebitCreditCode: 'Debit',
      IsReturn: false,
      ...(code !== null && { CancellationCode: code, CancellationReason: 'In words' }),
    })
  }

  /** A payment that came back: the money is on the account again, as another transaction. */
  cameBack(payment: Transaction, code: string, endToEndId = payment.endToEndIdentifier): Webhook {
    const back = this.#book({
      ...payment,
      transactionId: randomUUID(),
      endToEndIdentifier: endToEndId,
      debitCreditCode: 'CRDT',
      at: this.#now(),
      fpid: `FPID${this.#nonce++}`,
    })
    return this.settled(back, {
      isReturn: true,
      supplements: { ReturnedPaymentFpId: payment.fpid, PaymentReturnCode: code },
    })
  }

  /** The webhook of a credit that was returned and has left. */
  creditLeft(credit: Transaction): Webhook {
    const out = this.#book({
      ...credit,
      transactionId: randomUUID(),
      endToEndIdentifier: `RET${this.#nonce}`,
      debitCreditCode: 'DBIT',
      at: this.#now(),
      fpid: `FPID${this.#nonce++}`,
    })
    return this.settled(out, { isReturn: true, supplements: { ReturnedPaymentFpId: credit.fpid } })
  }

  /** The webhook of a payment that failed the bank's assessment after it was accepted. */
  assessmentFailed(endToEndId: string, reasons: readonly string[]): Webhook {
    return this.webhook('PaymentMessageAssesmentFailed', 1, {
      MessageId: randomUUID(),
      PaymentMethodType: 'FasterPayments',
      AssesmentFailure: [{ EndToEndId: endToEndId, Reasons: reasons }],
    })
  }

  /** Any webhook, with a new nonce and the bank's signature. */
  webhook(type: string, version: number, payload: unknown): Webhook {
    const body = JSON.stringify({ Type: type, Version: version, Payload: payload, Nonce: this.#nonce++ })
    return this.signed(body)
  }

  /** A body with the bank's signature. */
  signed(body: string): Webhook {
    return {
      body,
      headers: { 'content-type': 'application/json', digitalsignature: signatureOver(this.bank.privateKey, body) },
    }
  }

  /** Whether an answer to a webhook is the one that the bank wants. */
  isAnswered(webhook: Webhook, answer: { status: number; signature: string | null; body: string }): boolean {
    const { Nonce } = JSON.parse(webhook.body) as { Nonce: number }
    if (answer.status !== 200 || answer.signature === null) return false
    const told: unknown = JSON.parse(answer.body)
    return (
      typeof told === 'object' &&
      told !== null &&
      'Nonce' in told &&
      told.Nonce === Nonce &&
      signatureFits(this.customer.publicKey, Buffer.from(answer.body), answer.signature)
    )
  }

  #book(transaction: Transaction): Transaction {
    this.transactions.unshift(transaction)
    return transaction
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.times.push(performance.now())
    const body = await bytesOf(request)
    const trouble = this.#troubleOf(`${request.method} ${request.url?.split('?')[0]}`)
    switch (trouble?.kind) {
      case 'lost':
        return void request.socket.destroy()
      case 'status':
        return answer(response, trouble.status, trouble.body ?? { title: 'Trouble' }, trouble.retryAfter)
      case 'echo':
        return answer(response, 400, { title: 'Trouble', headers: request.headers, body: body.toString() })
    }
    const { status, json } = this.#answerTo(request, body)
    switch (trouble?.kind) {
      case 'silent':
        return void request.socket.destroy()
      case 'nothing':
        response.writeHead(status, { 'content-type': 'application/json' })
        return void response.end(Buffer.alloc(trouble.bytes, 0x20))
    }
    answer(response, trouble?.kind === 'taken_then' ? trouble.status : status, json)
  }

  #troubleOf(route: string): Trouble | undefined {
    const nth = this.troubles.findIndex(({ on }) => on === undefined || on === route)
    return nth < 0 ? undefined : this.troubles.splice(nth, 1)[0]
  }

  #answerTo(request: IncomingMessage, body: Buffer): { status: number; json: object } {
    const url = new URL(request.url ?? '/', 'http://bank')
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return { status: 403, json: {} }
    if (request.method === 'POST') {
      const signature = request.headers['digitalsignature']
      if (typeof signature !== 'string' || !signatureFits(this.customer.publicKey, body, signature))
        return { status: 400, json: { type: 'about:blank', title: 'Invalid DigitalSignature Header', status: 400 } }
      const id = request.headers['x-request-id']
      if (typeof id !== 'string' || id.length > 83)
        return { status: 400, json: { type: 'about:blank', title: 'Missing X-Request-Id Header', status: 400 } }
      if ((this.#requestIds.get(id) ?? -Infinity) > this.#now() - 24 * 3_600_000) return { status: 409, json: {} }
      this.#requestIds.set(id, this.#now())
    }
    this.requests.push(`${request.method} ${url.pathname}`)
    return this.#routed(`${request.method} ${url.pathname}`, url.searchParams, body)
  }

  #routed(route: string, query: URLSearchParams, body: Buffer): { status: number; json: object } {
    if (route === 'POST /v1/Test') return { status: 200, json: { Message: 'probe' } }
    if (route === 'POST /v3/payments/fps') return this.#pay(JSON.parse(body.toString()) as PaymentBody)
    if (route === 'POST /v3/payments/fps/return') {
      this.returns.push((JSON.parse(body.toString()) as ReturnBody).paymentReturnInstruction)
      return { status: 202, json: {} }
    }
    if (route === 'GET /v3/Accounts') {
      const accounts = [{ id: ACCOUNT_ID, name: 'Customers', iban: ACCOUNT_IBAN, currency: ['GBP'] }]
      return { status: 200, json: { accounts: pageOf(accounts, query), halLinks: [] } }
    }
    if (route === 'GET /v2/Transactions' || route === `GET /v2/Accounts/${ACCOUNT_ID}/Transactions`)
      return { status: 200, json: { transactions: pageOf(this.#listed(query), query), halLinks: [] } }
    return { status: 404, json: {} }
  }

  #pay({ paymentInstructions: [instruction] }: PaymentBody): { status: number; json: object } {
    const [transfer] = instruction.creditTransfers
    const { endToEndIdentification } = transfer.paymentIdentification
    const response = this.response
    const transactions = [{ endToEndIdentification, response }]
    if (response !== 'Accepted') return { status: 400, json: { transactions } }
    // A second payment of one end-to-end id is accepted at first, and fails the assessment.
    const isKnown = this.transactions.some((each) => each.endToEndIdentifier === endToEndIdentification)
    if (!isKnown)
      this.#book({
        transactionId: randomUUID(),
        endToEndIdentifier: endToEndIdentification,
        debitCreditCode: 'DBIT',
        pounds: transfer.amount.instructedAmount,
        reference: transfer.remittanceInformation.structured.creditorReferenceInformation.reference,
        name: transfer.creditor.name,
        at: this.#now(),
        status: 'PDNG',
        fpid: `FPID${this.#nonce++}`,
      })
    return { status: 202, json: { transactions, halLinks: [] } }
  }

  #listed(query: URLSearchParams): object[] {
    const from = Date.parse(query.get('startDateTime') ?? '1970-01-01T00:00:00Z')
    const to = Date.parse(query.get('endDateTime') ?? '9999-01-01T00:00:00Z')
    const wanted = query.get('endToEndIdentifier')
    return this.transactions
      .filter(({ at, endToEndIdentifier: id }) => at >= from && at <= to && (wanted === null || id === wanted))
      .map(({ transactionId, endToEndIdentifier, debitCreditCode, pounds, reference, name, at, status }) => ({
        amount: { instructedAmount: pounds, currency: 'GBP' },
        counterpartAccount: { identification: { iban: 'GB33BUKB20201555555555', accountName: name } },
        debitCreditCode,
        endToEndIdentifier,
        transactionId,
        transactionReference: reference,
        transactionTime: new Date(at).toISOString(),
        status,
      }))
  }
}

interface SettledOptions {
  readonly isReturn?: boolean
  readonly supplements?: Readonly<Record<string, string>>
  readonly iban?: string
}

interface PaymentBody {
  readonly paymentInstructions: readonly [
    {
      readonly creditTransfers: readonly [
        {
          readonly paymentIdentification: { readonly endToEndIdentification: string }
          readonly amount: { readonly instructedAmount: number }
          readonly creditor: { readonly name: string }
          readonly remittanceInformation: {
            readonly structured: { readonly creditorReferenceInformation: { readonly reference: string } }
          }
        },
      ]
    },
  ]
}

interface ReturnBody {
  readonly paymentReturnInstruction: { readonly TransactionId: string; readonly ReasonForReturn: string }
}

function pageOf<Row>(rows: readonly Row[], query: URLSearchParams): readonly Row[] {
  const size = Number(query.get('pageSize') ?? 50)
  const page = Number(query.get('pageNumber') ?? 1)
  return rows.slice((page - 1) * size, page * size)
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function answer(response: ServerResponse, status: number, json: object, retryAfter?: number): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-correlation-id': randomUUID(),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  })
  response.end(JSON.stringify(json))
}
