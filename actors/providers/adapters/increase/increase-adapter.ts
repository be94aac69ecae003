/** Speaks with Increase: ACH credits in US dollars. README.md tells from what it was written. */
import { asObject, idIn, instantOf, objectOf } from '../../../../lib/base/json.ts'
import {
  increaseDescription,
  payingAccountOf,
  type IncreaseConfig,
  type IncreaseCredentials,
} from '../../../../lib/providers/increase/description.ts'
import { CALL_TIMEOUT_MS } from '../../../../lib/providers/provider.ts'
import type { SignedBody } from '../../../../lib/security/signed-body.ts'
import type { OrderQuestion, OrderStatus, PaymentOrder, Submission } from '../../bank.ts'
import type {
  Adapter,
  AdapterConnection,
  AdapterIo,
  EventPage,
  InboxMessage,
  OpenConnection,
  ProbeAnswer,
  RawProviderEvent,
  Verification,
} from '../adapter.ts'
import { derivedId } from '../derived-id.ts'
import { PartnerSilent, PartnerUnreachable, type PartnerAnswer, type PartnerHttp } from '../partner-http.ts'
import { errorTypeIn, judgeSignature, pageIn, transferIn, type IncreaseTransfer } from './increase-words.ts'

const ADDRESSES = { sandbox: 'https://sandbox.increase.com', production: 'https://api.increase.com' } as const
const CATEGORIES = 'ach_transfer.created,ach_transfer.updated'
const PAGE = 100
/** Lengths of the fields of Nacha. */
const COMPANY_NAME_MAX = 16
const INDIVIDUAL_NAME_MAX = 22
/** The code of a refusal that has none. */
const NO_CODE = 'NARR'

export const increaseAdapter: Adapter = {
  description: increaseDescription,
  open(connection: OpenConnection<IncreaseConfig, IncreaseCredentials>, io) {
    return new IncreaseConnection(connection, io)
  },
}

class IncreaseConnection implements AdapterConnection {
  readonly #id: string
  readonly #accountId: string
  readonly #http: PartnerHttp

  constructor(
    { id, environment, config, credentials }: OpenConnection<IncreaseConfig, IncreaseCredentials>,
    io: AdapterIo,
  ) {
    const accountId = payingAccountOf(config)
    if (accountId === null) throw new Error('The configuration names no account for USD.')
    this.#id = id
    this.#accountId = accountId
    this.#http = io.http({
      baseUrl: config.baseUrl ?? ADDRESSES[environment],
      timeoutMs: config.timeoutMs ?? CALL_TIMEOUT_MS,
      sign: () => ({ authorization: `Bearer ${credentials?.apiKey ?? ''}` }),
    })
  }

  async probe(): Promise<ProbeAnswer> {
    try {
      const { status, json, latencyMs } = await this.#get('read_account', `/accounts/${encoded(this.#accountId)}`)
      const ok = status === 200 && asObject(json)?.id === this.#accountId
      return { ok, latencyMs, message: ok ? null : `Increase answered ${status} about the account.` }
    } catch (error) {
      if (!isLost(error)) throw error
      return { ok: false, latencyMs: 0, message: 'Increase did not answer.' }
    }
  }

  async submit(orders: readonly PaymentOrder[]): Promise<ReadonlyMap<string, Submission>> {
    const results = await Promise.all(
      orders.map(async (order): Promise<[string, Submission]> => [order.reference, await this.#create(order)]),
    )
    return new Map(results)
  }

  async #create(order: PaymentOrder): Promise<Submission> {
    const body = bodyOf(order, this.#accountId)
    if (body === null) return { kind: 'refused', schemeCode: NO_CODE, beforeAcceptance: true }
    let answer: PartnerAnswer
    try {
      answer = await this.#http.send({
        operation: 'create_ach_transfer',
        method: 'POST',
        path: '/ach_transfers',
        headers: { 'idempotency-key': order.reference },
        body,
        repeatable: false,
      })
    } catch (error) {
      if (error instanceof PartnerUnreachable) return { kind: 'unsent' }
      if (error instanceof PartnerSilent) return { kind: 'timeout' }
      throw error
    }
    return submissionOf(answer, order)
  }

  async status(questions: readonly OrderQuestion[]): Promise<ReadonlyMap<string, OrderStatus>> {
    const answers = await Promise.all(
      questions.map(async (question): Promise<readonly [string, OrderStatus] | null> => {
        const status = await this.#statusOf(question)
        return status === null ? null : [question.reference, status]
      }),
    )
    return new Map(answers.filter((answer) => answer !== null))
  }

  async #statusOf({ reference, providerRef }: OrderQuestion): Promise<OrderStatus | null> {
    const found = await this.#get('find_ach_transfer', `/ach_transfers?idempotency_key=${encoded(reference)}`)
    const page = found.status === 200 ? pageIn(found.json) : null
    if (page === null) throw new PartnerSilent(`find_ach_transfer: Increase answered ${found.status}.`)
    // Increase has named the transfer before, so that an empty list cannot be right.
    if (page.data.length === 0) return providerRef === null ? { kind: 'unknown' } : null
    const transfer = page.data.map(transferIn).find((each) => each?.reference === reference) ?? null
    return transfer === null ? null : statusOf(transfer)
  }

  /** Lists the events, oldest first. Each names a transfer only, so that each transfer is read once for a page. */
  async list(since: number, cursor: string | null): Promise<EventPage> {
    const query = new URLSearchParams({
      'category.in': CATEGORIES,
      'created_at.on_or_after': new Date(since).toISOString(),
      'order_by.field': 'created_at',
      'order_by.direction': 'ascending',
      limit: String(PAGE),
      ...(cursor === null ? {} : { cursor }),
    })
    const answer = await this.#get('list_events', `/events?${query}`)
    const page = answer.status === 200 ? pageIn(answer.json) : null
    if (page === null) throw new PartnerSilent(`list_events: Increase answered ${answer.status}.`)
    const latest = new Map<string, { readonly type: string; readonly at: number | null }>()
    for (const entry of page.data) {
      const event = asObject(entry)
      const id = event === null ? null : idIn(event, 'associated_object_id')
      if (event === null || id === null) continue
      latest.set(id, { type: idIn(event, 'category') ?? 'event', at: instantOf(idIn(event, 'created_at')) })
    }
    const events = await Promise.all(
      [...latest].map(async ([id, { type, at }]): Promise<RawProviderEvent> => {
        const { status, json, body } = await this.#get('read_ach_transfer', `/ach_transfers/${encoded(id)}`)
        if (status !== 200) throw new PartnerSilent(`read_ach_transfer: Increase answered ${status}.`)
        // Not the id of the event: a webhook has that one, with another body, and of two of one id one is kept.
        const eventId = transferIn(json)?.state ?? id
        return { source: 'poll', eventId, type, body, headers: {}, occurredAt: at }
      }),
    )
    return { events, cursor: page.data.length === 0 ? null : page.next }
  }

  verify(request: SignedBody, secret: string, now: number): Verification {
    const found = judgeSignature(request, secret, now)
    if ('reason' in found) return { valid: false, reason: found.reason }
    const event = objectOf(request.bytes)
    return { valid: true, eventId: found.id, type: (event === null ? null : idIn(event, 'category')) ?? 'webhook' }
  }

  translate({ source, body }: RawProviderEvent): readonly InboxMessage[] {
    const object = objectOf(body)
    if (object === null || typeof object.type !== 'string') return nothing('The body cannot be read.', true)
    if (object.type === 'event')
      return nothing(`The event of the ${source} names a transfer; the list tells it.`, false)
    if (object.type !== 'ach_transfer') return nothing('It is not about a transfer.', false)
    const transfer = transferIn(object)
    if (transfer === null || transfer.accountId !== this.#accountId)
      return nothing('The transfer was not made by this connection.', false)
    return messagesOf(transfer, this.#id)
  }

  #get(operation: string, path: string): Promise<PartnerAnswer> {
    return this.#http.send({ operation, method: 'GET', path, repeatable: true })
  }
}

const encoded = encodeURIComponent

const isLost = (error: unknown): boolean => error instanceof PartnerSilent || error instanceof PartnerUnreachable

const nothing = (reason: string, isFault: boolean): readonly InboxMessage[] => [{ port: 'none', reason, isFault }]

/** The request of an order; null when the order lacks something, or is none of these rails. */
function bodyOf({ rail, currency, amount, creditorName, remittance, parties }: PaymentOrder, accountId: string) {
  const { routingNumber, accountNumber, accountType } = parties?.creditor.account ?? {}
  if (parties === undefined || routingNumber === undefined || accountNumber === undefined) return null
  if (currency !== 'USD' || (rail !== 'ach' && rail !== 'ach_same_day')) return null
  const isPerson = parties.creditor.type === 'individual'
  return {
    account_id: accountId,
    amount: Number(amount),
    statement_descriptor: remittance === '' ? creditorName : remittance,
    account_number: accountNumber,
    routing_number: routingNumber,
    funding: accountType === 'savings' ? 'savings' : 'checking',
    individual_name: creditorName.slice(0, INDIVIDUAL_NAME_MAX),
    company_name: parties.debtor.name.slice(0, COMPANY_NAME_MAX),
    destination_account_holder: parties.creditor.type,
    standard_entry_class_code: isPerson ? 'prearranged_payments_and_deposit' : 'corporate_credit_or_debit',
    preferred_effective_date: { settlement_schedule: rail === 'ach_same_day' ? 'same_day' : 'future_dated' },
    require_approval: false,
  }
}

/** Reads the answer to a new transfer. What is not an answer of Increase's own leaves the outcome unknown. */
function submissionOf({ status, json }: PartnerAnswer, { reference, amount }: PaymentOrder): Submission {
  if (status >= 200 && status < 300) {
    const transfer = transferIn(json)
    return transfer?.reference === reference && transfer.amount === amount
      ? { kind: 'accepted', providerRef: transfer.id }
      : { kind: 'timeout' }
  }
  const type = errorTypeIn(json)
  if (type === null || status < 400 || status >= 500) return { kind: 'timeout' }
  // A key that was used before, with another request: the order may be there.
  if (type === 'idempotency_key_already_used_error') return { kind: 'timeout' }
  // The credentials were turned away, and the order with them.
  if (status === 401 || status === 403) return { kind: 'unsent' }
  return { kind: 'refused', schemeCode: type, beforeAcceptance: true }
}

function statusOf({ id: providerRef, end, amount }: IncreaseTransfer): OrderStatus {
  if (end === null) return { kind: 'pending', providerRef }
  if (end.kind === 'settled') return { kind: 'settled', providerRef }
  const schemeCode = end.schemeCode ?? NO_CODE
  return end.kind === 'returned'
    ? { kind: 'returned', schemeCode, amount, providerRef }
    : { kind: 'rejected', schemeCode, providerRef }
}

/** All that a transfer tells so far, each fact under an id of its own. */
function messagesOf({ id, reference, amount, end }: IncreaseTransfer, connectionId: string): readonly InboxMessage[] {
  const common = { reference, connectionId, providerRef: id, schemeCode: null, amount: null }
  const message = (fact: string, rest: Pick<BankSaid, 'type'> & Partial<BankSaid>): InboxMessage => ({
    port: 'bank',
    message: { ...common, ...rest, id: derivedId(connectionId, id, fact) },
  })
  if (end === null) return [message('pending', { type: 'pending' })]
  const settled = end.wasSettled ? [message('settled', { type: 'settled' })] : []
  if (end.kind === 'settled') return settled
  const back = { schemeCode: end.schemeCode, amount: end.kind === 'returned' ? amount : null }
  return [...settled, message('back', { type: end.kind, ...back })]
}

type BankSaid = Extract<InboxMessage, { port: 'bank' }>['message']
