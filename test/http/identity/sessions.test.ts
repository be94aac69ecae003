import t from 'tap'
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from '../../../lib/identity/session.ts'
import type { Opened } from '../../support/person.ts'
import { createWorld } from '../../support/world.ts'

t.test('the current session says who it is, where they belong and what they may do', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const current = await owner.get<{
    user: object
    memberships: { capabilities: string[] }[]
    capabilities: string[]
    csrfToken: string
  }>('/sessions/current')
  t.match(current.body, {
    status: 'active',
    user: { email: 'owner@example.com' },
    memberships: [{ tenantId: owner.tenantId, level: 'customer', role: 'owner' }],
    flags: { sandbox: true },
    csrfToken: owner.csrf,
  })
  t.ok(current.body.memberships[0]?.capabilities.includes('api_keys.manage'))
  t.equal(current.headers.get('cache-control'), 'no-store')
})

t.test('a session ends by itself when it is idle and when it is old, and says which', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  world.advance(SESSION_IDLE_MS - 60_000)
  t.equal((await owner.get('/users/me')).status, 200)
  world.advance(SESSION_IDLE_MS - 60_000)
  t.equal((await owner.get('/users/me')).status, 200, 'a request starts the idle time again')
  world.advance(SESSION_IDLE_MS)
  const idle = await owner.get('/users/me')
  t.equal(idle.status, 401)
  t.match(idle.problem, { code: 'session-expired', reason: 'idle' })

  await owner.signIn()
  for (let passed = 0; passed < SESSION_ABSOLUTE_MS - 600_000; passed += 600_000) {
    world.advance(600_000)
    t.equal((await owner.get('/users/me')).status, 200)
  }
  world.advance(600_000)
  t.match((await owner.get('/users/me')).problem, { status: 401, code: 'session-expired', reason: 'expired' })
})

t.test('a refresh gives a new token and moves no end; signing out ends the session', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const before = owner.token
  const refreshed = await owner.post<Opened>('/sessions/current/refresh')
  t.equal(refreshed.status, 200)
  t.not(refreshed.body.token, before)
  t.equal((await owner.get('/users/me')).status, 401, 'the old token is void')
  owner.token = refreshed.body.token
  const out = await owner.send('DELETE', '/sessions/current')
  t.equal(out.status, 204)
  t.equal(out.text, '')
  t.match(out.headers.get('set-cookie'), /^__Host-session=; .*Max-Age=0/)
  t.match((await owner.get('/users/me')).problem, { code: 'session-expired', reason: 'revoked' })
})

t.test("people see and end their own sessions, and nobody else's", async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const other = await world.person('owner').signIn()
  const stranger = await world.person('approver').signIn()
  const list = await owner.get<{ data: { id: string; current: boolean; status: string }[] }>(
    '/sessions?filter[status]=active&withTotal=true',
  )
  t.match(list.body, {
    data: [
      { id: other.sessionId, current: false, status: 'active' },
      { id: owner.sessionId, current: true },
    ],
    page: { total: 2 },
  })
  t.equal((await stranger.send('DELETE', `/sessions/${owner.sessionId}`)).problem.code, 'not-found')
  t.equal((await owner.get('/users/me')).status, 200)
  t.equal((await owner.send('DELETE', `/sessions/${other.sessionId}`)).status, 204)
  t.equal((await other.get('/users/me')).status, 401)
  t.equal((await owner.get('/sessions?filter[status]=nonsense')).status, 400)
})

t.test("a browser's cookie needs the session's own token for whatever writes", async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  t.equal((await owner.browser('GET', '/users/me')).status, 200)
  for (const header of [undefined, 'wrong', `${owner.csrf}x`, '']) {
    const refused = await owner.browser('POST', '/sessions/current/refresh', undefined, { 'x-csrf-token': header })
    t.equal(refused.status, 401)
    t.equal(refused.problem.code, 'unauthenticated')
  }
  const refreshed = await owner.browser<Opened>('POST', '/sessions/current/refresh', undefined, {
    'x-csrf-token': owner.csrf,
  })
  t.equal(refreshed.status, 200)
  owner.token = refreshed.body.token
  t.equal(
    (await owner.browser('DELETE', '/sessions/current', undefined, { 'x-csrf-token': owner.csrf })).status,
    401,
    "it changes with the session's token",
  )
  t.equal(
    (await owner.browser('DELETE', '/sessions/current', undefined, { 'x-csrf-token': refreshed.body.csrfToken }))
      .status,
    204,
  )
  t.equal(
    (await owner.browser('GET', '/users/me', undefined, { cookie: '__Host-session=' })).problem.code,
    'unauthenticated',
  )
  t.equal(
    (await owner.browser('GET', '/users/me', undefined, { cookie: `__Host-session=${'x'.repeat(47)}` })).problem.code,
    'unauthenticated',
  )
})

t.test('what somebody is no longer is over at once', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  await world.query("update membership set role = 'viewer' where tenant_id = $1 and role = 'owner'", [owner.tenantId])
  t.match((await owner.get('/api-keys')).problem, { code: 'insufficient-scope', requiredCapability: 'api_keys.manage' })
  await world.query("update membership set status = 'suspended' where tenant_id = $1 and role = 'viewer'", [
    owner.tenantId,
  ])
  t.equal((await owner.get('/api-keys')).problem.code, 'tenant-forbidden')
  await world.query("update platform_user set status = 'disabled' where email = 'owner@example.com'")
  t.match((await owner.get('/users/me')).problem, { code: 'session-expired', reason: 'revoked' })
  t.equal((await owner.password()).status, 401)
})
