/** Recovery codes: the way back in for people whose authenticator is gone. */
import t from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { MfaFactor, NewRecoveryCodes, RecoveryCodes } from '../../../lib/identity/user-schema.ts'
import { HOUR_MS } from '../../../lib/base/clock.ts'
import { Authenticator } from '../../support/authenticator.ts'
import type { PageBody } from '../../support/client.ts'
import { mailsOf } from '../../support/mails.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import {
  addAuthenticator,
  answerStepUp,
  challengeFor,
  finishSignIn,
  type HalfOpened,
  originOf,
  prove,
} from './factors.ts'

const PATH = '/users/me/recovery-codes'

/** Makes codes, with the step-up that it takes. */
async function makeCodes(person: Person): Promise<readonly string[]> {
  await person.stepUp('settings.change')
  return (await person.post<NewRecoveryCodes>(PATH)).body.codes
}

/** Signs in with the password, and then with a recovery code. */
async function signInWith(person: Person, code: string) {
  return await finishSignIn(person, (await person.password()).body, { method: 'recovery_code', code })
}

t.test('ten codes are shown once; each signs in once, and the person is told', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  t.strictSame((await owner.get(PATH)).body, { left: 0, createdAt: null })
  t.match((await owner.post(PATH)).problem, { status: 403, code: 'step-up-required', action: 'settings.change' })
  t.strictSame((await owner.password()).body.mfa?.methods, ['totp'])

  await owner.stepUp('settings.change')
  const made = await owner.post<NewRecoveryCodes>(PATH)
  t.equal(made.status, 201)
  t.equal(made.headers.get('location'), `/v1${PATH}`)
  t.match(made.body, { left: 10, createdAt: /Z$/ })
  const { codes } = made.body
  t.equal(new Set(codes).size, 10)
  const read = await owner.get<RecoveryCodes>(PATH)
  t.strictSame(read.body, { left: 10, createdAt: made.body.createdAt })
  t.equal(read.headers.get('etag'), made.headers.get('etag'))

  const [first, second] = codes as [string, string]
  t.strictSame((await owner.password()).body.mfa?.methods, ['totp', 'recovery_code'])
  const opened = await signInWith(owner, first.toLowerCase().replaceAll('-', ' '))
  t.match(opened.body, { status: 'active' })
  t.match((await owner.send('GET', '/sessions/current', undefined, {}, opened.body.token)).body, {
    mfaMethod: 'recovery_code',
  })
  t.equal((await owner.get<RecoveryCodes>(PATH)).body.left, 9)
  t.match((await signInWith(owner, first)).problem, { status: 401, code: 'unauthenticated' }, 'a second time')
  const approver = world.person('approver')
  await makeCodes(await approver.signIn())
  t.equal((await signInWith(approver, second)).status, 401, 'the code of another person')
  t.equal((await owner.get<RecoveryCodes>(PATH)).body.left, 9)

  const { data } = (await owner.get<PageBody<AuditEvent>>('/audit-events?limit=100')).body
  t.match(
    data.find(({ action }) => action === 'recovery_code.used'),
    { object: { type: 'user' }, before: { left: 10 }, after: { left: 9 }, address: '127.0.0.1' },
  )
  t.ok(data.some(({ action }) => action === 'recovery_codes.created'))
  t.match(
    data.find(({ action, object }) => action === 'session.created' && object.id === opened.body.sessionId)?.after,
    {
      method: 'recovery_code',
    },
  )
  const { data: notices } = (await owner.get<{ data: object[] }>('/notifications')).body
  t.match(
    notices.filter((notice) => (notice as { type: string }).type === 'security_alert'),
    [
      { title: 'A recovery code was used', text: /from the address 127\.0\.0\.1; 9 are left/ },
      { title: 'New recovery codes were made', text: /from the address 127\.0\.0\.1/ },
    ],
  )
  await until(
    'a mail',
    async () => (await mailsOf(world)).some((mail) => mail.includes('A recovery code was used')) || null,
  )
  const [kept] = await world.query<{ text: string }>(
    `select string_agg(r::text, ' ') || (select string_agg(a::text, ' ') from audit_event a) as text from recovery_code r`,
  )
  for (const code of codes)
    for (const form of [code, code.replaceAll('-', '')]) t.notOk(kept!.text.includes(form), 'no code is kept')
})

t.test('one code used many times at once opens one session', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const [code] = (await makeCodes(owner)) as [string]
  const halves = await Promise.all([1, 2, 3, 4].map(async () => (await owner.password()).body))
  const replies = await Promise.all(halves.map((half) => finishSignIn(owner, half, { method: 'recovery_code', code })))
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 401, 401, 401])
  t.equal((await owner.get<RecoveryCodes>(PATH)).body.left, 9)
})

t.test('new codes replace the old ones, also when two are made at once', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const [old] = (await makeCodes(owner)) as [string]
  const replies = await Promise.all([1, 2, 3].map(() => owner.post<NewRecoveryCodes>(PATH)))
  t.equal((await owner.get<RecoveryCodes>(PATH)).body.left, 10)
  t.equal((await signInWith(owner, old)).status, 401)
  const results = []
  for (const { body } of replies) results.push((await signInWith(owner, body.codes[0] as string)).status)
  t.strictSame(results.toSorted(), [200, 401, 401], 'those of one request work')
})

t.test('a code opens the settings and nothing else; guesses are limited', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const [code, spare] = (await makeCodes(owner)) as [string, string]
  const payment = await challengeFor(owner, { action: 'payment.above_threshold' })
  t.strictSame(payment.methods, ['totp'])
  for (const action of ['api_key.create', 'membership.change', 'approval.decide'])
    t.strictSame((await challengeFor(owner, { action })).methods, ['totp'], `${action} lets money move later`)
  t.match((await answerStepUp(owner, payment.challengeId, { method: 'recovery_code', code })).problem, {
    status: 422,
    errors: [{ field: '/method', code: 'invalid_value', message: 'This challenge takes totp.' }],
  })
  t.equal((await owner.get<RecoveryCodes>(PATH)).body.left, 10, 'it was not used up')
  const settings = await challengeFor(owner, { action: 'settings.change', method: 'recovery_code' })
  t.match(settings, { methods: ['totp', 'recovery_code'], preferredMethod: 'recovery_code' })
  const proven = await answerStepUp(owner, settings.challengeId, { method: 'recovery_code', code })
  t.equal(proven.status, 200, proven.text)
  owner.token = proven.body.token
  t.equal((await owner.post('/users/me/mfa-factors', { kind: 'totp' })).status, 201, 'a new factor is what it is for')

  const guessed = await challengeFor(owner, { action: 'settings.change' })
  const guess = (text: string) => answerStepUp(owner, guessed.challengeId, { method: 'recovery_code', code: text })
  for (let wrong = 0; wrong < 4; wrong++)
    t.match((await guess('0000-0000-0000-0000')).problem, {
      status: 422,
      errors: [{ field: '/code', code: 'invalid_value' }],
    })
  t.equal((await guess('0000-0000-0000-0000')).problem.code, 'challenge-locked')
  t.equal((await guess(spare)).problem.code, 'challenge-locked')
  t.equal((await owner.get<RecoveryCodes>(PATH)).body.left, 9)
})

t.test('a factor that was added with a code moves money after a day, and so do those that it brings', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const [first, second, third] = (await makeCodes(owner)) as [string, string, string]
  const [lost] = (await owner.get<{ data: MfaFactor[] }>('/users/me/mfa-factors')).body.data as [MfaFactor]
  t.equal(lost.waitsUntil, null)
  const opened = (await signInWith(owner, first)).body
  owner.token = opened.token
  const byCode = async (code: string) => {
    const { challengeId } = await challengeFor(owner, { action: 'settings.change' })
    const proven = await answerStepUp(owner, challengeId, { method: 'recovery_code', code })
    owner.token = proven.body.token
  }
  const add = async () => {
    const added = await addAuthenticator(owner)
    const authenticator = new Authenticator({ origin: originOf(world) })
    const attestation = authenticator.create(added.publicKey!)
    const confirmed = await owner.post<MfaFactor>(`/users/me/mfa-factors/${added.id}/verify`, { attestation })
    t.equal(confirmed.status, 200, confirmed.text)
    return { authenticator, added, confirmed: confirmed.body }
  }
  await byCode(second)
  const asked = world.now()
  const { authenticator, added, confirmed } = await add()
  const waitsUntil = Date.parse(confirmed.waitsUntil as string)
  t.ok(waitsUntil >= asked + 24 * HOUR_MS && waitsUntil <= world.now() + 24 * HOUR_MS, 'a day')
  t.ok(added.waitsUntil !== null && Date.parse(added.waitsUntil) <= waitsUntil, 'from the moment in which it was added')
  t.strictSame((await challengeFor(owner, { action: 'payment.above_threshold' })).methods, ['totp'])
  t.strictSame((await challengeFor(owner, { action: 'approval.decide' })).methods, ['totp'])
  t.match((await challengeFor(owner, { action: 'settings.change' })).methods, ['webauthn', 'totp'])
  const signIn = async () => {
    const half = (await owner.password()).body as HalfOpened
    const assertion = authenticator.get(half.mfa.publicKey)
    owner.token = (await finishSignIn(owner, half, { method: 'webauthn', assertion })).body.token
  }
  await signIn()
  const settings = await prove(owner, authenticator, { action: 'settings.change' })
  t.equal(settings.status, 200, settings.text)
  owner.token = settings.body.token

  const next = await add()
  t.equal(next.confirmed.waitsUntil, confirmed.waitsUntil, 'what it brings waits as long')
  t.equal((await owner.send('DELETE', `/users/me/mfa-factors/${next.added.id}`)).status, 204)
  t.match(
    (await owner.post('/users/me/mfa-factors', { kind: 'webauthn' })).problem,
    { code: 'step-up-required' },
    'without it another one is not added on its proof',
  )
  await byCode(third)
  t.equal((await owner.send('DELETE', `/users/me/mfa-factors/${lost.id}`)).status, 204)
  const early = await owner.post('/step-up/challenges', { action: 'payment.above_threshold' })
  t.match(early.problem, { status: 409, code: 'invalid-transition', currentStatus: 'factor_waits' })
  t.strictSame(
    await world.query(`select from challenge where action = 'payment.above_threshold' and verified_at is not null`),
    [],
  )

  world.advance(24 * HOUR_MS + 1_000)
  await signIn()
  const paid = await prove(owner, authenticator, { action: 'payment.above_threshold' })
  t.equal(paid.status, 200, paid.text)
})
