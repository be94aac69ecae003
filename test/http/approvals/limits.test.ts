/**
 * Limits of customers over HTTP: what they refuse, that they are exact whoever pays from wherever, and what gives back.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { CustomerLimits, CustomerLimitsWrite } from '../../../lib/customers/customer-limits-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody, type Customer, type World } from '../../support/world.ts'

const eur = (minor: number | bigint) => ({ amountMinor: String(minor), currency: 'EUR' })
const path = (customerId: string) => `/customers/${customerId}/settings/limits`

async function setLimits(
  staff: Person,
  customerId: string,
  limits: CustomerLimitsWrite['limits'],
): Promise<CustomerLimits> {
  return (await staff.send<CustomerLimits>('PUT', path(customerId), { limits })).body
}

/** A customer with two balances in euro, as many do. */
const rich = (world: World): Promise<Customer> =>
  world.customer({
    balances: [
      { currency: 'EUR', amount: 10_000_000n },
      { currency: 'EUR', amount: 10_000_000n },
      { currency: 'GBP', amount: 10_000n },
    ],
  })

t.test('single, daily and monthly limits refuse what would break them, and say what remains', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('compliance').signIn()
  const customer = await rich(world)
  const {
    client,
    balanceIds: [first, second, pounds],
    recipients,
  } = customer as Customer & { balanceIds: [string, string, string] }
  const pay = (balance: string, minor: number, key?: string) =>
    client.createPayment(paymentBody(balance, recipients.EUR, minor), key)
  t.equal((await pay(first, 700)).status, 201, 'made before there was a limit')
  const set = await setLimits(staff, customer.id, [
    { currency: 'EUR', single: eur(5_000), daily: eur(8_000), monthly: eur(12_000) },
  ])
  t.match(
    set,
    {
      source: 'customer',
      limits: [
        {
          currency: 'EUR',
          single: eur(5_000),
          today: { used: eur(700), remaining: eur(7_300) },
          thisMonth: { used: eur(700), remaining: eur(11_300) },
        },
      ],
    },
    'and counts all the same',
  )

  t.match((await pay(first, 5_001)).problem, {
    status: 422,
    code: 'limit-exceeded',
    limit: { kind: 'single', amount: eur(5_000), period: null, remaining: eur(5_000) },
  })
  t.equal((await pay(first, 5_000)).status, 201)
  const key = randomUUID()
  const no = await pay(second, 2_301, key)
  t.match(
    no.problem,
    {
      status: 422,
      code: 'limit-exceeded',
      limit: {
        kind: 'daily',
        amount: eur(8_000),
        period: new Date(world.now()).toISOString().slice(0, 10),
        remaining: eur(2_300),
      },
    },
    'all balances of a currency count together',
  )
  t.equal((await pay(second, 2_300)).status, 201, 'what remains can be paid')
  t.match((await pay(first, 1)).problem, { limit: { remaining: eur(0) } })
  t.equal(
    (await client.createPayment(paymentBody(pounds, recipients.GBP, 9_000, 'GBP'))).status,
    201,
    'another currency has no limit',
  )

  await setLimits(staff, customer.id, [{ currency: 'EUR', daily: eur(100_000), monthly: eur(12_000) }])
  t.equal((await pay(second, 2_301, key)).text, no.text, 'a no under its key stays one')
  t.match((await pay(first, 4_001)).problem, {
    limit: { kind: 'monthly', period: new Date(world.now()).toISOString().slice(0, 7), remaining: eur(4_000) },
  })
  t.equal((await pay(first, 4_000)).status, 201)
  t.match(
    (await setLimits(staff, customer.id, [{ currency: 'EUR', daily: eur(1_000) }])).limits,
    [{ today: { used: eur(12_000), remaining: eur(0) }, thisMonth: null }],
    'a limit may be below what was paid',
  )
  t.equal((await pay(second, 1)).problem.code, 'limit-exceeded')
  t.match(await setLimits(staff, customer.id, null), { source: 'none', limits: [] })
  t.equal((await pay(second, 1)).status, 201)
})

t.test('a day later the daily limit is new', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const customer = await rich(world)
  await setLimits(await world.person('compliance').signIn(), customer.id, [{ currency: 'EUR', daily: eur(1_000) }])
  const pay = () => customer.client.createPayment(paymentBody(customer.balanceIds[0]!, customer.recipients.EUR, 1_000))
  t.equal((await pay()).status, 201)
  t.equal((await pay()).problem.code, 'limit-exceeded')
  world.advance(86_400_000)
  t.equal((await pay()).status, 201)
  t.equal((await pay()).problem.code, 'limit-exceeded')
})

t.test('what does not leave counts no more', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const customer = await rich(world)
  const staff = await world.person('compliance').signIn()
  await setLimits(staff, customer.id, [{ currency: 'EUR', daily: eur(1_000), monthly: eur(1_000) }])
  const pay = () => customer.client.createPayment(paymentBody(customer.balanceIds[0]!, customer.recipients.EUR, 1_000))
  const { id } = (await pay()).body
  t.equal((await pay()).problem.code, 'limit-exceeded')
  t.equal((await customer.client.post<Payment>(`/payments/${id}/cancel`, {})).status, 200)
  t.match((await staff.get<CustomerLimits>(path(customer.id))).body.limits, [
    { today: { used: eur(0) }, thisMonth: { used: eur(0) } },
  ])
  t.equal((await pay()).status, 201)
})

t.test('a payment that fails at the bank gives back what it counted', async (t) => {
  await using world = await createWorld()
  const customer = await rich(world)
  await setLimits(await world.person('compliance').signIn(), customer.id, [{ currency: 'EUR', daily: eur(2_000) }])
  const pay = (minor: number) =>
    customer.client.createPayment(paymentBody(customer.balanceIds[0]!, customer.recipients.EUR, minor))
  const failing = (await pay(1_301)).body
  t.equal((await pay(700)).problem.code, 'limit-exceeded')
  await customer.client.paymentReaching(failing.id, 'failed')
  t.equal((await pay(700)).status, 201)
})

t.test('two balances on two nodes together never pay more than the limit, and all of it', async (t) => {
  const settings = { SECRETS_KEY: 'a secret that both nodes share, long enough' }
  await using world = await createWorld({ settings, dispatch: false })
  await using other = await createWorld({ settings, databaseUrl: world.databaseUrl, dispatch: false })
  const customer = await rich(world)
  await setLimits(await world.person('compliance').signIn(), customer.id, [
    { currency: 'EUR', daily: eur(10_000), monthly: eur(50_000) },
  ])
  const nodes = [customer.client, customer.client.with({ url: () => other.url })]
  const ask = async (nth: number) => {
    const body = paymentBody(customer.balanceIds[nth % 2]!, customer.recipients.EUR, 150)
    const key = randomUUID()
    for (;;) {
      // A node that meets the other one's writes too often says so; the same key asks again.
      const reply = await nodes[(nth >> 1) % 2]!.createPayment(body, key)
      if (reply.status !== 503) return reply
    }
  }
  const replies = await Promise.all(Array.from({ length: 160 }, (_, nth) => ask(nth)))
  const paid = replies.filter(({ status }) => status === 201)
  t.equal(paid.length, 66, '66 times 1.50 fit into 100.00, and the 67th does not')
  for (const reply of replies.filter(({ status }) => status !== 201))
    t.match(reply.problem, { status: 422, code: 'limit-exceeded', limit: { kind: 'daily', amount: eur(10_000) } })
  t.strictSame(
    await world.query(`select period_kind, amount from outflow where customer_id = $1 order by 1`, [customer.id]),
    [
      { period_kind: 'day', amount: '9900' },
      { period_kind: 'month', amount: '9900' },
    ],
  )
  t.strictSame(world.errors, [])
  t.strictSame(other.errors, [])
})

t.test('who may see and set limits, and what is wrong with them', async (t) => {
  await using world = await createWorld()
  const id = world.seeded.client.tenantId
  const owner = await world.person('owner').signIn()
  t.match((await owner.get<CustomerLimits>(path(id))).body, { source: 'none', limits: [], updatedBy: null })
  t.match((await owner.send('PUT', path(id), { limits: null })).problem, {
    status: 403,
    requiredCapability: 'customers.manage',
  })
  t.equal((await world.seeded.client.get(path(id))).problem.code, 'insufficient-scope')
  const staff = await world.person('compliance').signIn()
  t.equal((await staff.get<CustomerLimits>(path(id))).status, 200, 'staff under their operator')
  t.equal((await staff.get<CustomerLimits>(path(id), { 'x-tenant-id': id })).status, 200, 'and under the customer')
  t.equal((await staff.get(path(randomUUID()))).problem.code, 'not-found')
  t.equal((await owner.get(path(world.operator.tenantId))).problem.code, 'not-found')
  for (const [limits, field, code] of [
    [[{ currency: 'XXX' }], '/limits/0/currency', 'invalid_value'],
    [[{ currency: 'EUR' }, { currency: 'EUR' }], '/limits/1/currency', 'invalid_value'],
    [
      [{ currency: 'EUR', daily: { amountMinor: '1', currency: 'GBP' } }],
      '/limits/0/daily/currency',
      'currency_mismatch',
    ],
    [[{ currency: 'EUR', daily: { amountMinor: '0', currency: 'EUR' } }], '/limits/0/daily/amountMinor', 'too_small'],
  ] as const)
    t.match((await staff.send('PUT', path(id), { limits })).problem, { status: 422, errors: [{ field, code }] })
  await world.query(
    `insert into operator_limit values ($1, 'business', '{"currencies": [{"currency": "EUR", "single": "900", "daily": null, "monthly": null}]}', now())`,
    [world.operator.tenantId],
  )
  t.match((await owner.get<CustomerLimits>(path(id))).body, {
    source: 'operator',
    limits: [{ single: eur(900), daily: null, today: null }],
  })
  t.match(
    (await world.seeded.client.createPayment(paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, 901)))
      .problem,
    { limit: { kind: 'single' } },
    'what the operator allows customers of a type',
  )
  await setLimits(staff, id, [{ currency: 'EUR', single: eur(950) }])
  t.equal(
    (await world.seeded.client.createPayment(paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, 901)))
      .status,
    201,
    'their own go first',
  )
})
