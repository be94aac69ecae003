/**
 * Payments for a later day, over HTTP: what is held when, what becomes of them on their day, and who can stop them
 * before.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { addDays } from '../../../lib/base/clock.ts'
import { railDate } from '../../../lib/rails/business-days.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { decide, setPolicy, tier } from '../approvals/people.ts'

const DAY_MS = 86_400_000
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

const eventsOf = async (world: World, id: string) =>
  (
    await world.query<{ type: string; status: string; previous_status: string | null }>(
      'select type, status, previous_status from outbox where object_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ type, status, previous_status }) => [type, previous_status, status].join(' '))
const updatesOf = async (world: World, id: string) =>
  (
    await world.query<{ version: number; status: string; actor: string }>(
      'select version, status, actor from status_update where object_id = $1 order by version',
      [id],
    )
  ).map(({ version, status, actor }) => `${version} ${status} ${actor}`)

/** The date in so many days where euros are paid. */
const inDays = (world: World, days: number): string => addDays(railDate('sepa_instant', world.now()), days)

function bodyFor(world: World, days: number, minor: number) {
  return {
    ...paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, minor),
    executionDate: inDays(world, days),
  }
}

async function schedule(world: World, days: number, minor = 5_000): Promise<Payment> {
  return (await world.seeded.client.createPayment(bodyFor(world, days, minor))).body
}

t.test('P5, P10: a payment for a later day holds nothing, and is paid on its day', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const key = randomUUID()
  const body = bodyFor(world, 3, 5_000)
  const created = await client.createPayment(body, key)
  t.equal(created.status, 201, created.text)
  const payment = created.body
  t.match(payment, {
    status: 'scheduled',
    executionDate: body.executionDate,
    cancellable: true,
    approvalId: null,
    sentAt: null,
    rail: 'sepa_instant',
    totalDebit: eur(5_000),
  })
  t.ok(payment.estimatedArrival!.slice(0, 10) >= addDays(body.executionDate, -1), payment.estimatedArrival!)
  t.notOk('processing' in payment, 'it stands in no queue')
  t.match(await client.balance(balances.EUR), { heldBalance: eur(0), availableBalance: eur(10_000_000) })
  t.strictSame(await eventsOf(world, payment.id), ['payment.created  scheduled'])
  t.equal((await client.createPayment(body, key)).text, created.text, 'the same key is the same bytes')
  t.match(
    (
      await client.list<Payment>('/payments', {
        'filter[executionFrom]': body.executionDate,
        'filter[status]': 'scheduled',
      })
    ).body.data,
    [{ id: payment.id }],
  )

  world.advance(DAY_MS)
  await world.pollOnce()
  t.equal((await client.payment(payment.id)).status, 'scheduled', 'its day has not come')
  world.advance(2 * DAY_MS)
  const done = await client.paymentReaching(payment.id, 'completed', 20_000)
  t.match(done, { executionDate: body.executionDate, sentAt: String })
  t.strictSame(await eventsOf(world, payment.id), [
    'payment.created  scheduled',
    'payment.status_changed scheduled processing',
    'payment.status_changed processing completed',
    'payment.completed processing completed',
  ])
  t.strictSame(await updatesOf(world, payment.id), [
    '1 scheduled member',
    '2 processing system',
    '3 processing system',
    '4 completed partner',
  ])
  t.match(await client.holds(balances.EUR, 'captured'), [
    { subjectId: payment.id, amount: eur(5_000), capturedAmount: eur(5_000) },
  ])
  t.equal((await client.journal(balances.EUR))[0]!.amount.amountMinor, '5000')
  t.equal(
    (await client.createPayment(body, key)).headers.get('idempotency-replayed'),
    null,
    'days later the key is forgotten, and the payment with it is another one',
  )
})

t.test('today is now, and no date is one that has passed or is too far away', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  t.match((await client.createPayment(bodyFor(world, 0, 100))).body, {
    status: 'processing',
    executionDate: inDays(world, 0),
  })
  t.match((await client.createPayment(bodyFor(world, -1, 100))).problem, {
    status: 422,
    errors: [{ field: '/executionDate', code: 'in_past' }],
  })
  t.match((await client.createPayment(bodyFor(world, 367, 100))).problem, {
    status: 422,
    errors: [{ field: '/executionDate', code: 'too_far_ahead' }],
  })
  t.equal((await client.createPayment(bodyFor(world, 366, 100))).body.status, 'scheduled')
})

t.test('P12: it can be cancelled while it waits, and nothing was ever held', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const payment = await schedule(world, 5)
  const key = randomUUID()
  const cancelled = await client.post<Payment>(`/payments/${payment.id}/cancel`, { reason: 'Not needed.' }, key)
  t.equal(cancelled.status, 200, cancelled.text)
  t.match(cancelled.body, {
    status: 'cancelled',
    statusReason: { code: 'cancelled_by_user', message: 'Not needed.' },
    cancellable: false,
    cancelledAt: String,
  })
  const again = await client.post<Payment>(`/payments/${payment.id}/cancel`, { reason: 'Not needed.' }, key)
  t.equal(again.text, cancelled.text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match((await client.post(`/payments/${payment.id}/cancel`, {})).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'cancelled',
  })
  t.strictSame(await eventsOf(world, payment.id), [
    'payment.created  scheduled',
    'payment.status_changed scheduled cancelled',
  ])
  t.strictSame(await client.holds(balances.EUR, 'released'), [])
  t.strictSame(await world.query('select * from payment_due'), [])
})

t.test('P11: money that is missing is waited for until the day ends, then the payment fails', async (t) => {
  await using world = await createWorld()
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 10_000n }] })
  const [balanceId] = customer.balanceIds
  const { client } = customer
  const body = (minor: number) => ({
    ...paymentBody(balanceId!, customer.recipients.EUR, minor),
    executionDate: inDays(world, 1),
  })
  const first = (await client.createPayment(body(9_000))).body
  const second = (await client.createPayment(body(9_000))).body
  t.strictSame([first.status, second.status], ['scheduled', 'scheduled'], 'funds are asked for on the day')
  world.advance(DAY_MS)
  const paid = await until(
    'one is paid',
    async () =>
      (await Promise.all([client.payment(first.id), client.payment(second.id)])).find(
        ({ status }) => status === 'completed',
      ) ?? null,
    { deadlineMs: 20_000 },
  )
  const other = paid.id === first.id ? second : first
  t.equal((await client.payment(other.id)).status, 'scheduled', 'the other one waits')
  const [due] = await world.query<{ due_at: Date; until: Date }>(
    'select due_at, until from payment_due where payment_id = $1',
    [other.id],
  )
  // Not past the end of the day, which may be less than a quarter of an hour away.
  const again = Math.min(world.now() + 15 * 60_000, due!.until.getTime())
  t.ok(Math.abs(due!.due_at.getTime() - again) < 60_000, 'a quarter of an hour')
  world.advance(due!.until.getTime() - world.now() + 1_000)
  const failed = await until(
    'it fails',
    async () => {
      const now = await client.payment(other.id)
      return now.status === 'failed' ? now : null
    },
    { deadlineMs: 20_000 },
  )
  t.match(failed, {
    failure: { code: 'insufficient_funds', retryable: true, scheme: null },
    statusReason: { code: 'insufficient_funds' },
    failedAt: String,
    sentAt: null,
  })
  t.strictSame(await eventsOf(world, other.id), [
    'payment.created  scheduled',
    'payment.status_changed scheduled failed',
    'payment.failed scheduled failed',
  ])
  t.match(await client.balance(balanceId!), { heldBalance: eur(0), availableBalance: eur(1_000) })
})

t.test('P4, P7: one that people approve waits for its day afterwards, and holds nothing before', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'payment', { tiers: [tier(1, 1_000, null)] })
  const payment = await schedule(world, 2)
  t.match(payment, { status: 'pending_approval', approvalId: String })
  t.equal((await client.balance(balances.EUR)).heldBalance.amountMinor, '0')
  const approver = await world.person('approver').signIn()
  t.equal((await decide(approver, payment.approvalId!, { decision: 'approved' })).body.status, 'approved')
  t.match(await client.payment(payment.id), { status: 'scheduled', approvedAt: String, cancellable: true })
  world.advance(2 * DAY_MS)
  await client.paymentReaching(payment.id, 'completed', 20_000)
  t.strictSame(await eventsOf(world, payment.id), [
    'payment.created  pending_approval',
    'payment.status_changed pending_approval scheduled',
    'payment.status_changed scheduled processing',
    'payment.status_changed processing completed',
    'payment.completed processing completed',
  ])

  const late = await schedule(world, 1)
  world.advance(3 * DAY_MS)
  const again = await world.person('approver').signIn()
  t.equal(
    (await decide(again, late.approvalId!, { decision: 'approved' })).body.status,
    'approved',
    'approved after its day',
  )
  await client.paymentReaching(late.id, 'completed', 20_000)

  const refused = await schedule(world, 2)
  await decide(again, refused.approvalId!, { decision: 'rejected', comment: 'No.' })
  t.match(
    await client.payment(refused.id),
    { status: 'rejected', statusReason: { message: 'No.' } },
    'there is no hold to give back',
  )
  const withdrawn = await schedule(world, 2)
  t.equal((await client.post<Payment>(`/payments/${withdrawn.id}/cancel`, {})).body.status, 'cancelled')
  t.equal((await client.get<Approval>(`/approvals/${withdrawn.approvalId}`)).body.status, 'cancelled')
})

t.test(
  'a recipient that is changed or blocked ends what waits to pay it, and is not deleted from under it',
  async (t) => {
    await using world = await createWorld()
    const { client, recipients } = world.seeded
    const payment = await schedule(world, 3)
    const path = `/recipients/${recipients.EUR}`
    const tag = (await client.get(path)).headers.get('etag')!
    t.match((await client.send(`/v1${path}`, { method: 'DELETE', headers: { 'if-match': tag } })).problem, {
      status: 409,
      code: 'recipient-in-use',
      paymentIds: [payment.id],
    })
    const changed = await client.send(`/v1${path}`, {
      method: 'PATCH',
      headers: { 'if-match': tag, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Amsterdam Trading Holding BV' }),
    })
    t.equal(changed.status, 200, changed.text)
    t.match(await client.payment(payment.id), { status: 'cancelled', statusReason: { code: 'recipient_changed' } })
    t.strictSame(await world.query('select * from payment_due'), [])
  },
)

t.test('what has slipped past a change of its recipient is found on its day', async (t) => {
  await using world = await createWorld()
  const { client, recipients } = world.seeded
  const payment = await schedule(world, 1)
  await world.query(`update recipient set name = 'Somebody Else BV', version = version + 1 where id = $1`, [
    recipients.EUR,
  ])
  world.advance(DAY_MS)
  const ended = await until(
    'it has ended',
    async () => {
      const now = await client.payment(payment.id)
      return now.status === 'scheduled' ? null : now
    },
    { deadlineMs: 15_000 },
  )
  t.match(ended, {
    status: 'cancelled',
    statusReason: { code: 'recipient_changed' },
    recipient: { name: 'Amsterdam Trading BV' },
    cancelledAt: String,
  })
  t.strictSame(await eventsOf(world, payment.id), [
    'payment.created  scheduled',
    'payment.status_changed scheduled cancelled',
  ])
  t.strictSame(await world.query('select * from payment_due'), [])
})
