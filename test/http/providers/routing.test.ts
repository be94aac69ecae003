/** Routing rules over HTTP, their simulator, and the payments that they route. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { RoutingResult, RoutingRuleView } from '../../../lib/providers/routing-rule-schema.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

/** Makes a second sandbox connection that serves a currency as a fallback. */
export async function secondConnection(world: World, currencies: readonly string[] = ['EUR', 'GBP']): Promise<string> {
  const id = randomUUID()
  await world.query(
    `insert into provider_connection (id, operator_id, provider, environment, role, status, name, fallback_currencies, created_at)
    select $1, operator_id, provider, environment, 'fallback', 'active', 'Second bank', $2, created_at from provider_connection limit 1`,
    [id, currencies],
  )
  return id
}

const eur = (amountMinor: number) => ({ amountMinor: String(amountMinor), currency: 'EUR' })
const fault = (field: string, code: string) => ({ status: 422, errors: [{ field, code }] })

async function pay(
  client: Client,
  sourceBalanceId: string,
  recipientId: string,
  amountMinor: number,
  currency = 'EUR',
) {
  const amount = { amountMinor: String(amountMinor), currency }
  const body = { sourceBalanceId, recipientId, amount, reference: 'Routed' }
  return (await client.post<Payment>('/payments', body)).body
}

t.test('rules are made, read, replaced and deleted by staff, and what is wrong with one is told', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operator_admin').signIn()
  const connectionId = await secondConnection(world)
  const body = {
    name: 'Large',
    priority: 10,
    match: {
      currency: 'EUR',
      rail: 'sepa',
      country: 'DE',
      customerType: 'business',
      amountMin: eur(100),
      amountMax: eur(900),
    },
    connectionId,
    preferredRail: 'sepa_instant',
    costPerPayment: eur(12),
    costBps: 5,
    dailyVolumeMax: eur(100_000),
    dailyCountMax: 50,
  }
  const made = await staff.post<RoutingRuleView>('/routing-rules', body)
  t.equal(made.status, 201, made.text)
  t.match(made.body, { ...body, enabled: true })
  const path = `/routing-rules/${made.body.id}`
  t.equal(made.headers.get('location'), `/v1${path}`)
  t.strictSame((await staff.get(path)).body, made.body)

  const less = { priority: 5, connectionId }
  t.equal((await staff.send('PUT', path, less)).status, 428)
  t.equal((await staff.send('PUT', path, less, { 'if-match': 'W/"1-000000000000"' })).status, 412)
  const etag = made.headers.get('etag') as string
  const replaced = await staff.send<RoutingRuleView>('PUT', path, less, { 'if-match': etag })
  t.match(replaced.body, {
    name: null,
    priority: 5,
    match: { currency: null, amountMin: null },
    preferredRail: null,
    costPerPayment: null,
    costBps: 0,
    dailyVolumeMax: null,
    dailyCountMax: null,
    enabled: true,
  })
  const other = (await staff.post<RoutingRuleView>('/routing-rules', { priority: 1, connectionId, enabled: false }))
    .body
  const listed = (await staff.get<{ data: RoutingRuleView[] }>('/routing-rules')).body.data
  t.strictSame(
    listed.map(({ id }) => id),
    [other.id, made.body.id],
    'by priority',
  )

  const refused = async (more: object) =>
    (await staff.post('/routing-rules', { priority: 1, connectionId, ...more })).problem
  t.match(await refused({ connectionId: randomUUID() }), fault('/connectionId', 'not_found'))
  t.match(await refused({ match: { amountMin: eur(1) } }), fault('/match/currency', 'required'))
  t.match(
    await refused({ match: { currency: 'GBP' }, dailyVolumeMax: eur(1) }),
    fault('/dailyVolumeMax/currency', 'currency_mismatch'),
  )
  t.match(
    await refused({ match: { currency: 'EUR', amountMin: eur(2), amountMax: eur(1) } }),
    fault('/match/amountMax/amountMinor', 'too_small'),
  )
  t.match(
    await refused({ match: { currency: 'EUR' }, costPerPayment: eur(-1) }),
    fault('/costPerPayment/amountMinor', 'too_small'),
  )
  t.match(
    await refused({ match: { currency: 'GBP' }, preferredRail: 'sepa' }),
    fault('/preferredRail', 'invalid_value'),
  )
  t.match(await refused({ match: { rail: 'internal' } }), fault('/match/rail', 'not_applicable'))
  t.match(await refused({ match: { currency: 'XXQ' } }), fault('/match/currency', 'invalid_value'))

  const removed = await staff.send('DELETE', path, undefined, { 'if-match': replaced.headers.get('etag') as string })
  t.equal(removed.status, 204)
  t.equal((await staff.get(path)).status, 404)
  t.equal((await staff.send('PUT', path, less, { 'if-match': '*' })).status, 404)
  const trail = await world.query<{ action: string }>(
    `select action from audit_event where action like 'routing_rule.%' order by id`,
  )
  t.strictSame(
    trail.map(({ action }) => action),
    ['routing_rule.created', 'routing_rule.updated', 'routing_rule.created', 'routing_rule.deleted'],
  )

  const viewer = await world.person('operations').signIn()
  for (const { status } of [
    await viewer.get('/routing-rules'),
    await viewer.post('/routing-rules', less),
    await viewer.post('/routing-rules/simulate', { amount: eur(1), country: 'DE' }),
  ])
    t.equal(status, 403)
})

t.test('the simulator tells of every rule why it matched or not, and payments leave as it tells', async (t) => {
  // Another node is told of a rule in its own time.
  await using world = await createWorld({ nodes: 1 })
  const staff = await world.person('operator_admin').signIn()
  const second = await secondConnection(world)
  const { client, balances, recipients } = world.seeded
  const [home] = await world.query<{ id: string }>('select connection_id as id from balance where id = $1', [
    balances.EUR,
  ])
  const simulate = async (amountMinor: number, more: object = {}) =>
    (
      await staff.post<RoutingResult>('/routing-rules/simulate', {
        amount: eur(amountMinor),
        country: 'DE',
        balanceId: balances.EUR,
        ...more,
      })
    ).body
  t.strictSame(await simulate(100), { connectionId: home!.id, rail: 'sepa_instant', ruleId: null, rules: [] })

  const rule = (body: object) => staff.post<RoutingRuleView>('/routing-rules', { connectionId: second, ...body })
  const large = (
    await rule({
      name: 'Large',
      priority: 1,
      match: { currency: 'EUR', amountMin: eur(1_000) },
      preferredRail: 'sepa',
      dailyCountMax: 2,
    })
  ).body
  const pounds = (await rule({ priority: 2, match: { currency: 'GBP' } })).body
  t.match(await simulate(1_000), {
    connectionId: second,
    rail: 'sepa',
    ruleId: large.id,
    rules: [
      {
        ruleId: large.id,
        matched: true,
        reasons: ['The currency is EUR.', 'The amount is in the range.', 'The payment takes the preferred rail sepa.'],
      },
      { ruleId: pounds.id, matched: false, reasons: ['The currency is EUR, not GBP.'] },
    ],
  })
  t.match(await simulate(1_000, { rail: 'sepa_instant' }), { connectionId: second, rail: 'sepa_instant' })
  t.match(await simulate(999), { connectionId: home!.id, ruleId: null })
  t.match(
    (await staff.post('/routing-rules/simulate', { amount: eur(1), country: 'DE', balanceId: randomUUID() })).problem,
    fault('/balanceId', 'not_found'),
  )

  const small = await pay(client, balances.EUR, recipients.EUR, 999)
  const first = await pay(client, balances.EUR, recipients.EUR, 1_001)
  t.equal(first.rail, 'sepa')
  const next = await pay(client, balances.EUR, recipients.EUR, 1_002)
  const third = await pay(client, balances.EUR, recipients.EUR, 1_003)
  t.match(await simulate(1_000), {
    ruleId: null,
    rules: [{ matched: false, reasons: ['The number of payments of the day is used up.'] }, {}],
  })
  const seen = async (id: string) =>
    (await staff.get<Payment>(`/payments/${id}`, { 'x-tenant-id': client.tenantId })).body
  t.match(await seen(small.id), { connectionId: home!.id, routing: null })
  for (const { id } of [first, next])
    t.strictSame((await seen(id)).routing, {
      ruleId: large.id,
      connectionId: second,
      reason: 'The rule “Large” matched.',
    })
  t.match(await seen(third.id), { connectionId: home!.id, routing: null }, 'the number of the day is used up')
  for (const { id } of [small, first, next, third]) {
    await until(
      `${id} is completed`,
      async () => (await client.get<Payment>(`/payments/${id}`)).body.status === 'completed',
    )
    t.notOk('routing' in (await client.get<Payment>(`/payments/${id}`)).body, 'customers do not see it')
  }
  const booked = await world.query<{ connection_id: string; rules: string[] }>(
    `select a.connection_id, array_agg(p.rule order by p.rule) as rules from posting p
      join account a on a.id in (p.debit_account, p.credit_account) and a.key = 'out_transit'
      where p.source_id = $1 group by 1`,
    [first.id],
  )
  t.strictSame(booked, [{ connection_id: second, rules: ['L10', 'L11'] }], 'its money is in transit at its connection')
})

t.test('new payments of a balance whose connection drains leave through the active primary', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const second = await secondConnection(world)
  await world.query(
    `update provider_connection set status = 'draining', version = version + 1 where id = (select connection_id from balance where id = $1)`,
    [balances.EUR],
  )
  await world.query(`update provider_connection set role = 'primary', version = version + 1 where id = $1`, [second])
  // The node is told in its own time.
  const made = await until('a payment leaves through the primary', async () => {
    const { id } = await pay(client, balances.EUR, recipients.EUR, 500)
    const [row] = await world.query<{ connection_id: string; routing: { ruleId: null; reason: string } | null }>(
      'select connection_id, routing from payment where id = $1',
      [id],
    )
    return row?.connection_id === second && row
  })
  t.match(made.routing, { ruleId: null, reason: '“Sandbox bank” is draining.' })
})

t.test('payments wait while no connection takes them, and leave through the first that does', async (t) => {
  await using world = await createWorld({ nodes: 1 })
  const staff = await world.person('operator_admin').signIn()
  const { client, balances, recipients } = world.seeded
  const [home] = await world.query<{ id: string }>('select id from provider_connection')
  const set = async (status: string, health: string) => {
    await world.query('update provider_connection set status = $1, health = $2, version = version + 1 where id = $3', [
      status,
      health,
      home!.id,
    ])
    // When a change of a rule is answered, the node routes by what is stored.
    const rule = { priority: 1, connectionId: home!.id, enabled: false }
    t.equal((await staff.post('/routing-rules', rule)).status, 201)
  }
  const stored = async (id: string) =>
    (
      await world.query<{ status: string; sent: boolean; connection_id: string; reason: string | null }>(
        `select status, sent_at is not null as sent, connection_id, routing->>'reason' as reason from payment where id = $1`,
        [id],
      )
    )[0]!
  const completes = (id: string) =>
    until(`${id} is completed`, async () => {
      const payment = await stored(id)
      return payment.status === 'completed' && payment
    })

  await set('active', 'paused')
  const waiting = await pay(client, balances.EUR, recipients.EUR, 700)
  await world.pollOnce()
  t.match(await stored(waiting.id), { status: 'processing', sent: false, connection_id: home!.id, reason: null })
  t.match((await staff.post('/routing-rules/simulate', { amount: eur(700), country: 'DE' })).body, {
    connectionId: null,
  })

  const second = await secondConnection(world, ['EUR'])
  t.match(await completes(waiting.id), { connection_id: second, reason: '“Sandbox bank” is paused.' })
  const { data } = (await client.get<{ data: { message: string }[] }>(`/payments/${waiting.id}/updates`)).body
  t.equal(data.filter(({ message }) => message === 'Payment sent through another bank.').length, 1)
  const pounds = await pay(client, balances.GBP, recipients.GBP, 700, 'GBP')
  await world.pollOnce()
  t.match(await stored(pounds.id), { sent: false, connection_id: home!.id }, 'the second bank does not serve pounds')

  await set('draining', 'healthy')
  t.match(await completes(pounds.id), { connection_id: home!.id, reason: null }, 'what drains finishes what it has')
})
