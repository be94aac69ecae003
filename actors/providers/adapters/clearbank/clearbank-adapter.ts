/** The adapter of ClearBank. Written from the bank's documentation, and never run against the bank: see README.md. */
import { asObject } from '../../../../lib/base/json.ts'
import type { KeyObject } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../../../lib/base/clock.ts'
import {
  clearbankDescription,
  type ClearbankConfig,
  type ClearbankCredentials,
} from '../../../../lib/providers/clearbank/description.ts'
import { CALL_TIMEOUT_MS } from '../../../../lib/providers/provider.ts'
import type { OrderQuestion, OrderStatus, PaymentOrder, Submission } from '../../bank.ts'
import type { CreditReturn } from '../../credits.ts'
import type { Adapter, AdapterConnection, AdapterIo, OpenConnection, ProbeAnswer } from '../adapter.ts'
import { PartnerSilent, PartnerUnreachable, type PartnerAnswer, type PartnerHttp } from '../partner-http.ts'
import { ACCEPTED, refusalOf, stateOf } from './clearbank-codes.ts'
import { translateEvent } from './clearbank-events.ts'
import { objectsIn, textIn } from './clearbank-json.ts'
import { privateKeyOf, signatureOf } from './clearbank-keys.ts'
import { endToEndIdOf, paymentRequest, returnRequest } from './clearbank-requests.ts'
import { ClearbankRefusal, listTransactions, transactionsOf } from './clearbank-transactions.ts'
import { verifyWebhook } from './clearbank-webhooks.ts'

const ADDRESSES = {
  sandbox: 'https://institution-api-sim.clearbank.co.uk',
  production: 'https://institution-api.clearbank.co.uk',
} as const

export const clearbankAdapter: Adapter = {
  description: clearbankDescription,
  open: (connection, io) => openClearbank(connection as OpenConnection<ClearbankConfig, ClearbankCredentials>, io),
}

function openClearbank(
  { id, environment, config, credentials }: OpenConnection<ClearbankConfig, ClearbankCredentials>,
  io: AdapterIo,
): AdapterConnection {
  const key = credentials === null ? null : privateKeyOf(credentials.privateKey)
  const http = io.http({
    baseUrl: config.baseUrl ?? ADDRESSES[environment],
    timeoutMs: config.timeoutMs ?? CALL_TIMEOUT_MS,
    sign: ({ body }) => authorisation(credentials, key, body),
  })
  return {
    probe: (now) => probe(http, id, now),
    submit: (orders, now) => eachOf(orders, (order) => submitOne(http, order, config, now)),
    status: (questions, now) => eachOf(questions, (question) => statusOf(http, question, now)),
    giveBack: async (returns) => [...(await eachOf(returns, (each) => giveBackOne(http, each))).keys()],
    list: (since, cursor, now) => listTransactions(http, since, cursor, now),
    verify: (request, secret, now) => verifyWebhook(request, secret, key, now),
    translate: (event) => translateEvent(id, event),
  }
}

/** The token, and for a body its signature. */
async function authorisation(
  credentials: ClearbankCredentials | null,
  key: KeyObject | null,
  body: Uint8Array,
): Promise<Record<string, string>> {
  if (credentials === null || key === null) throw new ClearbankRefusal('The credentials of the connection are not set.')
  const authorization = `Bearer ${credentials.apiToken}`
  return body.byteLength === 0 ? { authorization } : { authorization, digitalsignature: await signatureOf(key, body) }
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
  const results = new Map<string, Result>()
  const errors: unknown[] = []
  await Promise.all(
    items.map(async (item) => {
      try {
        const result = await ask(item)
        if (result !== null) results.set(item.reference, result)
      } catch (error) {
        errors.push(error)
      }
    }),
  )
  if (errors.length > 0 && errors.length === items.length) throw errors[0]
  return results
}

/** The bank's own test of the token and the signature; it sends a webhook of the type `FITestEvent` too. */
async function probe(http: PartnerHttp, connectionId: string, now: number): Promise<ProbeAnswer> {
  try {
    const { status, json, latencyMs } = await http.send({
      operation: 'probe',
      method: 'POST',
      path: '/v1/Test',
      headers: { 'x-request-id': `probe-${connectionId}-${now}` },
      body: { body: 'probe' },
      repeatable: true,
    })
    // 409: the bank has had this probe before, and its answer was lost.
    const ok = (status >= 200 && status < 300) || status === 409
    return { ok, latencyMs, message: ok ? null : troubleOf(status, textIn(asObject(json), 'title')) }
  } catch (error) {
    return { ok: false, latencyMs: 0, message: error instanceof Error ? error.message : 'The bank did not answer.' }
  }
}

function troubleOf(status: number, title: string | null): string {
  if (status === 401 || status === 403) return 'The bank does not accept the API token.'
  if (status === 400 && title !== null && /DigitalSignature/i.test(title))
    return 'The bank does not accept the signature: the private key is not that of the token’s certificate.'
  return `The bank answered with status ${status}${title === null ? '' : `: ${title.slice(0, 100)}`}.`
}

const turnedAway = (schemeCode: string): Submission => ({ kind: 'refused', schemeCode, beforeAcceptance: true })

async function submitOne(
  http: PartnerHttp,
  order: PaymentOrder,
  config: ClearbankConfig,
  now: number,
): Promise<Submission> {
  const request = paymentRequest(order, config)
  if ('faultCode' in request) return turnedAway(request.faultCode)
  const endToEndId = endToEndIdOf(order.reference)
  let answer: PartnerAnswer
  try {
    answer = await http.send({
      operation: 'create_payment',
      method: 'POST',
      path: '/v3/payments/fps',
      // The bank turns away a second request of the same id for 24 hours.
      headers: { 'x-request-id': order.reference },
      body: request.body,
      repeatable: false,
    })
  } catch (error) {
    if (error instanceof PartnerUnreachable || error instanceof ClearbankRefusal) return { kind: 'unsent' }
    if (error instanceof PartnerSilent) return { kind: 'timeout' }
    throw error
  }
  if (answer.status !== 409) return submissionOf(answer, endToEndId)
  // The bank has seen this order before. A look-up that fails leaves the outcome unknown.
  const state = await stateOfPayment(http, endToEndId, now - DAY_MS).catch(() => null)
  return { kind: state === 'settled' || state === 'pending' ? 'accepted' : 'timeout' }
}

/** The bank does not look at requests of the connection now: its token is not accepted, or it asks too often. */
const UNSEEN: ReadonlySet<number> = new Set([401, 403, 423, 429])
/** The bank did not take the request, and would not take it again. */
const TURNED_AWAY: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 413, 415, 422])

/**
 * Reads the answer to a payment. Only an answer that says for certain that the payment was not taken is a refusal. A
 * 5xx may hide a payment that was taken, and a redirect comes from something in between.
 */
function submissionOf({ status, json }: PartnerAnswer, endToEndId: string): Submission {
  const told = objectsIn(asObject(json)?.['transactions'] ?? [])
  const response = told
    .filter((each) => textIn(each, 'endToEndIdentification')?.toLowerCase() === endToEndId.toLowerCase())
    .map((each) => textIn(each, 'response'))
    .at(0)
  if (response === ACCEPTED) return { kind: 'accepted' }
  if (response !== undefined && response !== null) {
    const schemeCode = refusalOf(response)
    return schemeCode === null ? { kind: 'timeout' } : turnedAway(schemeCode)
  }
  if (UNSEEN.has(status)) return { kind: 'unsent' }
  return TURNED_AWAY.has(status) ? turnedAway('TECH') : { kind: 'timeout' }
}

/**
 * A request of the same id is turned away for 24 hours, so within them a payment that the lists do not show yet may be
 * sent again. After that, this would be safe only if the bank kept the end-to-end id longer, which its documentation
 * does not promise.
 */
const UNKNOWN_UNTIL_MS = 23 * HOUR_MS
/** Clocks differ, and the time of a transaction is the bank's. */
const SENT_MARGIN_MS = HOUR_MS

/** Looks a payment up by its end-to-end id. Null: it is not found, and was sent too long ago to be sent again. */
async function statusOf(
  http: PartnerHttp,
  { reference, sentAt }: OrderQuestion,
  now: number,
): Promise<OrderStatus | null> {
  const kind = await stateOfPayment(http, endToEndIdOf(reference), sentAt - SENT_MARGIN_MS)
  // The list tells no reason; a webhook does.
  if (kind === 'rejected') return { kind, schemeCode: 'RJCT' }
  if (kind !== null) return { kind }
  return now - sentAt < UNKNOWN_UNTIL_MS ? { kind: 'unknown' } : null
}

/** The state of the payment of an end-to-end id since a time; null when the lists do not have it. */
async function stateOfPayment(
  http: PartnerHttp,
  endToEndId: string,
  since: number,
): Promise<ReturnType<typeof stateOf> | null> {
  const rows = await transactionsOf(http, endToEndId, since)
  // A payment to another account of the bank has a second row, of the credit.
  const states = rows
    .filter((row) => textIn(row, 'debitCreditCode') === 'DBIT')
    .map((row) => stateOf(textIn(row, 'status') ?? ''))
  return (['settled', 'pending', 'rejected'] as const).find((state) => states.includes(state)) ?? null
}

/** Returns a credit; null when the bank does not take the order now. */
async function giveBackOne(http: PartnerHttp, order: CreditReturn): Promise<true | null> {
  const { status } = await http.send({
    operation: 'return_credit',
    method: 'POST',
    path: '/v3/payments/fps/return',
    headers: { 'x-request-id': `return-${order.reference}` },
    body: returnRequest(order),
    repeatable: false,
  })
  // The bank has an order of the same id already.
  if ((status >= 200 && status < 300) || status === 409) return true
  if (status >= 500) throw new ClearbankRefusal(`ClearBank answered return_credit with status ${status}.`)
  return null
}
