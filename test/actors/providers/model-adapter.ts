/**
 * A provider in memory with its adapter: the shortest adapter that keeps the contract, and the same with one flaw, to
 * prove that each case of the kit can fail.
 */
import { createHmac } from 'node:crypto'
import { derivedId } from '../../../actors/providers/adapters/derived-id.ts'
import type { AdapterConnection, InboxMessage, RawProviderEvent } from '../../../actors/providers/adapters/adapter.ts'
import type { OrderStatus, PaymentOrder, Submission } from '../../../actors/providers/bank.ts'
import { hmacFits, soleHeader, type SignedBody } from '../../../lib/security/signed-body.ts'
import type { AdapterHarness, ProviderOutcome, Trouble } from './adapter-kit.ts'

export const FLAWS = [
  'sends_twice',
  'answer_lost_is_accepted',
  'request_lost_is_pending',
  'counts_pages_once',
  'forgets_older_events',
  'ids_by_the_way',
  'knows_every_code',
  'empty_body_is_settled',
  'too_many_is_refused',
  'hurries',
  'believes_every_signature',
  'believes_old_signatures',
  'small_bodies_only',
  'exact_clock',
  'tells_the_token',
] as const
export type Flaw = (typeof FLAWS)[number]

const CONNECTION = '019ff000-0000-7000-8000-00000000c0de'
const TOKEN = 'model-token-4711-secret'
const SECRET = 'model-webhook-secret-0815'
const NOW = Date.UTC(2026, 4, 4, 9, 30)
const PAGE = 100
const TOLERANCE_MS = 300_000
const SMALL_BYTES = 1024 * 1024
const PAUSE_MS = 1_000

interface Told {
  readonly eventId: string
  readonly reference: string
  readonly kind: ProviderOutcome['kind']
  readonly code: string | null
  readonly amount: string
  /** The newest stands first in lists, as with many interfaces. */
  readonly nth: number
}

/** The provider: takes orders by reference, and can be made to fail. */
class ModelProvider {
  readonly orders = new Map<string, { readonly amount: bigint; times: number; outcome: ProviderOutcome | null }>()
  readonly told: Told[] = []
  readonly calls: number[] = []
  next: Trouble | null = null
  #busyUntil = 0

  /** @throws Error for every trouble, in the words of a client that lost its call */
  async take(orders: readonly PaymentOrder[], isOncePerReference: boolean): Promise<string> {
    const trouble = this.next
    this.next = null
    this.calls.push(performance.now())
    if (trouble === 'too_many') this.#busyUntil = performance.now() + PAUSE_MS
    if (performance.now() < this.#busyUntil) return 'too many'
    if (trouble === 'request_lost') throw new Error('The call ended.')
    if (trouble === 'echo') throw new Error('400 for a request')
    for (const { reference, amount } of orders) {
      const known = this.orders.get(reference)
      if (known === undefined) this.orders.set(reference, { amount, times: 1, outcome: null })
      else if (!isOncePerReference) known.times += 1
    }
    if (trouble === 'answer_lost') throw new Error('The call ended.')
    return trouble === 'empty_answer' ? '' : trouble === 'huge_answer' ? ' '.repeat(5_000_000) : 'taken'
  }

  end(reference: string, { kind, code }: ProviderOutcome): Told {
    const order = this.orders.get(reference)
    if (order === undefined) throw new Error('The provider has no such order.')
    order.outcome = { kind, code }
    const nth = this.told.length
    const told = { eventId: `evt-${nth}`, reference, kind, code, amount: order.amount.toString(), nth }
    this.told.push(told)
    return told
  }
}

class ModelConnection implements AdapterConnection {
  readonly #provider: ModelProvider
  readonly #flaw: Flaw | null
  #latest = -1
  #busyUntil = 0

  constructor(provider: ModelProvider, flaw: Flaw | null) {
    this.#provider = provider
    this.#flaw = flaw
  }

  async probe() {
    return { ok: true, latencyMs: 1, message: null }
  }

  async submit(orders: readonly PaymentOrder[]): Promise<ReadonlyMap<string, Submission>> {
    const all = (submission: Submission) => new Map(orders.map(({ reference }) => [reference, submission]))
    if (performance.now() < this.#busyUntil) await new Promise((go) => setTimeout(go, PAUSE_MS))
    try {
      const answer = await this.#provider.take(orders, this.#flaw !== 'sends_twice')
      if (answer === 'too many') {
        if (this.#flaw === 'too_many_is_refused') return all({ kind: 'refused', schemeCode: 'NARR' })
        if (this.#flaw !== 'hurries') this.#busyUntil = performance.now() + PAUSE_MS
        return this.#flaw === 'hurries' ? await this.submit(orders) : all({ kind: 'unsent' })
      }
      return all({ kind: answer === 'taken' || this.#flaw === 'empty_body_is_settled' ? 'accepted' : 'timeout' })
    } catch (error) {
      if (this.#flaw === 'answer_lost_is_accepted') return all({ kind: 'accepted' })
      if (this.#flaw === 'tells_the_token') throw new Error(`The call with ${TOKEN} failed.`, { cause: error })
      throw error
    }
  }

  async status(questions: readonly { readonly reference: string }[]): Promise<ReadonlyMap<string, OrderStatus>> {
    return new Map(
      questions.map(({ reference }): [string, OrderStatus] => {
        const order = this.#provider.orders.get(reference)
        if (order === undefined)
          return [reference, { kind: this.#flaw === 'request_lost_is_pending' ? 'pending' : 'unknown' }]
        const { outcome, amount } = order
        if (outcome === null) return [reference, { kind: 'pending' }]
        if (outcome.kind === 'settled') return [reference, { kind: outcome.kind }]
        return [reference, { kind: outcome.kind, schemeCode: outcome.code ?? 'NARR', amount }]
      }),
    )
  }

  async list(_since: number, cursor: string | null) {
    const newestFirst = this.#provider.told.toReversed()
    if (this.#flaw === 'counts_pages_once') {
      // New rows push the oldest ones behind the page that was the last one.
      const [page = 0, pages = Math.ceil(newestFirst.length / PAGE)] = cursor?.split('/').map(Number) ?? []
      const events = newestFirst.slice(page * PAGE, (page + 1) * PAGE).map((told) => eventOf(told, 'poll'))
      return { events, cursor: page + 1 < pages ? `${page + 1}/${pages}` : null }
    }
    const from = cursor === null ? 0 : newestFirst.findIndex(({ nth }) => nth < Number(cursor))
    const page = from < 0 ? [] : newestFirst.slice(from, from + PAGE)
    return {
      events: page.map((told) => eventOf(told, 'poll')),
      cursor: page.length < PAGE ? null : `${page.at(-1)?.nth}`,
    }
  }

  verify(request: SignedBody, secret: string, now: number) {
    const at = Number(soleHeader(request, 'x-time'))
    const sent = Buffer.from(soleHeader(request, 'x-signature') ?? '', 'hex')
    const isFresh = Math.abs(now - at) <= (this.#flaw === 'exact_clock' ? 0 : TOLERANCE_MS)
    const fits =
      this.#flaw === 'believes_every_signature' ||
      (secret !== '' && hmacFits('sha256', secret, [`${at}.`, request.bytes], sent))
    if (this.#flaw === 'small_bodies_only' && request.bytes.length > SMALL_BYTES)
      throw new Error('The body is too long.')
    if (!fits || (!isFresh && this.#flaw !== 'believes_old_signatures' && this.#flaw !== 'believes_every_signature'))
      return { valid: false as const, reason: 'The signature is wrong or too old.' }
    return { valid: true as const, eventId: String(at), type: 'payment' }
  }

  translate({ source, body, eventId }: RawProviderEvent): readonly InboxMessage[] {
    const told = toldIn(body)
    if (told === null)
      return this.#flaw === 'empty_body_is_settled'
        ? [
            bankMessage(derivedId(CONNECTION, eventId), {
              reference: CONNECTION,
              kind: 'settled',
              code: null,
              amount: '0',
            }),
          ]
        : [{ port: 'none', reason: 'The body cannot be read.', isFault: true }]
    if (this.#flaw === 'knows_every_code' && told.code === 'ZZ99') throw new Error('An unknown code.')
    if (this.#flaw === 'forgets_older_events') {
      if (told.nth < this.#latest) return []
      this.#latest = told.nth
    }
    const parts = this.#flaw === 'ids_by_the_way' ? [told.eventId, source] : [told.eventId]
    return [bankMessage(derivedId(CONNECTION, ...parts), told)]
  }
}

function bankMessage(
  id: string,
  { reference, kind, code, amount }: Pick<Told, 'reference' | 'kind' | 'code' | 'amount'>,
): InboxMessage {
  return {
    port: 'bank',
    message: { id, type: kind, reference, schemeCode: code, amount: kind === 'returned' ? BigInt(amount) : null },
  }
}

function toldIn(body: Uint8Array): Told | null {
  try {
    const told = JSON.parse(Buffer.from(body).toString('utf8')) as Told | null
    return typeof told?.reference === 'string' ? told : null
  } catch {
    // Not JSON.
    return null
  }
}

const eventOf = (told: Told, source: RawProviderEvent['source']): RawProviderEvent => ({
  source,
  eventId: `${source}-${told.eventId}`,
  type: `payment.${told.kind}`,
  body: Buffer.from(JSON.stringify(told)),
  headers: {},
  occurredAt: NOW,
})

/** Opens the model with a flaw, or without one. */
export function modelHarness(flaw: Flaw | null = null): AdapterHarness {
  const provider = new ModelProvider()
  return {
    connection: new ModelConnection(provider, flaw),
    now: NOW,
    order: (reference) => ({
      reference,
      shard: 0,
      connectionId: CONNECTION,
      rail: 'sepa',
      currency: 'EUR',
      amount: 1_000n,
      creditorName: 'Ada Lovelace',
      remittance: 'Invoice 1',
    }),
    troubles: new Set<Trouble>(['answer_lost', 'request_lost', 'empty_answer', 'huge_answer', 'too_many', 'echo']),
    trouble(trouble) {
      provider.next = trouble
    },
    carried: (reference) => provider.orders.get(reference)?.times ?? 0,
    calls: provider.calls,
    async end(reference, outcome) {
      const told = provider.end(reference, outcome)
      return [eventOf(told, 'webhook'), eventOf(told, 'poll')]
    },
    sign: (bytes, at) => ({
      bytes,
      headers: {
        'x-time': String(at),
        'x-signature': createHmac('sha256', SECRET).update(`${at}.`).update(bytes).digest('hex'),
      },
    }),
    webhookSecret: SECRET,
    signsTime: true,
    largeBody: (bytes) =>
      Buffer.from(
        JSON.stringify({ eventId: 'evt-large', reference: CONNECTION, kind: 'settled', note: 'x'.repeat(bytes) }),
      ),
    rows: 3 * PAGE,
    secrets: [TOKEN, SECRET],
    recorded: async () => [],
    close: async () => undefined,
  }
}
