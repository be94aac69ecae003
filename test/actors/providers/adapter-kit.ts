/**
 * The contract of adapters, as cases that run over each of them. The author of an adapter writes a harness: the adapter
 * with a simulated provider behind it, which can be made to fail. `runKit` does the rest; a case for an ability that
 * the provider does not have is left out, and its name is told.
 */
import assert from 'node:assert/strict'
import type { Test } from 'tap'
import type { PaymentOrder, Submission } from '../../../actors/providers/bank.ts'
import type { AdapterConnection, InboxMessage, RawProviderEvent } from '../../../actors/providers/adapters/adapter.ts'
import type { SignedBody } from '../../../lib/security/signed-body.ts'

/** Troubles of the next call that the adapter makes for `submit`; later calls go well. */
export type Trouble =
  /** The provider takes the orders, and its answer is lost. */
  | 'answer_lost'
  /** The request is lost, and the adapter cannot know. */
  | 'request_lost'
  /** The provider takes the orders, and answers with nothing in it. */
  | 'empty_answer'
  /** The provider takes the orders, and its answer is 5 MB of nothing useful. */
  | 'huge_answer'
  /** The provider takes nothing for a second, and tells so (429 with Retry-After). */
  | 'too_many'
  /** The provider takes nothing, and its error repeats the request with all its headers. */
  | 'echo'

/** The end of a payment at the provider. */
export interface ProviderOutcome {
  readonly kind: 'settled' | 'rejected' | 'returned'
  /** The scheme's code; null for `settled`. */
  readonly code: string | null
}

/** An adapter with a simulated provider. Members that are left out are abilities that the provider does not have. */
export interface AdapterHarness {
  readonly connection: AdapterConnection
  /** The present time of the harness, epoch milliseconds. */
  readonly now: number
  /** Makes an order that the provider takes. */
  order(reference: string): PaymentOrder
  /** The troubles that the provider can have, and what makes the next call meet one. */
  readonly troubles: ReadonlySet<Trouble>
  trouble(trouble: Trouble): void
  /** How many times the provider carries the order out. */
  carried(reference: string): number | Promise<number>
  /** When the provider was called, by the monotonic clock; for `too_many`. */
  readonly calls?: readonly number[]
  /**
   * Lets an order that was submitted end. Returns the event that tells it, once for each way by which the provider
   * tells it (webhook, list, file); their messages are the same messages.
   */
  end(reference: string, outcome: ProviderOutcome): Promise<readonly RawProviderEvent[]>
  /** Signs a body as the provider does. `at`: when, epoch milliseconds. */
  sign?(body: Uint8Array, at: number): SignedBody
  readonly webhookSecret?: string
  /** How many events two pages of the provider do not hold; 250 by default. */
  readonly rows?: number
  /** Whether a signature tells its time, so that an old one is refused. */
  readonly signsTime?: boolean
  /** A webhook of `bytes` or a little more that the provider could send. */
  largeBody?(bytes: number): Uint8Array
  /** The secrets of the connection, and all that was recorded and logged so far. */
  readonly secrets: readonly string[]
  recorded(): Promise<readonly string[]>
  close(): Promise<void>
}

/** A case of the contract. */
export interface KitCase {
  readonly name: string
  /** Whether the harness has what the case needs. */
  needs(harness: AdapterHarness): boolean
  /** @throws AssertionError when the adapter breaks the contract */
  run(harness: AdapterHarness): Promise<void>
}

/** Ids of references, different in every case, the same in every run. */
const reference = (nth: number): string => `019ff000-0000-7000-8000-${nth.toString(16).padStart(12, '0')}`

const LARGE_BYTES = 5 * 1024 * 1024
const SKEW_MS = 120_000
const DAY_MS = 86_400_000
/** The provider of `too_many` asks for a second; timers may be early by a little. */
const TOO_MANY_MS = 950
const UNKNOWN_CODE = 'ZZ99'
/** Rows of events, which two pages do not hold. */
const ROWS = 250

/** Submits one order. A call that throws, or gives no result, timed out. */
async function submitted(harness: AdapterHarness, order: PaymentOrder, seen?: unknown[]): Promise<Submission> {
  assert(harness.connection.submit !== undefined, 'The connection submits.')
  try {
    return (await harness.connection.submit([order], harness.now)).get(order.reference) ?? { kind: 'timeout' }
  } catch (error) {
    seen?.push(error)
    return { kind: 'timeout' }
  }
}

async function statusOf({ connection, now, order }: AdapterHarness, of: string): Promise<string> {
  assert(connection.status !== undefined, 'The connection tells states.')
  const { connectionId, rail, currency, amount } = order(of)
  const question = { reference: of, connectionId, providerRef: null, rail, currency, amount, sentAt: now }
  return (await connection.status([question], now)).get(of)?.kind ?? 'absent'
}

const hasTrouble =
  (trouble: Trouble) =>
  ({ troubles, connection }: AdapterHarness): boolean =>
    troubles.has(trouble) && connection.submit !== undefined

const always = (): boolean => true

/** The messages of an event, in an order that does not depend on the event's. */
const messagesOf = ({ connection }: AdapterHarness, event: RawProviderEvent): readonly InboxMessage[] =>
  [...connection.translate(event)].sort((left, right) => (idOf(left) < idOf(right) ? -1 : 1))

const idOf = (message: InboxMessage): string => (message.port === 'none' ? '' : message.message.id)

async function ended(harness: AdapterHarness, nth: number, outcome: ProviderOutcome): Promise<RawProviderEvent[]> {
  assert.equal((await submitted(harness, harness.order(reference(nth)))).kind, 'accepted')
  const events = await harness.end(reference(nth), outcome)
  assert(events.length > 0, 'The provider tells the outcome.')
  return [...events]
}

const SETTLED: ProviderOutcome = { kind: 'settled', code: null }
const RETURNED: ProviderOutcome = { kind: 'returned', code: 'AC04' }

/** All pages from a time on. @throws AssertionError when they have no end */
async function listed(
  { connection, now }: AdapterHarness,
  since: number,
  between: () => Promise<void> = async () => undefined,
): Promise<readonly RawProviderEvent[]> {
  assert(connection.list !== undefined)
  const events: RawProviderEvent[] = []
  let cursor: string | null = null
  for (let page = 0; page < 100; page++) {
    const found = await connection.list(since, cursor, now)
    events.push(...found.events)
    if (found.cursor === null) return events
    cursor = found.cursor
    if (page === 0) await between()
  }
  throw new assert.AssertionError({ message: 'The pages have no end.' })
}

/** The payments that events say something about. */
const toldOf = ({ connection }: AdapterHarness, events: readonly RawProviderEvent[]): ReadonlySet<string> =>
  new Set(
    events
      .flatMap((event) => connection.translate(event))
      .flatMap((message) => (message.port === 'bank' ? [message.message.reference] : [])),
  )

export const KIT: readonly KitCase[] = [
  {
    name: 'the same reference twice is one payment',
    needs: ({ connection }) => connection.submit !== undefined,
    async run(harness) {
      const order = harness.order(reference(1))
      assert.equal((await submitted(harness, order)).kind, 'accepted')
      assert.notEqual((await submitted(harness, order)).kind, 'refused')
      assert.equal(await harness.carried(order.reference), 1)
    },
  },
  {
    name: 'a timeout of an order that arrived: its outcome is unknown, and its status finds it',
    needs: hasTrouble('answer_lost'),
    async run(harness) {
      const order = harness.order(reference(2))
      harness.trouble('answer_lost')
      assert.equal((await submitted(harness, order)).kind, 'timeout')
      assert.match(await statusOf(harness, order.reference), /^(pending|settled)$/)
      assert.notEqual((await submitted(harness, order)).kind, 'refused')
      assert.equal(await harness.carried(order.reference), 1)
    },
  },
  {
    name: 'a timeout of an order that never arrived: its status says so, and it can be sent again',
    needs: hasTrouble('request_lost'),
    async run(harness) {
      const order = harness.order(reference(3))
      harness.trouble('request_lost')
      assert.match((await submitted(harness, order)).kind, /^(timeout|unsent)$/)
      assert.equal(await statusOf(harness, order.reference), 'unknown')
      assert.equal((await submitted(harness, order)).kind, 'accepted')
      assert.equal(await harness.carried(order.reference), 1)
    },
  },
  {
    name: 'pages with new rows in between lose none',
    needs: ({ connection }) => connection.list !== undefined,
    async run(harness) {
      const since = harness.now - DAY_MS
      const numbers = Array.from({ length: harness.rows ?? ROWS }, (_, nth) => 1_000 + nth)
      for (const nth of numbers) await ended(harness, nth, SETTLED)
      const events = await listed(harness, since, async () => {
        for (const nth of [900, 901, 902]) await ended(harness, nth, SETTLED)
      })
      const told = toldOf(harness, [...events, ...(await listed(harness, since))])
      for (const nth of [...numbers, 900, 901, 902]) assert(told.has(reference(nth)), `The pages tell of ${nth}.`)
      const once = toldOf(harness, events)
      for (const nth of numbers) assert(once.has(reference(nth)), `The first round tells of ${nth}.`)
    },
  },
  {
    name: 'events out of order give the same messages as in order',
    needs: always,
    async run(harness) {
      const [settled] = await ended(harness, 4, SETTLED)
      const [returned] = await harness.end(reference(4), RETURNED)
      assert(settled !== undefined && returned !== undefined)
      const forwards = [messagesOf(harness, settled), messagesOf(harness, returned)]
      const backwards = [messagesOf(harness, returned), messagesOf(harness, settled)].reverse()
      assert.deepEqual(backwards, forwards)
      for (const messages of forwards)
        assert(
          messages.some(({ port }) => port === 'bank'),
          'Each tells something.',
        )
    },
  },
  {
    name: 'an event that comes twice, or by two ways, is the same message',
    needs: always,
    async run(harness) {
      const events = await ended(harness, 5, SETTLED)
      const ids = events.map((event) => {
        const settled = messagesOf(harness, event).filter(
          (message) => message.port === 'bank' && message.message.type === 'settled',
        )
        assert.equal(settled.length, 1, 'The event tells that the payment was settled.')
        assert.deepEqual(messagesOf(harness, event), messagesOf(harness, event))
        return idOf(settled[0] as InboxMessage)
      })
      assert.equal(new Set(ids).size, 1)
      const [other] = await ended(harness, 6, SETTLED)
      assert(other !== undefined && !messagesOf(harness, other).some((message) => ids.includes(idOf(message))))
    },
  },
  {
    name: 'an unknown code is passed on',
    needs: always,
    async run(harness) {
      const [event] = await ended(harness, 7, { kind: 'rejected', code: UNKNOWN_CODE })
      assert(event !== undefined)
      const [message] = messagesOf(harness, event)
      assert(message?.port === 'bank' && message.message.type === 'rejected')
      assert.equal(message.message.schemeCode, UNKNOWN_CODE)
    },
  },
  {
    name: 'an empty body says nothing: not of an event, and not of an order',
    needs: always,
    async run(harness) {
      const [event] = await ended(harness, 8, SETTLED)
      assert(event !== undefined)
      for (const body of ['', ' ', '{}', '[]', 'null', '<a/>', '\0'])
        for (const message of harness.connection.translate({ ...event, body: Buffer.from(body) }))
          assert.equal(message.port, 'none', JSON.stringify(body))
      if (!hasTrouble('empty_answer')(harness)) return
      const order = harness.order(reference(9))
      harness.trouble('empty_answer')
      assert.equal((await submitted(harness, order)).kind, 'timeout')
      assert.match(await statusOf(harness, order.reference), /^(pending|settled)$/)
    },
  },
  {
    name: 'a provider that takes no more for a time is left alone for it, and refuses nothing',
    needs: hasTrouble('too_many'),
    async run(harness) {
      const order = harness.order(reference(10))
      harness.trouble('too_many')
      const before = harness.calls?.length ?? 0
      assert.match((await submitted(harness, order)).kind, /^(accepted|unsent)$/)
      // While the provider is left alone, an order may be kept back again.
      let kind = 'unsent'
      for (let attempt = 0; kind === 'unsent' && attempt < 200; attempt++) {
        kind = (await submitted(harness, order)).kind
        if (kind === 'unsent') await new Promise((resolve) => setTimeout(resolve, 20))
      }
      assert.equal(kind, 'accepted')
      assert.equal(await harness.carried(order.reference), 1)
      const [first, second] = harness.calls?.slice(before) ?? []
      assert(first !== undefined && second !== undefined, 'The harness tells when it was called.')
      assert(second - first >= TOO_MANY_MS, 'The next call waits as long as the provider asks.')
    },
  },
  {
    name: 'a webhook is believed with its signature alone: not with a wrong, a foreign or an old one',
    needs: ({ sign, connection }) => sign !== undefined && connection.verify !== undefined,
    async run(harness) {
      const { connection, now, webhookSecret = '', signsTime = false } = harness
      const [event] = await ended(harness, 11, SETTLED)
      assert(event !== undefined && harness.sign !== undefined && connection.verify !== undefined)
      const request = harness.sign(event.body, now)
      const found = connection.verify(request, webhookSecret, now)
      assert(found.valid, 'The signature of the provider is good.')
      assert.deepEqual(found, connection.verify(request, webhookSecret, now))
      const refused = (what: string, judged: SignedBody, secret = webhookSecret, at = now): void =>
        assert.equal(connection.verify?.(judged, secret, at).valid, false, what)
      const bytes = Buffer.concat([request.bytes, Buffer.from(' ')])
      refused('another body', { ...request, bytes })
      refused('no headers', { ...request, headers: {} })
      refused('another secret', request, `${webhookSecret.slice(0, -4)}AAAA`)
      refused('no secret', request, '')
      for (const name of Object.keys(request.headers)) {
        const { [name]: _, ...others } = request.headers
        const left = connection.verify({ ...request, headers: others }, webhookSecret, now)
        if (left.valid) assert.deepEqual(left, found, `Without ${name} the event is the same.`)
      }
      if (signsTime) refused('a day later', request, webhookSecret, now + DAY_MS)
    },
  },
  {
    name: 'a body of 5 MB is read or refused in peace, and an answer of 5 MB is no answer',
    needs: always,
    async run(harness) {
      const { connection, now, webhookSecret = '' } = harness
      const [event] = await ended(harness, 12, SETTLED)
      assert(event !== undefined)
      const body = harness.largeBody?.(LARGE_BYTES) ?? Buffer.alloc(LARGE_BYTES, 0x20)
      assert(Array.isArray(connection.translate({ ...event, body })))
      if (harness.sign !== undefined && harness.largeBody !== undefined)
        assert.equal(connection.verify?.(harness.sign(body, now), webhookSecret, now).valid, true)
      if (!hasTrouble('huge_answer')(harness)) return
      const order = harness.order(reference(13))
      harness.trouble('huge_answer')
      assert.equal((await submitted(harness, order)).kind, 'timeout')
      assert.match(await statusOf(harness, order.reference), /^(pending|settled)$/)
    },
  },
  {
    name: 'two minutes between the clocks change nothing',
    needs: always,
    async run(harness) {
      const { connection, now, webhookSecret = '' } = harness
      const [event] = await ended(harness, 14, SETTLED)
      assert(event !== undefined)
      for (const skew of [-SKEW_MS, SKEW_MS]) {
        if (harness.sign !== undefined && connection.verify !== undefined) {
          const found = connection.verify(harness.sign(event.body, now + skew), webhookSecret, now)
          assert.equal(found.valid, true, `A webhook that was signed ${skew} ms off is believed.`)
        }
        const late: RawProviderEvent = {
          ...event,
          occurredAt: event.occurredAt === null ? null : event.occurredAt + skew,
        }
        assert.deepEqual(messagesOf(harness, late), messagesOf(harness, event))
      }
      const order = harness.order(reference(15))
      assert.equal((await connection.submit?.([order], now - SKEW_MS))?.get(order.reference)?.kind, 'accepted')
      await connection.submit?.([order], now + SKEW_MS)
      assert.equal(await harness.carried(order.reference), 1)
    },
  },
  {
    name: 'no secret stands in an error, a record or a log',
    needs: always,
    async run(harness) {
      const seen: unknown[] = []
      let nth = 20
      for (const trouble of harness.troubles) {
        if (trouble === 'too_many') continue
        harness.trouble(trouble)
        await submitted(harness, harness.order(reference(nth++)), seen)
      }
      const { connection, now, webhookSecret } = harness
      seen.push(await connection.probe(now))
      const bytes = Buffer.from('{')
      seen.push(connection.verify?.({ bytes, headers: { authorization: 'none' } }, webhookSecret ?? '', now))
      const told = [...(await harness.recorded()), ...seen.flatMap(textsOf)].join('\n')
      for (const secret of harness.secrets)
        for (const form of [
          secret,
          Buffer.from(secret).toString('base64').replace(/=+$/, ''),
          encodeURIComponent(secret),
        ])
          assert(!told.includes(form), 'A secret was told.')
    },
  },
]

/** The texts of an error, down to its first cause, or of a value. */
function textsOf(value: unknown): readonly string[] {
  if (value instanceof Error) return [value.message, value.stack ?? '', JSON.stringify(value), ...textsOf(value.cause)]
  return value === undefined ? [] : [JSON.stringify(value)]
}

/** Runs every case over an adapter; each gets a harness of its own. */
export async function runKit(t: Test, open: () => Promise<AdapterHarness>): Promise<void> {
  for (const { name, needs, run } of KIT)
    await t.test(name, async (t) => {
      const harness = await open()
      t.teardown(() => harness.close())
      if (!needs(harness)) {
        t.pass('the provider does not have this ability')
        return
      }
      await run(harness)
      t.pass('keeps the contract')
    })
}
