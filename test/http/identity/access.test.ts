import t from 'tap'
import { createWorld } from '../../support/world.ts'

t.test("a tenant must be named, be one's own, and fit the operation", async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  t.match((await owner.get('/balances', { 'x-tenant-id': undefined })).problem, {
    status: 400,
    errors: [{ field: 'header.X-Tenant-Id', code: 'required' }],
  })
  t.match((await owner.get('/balances', { 'x-tenant-id': 'mine' })).problem, {
    status: 400,
    errors: [{ field: 'header.X-Tenant-Id', code: 'invalid_format' }],
  })
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 100n }] })
  for (const tenant of [stranger.id, world.operator.tenantId, '01980d6e-0000-7000-8000-00000000ffff']) {
    t.match((await owner.get('/balances', { 'x-tenant-id': tenant })).problem, {
      status: 403,
      code: 'tenant-forbidden',
    })
  }
  t.equal((await owner.get('/balances', { 'x-tenant-id': owner.tenantId.toUpperCase() })).status, 200)
  t.match(
    (await owner.get(`/balances/${stranger.balanceIds[0]}`)).problem,
    { status: 404, code: 'not-found' },
    "what is another's does not exist",
  )
})

t.test('staff reach the customers of their operator where an operation is for any tenant', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operations').signIn()
  const customer = world.seeded.client.tenantId
  const all = (await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })).balanceIds
  const ids = async (headers = {}) =>
    (await staff.get<{ data: { id: string }[] }>('/balances?limit=100', headers)).body.data.map(({ id }) => id).sort()
  t.strictSame(await ids({ 'x-tenant-id': customer }), Object.values(world.seeded.balances).sort())
  t.strictSame(
    await ids(),
    [...Object.values(world.seeded.balances), ...all].sort(),
    "and all of them under the operator's own id",
  )
  for (const path of ['/payments', `/balances/${world.seeded.balances.EUR}`])
    t.equal((await staff.get(path, { 'x-tenant-id': customer })).status, 200, `${path}: staff look at its money`)
  for (const path of ['/recipients', `/recipients/${world.seeded.recipients.EUR}`]) {
    t.match(
      (await staff.get(path, { 'x-tenant-id': customer })).problem,
      { code: 'tenant-forbidden' },
      'but not where it is for customers',
    )
  }
  const foreign = '01980d6e-0000-7000-8000-00000000ffff'
  await world.query('insert into operator (id, name, created_at) values ($1, $2, now())', [foreign, 'Another operator'])
  await world.query('update customer set operator_id = $1 where id = $2', [foreign, customer])
  t.match(
    (await staff.get('/balances', { 'x-tenant-id': customer })).problem,
    { code: 'tenant-forbidden' },
    'and not those of another operator',
  )
  await world.query('update customer set operator_id = $1 where id = $2', [staff.tenantId, customer])
})

t.test('roles allow what they allow', async (t) => {
  await using world = await createWorld()
  const approver = await world.person('approver').signIn()
  t.equal((await approver.get('/payments')).status, 200)
  t.match((await approver.post('/payments', {})).problem, {
    status: 403,
    code: 'insufficient-scope',
    requiredCapability: 'payments.create',
  })
  t.match((await approver.get('/api-keys')).problem, {
    code: 'insufficient-scope',
    requiredCapability: 'api_keys.manage',
  })
  t.match((await approver.get('/audit-events')).problem, {
    code: 'insufficient-scope',
    requiredCapability: 'audit.read',
  })
  await world.query("update membership set role = 'cardholder' where role = 'approver'")
  t.match((await approver.get('/payments')).problem, {
    code: 'insufficient-scope',
    requiredCapability: 'payments:read',
  })
})

t.test('a step-up is for one action, one tenant, one session and five minutes', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const body = { name: 'Key', environment: 'test', scopes: ['payments:read'] }
  const refused = await owner.post('/api-keys', 'not even JSON', { 'content-type': 'text/plain' })
  t.match(
    refused.problem,
    { status: 403, code: 'step-up-required', action: 'api_key.create', challengeUrl: '/v1/step-up/challenges' },
    'before the body is looked at',
  )

  const asked = await owner.post<{ challengeId: string }>('/step-up/challenges', { action: 'api_key.create' })
  t.equal(asked.status, 201)
  t.match(asked.body, {
    action: 'api_key.create',
    methods: ['totp'],
    preferredMethod: 'totp',
    display: { title: 'Create or rotate an API key', amount: null, counterparty: null },
  })
  t.equal(asked.headers.get('location'), `/v1/step-up/challenges/${asked.body.challengeId}`)
  t.equal((await owner.post('/api-keys', body)).status, 403, 'a challenge that nobody answered proves nothing')
  const before = owner.token
  const proven = await owner.post<{ token: string; verifiedAt: string; validUntil: string }>(
    `/step-up/challenges/${asked.body.challengeId}/verify`,
    { method: 'totp', code: owner.code() },
  )
  t.equal(proven.status, 200)
  t.equal(Date.parse(proven.body.validUntil) - Date.parse(proven.body.verifiedAt), 300_000)
  t.not(proven.body.token, before)
  t.equal((await owner.post('/api-keys', body)).status, 201, 'the token of before is good while the proof is')
  owner.token = proven.body.token
  t.equal((await owner.post('/api-keys', body)).status, 201)
  t.equal((await owner.post('/api-keys', body)).status, 201, 'good for five minutes, not for one request')
  t.match((await owner.send('DELETE', '/api-keys/01980d6e-0000-7000-8000-00000000ffff')).problem, {
    code: 'step-up-required',
    action: 'api_key.revoke',
  })
  const other = await world.person('owner').signIn()
  t.equal((await other.post('/api-keys', body)).problem.code, 'step-up-required', 'another session of the same person')
  world.advance(301_000)
  t.equal((await owner.post('/api-keys', body)).problem.code, 'step-up-required')
  t.equal(
    (await owner.send('GET', '/users/me', undefined, {}, before)).problem.code,
    'unauthenticated',
    'the token of before is void by now',
  )
  t.equal((await owner.get('/users/me')).status, 200)
})

t.test('a challenge with a subject is good for that subject', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  await owner.stepUp('api_key.create')
  const make = async () =>
    (await owner.post<{ id: string }>('/api-keys', { name: 'Key', environment: 'test', scopes: ['payments:read'] }))
      .body.id
  const [one, two] = [await make(), await make()]
  await owner.stepUp('api_key.revoke', { type: 'api_key', id: one })
  t.equal((await owner.send('DELETE', `/api-keys/${two}`)).problem.code, 'step-up-required')
  t.equal((await owner.send('DELETE', `/api-keys/${one.toUpperCase()}`)).status, 204)
})

t.test('a challenge shows what it is about, and knows its subjects', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const subject = { type: 'recipient', id: world.seeded.recipients.EUR }
  t.match((await owner.post('/step-up/challenges', { action: 'recipient.update', subject })).body, {
    display: { counterparty: 'Amsterdam Trading BV' },
  })
  t.match(
    (
      await owner.post('/step-up/challenges', {
        action: 'recipient.update',
        subject: { ...subject, id: owner.tenantId },
      })
    ).problem,
    { status: 422, errors: [{ field: '/subject/id', code: 'not_found' }] },
  )
  const made = await owner.post<{ challengeId: string }>('/step-up/challenges', { action: 'recipient.update', subject })
  const path = made.headers.get('location')!.slice('/v1'.length)
  const read = await owner.get(path)
  t.strictSame([read.status, read.text], [200, made.text], 'it is where its Location says')
  t.equal(read.headers.get('etag'), made.headers.get('etag'))
  t.equal((await owner.get(path.toUpperCase().replace('/STEP-UP/CHALLENGES', '/step-up/challenges'))).status, 200)
  const elsewhere = await world.person('owner').signIn()
  for (const [name, other] of [
    ['another session of the person', elsewhere],
    ['another person', await world.person('approver').signIn()],
  ] as const)
    t.match((await other.get(path)).problem, { status: 404, code: 'not-found' }, name)
  const unproven = await world.person('owner').password()
  t.equal((await owner.get(`/step-up/challenges/${unproven.body.mfa!.challengeId}`)).status, 404, 'that of a sign-in')
  await owner.post(`${path}/verify`, { method: 'totp', code: owner.code() })
  t.equal((await owner.get(path)).text, made.text, 'also when it has been answered')
  t.match((await owner.post('/step-up/challenges', { action: 'nonsense' })).problem, {
    errors: [{ field: '/action', code: 'invalid_value' }],
  })
  t.match((await owner.post('/step-up/challenges', { action: 'card.manage', method: 'webauthn' })).problem, {
    errors: [{ field: '/method', code: 'invalid_value' }],
  })
})

t.test('wrong codes of a person are counted over challenges that are answered at once, on every node', async (t) => {
  await using world = await createWorld({ nodes: 2 })
  const owner = await world.person('owner').signIn()
  const challenges: string[] = []
  for (let nth = 0; nth < 24; nth++) {
    const asked = await owner.post<{ challengeId: string }>('/step-up/challenges', { action: 'settings.change' })
    challenges.push(asked.body.challengeId)
  }
  const replies = await Promise.all(
    challenges.map((id) => owner.post(`/step-up/challenges/${id}/verify`, { method: 'totp', code: owner.wrongCode() })),
  )
  t.equal(replies.filter(({ status }) => status === 422).length, 15, 'no more than the limit are looked at')
  t.equal(replies.filter(({ problem }) => problem.code === 'challenge-locked').length, 9)
  t.strictSame(await world.query('select sum(wrong_codes)::int as codes from challenge'), [{ codes: 15 }])
})

t.test('wrong codes are counted, and the fifth locks', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const ask = async () =>
    (await owner.post<{ challengeId: string }>('/step-up/challenges', { action: 'settings.change' })).body.challengeId
  const challengeId = await ask()
  const answer = (id: string, code: string) => owner.post(`/step-up/challenges/${id}/verify`, { method: 'totp', code })
  for (let wrong = 0; wrong < 4; wrong++)
    t.match((await answer(challengeId, owner.wrongCode())).problem, {
      status: 422,
      errors: [{ field: '/code', code: 'invalid_value' }],
    })
  t.match((await answer(challengeId, owner.wrongCode())).problem, { status: 409, code: 'challenge-locked' })
  t.match((await answer(challengeId, owner.code())).problem, { status: 409, code: 'challenge-locked' })
  const parallel = await ask()
  const replies = await Promise.all(Array.from({ length: 9 }, () => answer(parallel, owner.wrongCode())))
  t.equal(replies.filter(({ status }) => status === 422).length, 4, 'guessing in parallel gains nothing')
  const late = await ask()
  world.advance(300_000)
  t.match((await answer(late, owner.code())).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'expired',
  })
  const good = await ask()
  const stranger = await world.person('approver').signIn()
  t.equal(
    (await stranger.post(`/step-up/challenges/${good}/verify`, { method: 'totp', code: stranger.code() })).status,
    404,
    'a challenge belongs to its session',
  )
  t.equal((await answer(good, '12345')).status, 422)
})

t.test('checks of people come in the order of all checks', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  const bad = { 'x-request-id': 'not good', 'content-type': 'text/plain' }
  const path = '/api-keys/nonsense?x=1'
  const patch = (person: typeof owner, headers: Record<string, string | undefined>, token?: string | null) =>
    person.send('PATCH', path, '{', { ...bad, ...headers }, token ?? person.token)
  t.equal((await patch(owner, { 'x-tenant-id': undefined }, 'ses_nonsense')).problem.code, 'unauthenticated')
  t.equal((await patch(approver, { 'x-tenant-id': undefined })).problem.errors?.[0]?.field, 'header.X-Tenant-Id')
  t.equal((await patch(approver, { 'x-tenant-id': world.operator.tenantId })).problem.code, 'tenant-forbidden')
  t.equal((await patch(approver, {})).problem.code, 'insufficient-scope')
  t.equal((await patch(owner, {})).problem.errors?.[0]?.field, 'header.X-Request-Id')
  t.equal((await patch(owner, { 'x-request-id': 'good' })).problem.errors?.[0]?.field, 'path.apiKeyId')
  const unknown = '/api-keys/01980d6e-0000-7000-8000-00000000ffff'
  const send = (suffix: string, headers: Record<string, string | undefined>, body = '{') =>
    owner.send('PATCH', unknown + suffix, body, { 'x-request-id': 'good', 'content-type': 'text/plain', ...headers })
  t.equal((await send('?x=1', {})).problem.errors?.[0]?.field, 'query.x')
  t.equal((await send('', {})).status, 428)
  t.equal((await send('', { 'if-match': '*' })).status, 415)
  t.equal((await send('', { 'if-match': '*', 'content-type': 'application/json' })).status, 400)
  t.equal((await send('', { 'if-match': '*', 'content-type': 'application/json' }, '{"name":5}')).status, 404)
})
