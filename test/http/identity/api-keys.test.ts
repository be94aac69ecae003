import t from 'tap'
import type { ApiKeyView } from '../../../lib/identity/api-key-schema.ts'
import { Client } from '../../support/client.ts'
import { unique } from '../../support/person.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { BODY, keyMaker, statusOf, type Made } from './keys.ts'

t.test('a key is made once, shown once, and works', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const made = await owner.post<Made>('/api-keys', {
    ...BODY,
    expiresAt: '2099-01-01T01:00:00+01:00',
    ipAllowlist: ['127.0.0.0/8', '::1'],
  })
  t.equal(made.status, 201)
  const { secret, ...view } = made.body
  t.equal(made.headers.get('location'), `/v1/api-keys/${view.id}`)
  t.match(secret, /^svc_test_[0-9A-Za-z]{46}$/)
  t.match(view, {
    tenantId: owner.tenantId,
    level: 'customer',
    name: 'ERP',
    environment: 'test',
    prefix: secret.slice(0, 17),
    status: 'active',
    expiresAt: '2099-01-01T00:00:00.000Z',
    graceEndsAt: null,
    replacedById: null,
    replacesId: null,
    lastUsedAt: null,
    lastUsedIp: null,
    revokedAt: null,
    revokedBy: null,
  })
  const read = await owner.get<ApiKeyView>(`/api-keys/${view.id}`)
  t.strictSame(read.body, view, 'everything but the secret can be read again')
  t.equal(read.headers.get('etag'), made.headers.get('etag'))
  t.equal(await statusOf(world, secret, owner.tenantId), 200)
  t.equal(
    (await new Client({ url: () => world.url, apiKey: secret, tenantId: owner.tenantId }).get('/recipients')).problem
      .code,
    'insufficient-scope',
  )
  const rows = await world.query<{ kept: string }>('select k::text as kept from api_key k where id = $1', [view.id])
  t.notMatch(rows[0]?.kept, secret.slice(17))
})

t.test('keys are listed by page, filter and sort', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  for (const name of ['beta', 'Alpha']) await owner.post('/api-keys', { ...BODY, name })
  const byName = await owner.get<{ data: ApiKeyView[] }>('/api-keys?sort=name')
  t.strictSame(
    byName.body.data.map(({ name }) => name),
    ['Alpha', 'beta', 'Sandbox key'],
  )
  const scoped = await owner.get<{ data: ApiKeyView[]; page: object }>(
    '/api-keys?filter[scope]=payments:write&filter[status]=active&withTotal=true',
  )
  t.strictSame(
    scoped.body.data.map(({ name }) => name),
    ['Sandbox key'],
  )
  t.match(scoped.body.page, { total: 1 })
  const first = await owner.get<{ data: ApiKeyView[]; page: { nextCursor: string } }>('/api-keys?limit=2')
  const second = await owner.get<{ data: ApiKeyView[] }>(`/api-keys?limit=2&cursor=${first.body.page.nextCursor}`)
  t.strictSame(
    [...first.body.data, ...second.body.data].map(({ name }) => name),
    ['Alpha', 'beta', 'Sandbox key'],
  )
  for (const { data } of [first.body, second.body]) for (const key of data) t.notOk('secret' in key)
})

t.test('what cannot be a key is refused by field', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  for (const [change, field, code] of [
    [{ scopes: [] }, '/scopes', 'too_short'],
    [{ scopes: ['payments:read', 'customers:read'] }, '/scopes/1', 'invalid_value'],
    [{ scopes: ['nonsense'] }, '/scopes/0', 'invalid_value'],
    [{ ipAllowlist: ['192.0.2.1', '192.0.2.0/33'] }, '/ipAllowlist/1', 'invalid_format'],
    [{ ipAllowlist: ['example.com'] }, '/ipAllowlist/0', 'invalid_format'],
    [{ ipAllowlist: Array.from({ length: 21 }, (_, n) => `192.0.2.${n}`) }, '/ipAllowlist', 'too_long'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt', 'in_past'],
    [{ environment: 'staging' }, '/environment', 'invalid_value'],
    [{ name: '' }, '/name', 'too_short'],
    [{ secret: 'mine' }, '/secret', 'read_only_field'],
    [{ colour: 'red' }, '/colour', 'unknown_field'],
  ] as const) {
    const refused = await owner.post('/api-keys', { ...BODY, ...change })
    t.match(refused.problem, { status: 422, code: 'validation-error', errors: [{ field, code }] }, `${field} ${code}`)
  }
})

t.test("live keys wait for the customer's approval", async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  t.equal((await owner.post('/api-keys', { ...BODY, environment: 'live' })).status, 201)
  await world.query("update customer set status = 'onboarding' where id = $1", [owner.tenantId])
  t.match((await owner.post('/api-keys', { ...BODY, environment: 'live' })).problem, {
    status: 409,
    code: 'customer-not-active',
    customerStatus: 'onboarding',
  })
  t.equal((await owner.post('/api-keys', BODY)).status, 201)
  await world.query("update customer set status = 'active' where id = $1", [owner.tenantId])
})

t.test('keys cannot manage keys, nor anything else that is for people', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  for (const [method, path] of [
    ['GET', '/api-keys'],
    ['POST', '/api-keys'],
    ['DELETE', '/api-keys/01980d6e-0000-7000-8000-00000000ffff'],
    ['GET', '/audit-events'],
    ['GET', '/users/me'],
    ['POST', '/step-up/challenges'],
    ['GET', '/sessions'],
  ] as const) {
    const refused = await client.send(`/v1${path}`, {
      method,
      body: method === 'POST' ? 'not even JSON' : (undefined as never),
    })
    t.match(refused.problem, { status: 403, code: 'insufficient-scope' }, `${method} ${path}`)
  }
})

t.test('operators have keys of their own, and their staff makes them', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  await admin.stepUp('api_key.create')
  const made = await admin.post<Made>('/operator/api-keys', { ...BODY, scopes: ['customers:read', 'customers:write'] })
  t.equal(made.status, 201)
  t.match(made.body, { level: 'operator', tenantId: admin.tenantId })
  t.equal(made.headers.get('location'), `/v1/operator/api-keys/${made.body.id}`)
  t.match((await admin.post('/operator/api-keys', { ...BODY, scopes: ['payments:write'] })).problem, {
    errors: [{ field: '/scopes/0', code: 'invalid_value' }],
  })
  const operations = await world.person('operations').signIn()
  t.match((await operations.get('/operator/api-keys')).problem, {
    status: 403,
    code: 'insufficient-scope',
    requiredCapability: 'integration.manage',
  })
  const owner = await world.person('owner').signIn()
  t.equal((await owner.get('/operator/api-keys', { 'x-tenant-id': owner.tenantId })).problem.code, 'tenant-forbidden')
  t.equal((await owner.get('/operator/api-keys', { 'x-tenant-id': admin.tenantId })).problem.code, 'tenant-forbidden')
  t.equal(
    (await admin.get('/api-keys', { 'x-tenant-id': owner.tenantId })).problem.code,
    'tenant-forbidden',
    'staff do not manage the keys of customers',
  )
  const path = `/operator/api-keys/${made.body.id}`
  t.equal((await admin.send('PATCH', path, { name: 'New' }, { 'if-match': '*' })).status, 200)
  t.equal((await admin.post(`${path}/rotate`, {})).status, 201)
  await admin.stepUp('api_key.revoke', { type: 'api_key', id: made.body.id })
  t.equal((await admin.send('DELETE', path)).status, 204)
})

t.test('a person pays under their own name', async (t) => {
  await using world = await createWorld()
  const preparer = await world.person('preparer').signIn()
  const body = paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, 1250)
  const headers = { 'idempotency-key': unique('k').replaceAll(' ', '-') }
  t.match((await preparer.post('/payments', body, headers)).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'payment.above_threshold',
  })
  await preparer.stepUp('payment.above_threshold')
  const { userId } = (
    await world.query<{ userId: string }>(
      `select id as "userId" from platform_user where email = 'preparer@example.com'`,
    )
  )[0]!
  const paid = await preparer.post<{ id: string }>('/payments', body, headers)
  t.match(paid.body, { createdBy: userId, createdVia: 'mobile' })
  const again = await preparer.browser<{ id: string }>('POST', '/payments', body, {
    ...headers,
    'x-csrf-token': preparer.csrf,
  })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(again.body.id, paid.body.id)
  const web = await preparer.browser('POST', '/payments', body, {
    'idempotency-key': `${headers['idempotency-key']}2`,
    'x-csrf-token': preparer.csrf,
  })
  t.match(web.body, { createdBy: userId, createdVia: 'web' })
  await world.seeded.client.paymentsSettled()
})
