/** Customers that staff restrict and suspend: what stops, what goes on, and what happens to what was under way. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { Quote } from '../../../lib/exchange/exchange-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../../support/world.ts'
import { setPolicy, tier } from '../approvals/people.ts'
import { rowsOf } from '../bulk-payments/support.ts'
import { checked, row, settled, submit } from '../bulk-payments/submitting.ts'
import { create, dueIn, occurrences, paymentsOf, reaching, read } from '../scheduled-payments/support.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })
const RESTRICTED = { status: 403, code: 'customer-restricted' }

async function staffOf(world: World) {
  const staff = await world.person('compliance').signIn()
  return {
    staff,
    steer: (id: string, measure: 'restrict' | 'suspend' | 'lift') =>
      staff.post<Customer>(`/customers/${id}/${measure}`, { reason: 'Order 4711.' }),
  }
}

t.test('a restricted customer makes no new payments, and all else goes on; a suspended one stands still', async (t) => {
  await using world = await createWorld()
  const { staff, steer } = await staffOf(world)
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 50_000n },
      { currency: 'EUR', amount: 20_000n },
      { currency: 'GBP', amount: 10_000n },
    ],
  })
  const { client, id } = customer
  const [from, to] = customer.balanceIds as [string, string]
  const key = randomUUID()
  const order = paymentBody(from, customer.recipients.EUR, 100)
  const pay = (idempotencyKey = randomUUID()) => client.post('/payments', order, idempotencyKey)
  const move = () => client.createTransfer(transferBody(from, to, 10))
  const quote = () =>
    client.post<Quote>('/exchanges/quotes', {
      sellCurrency: 'EUR',
      buyCurrency: 'GBP',
      amount: eur(1_000),
      fixedSide: 'sell',
    })
  const exchange = async () => {
    const { id: quoteId } = (await quote()).body
    return await client.post('/exchanges', { quoteId }, randomUUID())
  }
  const schedule = () =>
    client.post('/scheduled-payments', {
      recipientId: customer.recipients.EUR,
      sourceBalanceId: from,
      amount: eur(5),
      reference: 'Rent',
      frequency: 'monthly',
      startDate: new Date(world.now() + 5 * 86_400_000).toISOString().slice(0, 10),
    })
  // The actor of the balance has it in memory, on each node.
  const paid = await pay(key)
  t.equal(paid.status, 201, paid.text)
  t.equal((await pay()).status, 201)
  await client.paymentsSettled()

  const done = await steer(id, 'restrict')
  t.match(done.body, { id, status: 'restricted' }, done.text)
  t.equal((await client.get('/payments')).status, 200, 'reads go on')
  for (const refused of [await pay(), await pay(), await schedule()]) t.match(refused.problem, RESTRICTED, refused.text)
  t.match((await client.post('/payments/validate', order)).problem, RESTRICTED)
  const again = await pay(key)
  t.strictSame([again.status, again.headers.get('idempotency-replayed')], [201, 'true'], 'what was paid stays paid')
  t.equal((await move()).status, 201, 'its own balances')
  const bought = await exchange()
  t.equal(bought.status, 201, bought.text)
  const credit = await client.post('/simulations/incoming-payments', { balanceId: to, amount: eur(700) })
  t.equal(credit.status, 202, credit.text)

  t.match((await steer(id, 'restrict')).problem, {
    code: 'invalid-transition',
    currentStatus: 'restricted',
    allowed: ['active', 'suspended'],
  })
  t.match((await steer(id, 'suspend')).body, { status: 'suspended' })
  const before = BigInt((await client.balance(to)).bookBalance.amountMinor)
  for (const refused of [await pay(), await move(), await quote(), await schedule()])
    t.match(refused.problem, RESTRICTED, refused.text)
  t.match(
    (await client.post('/funds-requests', { balanceId: from, amount: eur(5), payer: { name: 'A' }, description: 'B' }))
      .problem,
    RESTRICTED,
  )
  t.equal((await client.get(`/balances/${from}`)).status, 200, 'reads go on')
  const late = await client.post('/simulations/incoming-payments', { balanceId: to, amount: eur(900) })
  t.equal(late.status, 202, late.text)
  world.advance(3_000)
  await until('money that comes in is credited', async () => {
    const { bookBalance } = await client.balance(to)
    return BigInt(bookBalance.amountMinor) >= before + 900n
  })

  t.match((await steer(id, 'lift')).body, { status: 'active' })
  t.match((await steer(id, 'lift')).problem, { currentStatus: 'active', allowed: ['restricted', 'suspended'] })
  for (const allowed of [await pay(), await move(), await exchange(), await schedule()])
    t.equal(allowed.status, 201, allowed.text)
  await client.paymentsSettled()

  t.strictSame(
    (
      await world.query<{ status: string }>(
        `select status from outbox where type = 'customer.status_changed' and object_id = $1 order by created_at, id`,
        [id],
      )
    ).map(({ status }) => status),
    ['restricted', 'suspended', 'active'],
  )
  t.strictSame(
    await world.query(
      `select action, after::json->>'reason' as reason from audit_event where object_id = $1 and tenant_id = $2 order by id`,
      [id, world.operator.tenantId],
    ),
    ['customer.restricted', 'customer.suspended', 'customer.lifted'].map((action) => ({
      action,
      reason: 'Order 4711.',
    })),
  )
  t.match((await staff.post(`/customers/${id}/restrict`, {})).problem, {
    errors: [{ field: '/reason', code: 'required' }],
  })
  const owner = await world.person('owner').signIn()
  t.equal((await owner.post(`/customers/${owner.tenantId}/lift`, { reason: 'x' })).status, 403, 'members do not')
  t.equal((await world.operator.post(`/customers/${id}/restrict`, { reason: 'x' })).status, 403, 'nor do keys')
  t.equal((await steer(randomUUID(), 'restrict')).status, 404)
})

t.test('of two measures at once one is taken', async (t) => {
  await using world = await createWorld()
  const { steer } = await staffOf(world)
  const id = world.seeded.client.tenantId
  const replies = await Promise.all([steer(id, 'restrict'), steer(id, 'restrict')])
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 409])
  t.match(replies.find(({ status }) => status === 409)?.problem, { currentStatus: 'restricted' })
  t.strictSame(
    await world.query(`select status, measure, version from customer where id = $1`, [id]),
    [{ status: 'active', measure: 'restricted', version: '2' }],
    'once',
  )
})

t.test('what was under way meets the status when it starts to move money', async (t) => {
  await using world = await createWorld()
  const { steer } = await staffOf(world)
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  const queued = (
    await client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, 100), reference: 'SBX:QUEUE' })
  ).body.id
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)] })
  const waiting = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 500))).body.approvalId as string
  await setPolicy(t, owner, 'bulk_payment', { tiers: [tier(1, 0, null)] })
  const file = await checked(client, { name: 'Salaries', rows: [row(recipients.EUR, 11)] })
  await client.post(`/bulk-payments/${file.id}/submit`, undefined, randomUUID())
  const batch = (await settled(client, file.id)).approvalId as string

  t.match((await steer(client.tenantId, 'restrict')).body, { status: 'restricted' })
  const approver = await world.person('approver').signIn()
  const decide = async (id: string) => {
    await approver.stepUp('approval.decide', { type: 'approval', id })
    return await approver.post(`/approvals/${id}/decisions`, { decision: 'approved' })
  }
  t.match((await decide(waiting)).problem, RESTRICTED, 'an approval')
  t.match((await decide(batch)).problem, RESTRICTED, 'the approval of a bulk payment')
  world.advance(61_000)
  await world.pollOnce()
  t.match(
    await client.payment(queued),
    { status: 'processing', processing: { status: 'queued' }, sentAt: null },
    'a payment in the queue',
  )
  t.match((await client.post(`/payments/${queued}/cancel`, {}, randomUUID())).body, { status: 'cancelled' })

  t.match((await steer(client.tenantId, 'lift')).body, { status: 'active' })
  t.equal((await decide(waiting)).status, 200)
  t.equal((await decide(batch)).status, 200)
  await client.paymentsSettled()
})

t.test('a payment whose day has come waits for the end of the restriction', async (t) => {
  await using world = await createWorld()
  const { staff, steer } = await staffOf(world)
  const { client, balances, recipients } = world.seeded
  const day = new Date(world.now() + 7 * 86_400_000)
  const made = await client.createPayment({
    ...paymentBody(balances.EUR, recipients.EUR, 100),
    executionDate: day.toISOString().slice(0, 10),
  })
  t.match(made.body, { status: 'scheduled' }, made.text)
  await steer(client.tenantId, 'restrict')
  const [due] = await world.query<{ due_ms: number }>(
    'select (extract(epoch from due_at) * 1000)::float8 as due_ms from payment_due where payment_id = $1',
    [made.body.id],
  )
  world.advanceTo(due!.due_ms + 1_000)
  await world.pollOnce()
  t.match(await client.payment(made.body.id), { status: 'scheduled' }, 'it waits')
  await staff.signIn()
  await steer(client.tenantId, 'lift')
  await until('it is tried again', async () => {
    world.advance(60_000)
    await world.pollOnce()
    return (await client.payment(made.body.id)).status !== 'scheduled'
  })
  await client.paymentReaching(made.body.id, 'completed')
})

t.test('occurrences of a schedule are refused during a restriction, and the schedule outlives it', async (t) => {
  await using world = await createWorld()
  const { staff, steer } = await staffOf(world)
  const schedule = (await create(world, { frequency: 'daily' })).body
  await steer(world.seeded.client.tenantId, 'restrict')
  for (const refusals of [1, 2, 3, 4]) {
    world.advanceTo(dueIn(world, 1))
    await until(`${refusals} refusals`, async () => {
      const { data } = await occurrences(world, schedule.id)
      return data.filter(({ refusal }) => refusal?.code === 'customer-restricted').length >= refusals
    })
  }
  t.match(await read(world, schedule.id), { status: 'active', consecutiveFailures: 0 })
  t.strictSame(await paymentsOf(world, schedule.id), [])
  await staff.signIn()
  t.match((await steer(world.seeded.client.tenantId, 'lift')).body, { status: 'active' })
  world.advanceTo(dueIn(world, 1))
  await reaching(world, schedule.id, 'its payment', ({ occurrencesCreated }) => occurrencesCreated === 1)
  await world.seeded.client.paymentsSettled()
})

t.test('what passed the door before a measure is refused by the balance that pays', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  // The door reads the status of the customer, the balance decides on its own copy.
  const copy = (measure: string | null) =>
    world.query('update balance set customer_measure = $2, version = version + 1 where customer_id = $1', [
      client.tenantId,
      measure,
    ])
  const rows = Array.from({ length: 3 }, (_, nth) => row(recipients.EUR, nth + 1))
  const file = await checked(client, { name: 'Suppliers', rows })
  await copy('restricted')
  const key = randomUUID()
  const order = paymentBody(balances.EUR, recipients.EUR, 100)
  t.match((await client.createPayment(order, key)).problem, RESTRICTED)
  t.equal((await submit(client, file.id)).status, 202)
  t.match(await settled(client, file.id), { counts: { submitted: 0, failed: 3 } })
  t.match(
    (await rowsOf(client, file)).map(({ errors }) => errors.map(({ message }) => message)),
    rows.map(() => [/cannot do this at present/]),
    'its message',
  )
  t.strictSame(
    (await rowsOf(client, file)).map(({ failureCode, errors }) => [failureCode, errors.map(({ code }) => code)]),
    rows.map(() => ['customer_restricted', ['customer_restricted']]),
    'the rows of a run',
  )
  await copy(null)
  t.equal((await client.createPayment(order, key)).status, 201, 'the refusal was not recorded under the key')
})

t.test('a restricted customer that withdraws its closure is restricted as before', async (t) => {
  await using world = await createWorld()
  const { staff, steer } = await staffOf(world)
  const owner = await world.person('owner').signIn()
  const { client, balances, recipients } = world.seeded
  await steer(owner.tenantId, 'restrict')
  await owner.stepUp('membership.change')
  const path = `/customers/${owner.tenantId}/closure`
  t.equal((await owner.post(path)).status, 200)
  t.equal((await owner.send('DELETE', path)).status, 204)
  t.match((await staff.get<Customer>(`/customers/${owner.tenantId}`)).body, { status: 'restricted' })
  t.match((await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))).problem, RESTRICTED)
})

t.test(
  'a customer that is closing is restricted and suspended like any other, and goes on closing after',
  async (t) => {
    await using world = await createWorld({ nodes: 2 })
    const { staff, steer } = await staffOf(world)
    const { client, balances, recipients } = world.seeded
    const owner = await world.person('owner').signIn()
    const id = owner.tenantId
    t.match((await staff.post(`/balances/${balances.JPY}/freeze`, { reason: 'Order 12.' })).body, { status: 'frozen' })
    await owner.stepUp('membership.change')
    const path = `/customers/${id}/closure`
    t.equal((await owner.post(path)).status, 200)
    t.match((await steer(id, 'lift')).problem, { status: 409, currentStatus: 'closing' }, 'no measure holds yet')
    t.match((await staff.post(`/customers/${id}/suspend`, {})).problem, { errors: [{ field: '/reason' }] })
    t.match((await staff.get<Customer>(`/customers/${id}`)).body, { status: 'closing', measure: null })

    const restricted = await steer(id, 'restrict')
    t.match(restricted.body, { status: 'closing', measure: 'restricted' }, restricted.text)
    t.match((await steer(id, 'restrict')).problem, { status: 409, currentStatus: 'restricted' })
    const pay = () => client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
    // Each request meets another node.
    for (const refused of [await pay(), await pay()]) t.match(refused.problem, RESTRICTED, refused.text)
    t.match((await steer(id, 'suspend')).body, { status: 'closing', measure: 'suspended' })
    for (const refused of [await client.createTransfer(transferBody(balances.EUR, balances.GBP, 1)), await pay()])
      t.match(refused.problem, RESTRICTED, refused.text)
    t.strictSame(
      (await staff.get<PageBody<Customer>>('/customers?filter[measure]=suspended')).body.data.map(
        ({ status }) => status,
      ),
      ['closing'],
    )
    t.strictSame((await staff.get<PageBody<Customer>>('/customers?filter[status]=suspended')).body.data, [])

    t.match((await staff.post(`/balances/${balances.JPY}/unfreeze`, { reason: 'Over.' })).body, { status: 'closing' })
    t.match((await steer(id, 'lift')).body, { status: 'closing', measure: null }, 'the state before')
    t.equal((await client.balance(balances.EUR)).status, 'closing')
    t.match((await steer(id, 'suspend')).body, { status: 'closing', measure: 'suspended' })

    t.equal((await owner.send('DELETE', path)).status, 204, 'the closure is withdrawn under the measure')
    t.match((await staff.get<Customer>(`/customers/${id}`)).body, { status: 'suspended', measure: 'suspended' })
    t.match((await pay()).problem, RESTRICTED)
    t.match((await steer(id, 'lift')).body, { status: 'active', measure: null })
    t.equal((await pay()).status, 201)
    t.strictSame(
      (
        await world.query<{ moved: string }>(
          `select previous_status || ' ' || status as moved from outbox where type = 'customer.status_changed' and object_id = $1 order by created_at, id`,
          [id],
        )
      ).map(({ moved }) => moved),
      [
        'active closing',
        'closing restricted',
        'restricted suspended',
        'suspended closing',
        'closing suspended',
        'closing suspended',
        'suspended active',
      ],
    )
    await client.paymentsSettled()
  },
)

t.test('the closure of a suspended customer waits, and ends after the suspension', async (t) => {
  await using world = await createWorld()
  const { steer } = await staffOf(world)
  const { id } = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const now = new Date(world.now()).toISOString()
  t.match((await steer(id, 'suspend')).body, { status: 'suspended' })
  await world.query(`update customer set status = 'closing', version = version + 1 where id = $1`, [id])
  await world.query(
    `update balance set status = 'closing', customer_status = 'closing', version = version + 1 where customer_id = $1`,
    [id],
  )
  await world.query(
    `insert into customer_closure (customer_id, shard, requested_by, requested_at, due_at)
      select id, shard, gen_random_uuid(), $2::timestamptz, $2 from customer where id = $1`,
    [id, now],
  )
  const look = async () => {
    const [row] = await world.query<{ begun: boolean; looked: boolean }>(
      `select begun_at is not null as begun, due_at > $2::timestamptz + interval '30 seconds' as looked
        from customer_closure where customer_id = $1`,
      [id, now],
    )
    return row
  }
  world.advance(60_000)
  await until('it was looked at', async () => (await look())?.looked === true)
  t.equal((await look())?.begun, false)
  t.match((await steer(id, 'lift')).body, { status: 'closing', measure: null })
  world.advance(60_000)
  // The row is gone when the customer is closed.
  await until('it goes on', async () => (await look())?.begun !== false)
})

t.test('a customer that is not approved uses no money', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  for (const status of ['draft', 'onboarding', 'in_review', 'info_required', 'rejected']) {
    // Nothing leads a customer with balances back here, so the nodes are told by the trigger of the row alone.
    await world.query('update customer set status = $1, version = version + 1 where id = $2', [status, client.tenantId])
    const refused = { status: 409, code: 'customer-not-active', customerStatus: status }
    await until(`every node knows of ${status}`, async () => {
      const replies = [
        await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100)),
        await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100)),
      ]
      return replies.every((reply) => reply.problem['customerStatus'] === status)
    })
    t.match((await client.createTransfer(transferBody(balances.EUR, balances.EUR, 1))).problem, refused)
    t.equal((await client.get('/balances')).status, 200, 'reads go on')
  }
  await world.query(`update customer set status = 'active', version = version + 1 where id = $1`, [client.tenantId])
})
