/** The adapter of Column. Written from the bank's documentation, and never run against the bank: see README.md. */
import { asObject } from '../../../../lib/base/json.ts'
import { HOUR_MS, timestamp } from '../../../../lib/base/clock.ts'
import {
  columnDescription,
  payingAccount,
  type ColumnConfig,
  type ColumnCredentials,
} from '../../../../lib/providers/column/description.ts'
import { CALL_TIMEOUT_MS, type ProviderEnvironment } from '../../../../lib/providers/provider.ts'
import type { OrderQuestion, OrderStatus, PaymentOrder, Submission } from '../../bank.ts'
import type { Adapter, AdapterConnection, AdapterIo, EventPage, OpenConnection, ProbeAnswer } from '../adapter.ts'
import { PartnerSilent, PartnerUnreachable, type PartnerAnswer, type PartnerHttp } from '../partner-http.ts'
import { translateEvent, verifyWebhook } from './column-events.ts'
import { objectsIn, referenceOf, statusOf, textIn, timeIn } from './column-transfers.ts'

/** The address of the sandbox and of production: the prefix of the key tells the sandbox from production. */
const ADDRESS = 'https://api.column.com'
const KEY_PREFIX: Readonly<Record<ProviderEnvironment, string>> = { sandbox: 'test_', production: 'live_' }
/** The longest page of the bank's lists. */
const PAGE = 100
/** Pages that one look-up reads. */
const PAGES_MAX = 20
/** Clocks differ, and the time of a transfer is the bank's. */
const SENT_MARGIN_MS = HOUR_MS

/** The bank does not answer, or its answer cannot be used. Holds no secret. */
class ColumnRefusal extends Error {
  override readonly name = 'ColumnRefusal'
}

export const columnAdapter: Adapter = {
  description: columnDescription,
  open: (connection, io) => openColumn(connection as OpenConnection<ColumnConfig, ColumnCredentials>, io),
}

function openColumn(
  { id, environment, config, credentials }: OpenConnection<ColumnConfig, ColumnCredentials>,
  io: AdapterIo,
): AdapterConnection {
  const http = io.http({
    baseUrl: config.baseUrl ?? ADDRESS,
    timeoutMs: config.timeoutMs ?? CALL_TIMEOUT_MS,
    sign: () => authorisation(credentials, environment),
  })
  return {
    probe: () => probe(http, config),
    submit: (orders) => eachOf(orders, (order) => submitOne(http, order, config)),
    status: (questions) => eachOf(questions, (question) => lookUp(http, question)),
    list: (since, cursor) => listEvents(http, since, cursor),
    verify: (request, secret) => verifyWebhook(request, secret),
    translate: (event) => translateEvent(id, event),
  }
}

/** The key is the password of basic authentication; the name is empty. */
function authorisation(
  credentials: ColumnCredentials | null,
  environment: ProviderEnvironment,
): Record<string, string> {
  if (credentials === null) throw new ColumnRefusal('The credentials of the connection are not set.')
  if (!credentials.apiKey.startsWith(KEY_PREFIX[environment]))
    throw new ColumnRefusal(`The key is not one for ${environment}.`)
  return { authorization: `Basic ${Buffer.from(`:${credentials.apiKey}`).toString('base64')}` }
}

/**
 * Asks about each item by itself, so that the trouble of one is not that of the others; an item without a result is
 * absent.
 *
 * @throws the first error, when every item failed
 */
async function eachOf<Item extends { readonly reference: string }, Result>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Result | null>,
): Promise<ReadonlyMap<string, Result>> {
  const asked = await Promise.allSettled(items.map(async (item) => [item.reference, await ask(item)] as const))
  const answered = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = asked.find((each) => each.status === 'rejected')
  if (failed !== undefined && answered.length === 0) throw failed.reason
  return new Map(answered.flatMap(([reference, result]) => (result === null ? [] : [[reference, result] as const])))
}

/** Reads the account that pays: it needs the key, and tells whether the account is the platform's. */
async function probe(http: PartnerHttp, config: ColumnConfig): Promise<ProbeAnswer> {
  try {
    const { status, latencyMs } = await http.send({
      operation: 'probe',
      method: 'GET',
      path: `/bank-accounts/${encodeURIComponent(payingAccount(config) ?? 'none')}`,
      repeatable: true,
    })
    const ok = status >= 200 && status < 300
    return { ok, latencyMs, message: ok ? null : troubleOf(status) }
  } catch (error) {
    return { ok: false, latencyMs: 0, message: error instanceof Error ? error.message : 'The bank did not answer.' }
  }
}

function troubleOf(status: number): string {
  if (status === 401 || status === 403) return 'The bank does not accept the key.'
  if (status === 404) return 'The bank has no account of this id: settlementAccounts must name the one for USD.'
  return `The bank answered with status ${status}.`
}

const turnedAway = (schemeCode: string): Submission => ({ kind: 'refused', schemeCode, beforeAcceptance: true })

/** The bank does not look at requests of the connection now: its key is not accepted, or it asks too often. */
const UNSEEN: ReadonlySet<number> = new Set([401, 403, 429])
/** The bank's words for a request that it did not take, by our codes. */
const REFUSALS: Readonly<Record<string, string>> = {
  transfer_non_sufficient_fund: 'AM04',
  overdraft_not_allowed: 'AM04',
}

async function submitOne(http: PartnerHttp, order: PaymentOrder, config: ColumnConfig): Promise<Submission> {
  const body = transferOf(order, payingAccount(config))
  if (typeof body === 'string') return turnedAway(body)
  let answer: PartnerAnswer
  try {
    answer = await http.send({
      operation: 'create_transfer',
      method: 'POST',
      path: '/transfers/ach',
      // The bank gives the first answer again to a request of the same key, as often as it comes.
      headers: { 'idempotency-key': order.reference },
      body,
      repeatable: false,
    })
  } catch (error) {
    if (error instanceof PartnerUnreachable || error instanceof ColumnRefusal) return { kind: 'unsent' }
    if (error instanceof PartnerSilent) return { kind: 'timeout' }
    throw error
  }
  return submissionOf(answer)
}

/** Reads the answer to a transfer: only one that names the transfer says that it was taken. */
function submissionOf({ status, json }: PartnerAnswer): Submission {
  const told = asObject(json)
  if (status >= 200 && status < 300) {
    const providerRef = textIn(told, 'id')
    return providerRef === null ? { kind: 'timeout' } : { kind: 'accepted', providerRef }
  }
  if (UNSEEN.has(status)) return { kind: 'unsent' }
  // 409: another request of the same key may be under way.
  if (status < 400 || status === 408 || status === 409 || status >= 500) return { kind: 'timeout' }
  return turnedAway(REFUSALS[textIn(told, 'code') ?? ''] ?? 'TECH')
}

const NAME_MAX = 127
const DESCRIPTION_MAX = 255
/** NACHA's characters; others are replaced by spaces. */
const FOREIGN = /[^ \w!"#$%&'()*+,\-.\\/:;<>=?@[\]^{}|~]+/g

/** Makes the body of a transfer; a reason code where none can be made of the order. */
function transferOf({ parties, amount, currency, remittance }: PaymentOrder, account: string | null): object | string {
  if (parties === undefined) throw new Error('An order for Column needs its parties.')
  const { name, type, account: payee } = parties.creditor
  if (account === null || amount > BigInt(Number.MAX_SAFE_INTEGER)) return 'TECH'
  if (!payee.routingNumber || !payee.accountNumber) return 'AC01'
  return {
    type: 'CREDIT',
    amount: Number(amount),
    currency_code: currency,
    bank_account_id: account,
    // Payments to people are PPD, those to companies CCD.
    entry_class_code: type === 'individual' ? 'PPD' : 'CCD',
    description: remittance.replaceAll(FOREIGN, ' ').slice(0, DESCRIPTION_MAX),
    counterparty: {
      name: name.replaceAll(FOREIGN, ' ').slice(0, NAME_MAX),
      routing_number: payee.routingNumber,
      account_number: payee.accountNumber,
      account_type: payee.accountType === 'savings' ? 'savings' : 'checking',
    },
  }
}

/**
 * Looks a payment up by the bank's id of it, or else by its idempotency key among the transfers since it was sent. A
 * transfer that is not there may be sent again: the bank takes a key once.
 */
async function lookUp(
  http: PartnerHttp,
  { reference, providerRef, sentAt }: OrderQuestion,
): Promise<OrderStatus | null> {
  if (providerRef !== null) {
    const found = await read(http, 'get_transfer', `/transfers/ach/${encodeURIComponent(providerRef)}`)
    const status = found === null ? null : statusOf(found)
    return status === null ? null : { ...status, providerRef }
  }
  const since = timestamp(sentAt - SENT_MARGIN_MS)
  let after = ''
  for (let page = 0; page < PAGES_MAX; page++) {
    const path = `/transfers/ach?limit=${PAGE}&is_incoming=false&created.gte=${encodeURIComponent(since)}${after}`
    const answer = await read(http, 'list_transfers', path)
    if (answer === null) throw new ColumnRefusal('The bank has no list of transfers.')
    const transfers = objectsIn(answer, 'transfers')
    const found = transfers.find((each) => referenceOf(each) === reference)
    if (found !== undefined) {
      const status = statusOf(found)
      const id = textIn(found, 'id')
      return status === null ? null : { ...status, ...(id === null ? {} : { providerRef: id }) }
    }
    const last = textIn(transfers.at(-1) ?? null, 'id')
    if (answer['has_more'] === false) return { kind: 'unknown' }
    if (last === null) break
    after = `&starting_after=${encodeURIComponent(last)}`
  }
  return null
}

/** Reads an object; null where there is none. @throws ColumnRefusal for every other answer */
async function read(http: PartnerHttp, operation: string, path: string) {
  const { status, json } = await http.send({ operation, method: 'GET', path, repeatable: true })
  if (status === 404) return null
  const found = asObject(json)
  if (status !== 200 || found === null) throw new ColumnRefusal(`Column answered ${operation} with status ${status}.`)
  return found
}

/**
 * Lists events, newest first. A page begins behind an event of the page before it, so new events push nothing out of
 * the pages to come.
 */
async function listEvents(http: PartnerHttp, since: number, cursor: string | null): Promise<EventPage> {
  const after = cursor === null ? '' : `&starting_after=${encodeURIComponent(cursor)}`
  const path = `/events?limit=${PAGE}&created.gte=${encodeURIComponent(timestamp(since))}${after}`
  const answer = await read(http, 'list_events', path)
  if (answer === null) throw new ColumnRefusal('The bank has no list of events.')
  const events = objectsIn(answer, 'events')
  const last = textIn(events.at(-1) ?? null, 'id')
  return {
    events: events.flatMap((event) => {
      const [eventId, type] = [textIn(event, 'id'), textIn(event, 'type')]
      if (eventId === null || type === null) return []
      const body = Buffer.from(JSON.stringify(event))
      return [{ source: 'poll' as const, eventId, type, body, headers: {}, occurredAt: timeIn(event, 'created_at') }]
    }),
    cursor: answer['has_more'] === true ? last : null,
  }
}
