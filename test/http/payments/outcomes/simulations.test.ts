import t from 'tap'

import { eventsOf, messagesOf, postingsOf, sentPayment } from '../../../support/outcomes.ts'
import { until } from '../../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../../support/world.ts'
import type { Payment } from '../../../../lib/payments/payment-schema.ts'

const OPENING = 10_000_000n
const SECOND = 1_000
const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })
const STUCK = 1701

interface Result {
  readonly simulationId: string
  readonly providerEventIds: readonly string[]
  readonly details: Readonly<Record<string, unknown>>
}

const simulate = (world: World, id: string, what: 'status' | 'return' | 'recall', body: object, key?: string) =>
  world.seeded.client.post<Result>(`/simulations/payments/${id}/${what}`, body, key)
const reaching = (world: World, id: string, status: Payment['status']) =>
  until(`payment ${id} is ${status}`, async () => {
    const payment = await world.seeded.client.payment(id)
    return payment.status === status ? payment : null
  })

t.test('the bank says what it is told to, by the ordinary way', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const [completed, failed, exceptional] = [
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
  ]
  const reply = await simulate(world, completed.id, 'status', { status: 'completed' })
  t.equal(reply.status, 202, reply.text)
  t.match(reply.body, {
    simulationId: String,
    kind: 'payment_status',
    status: 'queued',
    provider: 'sandbox',
    providerEventIds: [String],
    providerReference: completed.id,
    details: { status: 'completed', providerReference: completed.id },
  })
  await reaching(world, completed.id, 'completed')
  t.equal(
    (await world.query('select from provider_event where id = $1', [reply.body.providerEventIds[0]])).length,
    1,
    'the message that was announced has come',
  )
  t.equal((await simulate(world, failed.id, 'status', { status: 'failed', reasonCode: 'MS03' })).status, 202)
  t.match(await reaching(world, failed.id, 'failed'), {
    failure: { code: 'refused_by_recipient_bank', schemeCode: 'MS03' },
  })
  t.equal((await simulate(world, exceptional.id, 'status', { status: 'exception' })).status, 202)
  t.match(await reaching(world, exceptional.id, 'exception'), { exception: null, cancellable: false })
  const [kept] = await world.query<{ exception: string }>('select exception from payment where id = $1', [
    exceptional.id,
  ])
  t.match(JSON.parse(kept!.exception), { kind: 'provider_state_unknown' })
  t.equal((await simulate(world, exceptional.id, 'status', { status: 'processing' })).status, 202)
  await reaching(world, exceptional.id, 'processing')
  t.equal((await simulate(world, exceptional.id, 'status', { status: 'exception' })).status, 202)
  await reaching(world, exceptional.id, 'exception')
  t.equal((await simulate(world, exceptional.id, 'status', { status: 'failed' })).status, 202)
  t.match(await reaching(world, exceptional.id, 'failed'), { failure: { schemeCode: 'AC01' } })
  t.strictSame(await messagesOf(world, exceptional.id), [
    ['unclear', null],
    ['pending', null],
    ['unclear', null],
    ['rejected', 'AC01'],
  ])
  t.strictSame(
    await postingsOf(world, exceptional.id),
    [
      ['L10', '1701'],
      ['L12', '1701'],
    ],
    'whatever is said in between, the money moves once',
  )
  t.strictSame(
    (await eventsOf(world, exceptional.id)).map(([type, status]) => [type, status]),
    [
      ['payment.created', 'processing'],
      ['payment.status_changed', 'exception'],
      ['payment.status_changed', 'processing'],
      ['payment.status_changed', 'exception'],
      ['payment.status_changed', 'failed'],
      ['payment.failed', 'failed'],
    ],
  )
  t.match(await client.balance(balances.EUR), { bookBalance: eur(OPENING - BigInt(STUCK)), heldBalance: eur(0) })
})

t.test('a simulation replaces what was still planned', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const planned = await sentPayment(world, 1702)
  t.equal((await simulate(world, planned.id, 'status', { status: 'failed', delaySeconds: 30 })).status, 202)
  t.equal(
    (await simulate(world, planned.id, 'status', { status: 'completed', delaySeconds: 20 })).status,
    202,
    'the later one counts',
  )
  world.advance(15 * SECOND)
  await world.pollOnce()
  t.equal((await client.payment(planned.id)).status, 'processing', 'not before its time')
  world.advance(6 * SECOND)
  await reaching(world, planned.id, 'completed')
  const returns = await sentPayment(world, 1401)
  t.equal((await simulate(world, returns.id, 'status', { status: 'completed' })).status, 202)
  await reaching(world, returns.id, 'completed')
  world.advance(100 * SECOND)
  await world.pollOnce()
  t.equal((await client.payment(returns.id)).status, 'completed', 'nor does it come back any more')
  t.strictSame(await messagesOf(world, returns.id), [['settled', null]])
})

t.test('a timeout is resolved by a simulation', async (t) => {
  await using world = await createWorld()
  const { id } = await sentPayment(world, 1503)
  await reaching(world, id, 'exception')
  t.match((await simulate(world, id, 'return', {})).problem, {
    code: 'simulation-not-possible',
    currentStatus: 'exception',
  })
  t.equal((await simulate(world, id, 'status', { status: 'completed' })).status, 202)
  await reaching(world, id, 'completed')
  t.strictSame(await postingsOf(world, id), [
    ['L10', '1503'],
    ['L11', '1503'],
  ])
})

t.test('what comes back is simulated in full or in part, before and after it has arrived', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const [early, late, recalled] = [
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
  ]
  const reply = await simulate(world, early.id, 'return', { reasonCode: 'AC06', amount: eur(1_000), note: 'A test' })
  t.match(reply.body, { kind: 'payment_return', details: { amount: eur(1_000), reasonCode: 'AC06', note: 'A test' } })
  t.match(await reaching(world, early.id, 'returned'), {
    returnedAmount: eur(1_000),
    return: { reasonCode: 'AC06' },
    statusReason: { code: 'account_blocked' },
  })
  await simulate(world, late.id, 'status', { status: 'completed' })
  await reaching(world, late.id, 'completed')
  t.equal((await client.post(`/simulations/payments/${late.id}/return`, {})).status, 202)
  t.match(await reaching(world, late.id, 'returned'), { return: { reasonCode: 'AC04', amount: eur(STUCK) } })
  t.match((await simulate(world, recalled.id, 'recall', { outcome: 'rejected', rejectionCode: 'LEGL' })).body, {
    kind: 'payment_recall',
    details: { outcome: 'rejected', reasonCode: 'TECH', response: 'LEGL' },
  })
  await until('the answer was kept', async () => (await messagesOf(world, recalled.id)).length === 1)
  t.match(
    await client.payment(recalled.id),
    { status: 'processing', recall: null },
    'nobody had asked, and nothing moves',
  )
  t.equal((await simulate(world, recalled.id, 'recall', { outcome: 'accepted' })).status, 202)
  t.match(await reaching(world, recalled.id, 'returned'), {
    return: { reasonCode: 'FOCR' },
    recall: null,
    statusReason: { code: 'recalled' },
  })
  t.strictSame(await messagesOf(world, recalled.id), [
    ['recall_rejected', 'LEGL'],
    ['returned', 'FOCR'],
  ])
  t.match(await client.balance(balances.EUR), { bookBalance: eur(OPENING - 701n), heldBalance: eur(0) })
})

t.test('a recall that was asked for is answered by the simulation in place of the plan', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const { id } = await sentPayment(world, 5_000)
  world.advance(3 * SECOND)
  await reaching(world, id, 'completed')
  t.equal(
    (await client.post(`/payments/${id}/recall`, { reasonCode: 'FRAD', note: 'We did not order this at all.' })).status,
    202,
  )
  await until(
    'the bank has it',
    async () =>
      (await world.query(`select from payment where id = $1 and recall_due_at > now() + interval '1 day'`, [id]))
        .length === 1,
  )
  t.equal((await simulate(world, id, 'recall', { outcome: 'rejected' })).status, 202)
  t.match(
    await until('the recall is answered', async () => {
      const payment = await client.payment(id)
      return payment.recall?.status === 'requested' ? null : payment
    }),
    { status: 'completed', recall: { status: 'rejected', response: 'CUST' } },
  )
  world.advance(60 * SECOND)
  await world.pollOnce()
  t.equal((await client.payment(id)).status, 'completed', 'the planned answer does not come any more')
})

t.test('what makes no sense is refused and changes nothing', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const {
    body: { id },
  } = await client.createPayment(paymentBody(balances.EUR, recipients.EUR, STUCK))
  for (const [what, body] of [
    ['status', { status: 'completed' }],
    ['return', {}],
    ['recall', { outcome: 'accepted' }],
  ] as const) {
    const key = crypto.randomUUID()
    const refused = await simulate(world, id, what, body, key)
    t.match(
      refused.problem,
      { status: 409, code: 'simulation-not-possible', currentStatus: 'processing', connectionProvider: 'sandbox' },
      `${what} before it was sent`,
    )
    t.equal((await simulate(world, id, what, body, key)).text, refused.text, 'a no is remembered under its key')
    t.match((await simulate(world, crypto.randomUUID(), what, body)).problem, { status: 404, code: 'not-found' })
  }
  await world.restart({ dispatch: true })
  await until(
    'the bank has it',
    async () => (await world.query('select from sandbox_order where reference = $1', [id])).length === 1,
  )
  t.match(
    (await simulate(world, id, 'status', { status: 'processing' })).problem,
    { code: 'simulation-not-possible' },
    'it is that already',
  )
  for (const [what, body, field, code] of [
    ['status', { status: 'returned' }, '/status', 'invalid_value'],
    ['status', {}, '/status', 'required'],
    ['status', { status: 'completed', reasonCode: 'AC01' }, '/reasonCode', 'not_applicable'],
    ['status', { status: 'failed', reasonCode: 'toolong' }, '/reasonCode', 'invalid_format'],
    ['status', { status: 'failed', delaySeconds: 301 }, '/delaySeconds', 'too_large'],
    ['return', { amount: eur(STUCK + 1) }, '/amount/amountMinor', 'too_large'],
    ['return', { amount: { amountMinor: '1', currency: 'USD' } }, '/amount/currency', 'currency_mismatch'],
    ['recall', { outcome: 'maybe' }, '/outcome', 'invalid_value'],
    ['recall', { outcome: 'accepted', delaySeconds: 1 }, '/delaySeconds', 'unknown_field'],
    ['recall', { outcome: 'rejected', amount: eur(1) }, '/amount', 'not_applicable'],
    ['recall', { outcome: 'accepted', rejectionCode: 'CUST' }, '/rejectionCode', 'not_applicable'],
  ] as const)
    t.match(
      (await simulate(world, id, what, body)).problem,
      { status: 422, code: 'validation-error', errors: [{ field, code }] },
      `${what} ${JSON.stringify(body)}`,
    )
  t.match(await client.payment(id), { status: 'processing' })
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  t.match(
    (await other.client.post(`/simulations/payments/${id}/status`, { status: 'completed' })).problem,
    { status: 404, code: 'not-found' },
    'what is another customer’s does not exist',
  )
  t.match(await client.payment(id), { status: 'processing' })
})

t.test('the same key simulates once', async (t) => {
  await using world = await createWorld()
  const { id } = await sentPayment(world, STUCK)
  const key = crypto.randomUUID()
  const first = await simulate(world, id, 'status', { status: 'exception' }, key)
  await reaching(world, id, 'exception')
  t.equal((await simulate(world, id, 'status', { status: 'processing' })).status, 202)
  await reaching(world, id, 'processing')
  const again = await simulate(world, id, 'status', { status: 'exception' }, key)
  t.strictSame([again.status, again.text, again.headers.get('idempotency-replayed')], [202, first.text, 'true'])
  t.match((await simulate(world, id, 'status', { status: 'failed' }, key)).problem, {
    status: 422,
    code: 'idempotency-key-reused',
  })
  t.equal((await world.seeded.client.payment(id)).status, 'processing')
})

t.test('the older operation does the same and says it in its own words', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const { id } = await sentPayment(world, STUCK)
  t.match((await client.post(`/sandbox/payments/${id}/status`, { status: 'completed', delaySeconds: 1 })).problem, {
    status: 422,
    errors: [{ field: '/delaySeconds', code: 'unknown_field' }],
  })
  const reply = await client.post(`/sandbox/payments/${id}/status`, { status: 'completed' })
  t.equal(reply.status, 202, reply.text)
  t.match(reply.body, { simulationId: String, status: 'queued', objectId: id })
  await reaching(world, id, 'completed')
})
