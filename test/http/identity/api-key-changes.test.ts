import t from 'tap'
import type { ApiKeyView } from '../../../lib/identity/api-key-schema.ts'
import { STEP_UP_FRESH_MS } from '../../../lib/identity/step-up.ts'
import { Client } from '../../support/client.ts'
import { unique } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { BODY, keyMaker, statusOf, type Made } from './keys.ts'

t.test('changing a key needs the tag of what is changed', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const made = await owner.post<Made>('/api-keys', BODY)
  const path = `/api-keys/${made.body.id}`
  const etag = made.headers.get('etag') as string
  t.match((await owner.send('PATCH', path, { name: 'New' })).problem, { status: 428, code: 'precondition-required' })
  t.match((await owner.send('PATCH', path, { name: 'New' }, { 'if-match': '"1-000000000000"' })).problem, {
    status: 412,
    code: 'precondition-failed',
    currentEtag: etag,
  })
  t.equal(
    (await owner.send('PATCH', path, { name: '' }, { 'if-match': '"stale"' })).status,
    412,
    'before the body is looked at',
  )
  t.equal((await owner.send('PATCH', path, { name: '' }, { 'if-match': etag })).status, 422)
  t.equal(
    (await owner.send('PATCH', '/api-keys/01980d6e-0000-7000-8000-00000000ffff', { name: '' }, { 'if-match': etag }))
      .status,
    404,
    'absence comes before the body, too',
  )

  await statusOf(world, made.body.secret, owner.tenantId)
  await until('the use is noted', async () => (await owner.get<ApiKeyView>(path)).body.lastUsedAt)
  const used = await owner.get<ApiKeyView>(path)
  t.equal(used.body.lastUsedIp, '127.0.0.1')
  t.equal(used.headers.get('etag'), etag, 'using a key does not change it')

  for (const header of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const current = (await owner.get(path)).headers.get('etag') as string
    const changed = await owner.send<ApiKeyView>(
      'PATCH',
      path,
      { name: unique('Key') },
      { 'if-match': header.replace(etag.slice(2), current.slice(2)) },
    )
    t.equal(changed.status, 200, header)
    t.equal(changed.headers.get('etag'), (await owner.get(path)).headers.get('etag'))
  }
  t.equal(await statusOf(world, made.body.secret, owner.tenantId), 200)
  t.equal((await owner.send('PATCH', path, { ipAllowlist: ['192.0.2.1'] }, { 'if-match': '*' })).status, 200)
  t.equal(await statusOf(world, made.body.secret, owner.tenantId), 403, 'at once, although the key was remembered')
  t.match((await owner.send('PATCH', path, { scopes: ['payments:write'] }, { 'if-match': '*' })).problem, {
    status: 422,
    errors: [{ field: '/scopes', code: 'read_only_field' }],
  })
})

t.test('a key that is to work from more addresses needs a step-up', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const made = await owner.post<Made>('/api-keys', { ...BODY, ipAllowlist: ['192.0.2.0/24', '2001:db8::/32'] })
  t.equal(made.status, 201, made.text)
  const path = `/api-keys/${made.body.id}`
  const list = async (ipAllowlist: readonly string[]) =>
    await owner.send<ApiKeyView>('PATCH', path, { ipAllowlist }, { 'if-match': '*' })
  // The proof that made the key is over.
  world.advance(STEP_UP_FRESH_MS + 1_000)
  for (const wider of [
    [],
    ['192.0.2.0/23'],
    ['192.0.2.0/24', '198.51.100.7'],
    ['::/0'],
    ['0.0.0.0/0'],
    ['192.0.2.0/24', '2001:db9::1'],
  ]) {
    t.match(
      (await list(wider)).problem,
      { status: 403, code: 'step-up-required', action: 'api_key.create' },
      JSON.stringify(wider),
    )
  }
  t.strictSame(
    (await owner.get<ApiKeyView>(path)).body.ipAllowlist,
    ['192.0.2.0/24', '2001:db8::/32'],
    'nothing has changed',
  )
  t.equal(
    (await owner.send('PATCH', path, { name: unique('Key') }, { 'if-match': '*' })).status,
    200,
    'a name alone needs no proof',
  )
  for (const narrower of [
    ['192.0.2.128/25', '2001:db8::/32'],
    ['192.0.2.129', '2001:db8:1::/48'],
  ])
    t.strictSame((await list(narrower)).body.ipAllowlist, narrower)
  await owner.stepUp('api_key.create')
  t.strictSame((await list([])).body.ipAllowlist, [])
})

t.test('of two who change the same copy one is told', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const made = await owner.post<Made>('/api-keys', BODY)
  const etag = made.headers.get('etag') as string
  const replies = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      owner.send('PATCH', `/api-keys/${made.body.id}`, { name }, { 'if-match': etag }),
    ),
  )
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 412, 412, 412])
})

t.test('a key is replaced with grace, or at once', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const old = (await owner.post<Made>('/api-keys', { ...BODY, ipAllowlist: ['127.0.0.1'] })).body
  const rotated = await owner.post<Made>(`/api-keys/${old.id}/rotate`)
  t.equal(rotated.status, 201)
  const next = rotated.body
  t.match(next, { name: 'ERP', scopes: BODY.scopes, ipAllowlist: ['127.0.0.1'], replacesId: old.id, status: 'active' })
  const { body: was } = await owner.get<ApiKeyView>(`/api-keys/${old.id}`)
  t.match(was, { status: 'rotating', replacedById: next.id })
  t.ok(Math.abs(Date.parse(was.graceEndsAt as string) - world.now() - 24 * 3_600_000) < 60_000)
  t.equal(await statusOf(world, old.secret, owner.tenantId), 200)
  t.equal(await statusOf(world, next.secret, owner.tenantId), 200)
  t.match((await owner.post(`/api-keys/${old.id}/rotate`)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'rotating',
  })
  t.match((await owner.post(`/api-keys/${next.id}/rotate`, { gracePeriodHours: 169 })).problem, {
    status: 422,
    errors: [{ field: '/gracePeriodHours', code: 'too_large' }],
  })

  const last = (await owner.post<Made>(`/api-keys/${next.id}/rotate`, { gracePeriodHours: 0 })).body
  t.equal(await statusOf(world, next.secret, owner.tenantId), 401, 'without grace the old one ends at once')
  t.equal(await statusOf(world, last.secret, owner.tenantId), 200)

  world.advance(24 * 3_600_000)
  t.equal(await statusOf(world, old.secret, owner.tenantId), 401)
  await owner.signIn()
  t.match((await owner.get<ApiKeyView>(`/api-keys/${old.id}`)).body, { status: 'revoked', revokedAt: was.graceEndsAt })
  t.strictSame((await owner.get<{ data: { id: string }[] }>('/api-keys?filter[status]=rotating')).body.data, [])
})

t.test('an expired key is refused at its moment', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const made = (
    await owner.post<Made>('/api-keys', { ...BODY, expiresAt: new Date(world.now() + 120_000).toISOString() })
  ).body
  t.equal(await statusOf(world, made.secret, owner.tenantId), 200)
  world.advance(120_000)
  const refused = await new Client({ url: () => world.url, apiKey: made.secret, tenantId: owner.tenantId }).get(
    '/balances',
  )
  t.match(refused.problem, { status: 401, code: 'invalid-api-key' })
  t.equal((await owner.get<ApiKeyView>(`/api-keys/${made.id}`)).body.status, 'expired')
})

t.test('a revoked key is refused at once, here and on every other node', async (t) => {
  await using world = await createWorld({ settings: { SECRETS_KEY: 'a secret that both nodes of this test share' } })
  await using other = await createWorld({
    databaseUrl: world.databaseUrl,
    settings: { SECRETS_KEY: 'a secret that both nodes of this test share' },
  })
  const owner = await keyMaker(world)
  // The other node remembers the key for a second; only the word of the change makes it forget sooner.
  for (let round = 0; round < 5; round++) {
    const made = (await owner.post<Made>('/api-keys', BODY)).body
    t.equal(await statusOf(world, made.secret, owner.tenantId), 200)
    t.equal(await statusOf(other, made.secret, owner.tenantId), 200)
    await owner.stepUp('api_key.revoke')
    const revoked = await owner.send('DELETE', `/api-keys/${made.id}`)
    t.equal(revoked.status, 204)
    t.equal(revoked.text, '')
    t.equal(await statusOf(world, made.secret, owner.tenantId), 401)
    t.equal(await statusOf(other, made.secret, owner.tenantId), 401, 'the other node has heard of it')
    t.match((await owner.get<ApiKeyView>(`/api-keys/${made.id}`)).body, {
      status: 'revoked',
      revokedAt: /Z$/,
      revokedBy: /-/,
    })
    t.equal((await owner.send('DELETE', `/api-keys/${made.id}`)).status, 204, 'revoking again changes nothing')
    await owner.stepUp('api_key.create')
  }
  const made = (await owner.post<Made>('/api-keys', BODY)).body
  await owner.stepUp('api_key.revoke')
  t.equal(
    (await owner.send('DELETE', `/api-keys/${made.id}`, undefined, { 'if-match': '"stale"' })).status,
    412,
    'a tag is compared when it is sent',
  )
  t.equal((await owner.send('DELETE', '/api-keys/01980d6e-0000-7000-8000-00000000ffff')).status, 404)
})

t.test('a node that was cut off from the word forgets all it knew', async (t) => {
  // The clock stands still, so that the key is not forgotten because of its age.
  await using world = await createWorld({ stillClock: true })
  const owner = await keyMaker(world)
  const made = (await owner.post<Made>('/api-keys', BODY)).body
  t.equal(await statusOf(world, made.secret, owner.tenantId), 200)
  const cut = await world.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vostro listener' and datname = current_database()",
  )
  await until(
    'the listener is back',
    async () =>
      (
        await world.query(
          "select 1 from pg_stat_activity where application_name = 'vostro listener' and datname = current_database()",
        )
      ).length === cut.length,
  )
  await world.query("update api_key set status = 'revoked' where id = $1", [made.id])
  await until('the key is forgotten', async () => (await statusOf(world, made.secret, owner.tenantId)) === 401)
})

t.test('use is noted at most once a minute', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const made = (await owner.post<Made>('/api-keys', BODY)).body
  const used = async () =>
    (
      await world.query<{ at: Date | null }>('select last_used_at as at from api_key where id = $1', [made.id])
    )[0]?.at?.getTime() ?? 0
  await statusOf(world, made.secret, owner.tenantId)
  const first = await until('the first use is noted', async () => await used())
  for (let second = 0; second < 3; second++) {
    world.advance(2_000)
    await statusOf(world, made.secret, owner.tenantId)
  }
  t.equal(await used(), first)
  world.advance(60_000)
  await statusOf(world, made.secret, owner.tenantId)
  await until('a use after a minute is noted', async () => (await used()) > first)
})

t.test('fifty keys are enough, also for those who ask at the same time', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, n) => owner.post('/api-keys', { ...BODY, name: `Key ${n}` })),
  )
  t.equal(replies.filter(({ status }) => status === 201).length, 49, 'with the one of the sandbox')
  t.match(replies.find(({ status }) => status !== 201)?.problem, {
    status: 409,
    code: 'limit-reached',
    limit: 50,
    resource: 'api_key',
  })
})
