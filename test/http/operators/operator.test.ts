/** An operator's settings for itself and its customers, over HTTP: each takes effect where it is read. */
import t, { type Test } from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { CustomerLimits } from '../../../lib/customers/customer-limits-schema.ts'
import type {
  FeatureFlags,
  Operator,
  OperatorSettings,
  OperatorSettingsUpdate,
} from '../../../lib/operators/operator-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { createAs, createByKey } from '../recipients/support.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })
const SHARED = { SECRETS_KEY: 'a secret that both nodes share, long enough' }

async function set(t: Pick<Test, 'equal'>, admin: Person, body: OperatorSettingsUpdate): Promise<OperatorSettings> {
  const reply = await admin.send<OperatorSettings>('PATCH', '/operator/settings', body, { 'if-match': '*' })
  t.equal(reply.status, 200, reply.text.slice(0, 200))
  return reply.body
}

t.test('documents of the operator have a version, and those who manage it change them', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const compliance = await world.person('compliance').signIn()
  const owner = await world.person('owner').signIn()
  for (const [path, body, expected, action] of [
    ['/operator', { name: ' Another Name ' }, { id: admin.tenantId, name: 'Another Name' }, 'operator.updated'],
    [
      '/operator/settings',
      {
        recipients: { requireVerification: true, allowedOverrides: ['no_match'] },
        collections: { reserveDays: 3, maxExposure: [eur(500_00)] },
      },
      {
        collections: { preNotificationDays: 14, reserveDays: 3, maxExposure: [eur(500_00)] },
        recipients: { approvalMode: 'customer_tier', requireVerification: true, allowedOverrides: ['no_match'] },
        limits: { default: { business: null, sole_trader: null, individual: null } },
      },
      'operator_settings.updated',
    ],
    [
      '/operator/feature-flags',
      { flags: { webhooks: false } },
      { flags: { webhooks: false, sandbox: true } },
      'feature_flags.updated',
    ],
  ] as const) {
    const before = await admin.get<object>(path)
    t.equal(before.status, 200, path)
    const etag = before.headers.get('etag')!
    t.equal((await admin.get(path, { 'if-none-match': etag })).status, 304, path)
    const send = (who: Person, headers: Record<string, string> = { 'if-match': etag }) =>
      who.send<object>('PATCH', path, body, headers)
    t.match((await compliance.get(path)).problem, { status: 403, requiredCapability: 'operator.manage' }, path)
    t.match((await send(compliance)).problem, { status: 403, requiredCapability: 'operator.manage' }, path)
    t.equal((await send(owner)).problem.code, 'tenant-forbidden', path)
    t.match(
      (await world.operator.get(path)).problem,
      { code: 'insufficient-scope', requiredCapability: 'operator.manage' },
      'not for keys',
    )
    t.equal((await send(admin, {})).problem.code, 'precondition-required', path)
    const after = await send(admin)
    t.match(after.body, { ...expected, updatedBy: String, updatedAt: String }, path)
    t.equal((await admin.get(path)).text, after.text, path)
    t.equal((await send(admin)).problem.code, 'precondition-failed', path)
    const [event] = (await admin.get<PageBody<AuditEvent>>('/audit-events?limit=1')).body.data
    t.match(event, { action, actor: { type: 'staff' }, object: { type: 'operator', id: admin.tenantId } }, path)
    t.notSame(event!.before, event!.after, path)
  }
  const racing = (await admin.get('/operator')).headers.get('etag')!
  const both = await Promise.all(
    ['One', 'Two'].map((name) => admin.send<Operator>('PATCH', '/operator', { name }, { 'if-match': racing })),
  )
  t.strictSame(both.map(({ status }) => status).sort(), [200, 412], 'one of two that change the same version')
})

t.test('a value that is wrong is named, and nothing changes', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const tags = async () =>
    await Promise.all(
      ['/operator', '/operator/settings', '/operator/feature-flags'].map(async (path) =>
        (await admin.get(path)).headers.get('etag'),
      ),
    )
  const before = await tags()
  for (const [path, body, field, code] of [
    ['/operator', { name: '' }, '/name', 'too_short'],
    ['/operator', { name: 'x'.repeat(141) }, '/name', 'too_long'],
    ['/operator', { id: admin.tenantId }, '/id', undefined],
    ['/operator/settings', { recipients: { approvalMode: 'sometimes' } }, '/recipients/approvalMode', 'invalid_value'],
    [
      '/operator/settings',
      { recipients: { allowedOverrides: ['match'] } },
      '/recipients/allowedOverrides/0',
      'invalid_value',
    ],
    [
      '/operator/settings',
      { recipients: { requireVerification: 'yes' } },
      '/recipients/requireVerification',
      'invalid_type',
    ],
    ['/operator/settings', { exchanges: {} }, '/exchanges', 'unknown_field'],
    ['/operator/settings', { exchange: { quoteSeconds: 301 } }, '/exchange/quoteSeconds', 'too_large'],
    [
      '/operator/settings',
      { exchange: { heldRateDefaultMinutes: 1_441 } },
      '/exchange/heldRateDefaultMinutes',
      'too_large',
    ],
    ['/operator/settings', { exchange: { minSellEur: '-1' } }, '/exchange/minSellEur', 'too_small'],
    [
      '/operator/settings',
      { collections: { preNotificationDays: 15 } },
      '/collections/preNotificationDays',
      'too_large',
    ],
    ['/operator/settings', { collections: { reserveDays: -1 } }, '/collections/reserveDays', 'too_small'],
    [
      '/operator/settings',
      { collections: { maxExposure: [eur(5), eur(6)] } },
      '/collections/maxExposure/1/currency',
      'invalid_value',
    ],
    ['/operator/settings', { exchange: { minSellEur: 5 } }, '/exchange/minSellEur', 'invalid_type'],
    ['/operator/settings', { payments: { fourEyesExceptions: 'no' } }, '/payments/fourEyesExceptions', 'invalid_type'],
    ['/operator/settings', { compliance: { fourEyes: false } }, '/compliance/fourEyes', 'unknown_field'],
    [
      '/operator/settings',
      { payments: { stepUpThreshold: eur(-1) } },
      '/payments/stepUpThreshold/amountMinor',
      'too_small',
    ],
    ['/operator/settings', { payments: { stepUpThreshold: '100' } }, '/payments/stepUpThreshold', 'invalid_type'],
    [
      '/operator/settings',
      { payments: { stepUpThreshold: { amountMinor: '1', currency: 'XXY' } } },
      '/payments/stepUpThreshold/currency',
      'invalid_value',
    ],
    ['/operator/settings', { sessions: { idleMinutes: 0 } }, '/sessions/idleMinutes', 'too_small'],
    ['/operator/settings', { sessions: { idleMinutes: 61 } }, '/sessions/idleMinutes', 'too_large'],
    ['/operator/settings', { sessions: { absoluteHours: 25 } }, '/sessions/absoluteHours', 'too_large'],
    ['/operator/settings', { sessions: { absoluteHours: 1.5 } }, '/sessions/absoluteHours', 'invalid_type'],
    [
      '/operator/settings',
      { sessions: { recoveredFactorWaitHours: -1 } },
      '/sessions/recoveredFactorWaitHours',
      'too_small',
    ],
    ['/operator/settings', { sessions: { idle: 5 } }, '/sessions/idle', 'unknown_field'],
    [
      '/operator/settings',
      { kyb: { requireAllPersonsVerified: 'no' } },
      '/kyb/requireAllPersonsVerified',
      'invalid_type',
    ],
    [
      '/operator/settings',
      { recipients: { requireVerification: true }, limits: { default: { business: [{ currency: 'XXX' }] } } },
      '/limits/default/business/0/currency',
      'invalid_value',
    ],
    [
      '/operator/settings',
      { limits: { default: { individual: [{ currency: 'EUR' }, { currency: 'EUR' }] } } },
      '/limits/default/individual/1/currency',
      'invalid_value',
    ],
    [
      '/operator/settings',
      { limits: { default: { business: [{ currency: 'EUR', daily: { amountMinor: '1', currency: 'GBP' } }] } } },
      '/limits/default/business/0/daily/currency',
      'currency_mismatch',
    ],
    ['/operator/settings', { limits: { default: { company: null } } }, '/limits/default/company', 'unknown_field'],
    ['/operator/feature-flags', { flags: { sandbox: false } }, '/flags/sandbox', undefined],
    ['/operator/feature-flags', { flags: { casino: true } }, '/flags/casino', 'unknown_field'],
    ['/operator/feature-flags', { flags: { cards: 'on' } }, '/flags/cards', 'invalid_type'],
  ] as const) {
    const reply = await admin.send('PATCH', path, body, { 'if-match': '*' })
    t.match(
      reply.problem,
      { status: 422, code: 'validation-error', errors: [{ field, ...(code === undefined ? {} : { code }) }] },
      `${path} ${JSON.stringify(body).slice(0, 80)}`,
    )
  }
  t.strictSame(await tags(), before)
  t.strictSame(await world.query('select * from operator_limit'), [])
})

t.test('how recipients are looked at, for the next command on every node', async (t) => {
  await using world = await createWorld({ settings: SHARED })
  await using other = await createWorld({ settings: SHARED, databaseUrl: world.databaseUrl, dispatch: false })
  const admin = await world.person('operator_admin').signIn()
  const owner = await world.person('owner').signIn()
  const { client, balances } = world.seeded
  const elsewhere = client.with({ url: () => other.url })
  await set(t, admin, { recipients: { approvalMode: 'operator_queue' } })
  t.match((await createByKey(elsewhere)).body, {
    status: 'pending_approval',
    approval: { mode: 'operator_queue', stage: 'operator' },
  })
  t.match(
    await set(t, admin, { recipients: { approvalMode: 'none' } }),
    { recipients: { approvalMode: 'none', allowedOverrides: ['close_match'] } },
    'what is not given stays',
  )

  const accepted = { acceptOutcome: 'close_match', reason: 'The same company.' } as const
  const { id } = (await createAs(owner, { name: 'Closematch BV', verificationOverride: accepted })).body
  const pay = async () => (await elsewhere.createPayment(paymentBody(balances.EUR, id, 100))).status
  t.equal(await pay(), 201, 'and the other node remembers that it may')
  await set(t, admin, { recipients: { allowedOverrides: [] } })
  t.equal(await pay(), 422)
  await set(t, admin, { recipients: { allowedOverrides: ['close_match'] } })
  t.equal(await pay(), 201)
  await client.paymentsSettled()
})

t.test('limits by type count what was paid before, on every node, and give way to those of a customer', async (t) => {
  await using world = await createWorld({ settings: SHARED, dispatch: false })
  await using other = await createWorld({ settings: SHARED, databaseUrl: world.databaseUrl, dispatch: false })
  const admin = await world.person('operator_admin').signIn()
  const spec = { balances: [{ currency: 'EUR', amount: 100_000n }] } as const
  const [customer, exempt] = [await world.customer(spec), await world.customer(spec)]
  const pay = (who: typeof customer, minor: number) =>
    who.client.with({ url: () => other.url }).createPayment(paymentBody(who.balanceIds[0]!, who.recipients.EUR, minor))
  t.equal((await pay(customer, 700)).status, 201, 'there is no limit yet')
  t.equal((await pay(exempt, 700)).status, 201)
  t.equal(
    (
      await admin.send('PUT', `/customers/${exempt.id}/settings/limits`, {
        limits: [{ currency: 'EUR', daily: eur(50_000) }],
      })
    ).status,
    200,
  )

  const limited = await set(t, admin, {
    limits: {
      default: {
        business: [{ currency: 'EUR', daily: eur(1_000) }],
        individual: [{ currency: 'EUR', single: eur(1) }],
      },
    },
  })
  t.strictSame(limited.limits.default, {
    business: [{ currency: 'EUR', single: null, daily: eur(1_000), monthly: null }],
    sole_trader: null,
    individual: [{ currency: 'EUR', single: eur(1), daily: null, monthly: null }],
  })
  t.match((await admin.get<CustomerLimits>(`/customers/${customer.id}/settings/limits`)).body, {
    source: 'operator',
    limits: [{ today: { used: eur(700), remaining: eur(300) } }],
  })
  t.match(
    (await pay(customer, 301)).problem,
    { code: 'limit-exceeded', limit: { kind: 'daily', remaining: eur(300) } },
    'the node that remembers the balance knows',
  )
  t.equal((await pay(customer, 300)).status, 201)
  t.equal((await pay(exempt, 10_000)).status, 201, 'its own go first')
  t.equal((await pay(customer, 1)).problem.code, 'limit-exceeded')

  t.equal((await admin.send('PUT', `/customers/${exempt.id}/settings/limits`, { limits: null })).status, 200)
  t.equal((await pay(exempt, 1)).problem.code, 'limit-exceeded', 'it falls back, with what it has paid')
  await set(t, admin, { recipients: { requireVerification: true } })
  t.equal((await pay(customer, 1)).problem.code, 'limit-exceeded', 'limits that are not given stay')
  t.strictSame((await set(t, admin, { limits: { default: { business: null } } })).limits.default.business, null)
  t.equal((await pay(customer, 10_000)).status, 201)
  t.equal((await pay(exempt, 10_000)).status, 201)
})

t.test('limits that change under payments are never exceeded', async (t) => {
  await using world = await createWorld({ settings: SHARED, dispatch: false })
  await using other = await createWorld({ settings: SHARED, databaseUrl: world.databaseUrl, dispatch: false })
  const admin = await world.person('operator_admin').signIn()
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 100_000n },
      { currency: 'EUR', amount: 100_000n },
    ],
  })
  const nodes = [customer.client, customer.client.with({ url: () => other.url })]
  // Each node has a balance that the other does not touch, so only the change of limits can make what it remembers
  // stale.
  const pay = async (nth: number): Promise<number> => {
    const { status } = await nodes[nth % 2]!.createPayment(
      paymentBody(customer.balanceIds[nth % 2]!, customer.recipients.EUR, 100),
    )
    // A node that meets the other one's writes too often says so.
    return status === 503 ? await pay(nth) : status
  }
  let limited = false
  const payUntilLimited = async (nth: number): Promise<number> => {
    let paid = 0
    for (let after = 0; after < 3; after += Number(limited)) if ((await pay(nth)) === 201) paid++
    return paid
  }
  const counts = await Promise.all(
    [0, 1, 2, 3, 4, 5, 6, 7].map(payUntilLimited).concat(
      set(t, admin, { limits: { default: { business: [{ currency: 'EUR', daily: eur(1_000) }] } } }).then(() => {
        limited = true
        return 0
      }),
    ),
  )
  const paid = counts.reduce((sum, count) => sum + count)
  const [{ used }] = (await world.query<{ used: string }>('select amount as used from outflow where customer_id = $1', [
    customer.id,
  ])) as [{ used: string }]
  t.equal(Number(used), paid * 100, 'every payment is counted, those before the limit too')
  t.equal(await pay(0), paid < 10 ? 201 : 422, 'and from then on nothing goes beyond it')
  t.strictSame(other.errors, [])
})

t.test('a feature that is off is not there, for the operator and its customers, on every node', async (t) => {
  await using world = await createWorld({ settings: SHARED })
  await using other = await createWorld({ settings: SHARED, databaseUrl: world.databaseUrl, dispatch: false })
  const admin = await world.person('operator_admin').signIn()
  const owner = await world.person('owner').signIn()
  const { client } = world.seeded
  const elsewhere = client.with({ url: () => other.url })
  const turn = async (webhooks: boolean) =>
    (await admin.send<FeatureFlags>('PATCH', '/operator/feature-flags', { flags: { webhooks } }, { 'if-match': '*' }))
      .body.flags.webhooks
  t.equal((await elsewhere.get('/integrator-webhooks')).status, 200)
  t.equal(await turn(false), false)
  const off = { status: 404, code: 'feature-disabled', feature: 'webhooks' }
  t.match((await elsewhere.get('/integrator-webhooks')).problem, off)
  t.match((await client.get('/integrator-webhooks')).problem, off)
  t.match((await world.operator.get('/integrator-webhooks')).problem, off, "the operator's own")
  t.match(
    (await owner.post('/integrator-webhooks', { url: 'https://example.com/hook' })).problem,
    off,
    'nobody proves themselves for nothing',
  )
  t.match((await client.post('/simulations/webhook-events', {})).problem, off)
  t.equal((await client.get('/balances')).status, 200, 'what has no switch goes on')
  t.equal(await turn(true), true)
  t.equal((await elsewhere.get('/integrator-webhooks')).status, 200)
  t.equal((await client.get('/integrator-webhooks')).status, 200)
})
