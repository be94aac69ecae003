import t from 'tap'
import type { Opened } from '../../support/person.ts'
import { createWorld } from '../../support/world.ts'

t.test('signing in takes a password and a second factor, and gives a new token at each step', async (t) => {
  await using world = await createWorld()
  const owner = world.person('owner')
  const first = await owner.password()
  t.equal(first.status, 201)
  t.equal(first.headers.get('location'), '/v1/sessions/current')
  t.equal(first.headers.get('cache-control'), 'no-store')
  const half = first.body
  t.match(half, { status: 'mfa_required', mfa: { methods: ['totp'] }, idleTimeoutSeconds: 900 })
  t.match(half.token, /^ses_[A-Za-z0-9_-]{43}$/)
  const cookie = first.headers.get('set-cookie') as string
  t.equal(cookie, `__Host-session=${half.token}; Path=/; Secure; HttpOnly; SameSite=Strict`)

  const early = await owner.send('GET', '/users/me', undefined, {}, half.token)
  t.equal(early.status, 401)
  t.match(early.problem, { code: 'mfa-required', challengeId: half.mfa?.challengeId, methods: ['totp'] })

  const done = await owner.send<Opened>(
    'POST',
    '/sessions/current/mfa',
    { challengeId: half.mfa?.challengeId, method: 'totp', code: owner.code() },
    {},
    half.token,
  )
  t.equal(done.status, 200)
  t.match(done.body, { status: 'active', mfa: null, sessionId: half.sessionId })
  t.not(done.body.token, half.token)
  t.equal((await owner.send('GET', '/users/me', undefined, {}, done.body.token)).status, 200)
  const stale = await owner.send('GET', '/users/me', undefined, {}, half.token)
  t.equal(stale.status, 401, 'a token that was planted before signing in is worth nothing after')
  t.equal(stale.problem.code, 'unauthenticated')

  const again = await owner.send(
    'POST',
    '/sessions/current/mfa',
    { challengeId: half.mfa?.challengeId, method: 'totp', code: owner.code() },
    {},
    done.body.token,
  )
  t.match(again.problem, { status: 409, code: 'invalid-transition', currentStatus: 'active' })
})

t.test('every failure to sign in has one answer', async (t) => {
  await using world = await createWorld()
  const { login } = world.person('owner')
  const owner = world.person('owner')
  const wrong = await owner.password('not the password')
  t.equal(wrong.status, 401)
  t.equal(wrong.headers.get('www-authenticate'), 'Bearer')
  const unknown = await owner.send(
    'POST',
    '/sessions',
    { email: 'nobody@example.com', password: login.password },
    {},
    null,
  )
  const { requestId: one, ...wrongBody } = wrong.problem
  const { requestId: two, ...unknownBody } = unknown.problem
  t.not(one, two)
  t.strictSame(unknownBody, wrongBody)
  t.equal(wrongBody.code, 'unauthenticated')
  t.equal(
    (await owner.send('POST', '/sessions', { email: 'OWNER@example.com', password: login.password }, {}, null)).status,
    201,
    'addresses have no case',
  )
})

t.test('an unknown address takes as long as a wrong password', async (t) => {
  // With a secret of its own it makes its people itself, with the hashes of the service.
  await using world = await createWorld({ settings: { SECRETS_KEY: 'a secret of which the people are made' } })
  const owner = world.person('owner')
  const time = async (email: string): Promise<number> => {
    const from = performance.now()
    const reply = await owner.send('POST', '/sessions', { email, password: 'not the password' }, {}, null)
    t.equal(reply.status, 401)
    return performance.now() - from
  }
  await time('warm@example.com')
  const known: number[] = []
  const unknown: number[] = []
  for (let round = 0; round < 15; round++) {
    // Interleaved, so that a busy machine slows both alike. Locked addresses do the same work.
    known.push(await time('approver@example.com'))
    unknown.push(await time(`nobody-${round % 3}@example.com`))
  }
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[7] as number
  const ratio = median(known) / median(unknown)
  // Without a hash the answer would come ten times as fast.
  t.ok(ratio > 1 / 3 && ratio < 3, `medians differ by a factor of ${ratio.toFixed(2)}`)
  t.ok(median(unknown) > 10, 'a password was hashed for nobody, too')
  // Both leave the same trace.
  const rows = await world.query<{ failures: number }>('select failures from login_attempt')
  t.equal(rows.length, 5)
})

t.test('five failures lock an address for a quarter of an hour, also with the right password', async (t) => {
  await using world = await createWorld()
  const preparer = world.person('preparer')
  for (let failure = 0; failure < 5; failure++) t.equal((await preparer.password('not the password')).status, 401)
  const locked = await preparer.password()
  t.equal(locked.status, 401)
  t.equal(locked.problem.code, 'unauthenticated')
  world.advance(14 * 60_000)
  t.equal((await preparer.password()).status, 401)
  world.advance(2 * 60_000)
  t.equal((await preparer.password()).status, 201)
  t.equal((await world.person('owner').password()).status, 201, 'nobody else is locked')
})

t.test('five wrong codes lock the challenge; the right one comes too late', async (t) => {
  await using world = await createWorld()
  const owner = world.person('owner')
  const { token, mfa } = (await owner.password()).body
  const answer = (code: string) =>
    owner.send('POST', '/sessions/current/mfa', { challengeId: mfa?.challengeId, method: 'totp', code }, {}, token)
  for (let wrong = 0; wrong < 4; wrong++)
    t.match((await answer(owner.wrongCode())).problem, { status: 401, code: 'unauthenticated' })
  t.match((await answer(owner.wrongCode())).problem, { status: 409, code: 'challenge-locked' })
  t.match((await answer(owner.code())).problem, { status: 409, code: 'challenge-locked' })
  t.match(
    (
      await owner.send(
        'POST',
        '/sessions/current/mfa',
        { challengeId: owner.tenantId, method: 'totp', code: owner.code() },
        {},
        token,
      )
    ).problem,
    { status: 422, errors: [{ field: '/challengeId', code: 'not_found' }] },
  )
  t.equal((await (await owner.signIn()).get('/users/me')).status, 200, 'signing in again is a new challenge')
  for (let round = 0; round < 2; round++) {
    const next = (await owner.password()).body
    for (let wrong = 0; wrong < 5; wrong++) {
      await owner.send(
        'POST',
        '/sessions/current/mfa',
        { challengeId: next.mfa?.challengeId, method: 'totp', code: owner.wrongCode() },
        {},
        next.token,
      )
    }
  }
  const last = (await owner.password()).body
  const refused = await owner.send(
    'POST',
    '/sessions/current/mfa',
    { challengeId: last.mfa?.challengeId, method: 'totp', code: owner.code() },
    {},
    last.token,
  )
  t.match(refused.problem, { code: 'challenge-locked' }, 'new challenges do not buy guesses without end')
})

t.test('the first start writes how its people sign in, and later starts find them', async (t) => {
  await using world = await createWorld()
  const before = world.service.sandbox
  t.equal(before?.operator.staff.length, 6)
  t.match(before?.customer.members.owner, {
    email: 'owner@example.com',
    password: /.{20}/,
    totpSecret: /^[A-Z2-7]{32}$/,
  })
  await world.restart()
  t.strictSame(world.service.sandbox, before)
  t.equal((await (await world.person('owner').signIn()).get('/users/me')).status, 200)
  // A sandbox of before there were people.
  await world.query('delete from membership')
  await world.query('delete from mfa_factor')
  await world.query('delete from session')
  await world.query('delete from platform_user')
  await world.restart()
  t.strictSame(world.service.sandbox, before)
  t.equal((await (await world.person('preparer').signIn()).get('/users/me')).status, 200)
})
