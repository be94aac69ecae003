import { randomUUID } from 'node:crypto'

import t from 'tap'

import { REST_MS } from '../../../actors/runtime/poller.ts'
import type { IncomingPayment } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import { Receiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { money, pay, received, rowReaching, shut, trace, type Simulated } from './support.ts'

const FIELDS = [
  'amount',
  'balanceId',
  'customerId',
  'endToEndId',
  'fundsRequestId',
  'id',
  'payer',
  'rail',
  'recall',
  'receivedAt',
  'reference',
  'status',
  'transactionId',
  'uetr',
  'valueDate',
]

t.test('what somebody pays is on the balance within a second, with its journal line and its callback', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' } })
  const { client, balances } = world.seeded
  await client.post('/integrator-webhooks', { url: receiver.url, events: ['incoming_payment.received'] })
  const key = randomUUID()
  const body = {
    balanceId: balances.EUR,
    amount: money(12_345),
    payerName: 'Acme BV',
    payerIban: 'NL77 SBOX 0100 0000 01',
    reference: 'Invoice 42',
    endToEndId: 'E2E-1',
  }
  const before = performance.now()
  const simulated = await client.post<Simulated>('/simulations/incoming-payments', body, key)
  t.equal(simulated.status, 202, simulated.text)
  t.match(simulated.body, {
    kind: 'incoming_payment',
    status: 'queued',
    provider: 'sandbox',
    providerEventIds: [String],
    details: { incomingPaymentRef: String },
  })
  const payment = await received(client, simulated.body.details.incomingPaymentRef)
  t.ok(performance.now() - before < REST_MS / 2, 'soon: no poller had to look by itself')
  t.strictSame(Object.keys(payment).sort(), FIELDS, 'every documented field is there, and no other')
  t.match(payment, {
    customerId: client.tenantId,
    balanceId: balances.EUR,
    status: 'received',
    amount: money(12_345),
    rail: 'sepa_instant',
    reference: 'Invoice 42',
    endToEndId: 'E2E-1',
    uetr: null,
    fundsRequestId: null,
    recall: null,
    valueDate: new Date(world.now()).toISOString().slice(0, 10),
    payer: { name: 'Acme BV', maskedIdentifier: 'NL77****0001', bankName: 'Sandbox Bank', country: 'NL' },
  })
  t.equal((await client.balance(balances.EUR)).availableBalance.amountMinor, String(10_000_000 + 12_345))
  const [line] = await client.journal(balances.EUR)
  t.match(line, {
    direction: 'credit',
    type: 'incoming_payment',
    amount: money(12_345),
    description: 'Payment from Acme BV',
    reference: 'Invoice 42',
    counterpartyName: 'Acme BV',
    source: { object: 'incoming_payment', id: payment.id },
  })
  t.strictSame(await trace(world, payment.id), { rules: ['L01'], events: ['incoming_payment.received'] })
  await until('it is told of', () => receiver.ofType('incoming_payment.received').length === 1)
  t.match(receiver.ofType('incoming_payment.received')[0]!.event.data, {
    object: 'incoming_payment',
    id: payment.id,
    status: 'received',
    previousStatus: null,
    amount: money(12_345),
  })

  const again = await client.post<Simulated>('/simulations/incoming-payments', body, key)
  t.equal(again.text, simulated.text, 'the same key is the same bytes')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match((await client.post('/simulations/incoming-payments', { ...body, reference: 'Other' }, key)).problem, {
    status: 422,
    code: 'idempotency-key-reused',
  })

  const tag = (await client.get(`/incoming-payments/${payment.id}`)).headers.get('etag')!
  t.equal((await client.get(`/incoming-payments/${payment.id}`, { 'if-none-match': tag })).status, 304)
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  t.equal(
    (await other.client.get(`/incoming-payments/${payment.id}`)).problem.code,
    'not-found',
    "a stranger's does not exist",
  )

  // Heard, and said again: by the bank's own account, and with another id.
  await world.query('update sandbox_message set acknowledged_at = null')
  await world.query(
    `insert into sandbox_message (id, shard, type, reference, body, due_at) select $1, shard, type, reference, body, due_at from sandbox_message`,
    [randomUUID()],
  )
  await until(
    'all is heard',
    async () => (await world.query('select from sandbox_message where acknowledged_at is null')).length === 0,
  )
  t.strictSame(
    await trace(world, payment.id),
    { rules: ['L01'], events: ['incoming_payment.received'] },
    'what is said again happens once',
  )

  const receipt = await client.post<{ simulationId: string; status: string; objectId: string }>(
    '/sandbox/incoming-payments',
    { balanceId: balances.GBP, amount: money(500, 'GBP'), payerSortCode: '99-00-01', payerAccountNumber: '10000001' },
  )
  t.equal(receipt.status, 202, receipt.text)
  t.strictSame(Object.keys(receipt.body).sort(), ['objectId', 'simulationId', 'status'])
  t.match(await received(client, receipt.body.objectId), {
    rail: 'faster_payments',
    payer: { name: 'Sandbox Payer Ltd', maskedIdentifier: '****0001', bankName: null, country: 'GB' },
  })
  const yesterday = new Date(world.now() - 86_400_000).toISOString().slice(0, 10)
  t.match(
    await received(
      client,
      await pay(client, { balanceId: balances.USD, amount: money(5, 'USD'), rail: 'fedwire', valueDate: yesterday }),
    ),
    { rail: 'fedwire', uetr: /^[0-9a-f-]{36}$/, valueDate: yesterday },
  )
})

t.test('many at once come in once each, whatever goes out meanwhile', async (t) => {
  await using world = await createWorld()
  const {
    client,
    balanceIds: [balanceId],
  } = await world.customer({ balances: [{ currency: 'EUR', amount: 1_000n }] })
  const ids = await Promise.all(
    Array.from({ length: 40 }, async (_, nth) => await pay(client, { balanceId: balanceId!, amount: money(nth + 1) })),
  )
  await Promise.all(ids.map((id) => received(client, id)))
  t.equal((await client.balance(balanceId!)).bookBalance.amountMinor, String(1_000 + (40 * 41) / 2))
  const [counted] = await world.query<{ events: number }>(
    `select count(*)::int as events from outbox where type = 'incoming_payment.received' and object_id = any($1)`,
    [ids],
  )
  t.equal(counted!.events, 40)
})

t.test('the list is by when it came, with its filters', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer({
    balances: [
      { currency: 'EUR', amount: 0n },
      { currency: 'GBP', amount: 700n },
    ],
  })
  const [euro, pound] = balanceIds as [string, string]
  const first = await pay(client, { balanceId: euro, amount: money(1) })
  await received(client, first)
  const second = await pay(client, { balanceId: euro, amount: money(2), rail: 'swift' })
  const last = await received(client, second)
  const list = async (parameters = {}) => (await client.list<IncomingPayment>('/incoming-payments', parameters)).body
  const ids = async (parameters = {}) => (await list(parameters)).data.map(({ id }) => id)
  const all = await ids()
  t.equal(all.length, 3, 'an opening balance is one, too')
  t.strictSame(all.slice(0, 2), [second, first])
  t.strictSame(await ids({ sort: 'receivedAt' }), [...all].reverse())
  t.strictSame(await ids({ 'filter[balanceId]': pound }), [all[2]])
  t.strictSame(await ids({ 'filter[currency]': 'GBP,USD' }), [all[2]])
  t.strictSame(await ids({ 'filter[rail]': 'swift' }), [second])
  t.strictSame(await ids({ 'filter[receivedFrom]': last.receivedAt }), [second])
  t.strictSame(await ids({ 'filter[receivedTo]': last.receivedAt, 'filter[balanceId]': euro }), [second, first])
  t.strictSame(await ids({ 'filter[fundsRequestId]': randomUUID() }), [])
  const page = await list({ limit: 2, withTotal: true })
  t.match(page.page, { total: 3, limit: 2 })
  const next = await list({ limit: 2, cursor: page.page.nextCursor as string })
  t.strictSame(
    next.data.map(({ id }) => id),
    [all[2]],
  )
  t.strictSame(
    (await list({ limit: 2, cursor: next.page.prevCursor as string })).data.map(({ id }) => id),
    all.slice(0, 2),
  )
  t.match((await client.list('/incoming-payments', { 'filter[status]': 'received' })).problem, { status: 400 })
})

t.test('a simulation that no bank would report is refused, and nothing comes of it', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const good = { balanceId: balances.EUR, amount: money(100) }
  const tomorrow = new Date(world.now() + 36 * 3_600_000).toISOString().slice(0, 10)
  for (const path of ['/simulations/incoming-payments', '/sandbox/incoming-payments']) {
    for (const [name, body, field, code] of [
      ['no balance', { ...good, balanceId: randomUUID() }, '/balanceId', 'not_found'],
      ["a stranger's balance", { ...good, balanceId: other.balanceIds[0] }, '/balanceId', 'not_found'],
      ['another currency', { ...good, amount: money(100, 'GBP') }, '/amount/currency', 'currency_mismatch'],
      ['nothing', { ...good, amount: money(0) }, '/amount/amountMinor', 'too_small'],
      ['a wrong IBAN', { ...good, payerIban: 'NL78SBOX0100000001' }, '/payerIban', 'invalid_checksum'],
      ['no IBAN at all', { ...good, payerIban: 'pigeon' }, '/payerIban', 'invalid_format'],
      ['a sort code of letters', { ...good, payerSortCode: 'abcdef' }, '/payerSortCode', 'invalid_format'],
      ['a rail of another currency', { ...good, rail: 'fedwire' }, '/rail', 'invalid_value'],
      ['a rail of cards', { ...good, rail: 'card' }, '/rail', 'invalid_value'],
      ['tomorrow', { ...good, valueDate: tomorrow }, '/valueDate', 'too_far_ahead'],
      ['long ago', { ...good, valueDate: '2001-01-01' }, '/valueDate', 'in_past'],
      ['a field that is none', { ...good, delaySeconds: 1 }, '/delaySeconds', 'unknown_field'],
    ] as const) {
      t.match(
        (await client.post(path, body)).problem,
        { status: 422, code: 'validation-error', errors: [{ field, code }] },
        `${path}: ${name}`,
      )
    }
    t.match((await client.post(path, { ...good, amount: money(10n ** 15n + 1n) })).problem, {
      status: 422,
      code: 'limit-exceeded',
    })
  }
  await world.query(`update provider_connection set provider = 'clearbank'`)
  t.match((await client.post('/simulations/incoming-payments', good)).problem, {
    status: 409,
    code: 'simulation-not-possible',
    connectionProvider: 'clearbank',
  })
  t.strictSame(await world.query('select from sandbox_message'), [])
})

t.test('what comes for a balance that is closed waits for its owner', async (t) => {
  await using world = await createWorld()
  const {
    client,
    balanceIds: [balanceId],
  } = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  await received(client, await pay(client, { balanceId: balanceId!, amount: money(1) }))
  await world.query(`update balance set status = 'frozen', version = version + 1 where id = $1`, [balanceId])
  await received(client, await pay(client, { balanceId: balanceId!, amount: money(2) }))
  await shut(world, balanceId!)
  const id = await pay(client, { balanceId: balanceId!, amount: money(3) })
  await rowReaching(world, id, 'suspense', 'open')
  t.strictSame(await trace(world, id), { rules: ['L03'], events: [] })
  t.equal((await client.get(`/incoming-payments/${id}`)).problem.code, 'not-found')
  t.equal(
    (await client.balance(balanceId!)).bookBalance.amountMinor,
    '3',
    'frozen balances take money, closed ones do not',
  )
})
