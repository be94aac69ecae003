import t from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { ApiKeyView } from '../../../lib/identity/api-key-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { createWorld } from '../../support/world.ts'

type Made = ApiKeyView & { readonly secret: string }
const KEY = { name: 'ERP', environment: 'test', scopes: ['payments:read'] }

/** The trail, oldest first. */
async function trail(person: Person, query = ''): Promise<AuditEvent[]> {
  return [...(await person.get<PageBody<AuditEvent>>(`/audit-events?limit=100${query}`)).body.data].reverse()
}

t.test('every change by a person is in the trail: who, what, from where, before and after', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const [user] = await world.query<{ id: string }>(`select id from platform_user where email = 'owner@example.com'`)
  const actor = { type: 'member', id: user!.id, name: 'Sandbox Owner' }
  const shown: string[] = [owner.login.password, owner.login.totpSecret, owner.token]

  await owner.stepUp('api_key.create')
  const made = await owner.post<Made>('/api-keys', KEY, { 'x-request-id': 'req-1' })
  await owner.send(
    'PATCH',
    `/api-keys/${made.body.id}`,
    { name: 'ERP two', ipAllowlist: ['192.0.2.0/24'] },
    { 'if-match': '*' },
  )
  const next = (await owner.post<Made>(`/api-keys/${made.body.id}/rotate`, { gracePeriodHours: 1 })).body
  await owner.stepUp('api_key.revoke')
  await owner.send('DELETE', `/api-keys/${next.id}`)
  await owner.send('DELETE', `/api-keys/${next.id}`)
  await owner.send('PATCH', '/users/me', { name: 'Ann' }, { 'if-match': '*' })
  await owner.stepUp('settings.change')
  const factor = (await owner.post<{ id: string; secret: string }>('/users/me/mfa-factors', { kind: 'totp' })).body
  await owner.send('DELETE', `/users/me/mfa-factors/${factor.id}`)
  await owner.post('/users/me/password', {
    currentPassword: owner.login.password,
    newPassword: 'four words that nobody else has',
  })
  const other = world.person('owner')
  const half = (await other.password('four words that nobody else has')).body
  await other.send(
    'POST',
    '/sessions/current/mfa',
    { challengeId: half.mfa?.challengeId, method: 'totp', code: other.code() },
    {},
    half.token,
  )
  await owner.send('DELETE', `/sessions/${half.sessionId}`)
  // A refused request has changed no row.
  await owner.send('PATCH', `/api-keys/${made.body.id}`, { name: '' }, { 'if-match': '*' })
  await owner.send('DELETE', '/api-keys/01980d6e-0000-7000-8000-00000000ffff')
  shown.push(made.body.secret, next.secret, factor.secret, half.token, owner.token)

  const events = await trail(owner, `&filter[actorId]=${user!.id}`)
  t.strictSame(
    events.map(({ action }) => action),
    [
      'session.created',
      'step_up.verified',
      'api_key.created',
      'api_key.updated',
      'api_key.rotated',
      'api_key.created',
      'step_up.verified',
      'api_key.revoked',
      'user.updated',
      'step_up.verified',
      'mfa_factor.created',
      'mfa_factor.deleted',
      'password.changed',
      'session.created',
      'session.revoked',
    ],
  )
  for (const event of events) {
    t.match(
      event,
      { customerId: owner.tenantId, actor: { type: 'member', id: user!.id }, address: '127.0.0.1', requestId: /./ },
      event.action,
    )
    t.ok(Math.abs(Date.parse(event.at) - world.now()) < 60_000)
  }
  const [created, updated, rotated] = events.filter(({ object }) => object.id === made.body.id)
  t.match(created, {
    actor,
    requestId: 'req-1',
    object: { type: 'api_key' },
    before: null,
    after: { name: 'ERP', scopes: ['payments:read'], status: 'active' },
  })
  t.match(updated, {
    before: { name: 'ERP', ipAllowlist: [] },
    after: { name: 'ERP two', ipAllowlist: ['192.0.2.0/24'] },
  })
  t.match(rotated, { before: { status: 'active' }, after: { status: 'rotating' } })
  t.match(
    events.find(({ action }) => action === 'user.updated'),
    { before: { name: 'Sandbox Owner' }, after: { name: 'Ann' } },
  )
  const [kept] = await world.query<{ text: string }>('select string_agg(a::text, chr(10)) as text from audit_event a')
  for (const secret of shown) t.notOk(kept!.text.includes(secret), 'no secret is kept')
})

t.test('a trail is read by those who may, of their own tenant, by filter and page', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const admin = await world.person('operator_admin').signIn()
  const preparer = await world.person('preparer').signIn()
  await owner.stepUp('api_key.create')
  for (const name of ['one', 'two', 'three']) await owner.post('/api-keys', { ...KEY, name })
  t.match((await preparer.get('/audit-events')).problem, { status: 403, requiredCapability: 'audit.read' })
  t.equal((await owner.get('/audit-events', { 'x-tenant-id': admin.tenantId })).problem.code, 'tenant-forbidden')

  t.equal((await trail(owner, '&filter[action]=api_key.created')).length, 3)
  t.equal(
    (await trail(owner, '&filter[objectType]=api_key,session')).length,
    5,
    'two signed in besides: the owner and the preparer',
  )
  const [event] = await trail(owner, '&filter[action]=api_key.created')
  t.strictSame(await trail(owner, `&filter[objectId]=${event!.object.id}`), [event])
  t.strictSame(await trail(owner, '&filter[from]=2020-01-01&filter[to]=2020-12-31'), [])
  const first = (
    await owner.get<PageBody<AuditEvent>>('/audit-events?limit=2&filter[action]=api_key.created&withTotal=true')
  ).body
  const second = (
    await owner.get<PageBody<AuditEvent>>(
      `/audit-events?limit=2&filter[action]=api_key.created&cursor=${first.page.nextCursor}`,
    )
  ).body
  t.equal(first.page.total, 3)
  t.strictSame(
    [...first.data, ...second.data].map(({ after }) => after?.['name']),
    ['three', 'two', 'one'],
  )
  t.equal(
    (await owner.get(`/audit-events?filter[action]=api_key.updated&cursor=${first.page.nextCursor}`)).problem.code,
    'invalid-cursor',
  )

  const all = await trail(admin)
  t.ok(
    all.some(({ customerId }) => customerId === owner.tenantId) && all.some(({ customerId }) => customerId === null),
    "an operator reads its own and its customers'",
  )
  t.ok(
    (await trail(admin, `&filter[customerId]=${owner.tenantId}`)).every(
      ({ customerId }) => customerId === owner.tenantId,
    ),
  )
  t.equal(
    (await owner.get(`/audit-events?filter[customerId]=${owner.tenantId}`)).status,
    400,
    'the filter is for operators',
  )
  t.ok((await trail(admin)).filter(({ actor }) => actor.id !== event!.actor.id && actor.type === 'staff').length > 0)
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  t.equal((await stranger.client.get('/audit-events')).problem.code, 'insufficient-scope', 'keys never')
})

t.test('what a person does is in the trail of every tenant they belong to', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const { id } = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  await world.query(
    `insert into membership (id, user_id, level, tenant_id, operator_id, role, status, created_at, updated_at)
    select gen_random_uuid(), id, 'customer', $1, $2, 'admin', 'active', now(), now() from platform_user where email = 'owner@example.com'`,
    [id, admin.tenantId],
  )
  const owner = await world.person('owner').signIn()
  const both = (await trail(admin, '&filter[action]=session.created')).filter(
    ({ actor }) => actor.name === 'Sandbox Owner',
  )
  t.strictSame(both.map(({ customerId }) => customerId).sort(), [id, owner.tenantId].sort())
  const { data } = (await owner.get<PageBody<AuditEvent>>('/audit-events', { 'x-tenant-id': id })).body
  t.strictSame(
    data.map(({ action }) => action),
    ['session.created'],
  )
})
