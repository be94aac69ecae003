import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { IncomingPayment } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { ComplianceHoldDetail } from '../../../lib/compliance/compliance-hold-schema.ts'
import { Receiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { setFourEyes } from '../compliance/staff.ts'
import { money, pay, received, rowReaching, trace, type Simulated } from './support.ts'

const recall = (id: string) => `/simulations/incoming-payments/${id}/recall`

t.test("what its payer wants back is set aside, and goes back when the operator's people say so", async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' } })
  await setFourEyes(world, false)
  const { client, balances } = world.seeded
  await client.post('/integrator-webhooks', { url: receiver.url, events: ['incoming_payment.returned'] })
  const { id } = await received(
    client,
    await pay(client, { balanceId: balances.EUR, amount: money(3_000), payerName: 'Sorry Ltd' }),
  )
  const key = randomUUID()
  const opened = await client.post<Simulated>(recall(id), { reasonCode: 'DUPL' }, key)
  t.equal(opened.status, 202, opened.text)
  t.match(opened.body, { kind: 'incoming_recall', status: 'applied', provider: 'sandbox', details: { caseId: String } })
  const { caseId } = opened.body.details
  t.equal(
    (await client.post<Simulated>(recall(id), { reasonCode: 'DUPL' }, key)).text,
    opened.text,
    'the same key is the same case',
  )
  t.match(
    (await client.post(recall(id), {})).problem,
    { status: 409, code: 'simulation-not-possible', currentStatus: 'received' },
    'once only',
  )
  const pending = (await client.get<IncomingPayment>(`/incoming-payments/${id}`)).body
  t.match(pending, {
    status: 'received',
    recall: { status: 'requested', reasonCode: 'DUPL', requestedAt: /Z$/, decidedAt: null },
  })
  t.match(await client.balance(balances.EUR), {
    bookBalance: money(10_003_000),
    heldBalance: money(3_000),
    availableBalance: money(10_000_000),
  })
  t.match(await client.holds(balances.EUR), [
    { subjectType: 'recall', subjectId: id, amount: money(3_000), status: 'active' },
  ])
  t.equal(
    (await client.createPayment(paymentBody(balances.EUR, world.seeded.recipients.EUR, 10_000_001))).problem.code,
    'insufficient-funds',
    'what is set aside cannot be paid out',
  )

  const staff = await world.person('compliance').signIn()
  t.match((await staff.get<ComplianceHoldDetail>(`/compliance-holds/${caseId}`)).body, {
    kind: 'inbound_recall',
    status: 'open',
    provider: 'sandbox',
    related: { object: 'incoming_payment', id },
  })
  t.equal(
    (await staff.post(`/compliance-holds/${caseId}/block`, { reason: 'A duplicate.', freezeFunds: false })).status,
    200,
  )
  t.match((await client.get<IncomingPayment>(`/incoming-payments/${id}`)).body, {
    status: 'returned',
    recall: { status: 'accepted', decidedAt: /Z$/ },
  })
  t.match(await client.balance(balances.EUR), {
    bookBalance: money(10_000_000),
    heldBalance: money(0),
    availableBalance: money(10_000_000),
  })
  t.match((await client.journal(balances.EUR))[0], {
    type: 'incoming_payment_return',
    direction: 'debit',
    amount: money(3_000),
    description: 'Payment from Sorry Ltd recalled',
  })
  await rowReaching(world, id, 'return_state', 'settled')
  t.strictSame((await trace(world, id)).rules, ['L01', 'L80', 'L11'])
  await until('it is told of', () => receiver.ofType('incoming_payment.returned').length === 1)
  t.match(receiver.ofType('incoming_payment.returned')[0]!.event.data, {
    id,
    status: 'returned',
    previousStatus: 'received',
    amount: money(3_000),
  })
  t.match((await client.post(recall(id), {})).problem, {
    status: 409,
    code: 'simulation-not-possible',
    currentStatus: 'returned',
  })
})

t.test('the customer keeps what is not given back; part of it may go', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client, balances } = world.seeded
  const staff = await world.person('compliance').signIn()
  const arrive = async () =>
    (await received(client, await pay(client, { balanceId: balances.EUR, amount: money(3_000) }))).id
  const kept = await arrive()
  const { caseId } = (await client.post<Simulated>(recall(kept), {})).body.details
  t.equal(
    (await staff.post(`/compliance-holds/${caseId}/release`, { reason: 'The goods were delivered.' })).status,
    200,
  )
  t.match((await client.get<IncomingPayment>(`/incoming-payments/${kept}`)).body, {
    status: 'received',
    recall: { status: 'rejected', reasonCode: 'FRAD' },
  })
  t.match(await client.balance(balances.EUR), { bookBalance: money(10_003_000), heldBalance: money(0) })

  const part = await arrive()
  t.match((await client.post(recall(part), { amount: money(3_001) })).problem, {
    status: 422,
    errors: [{ field: '/amount/amountMinor', code: 'too_large' }],
  })
  t.match((await client.post(recall(part), { amount: money(1, 'GBP') })).problem, {
    status: 422,
    errors: [{ field: '/amount/currency', code: 'currency_mismatch' }],
  })
  t.match((await client.post(recall(part), { reasonCode: 'XXXX' })).problem, {
    status: 422,
    errors: [{ field: '/reasonCode' }],
  })
  const second = (await client.post<Simulated>(recall(part), { amount: money(1_000), note: 'A part.' })).body.details
    .caseId
  t.equal(
    (await staff.post(`/compliance-holds/${second}/block`, { reason: 'Agreed.', freezeFunds: false })).status,
    200,
  )
  t.match(await client.balance(balances.EUR), { bookBalance: money(10_005_000), heldBalance: money(0) })
  await rowReaching(world, part, 'return_state', 'settled')
  t.equal((await client.post(recall(randomUUID()), {})).problem.code, 'not-found')
})

t.test('with too little left the answer is that there is too little', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const staff = await world.person('compliance').signIn()
  const {
    client,
    balanceIds: [balanceId],
    recipients,
  } = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const { id } = await received(client, await pay(client, { balanceId: balanceId!, amount: money(1_000) }))
  const payment = (await client.createPayment(paymentBody(balanceId!, recipients.EUR, 600))).body
  const { caseId } = (await client.post<Simulated>(recall(id), {})).body.details
  t.strictSame(
    (await client.holds(balanceId!)).filter(({ subjectType }) => subjectType === 'recall'),
    [],
    'what is not there cannot be set aside',
  )
  await client.paymentReaching(payment.id, 'completed')
  t.equal((await staff.post(`/compliance-holds/${caseId}/block`, { reason: 'Fraud.', freezeFunds: false })).status, 200)
  t.match((await client.get<IncomingPayment>(`/incoming-payments/${id}`)).body, {
    status: 'received',
    recall: { status: 'rejected' },
  })
  const [row] = await world.query<{ recall: string }>('select recall from incoming_payment where id = $1', [id])
  t.match(JSON.parse(row!.recall), { rejectionCode: 'AM04' })
  t.match(await client.balance(balanceId!), { bookBalance: money(400), heldBalance: money(0) })

  // Where it has come back meanwhile, it goes.
  const next = (await received(client, await pay(client, { balanceId: balanceId!, amount: money(100) }))).id
  const out = (await client.createPayment(paymentBody(balanceId!, recipients.EUR, 450))).body
  const opened = (await client.post<Simulated>(recall(next), {})).body.details.caseId
  await client.paymentReaching(out.id, 'completed')
  await received(client, await pay(client, { balanceId: balanceId!, amount: money(90) }))
  t.equal(
    (await staff.post(`/compliance-holds/${opened}/block`, { reason: 'Agreed.', freezeFunds: false })).status,
    200,
  )
  t.match((await client.get<IncomingPayment>(`/incoming-payments/${next}`)).body, {
    status: 'returned',
    recall: { status: 'accepted' },
  })
  t.match(await client.balance(balanceId!), { bookBalance: money(40), heldBalance: money(0) })
  t.equal(
    (await client.createPayment(paymentBody(balanceId!, recipients.EUR, 41))).problem.code,
    'insufficient-funds',
    'the balance knows what has left',
  )
  await rowReaching(world, next, 'return_state', 'settled')
})
