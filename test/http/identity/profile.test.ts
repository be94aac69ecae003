import t from 'tap'
import type { MfaFactor, User } from '../../../lib/identity/user-schema.ts'
import { totpCode } from '../../../lib/identity/totp.ts'
import { createWorld } from '../../support/world.ts'

type Added = MfaFactor & { readonly secret: string; readonly otpauthUri: string }

t.test('people read and change their own profile, from the copy they have seen', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const read = await owner.get<User>('/users/me')
  const etag = read.headers.get('etag') as string
  t.match(read.body, { email: 'owner@example.com', mfaEnabled: true, phone: null, locale: 'en' })
  t.equal((await owner.get('/users/me', { 'if-none-match': etag })).status, 304)
  t.equal((await owner.send('PATCH', '/users/me', { name: 'Ann' })).status, 428)
  t.match((await owner.send('PATCH', '/users/me', { name: 'Ann' }, { 'if-match': '"0-000000000000"' })).problem, {
    status: 412,
    currentEtag: etag,
  })
  const changed = await owner.send<User>(
    'PATCH',
    '/users/me',
    { name: ' Zoë\u0308 ', phone: '+31201234567' },
    { 'if-match': etag },
  )
  t.equal(changed.status, 200)
  t.match(changed.body, { phone: '+31201234567', locale: 'en' })
  t.equal(changed.headers.get('etag'), (await owner.get('/users/me')).headers.get('etag'))
  t.equal((await owner.send<User>('PATCH', '/users/me', { phone: null }, { 'if-match': '*' })).body.phone, null)
  for (const [body, field, code] of [
    [{ name: '' }, '/name', 'too_short'],
    [{ phone: '020 1234567' }, '/phone', 'invalid_format'],
    [{ locale: 'klingon' }, '/locale', 'invalid_format'],
    [{ email: 'other@example.com' }, '/email', 'read_only_field'],
    [{ role: 'owner' }, '/role', 'unknown_field'],
  ] as const) {
    t.match(
      (await owner.send('PATCH', '/users/me', body, { 'if-match': '*' })).problem,
      { status: 422, errors: [{ field, code }] },
      field,
    )
  }
  const copy = (await owner.get('/users/me')).headers.get('etag') as string
  const replies = await Promise.all(
    ['a', 'b', 'c'].map((name) => owner.send('PATCH', '/users/me', { name }, { 'if-match': copy })),
  )
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 412, 412])
})

t.test('a second factor counts once it is confirmed; the last one stays', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const [first] = (await owner.get<{ data: MfaFactor[] }>('/users/me/mfa-factors')).body.data
  t.match(first, { kind: 'totp', status: 'active' })
  t.match((await owner.post('/users/me/mfa-factors', { kind: 'totp' })).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'settings.change',
  })
  await owner.stepUp('settings.change')
  t.match((await owner.send('DELETE', `/users/me/mfa-factors/${first!.id}`)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'last_factor',
  })

  const added = await owner.post<Added>('/users/me/mfa-factors', { kind: 'totp', name: 'Spare' })
  t.equal(added.status, 201)
  t.match(added.body, { name: 'Spare', status: 'pending', secret: /^[A-Z2-7]{32}$/, otpauthUri: /^otpauth:\/\/totp\// })
  const { id, secret } = added.body
  t.equal(added.headers.get('location'), `/v1/users/me/mfa-factors/${id}`)
  const read = await owner.get<MfaFactor>(`/users/me/mfa-factors/${id}`)
  t.match(read.body, { id, name: 'Spare', status: 'pending' }, 'it is where its Location says')
  t.equal(read.headers.get('etag'), added.headers.get('etag'))
  t.notMatch(read.text, secret)
  const approver = await world.person('approver').signIn()
  t.equal((await approver.get(`/users/me/mfa-factors/${id}`)).status, 404, 'the factor of another person')
  const listed = await owner.get<{ data: object[] }>('/users/me/mfa-factors')
  t.equal(listed.body.data.length, 2)
  t.notMatch(listed.text, secret, 'a secret is shown once')
  t.match(
    (await owner.send('DELETE', `/users/me/mfa-factors/${first!.id}`)).problem,
    { currentStatus: 'last_factor' },
    'one that is not confirmed does not count',
  )
  t.match((await owner.post(`/users/me/mfa-factors/${id}/verify`, { code: owner.code() })).problem, {
    status: 422,
    errors: [{ field: '/code', code: 'invalid_value' }],
  })
  t.match(
    (await owner.post<MfaFactor>(`/users/me/mfa-factors/${id}/verify`, { code: totpCode(secret, world.now()) })).body,
    { id, status: 'active' },
  )
  t.match((await owner.post(`/users/me/mfa-factors/${id}/verify`, { code: totpCode(secret, world.now()) })).problem, {
    status: 409,
    code: 'invalid-transition',
  })
  t.equal((await owner.send('DELETE', `/users/me/mfa-factors/${first!.id}`)).status, 204)
  t.equal((await owner.send('DELETE', `/users/me/mfa-factors/${first!.id}`)).status, 404)

  const half = (await owner.password()).body
  const answer = (code: string) =>
    owner.send(
      'POST',
      '/sessions/current/mfa',
      { challengeId: half.mfa?.challengeId, method: 'totp', code },
      {},
      half.token,
    )
  t.equal((await answer(owner.code())).status, 401, 'the removed one proves nothing')
  t.equal((await answer(totpCode(secret, world.now()))).status, 200)
  const [row] = await world.query<{ sealed: string }>(
    `select encode(secret, 'escape') as sealed from mfa_factor where id = $1`,
    [id],
  )
  t.notMatch(row?.sealed, secret, 'secrets are sealed at rest')
})

t.test("a person has at most ten second factors, and nobody else's", async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  await owner.stepUp('settings.change')
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => owner.post<Added>('/users/me/mfa-factors', { kind: 'totp' })),
  )
  t.equal(replies.filter(({ status }) => status === 201).length, 9)
  t.match(replies.find(({ status }) => status !== 201)?.problem, {
    status: 409,
    code: 'limit-reached',
    limit: 10,
    resource: 'mfa_factor',
  })
  const { id } = replies.find(({ status }) => status === 201)!.body
  const approver = await world.person('approver').signIn()
  await approver.stepUp('settings.change')
  t.equal((await approver.send('DELETE', `/users/me/mfa-factors/${id}`)).problem.code, 'not-found')
  t.equal((await approver.post(`/users/me/mfa-factors/${id}/verify`, { code: '123456' })).problem.code, 'not-found')
})

t.test('who has no second factor signs in without one, can prove nothing, and adds their first', async (t) => {
  await using world = await createWorld()
  await world.query(
    `delete from mfa_factor where user_id = (select id from platform_user where email = 'preparer@example.com')`,
  )
  const preparer = await world.person('preparer').signIn()
  t.equal((await preparer.get<User>('/users/me')).body.mfaEnabled, false)
  t.match((await preparer.post('/step-up/challenges', { action: 'payment.above_threshold' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'no_factor',
  })
  const { id, secret } = (await preparer.post<Added>('/users/me/mfa-factors', { kind: 'totp' })).body
  t.equal(
    (await preparer.post(`/users/me/mfa-factors/${id}/verify`, { code: totpCode(secret, world.now()) })).status,
    200,
  )
  t.equal((await preparer.get<User>('/users/me')).body.mfaEnabled, true)
  t.match(
    (await preparer.post('/users/me/mfa-factors', { kind: 'totp' })).problem,
    { code: 'step-up-required' },
    'from then on it takes one to get another',
  )
})

t.test('where money is real a code is good once', async (t) => {
  await using world = await createWorld({ overrides: { singleUseCodes: true } })
  const owner = await world.person('owner').signIn()
  const { challengeId } = (
    await owner.post<{ challengeId: string }>('/step-up/challenges', { action: 'settings.change' })
  ).body
  const answer = () => owner.post(`/step-up/challenges/${challengeId}/verify`, { method: 'totp', code: owner.code() })
  t.match(
    (await answer()).problem,
    { status: 422, errors: [{ field: '/code', code: 'invalid_value' }] },
    'it was used to sign in',
  )
  world.advance(30_000)
  t.equal((await answer()).status, 200)
})
