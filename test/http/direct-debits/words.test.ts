/**
 * The words of the sandbox, live over HTTP: for each word a mandate and a collection are made at the same moment, and
 * their statuses are read while the clock goes on.
 */
import t from 'tap'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'

interface Mandate {
  readonly id: string
  readonly status: string
  readonly statusReason: string | null
  readonly management: string
  readonly providerRef: string | null
  readonly counterparty: { readonly iban: string | null }
  readonly history: readonly { readonly status: string; readonly formerAccount: { readonly iban: string } | null }[]
}
interface Collection {
  readonly id: string
  readonly status: string
  readonly amount: { readonly amountMinor: string }
  readonly rTransactions: readonly { readonly type: string; readonly reasonCode: string | null }[]
}

const world = await createWorld({ stillClock: true })
t.teardown(() => world[Symbol.asyncDispose]())
const { client, balances } = world.seeded

const SCHEMES = {
  sepa_dd_core: { balanceId: balances.EUR, currency: 'EUR', account: { iban: 'NL77SBOX0100000001' } },
  sepa_dd_b2b: { balanceId: balances.EUR, currency: 'EUR', account: { iban: 'NL77SBOX0100000001' } },
  bacs_dd: {
    balanceId: balances.GBP,
    currency: 'GBP',
    account: { sortCode: '990001', accountNumber: '12345678' },
  },
  ach_debit: {
    balanceId: balances.USD,
    currency: 'USD',
    account: { routingNumber: '099000011', accountNumber: '1000000001', accountType: 'checking' },
  },
} as const
type Scheme = keyof typeof SCHEMES

async function mandateOf(name: string, scheme: Scheme = 'sepa_dd_core', more: object = {}): Promise<Mandate> {
  const { balanceId, account } = SCHEMES[scheme]
  const reply = await client.post<Mandate>('/mandates', {
    direction: 'collect',
    scheme,
    reference: '',
    balanceId,
    counterparty: { name, kind: scheme === 'sepa_dd_b2b' ? 'business' : 'consumer', ...account },
    ...more,
  })
  t.equal(reply.status, 201, reply.text)
  return reply.body
}

async function collectionOf(
  { id: mandateId }: Mandate,
  scheme: Scheme = 'sepa_dd_core',
  amountMinor = '4990',
  more: object = {},
): Promise<Collection> {
  const reply = await client.post<Collection>('/collections', {
    mandateId,
    amount: { amountMinor, currency: SCHEMES[scheme].currency },
    reference: 'Subscription',
    ...more,
  })
  t.equal(reply.status, 201, reply.text)
  return reply.body
}

const mandate = async ({ id }: { readonly id: string }) => (await client.get<Mandate>(`/mandates/${id}`)).body
const collection = async ({ id }: { readonly id: string }) => (await client.get<Collection>(`/collections/${id}`)).body

/** Lets time pass to a number of seconds after the start, and what is due be done. */
async function to(begun: number, seconds: number): Promise<void> {
  world.advanceTo(begun + seconds * 1_000)
  // A report that is heard may make another order due.
  for (let round = 0; round < 4; round++) await world.pollOnce()
}

/** By word: the statuses of mandate and collection after so many seconds. */
const TABLE: Readonly<Record<string, Readonly<Record<number, readonly [string, string]>>>> = {
  Jane: {
    0: ['submitted', 'pending'],
    5: ['active', 'submitted'],
    10: ['active', 'collected'],
    80: ['active', 'collected'],
  },
  Successful: { 5: ['active', 'submitted'], 10: ['active', 'collected'], 80: ['active', 'collected'] },
  Invalid: { 5: ['failed', 'failed'], 80: ['failed', 'failed'] },
  Penniless: { 5: ['active', 'submitted'], 10: ['active', 'failed'] },
  Late: { 10: ['active', 'collected'], 30: ['active', 'returned'] },
  Fickle: { 10: ['active', 'collected'], 30: ['active', 'returned'] },
  Cancels: { 10: ['active', 'collected'], 30: ['cancelled', 'collected'] },
  Slow: { 10: ['submitted', 'pending'], 80: ['submitted', 'pending'] },
  Transferred: { 10: ['active', 'collected'], 35: ['active', 'collected'] },
  Dormant: { 10: ['active', 'collected'], 80: ['active', 'collected'] },
  Insists: { 10: ['active', 'collected'], 40: ['active', 'returned'], 70: ['active', 'collected'] },
}

t.test('every word of a SEPA mandate', async (t) => {
  const begun = world.now()
  const made = new Map<string, readonly [Mandate, Collection]>()
  for (const word of Object.keys(TABLE)) {
    const of = await mandateOf(`${word} Doe`)
    made.set(word, [of, await collectionOf(of)])
  }
  const amounts = new Map<string, Collection>()
  const ordinary = await mandateOf('Jane Amounts')
  for (let amount = 1301; amount <= 1312; amount++)
    amounts.set(String(amount), await collectionOf(ordinary, 'sepa_dd_core', String(amount)))
  for (const seconds of [0, 5, 10, 30, 35, 40, 70, 80]) {
    await to(begun, seconds)
    for (const [word, [of, its]] of made) {
      const expected = TABLE[word]?.[seconds]
      if (expected !== undefined)
        t.strictSame([(await mandate(of)).status, (await collection(its)).status], expected, `${word} at ${seconds} s`)
    }
  }
  const reasonsOf = async (word: string) =>
    (await collection((made.get(word) as readonly [Mandate, Collection])[1])).rTransactions.map(
      ({ type, reasonCode }) => `${type} ${reasonCode}`,
    )
  t.strictSame(await reasonsOf('Penniless'), ['reject AM04'])
  t.strictSame(await reasonsOf('Late'), ['return AM04'])
  t.strictSame(await reasonsOf('Fickle'), ['refund_authorised MD06'])
  t.strictSame(await reasonsOf('Insists'), ['refund_authorised MD06', 'reinstatement null'])
  const invalid = await mandate((made.get('Invalid') as readonly [Mandate, Collection])[0])
  t.equal(invalid.statusReason, 'AC01')
  const transferred = await mandate((made.get('Transferred') as readonly [Mandate, Collection])[0])
  t.match(transferred.counterparty.iban, /2345678|5678/, 'the account has moved')
  t.ok(
    transferred.history.some(({ formerAccount }) => formerAccount !== null),
    'the former account is kept in the history',
  )
  const codes = 'AC01 AC04 AC06 AM04 BE01 AG01 RC01 RR04 MS03 AM05 AM02 TM01'.split(' ')
  for (const [nth, [amount, made]] of [...amounts].entries()) {
    const { status, rTransactions } = await collection(made)
    // AC04 ends the mandate, so what was pending then is cancelled with it; all left at the same moment.
    t.equal(status, 'failed', amount)
    t.equal(rTransactions[0]?.reasonCode, codes[nth], amount)
  }
  t.match(
    await client.post('/collections', {
      mandateId: invalid.id,
      amount: { amountMinor: '100', currency: 'EUR' },
      reference: 'late',
    }),
    { status: 409 },
    'a failed mandate takes no collection',
  )
  const slow = made.get('Slow') as readonly [Mandate, Collection]
  const reply = await client.post(`/simulations/mandates/${slow[0].id}/status`, { status: 'active' })
  t.equal(reply.status, 202, reply.text)
  await to(begun, 90)
  t.strictSame([(await mandate(slow[0])).status, (await collection(slow[1])).status], ['active', 'submitted'])
})

t.test('pending collections are cancelled when the payer cancels', async (t) => {
  const begun = world.now()
  const of = await mandateOf('Cancels Doe')
  await to(begun, 28)
  const late = await collectionOf(of)
  await to(begun, 30)
  t.match(await collection(late), { status: 'cancelled', statusReason: 'mandate_cancelled' })
})

t.test('mandates of Bacs and ACH are managed by the bank, with the codes of their schemes', async (t) => {
  const begun = world.now()
  const made = []
  for (const scheme of ['bacs_dd', 'ach_debit', 'sepa_dd_b2b'] as const)
    for (const word of ['Jane', 'Invalid', 'Penniless', 'Fickle'] as const) {
      const of = await mandateOf(`${word} Doe`, scheme)
      t.equal(of.management, scheme === 'sepa_dd_b2b' ? 'client' : 'provider', scheme)
      made.push({ scheme, word, of, its: await collectionOf(of, scheme) })
    }
  for (const seconds of [0, 5, 10, 30]) await to(begun, seconds)
  const ends = []
  for (const { scheme, word, of, its } of made) {
    const [{ status, statusReason, providerRef }, end] = [await mandate(of), await collection(its)]
    t.match(providerRef, /^SBX/, 'the bank has a reference of its own')
    ends.push(
      [
        scheme,
        word,
        status,
        statusReason,
        end.status,
        ...end.rTransactions.map((each) => `${each.type}:${each.reasonCode}`),
      ]
        .filter((text) => text !== null)
        .join(' '),
    )
  }
  t.strictSame(ends, [
    'bacs_dd Jane active collected',
    'bacs_dd Invalid failed 5 failed',
    'bacs_dd Penniless active failed reject:0',
    'bacs_dd Fickle active returned indemnity_claim:2',
    'ach_debit Jane active collected',
    'ach_debit Invalid failed R03 failed',
    'ach_debit Penniless active failed reject:R01',
    'ach_debit Fickle cancelled R10 returned refund_unauthorised:R10',
    'sepa_dd_b2b Jane active collected',
    'sepa_dd_b2b Invalid failed AC01 failed',
    'sepa_dd_b2b Penniless active failed reject:AM04',
    'sepa_dd_b2b Fickle active returned return:MS02',
  ])
})

t.test('a collection that is retried fails once, and is then collected, in every scheme', async (t) => {
  const begun = world.now()
  const made = []
  for (const scheme of ['sepa_dd_core', 'sepa_dd_b2b', 'bacs_dd', 'ach_debit'] as const) {
    const retry = { enabled: true, maxAttempts: 2, withinDays: 20 }
    made.push({ scheme, its: await collectionOf(await mandateOf('Retry Doe', scheme), scheme, '4990', { retry }) })
  }
  const once = await collectionOf(await mandateOf('Retry Doe'))
  for (const seconds of [0, 5, 10]) await to(begun, seconds)
  for (const { scheme, its } of made)
    t.match(await collection(its), { status: 'failed', willRetry: true, nextAttemptAt: String }, scheme)
  t.match(
    await collection(once),
    { status: 'failed', willRetry: false, nextAttemptAt: null },
    'without a retry it stays failed',
  )
  world.advanceTo(begun + 21_000)
  for (const { scheme, its } of made) {
    await until(`the end of the retry of ${scheme}`, async () => {
      world.advance(1_000)
      await world.pollOnce()
      return (await collection(its)).status === 'collected'
    })
    t.match(
      await collection(its),
      {
        willRetry: false,
        attempts: [
          { number: 1, outcome: 'failed' },
          { number: 2, outcome: 'collected' },
        ],
      },
      scheme,
    )
  }
})

t.test('mandates to pay by follow the words, too', async (t) => {
  const begun = world.now()
  const made = []
  for (const scheme of ['sepa_dd_core', 'sepa_dd_b2b', 'bacs_dd', 'ach_debit'] as const)
    for (const word of ['Jane', 'Invalid', 'Cancels', 'Slow', 'Transferred'] as const) {
      const reply = await client.post<Mandate>('/mandates', {
        direction: 'pay',
        scheme,
        reference: 'RENT000001',
        balanceId: SCHEMES[scheme].balanceId,
        counterparty: { name: `${word} Landlord`, kind: 'business', creditorId: 'DE98ZZZ09999999999' },
      })
      t.equal(reply.status, 201, reply.text)
      made.push({ scheme, word, of: reply.body })
    }
  for (const seconds of [0, 5, 30, 35]) await to(begun, seconds)
  const simulated = made.find(({ word }) => word === 'Slow') as (typeof made)[number]
  t.equal((await client.post(`/simulations/mandates/${simulated.of.id}/status`, { status: 'active' })).status, 202)
  await to(begun, 36)
  t.equal((await mandate(simulated.of)).status, 'active')
  const ends = await Promise.all(made.map(async ({ word, of }) => `${word} ${(await mandate(of)).status}`))
  t.strictSame([...new Set(ends)].sort(), [
    'Cancels cancelled',
    'Invalid failed',
    'Jane active',
    'Slow active',
    'Slow submitted',
    'Transferred active',
  ])
})

t.test('the words hold in Australia and Canada, with the codes of their schemes', async (t) => {
  const { client: other, balanceIds } = await world.customer({
    balances: [
      { currency: 'AUD', amount: 0n },
      { currency: 'CAD', amount: 0n },
    ],
  })
  const begun = world.now()
  const made = []
  for (const [scheme, balanceId, currency, account] of [
    ['becs_dd', balanceIds[0], 'AUD', { bsb: '062000', accountNumber: '12345678' }],
    ['pad', balanceIds[1], 'CAD', { institutionNumber: '003', transitNumber: '00012', accountNumber: '1234567' }],
  ] as const)
    for (const word of [
      'Jane',
      'Invalid',
      'Penniless',
      'Late',
      'Fickle',
      'Cancels',
      'Transferred',
      'Insists',
    ] as const) {
      const of = await other.post<Mandate>('/mandates', {
        direction: 'collect',
        scheme,
        reference: '',
        balanceId,
        counterparty: { name: `${word} Doe`, ...account },
      })
      t.equal(of.status, 201, of.text)
      const its = await other.post<Collection>('/collections', {
        mandateId: of.body.id,
        amount: { amountMinor: '4990', currency },
        reference: 'Rent',
      })
      t.equal(its.status, 201, its.text)
      made.push({ scheme, word, of: of.body, its: its.body })
    }
  for (const seconds of [0, 5, 10, 30, 40, 70]) await to(begun, seconds)
  const ends = []
  for (const { scheme, word, of, its } of made) {
    const mandate = (await other.get<Mandate>(`/mandates/${of.id}`)).body
    const end = (await other.get<Collection>(`/collections/${its.id}`)).body
    ends.push(
      [
        scheme,
        word,
        mandate.status,
        end.status,
        ...end.rTransactions.map(({ type, reasonCode }) => `${type}:${reasonCode}`),
      ].join(' '),
    )
  }
  t.strictSame(ends, [
    'becs_dd Jane active collected',
    'becs_dd Invalid failed failed',
    'becs_dd Penniless active failed reject:6',
    'becs_dd Late active returned return:6',
    'becs_dd Fickle active returned refund_unauthorised:CLM',
    'becs_dd Cancels cancelled collected',
    'becs_dd Transferred active collected',
    'becs_dd Insists active collected refund_unauthorised:CLM reinstatement:null',
    'pad Jane active collected',
    'pad Invalid failed failed',
    'pad Penniless active failed reject:901',
    'pad Late active returned return:901',
    'pad Fickle cancelled returned refund_unauthorised:915',
    'pad Cancels cancelled collected',
    'pad Transferred active collected',
    'pad Insists cancelled collected refund_unauthorised:915 reinstatement:null',
  ])
})

t.test('a dormant mandate can be expired by hand, and statuses of collections be simulated', async (t) => {
  const begun = world.now()
  const of = await mandateOf('Dormant Doe')
  const its = await collectionOf(of)
  await to(begun, 5)
  const simulate = async (path: string, body: object) => await client.post(`/simulations/${path}/status`, body)
  t.match(await simulate(`direct-debits/collections/${its.id}`, { status: 'returned' }), {
    status: 409,
    problem: { code: 'simulation-not-possible', currentStatus: 'submitted' },
  })
  t.match(await simulate(`direct-debits/collections/${its.id}`, { status: 'failed', reasonCode: 'AC06' }), {
    status: 202,
    body: { kind: 'collection_status', status: 'queued', provider: 'sandbox' },
  })
  await to(begun, 6)
  t.match(await collection(its), { status: 'failed', rTransactions: [{ reasonCode: 'AC06' }] })
  await to(begun, 20)
  t.match(await collection(its), { status: 'failed' }, 'what was planned does not come')
  const next = await collectionOf(of)
  t.match(await simulate(`direct-debits/collections/${next.id}`, { status: 'collected' }), { status: 202 })
  await to(begun, 21)
  t.match(await collection(next), { status: 'collected' }, 'a pending one is submitted first')
  t.match(await simulate(`direct-debits/collections/${next.id}`, { status: 'returned' }), { status: 202 })
  await to(begun, 22)
  t.match(await collection(next), { status: 'returned', rTransactions: [{ reasonCode: 'MD06' }] })
  t.match(await simulate(`mandates/${of.id}`, { status: 'failed' }), { status: 409 })
  t.match(await simulate(`mandates/${of.id}`, { status: 'expired' }), { status: 202 })
  await to(begun, 23)
  t.match(await mandate(of), { status: 'expired' })
})

t.test('the form of a mandate is a PDF of its own', async (t) => {
  const of = await mandateOf('Łukasz Żółć', 'sepa_dd_core', { signedAt: '2026-05-04' })
  const reply = await client.download(`/mandates/${of.id}/document`)
  t.equal(reply.headers.get('content-type'), 'application/pdf')
  t.equal(reply.bytes.subarray(0, 5).toString(), '%PDF-')
  t.match((await client.get(`/mandates/${crypto.randomUUID()}/document`)).problem, { status: 404 })
})
