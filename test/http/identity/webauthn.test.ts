/** Second factors of WebAuthn, with an authenticator in software. */
import t from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { Session } from '../../../lib/identity/session-schema.ts'
import type { StepUpChallenge } from '../../../lib/identity/step-up-schema.ts'
import type { MfaFactor } from '../../../lib/identity/user-schema.ts'
import { Authenticator } from '../../support/authenticator.ts'
import type { PageBody } from '../../support/client.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { decide, setPolicy, tier } from '../approvals/people.ts'
import {
  addAuthenticator,
  answerStepUp,
  challengeFor,
  finishSignIn,
  originOf,
  prove,
  register,
  type HalfOpened,
} from './factors.ts'

/** What a refused answer must leave as it was; the counts of wrong answers are the only thing that rises. */
const stateOf = async (world: World) => ({
  factors: await world.query('select * from mfa_factor order by id'),
  proofs: await world.query('select id, verified_at, method from challenge order by id'),
  sessions: await world.query('select id, token_sha256, status, mfa_method from session order by id'),
  trail: await world.query('select count(*) from audit_event'),
})

t.test('an authenticator is registered, named, used to sign in and to prove oneself, and removed', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const [app] = (await owner.get<{ data: MfaFactor[] }>('/users/me/mfa-factors')).body.data
  t.match((await owner.post('/users/me/mfa-factors', { kind: 'webauthn' })).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'settings.change',
  })
  await owner.stepUp('settings.change')
  const added = await owner.post<MfaFactor>('/users/me/mfa-factors', { kind: 'webauthn' })
  t.match(added.body, {
    kind: 'webauthn',
    name: 'Security key',
    status: 'pending',
    secret: null,
    otpauthUri: null,
    publicKey: {
      rp: { id: 'localhost' },
      user: { name: 'owner@example.com' },
      excludeCredentials: [],
      attestation: 'none',
    },
  })
  const early = await challengeFor(owner, { action: 'settings.change' })
  t.match(early, { methods: ['totp'], preferredMethod: 'totp', publicKey: null }, 'one that is not confirmed')

  const { id, authenticator } = await register(world, owner, { name: 'Key at home' })
  t.match((await owner.get(`/users/me/mfa-factors/${id}`)).body, { status: 'active', lastUsedAt: null })
  const again = await addAuthenticator(owner)
  t.match(again.publicKey?.excludeCredentials, [{ id: authenticator.id, transports: ['usb'] }])
  t.match(
    (
      await owner.post(`/users/me/mfa-factors/${again.id}/verify`, {
        attestation: authenticator.create(again.publicKey!),
      })
    ).problem,
    { status: 422, errors: [{ field: '/attestation/id', message: /registered already/ }] },
  )

  const challenge = await challengeFor(owner, { action: 'payment.above_threshold' })
  t.match(challenge, {
    methods: ['webauthn', 'totp'],
    preferredMethod: 'webauthn',
    publicKey: { rpId: 'localhost', allowCredentials: [{ id: authenticator.id }], userVerification: 'required' },
  })
  t.strictSame((await owner.get(`/step-up/challenges/${challenge.challengeId}`)).body, challenge)
  t.equal((await challengeFor(owner, { action: 'settings.change', method: 'totp' })).preferredMethod, 'totp')
  t.match((await owner.post('/step-up/challenges', { action: 'settings.change', method: 'recovery_code' })).problem, {
    status: 422,
    errors: [{ field: '/method', code: 'invalid_value' }],
  })
  const assertion = authenticator.get(challenge.publicKey!)
  const proven = await answerStepUp(owner, challenge.challengeId, { method: 'webauthn', assertion })
  t.equal(proven.status, 200, proven.text)
  owner.token = proven.body.token

  const half = (await owner.password()).body as HalfOpened
  t.match(half.mfa, { methods: ['webauthn', 'totp'], publicKey: { allowCredentials: [{ id: authenticator.id }] } })
  const unfinished = (await owner.send('GET', '/users/me', undefined, {}, half.token)).problem
  t.match(unfinished, { code: 'mfa-required', challengeId: half.mfa.challengeId, methods: ['webauthn', 'totp'] })
  t.strictSame(unfinished.publicKey, half.mfa.publicKey, 'a page that was loaded again can go on')
  const done = await finishSignIn(owner, half, {
    method: 'webauthn',
    assertion: authenticator.get(half.mfa.publicKey),
  })
  t.match(done.body, { status: 'active', mfa: null })
  t.match((await owner.send('GET', '/sessions/current', undefined, {}, done.body.token)).body, {
    mfaMethod: 'webauthn',
  })
  const sessions = (await owner.get<PageBody<Session>>('/sessions')).body.data
  t.strictSame(
    sessions.map(({ mfaMethod }) => mfaMethod),
    ['webauthn', 'totp'],
  )

  const path = `/users/me/mfa-factors/${id}`
  const read = await owner.get<MfaFactor>(path)
  t.ok(read.body.lastUsedAt !== null)
  t.equal((await owner.send('PATCH', path, { name: 'Old key' })).status, 428)
  await prove(owner, authenticator, { action: 'exchange.above_threshold' }).then(({ body }) => {
    owner.token = body.token
  })
  const renamed = await owner.send<MfaFactor>(
    'PATCH',
    path,
    { name: 'Old key' },
    {
      'if-match': read.headers.get('etag')!,
    },
  )
  t.match(renamed.body, { name: 'Old key' }, 'a use in between is no other version')
  t.equal(
    (await owner.send('PATCH', path, { name: 'Key' }, { 'if-match': read.headers.get('etag')! })).problem.currentEtag,
    renamed.headers.get('etag'),
  )
  t.equal((await owner.send('DELETE', `/users/me/mfa-factors/${app!.id}`)).status, 204)
  t.equal((await owner.send('DELETE', path)).problem.currentStatus, 'last_factor')
  t.strictSame((await challengeFor(owner, { action: 'settings.change' })).methods, ['webauthn'])

  const { data } = (await owner.get<PageBody<AuditEvent>>('/audit-events?limit=100')).body
  t.match(
    data
      .filter(({ object, action }) => object.id === id || action === 'step_up.verified')
      .map(({ action, after }) => ({ action, after })),
    [
      { action: 'mfa_factor.updated', after: { name: 'Old key' } },
      { action: 'step_up.verified', after: { action: 'exchange.above_threshold', method: 'webauthn' } },
      { action: 'step_up.verified', after: { action: 'payment.above_threshold', method: 'webauthn' } },
      { action: 'mfa_factor.confirmed', after: { status: 'active' } },
      { action: 'mfa_factor.created', after: { kind: 'webauthn', name: 'Key at home', status: 'pending' } },
      { action: 'step_up.verified', after: { method: 'totp' } },
      { action: 'step_up.verified', after: { method: 'totp' } },
    ],
  )
  t.match(data.find(({ action, object }) => action === 'session.created' && object.id === half.sessionId)?.after, {
    mfa: true,
    method: 'webauthn',
  })
})

t.test('a wrong answer says what is wrong, changes nothing, and five lock the challenge', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const { authenticator } = await register(world, owner)
  const stranger = new Authenticator({ origin: originOf(world) })
  const approver = await world.person('approver').signIn()
  const theirs = (await register(world, approver)).authenticator
  const action = { action: 'recipient.create' }
  for (const [wrong, field, message] of [
    [{ origin: 'https://evil.example' }, '/assertion/response/clientDataJSON', /another origin/],
    [{ rpId: 'evil.example' }, '/assertion', /another relying party/],
    [{ challenge: 'AAAA' }, '/assertion/response/clientDataJSON', /another challenge/],
    [{ type: 'webauthn.create' }, '/assertion/response/clientDataJSON', /wrong type/],
    [{ crossOrigin: true }, '/assertion/response/clientDataJSON', /in a frame/],
    [{ verified: false }, '/assertion', /not verified the person/],
    [{ userHandle: 'AAAA' }, '/assertion/response/userHandle', /another person/],
    [{ id: stranger.id }, '/assertion/id', /None of your second factors/],
    [{ id: theirs.id }, '/assertion/id', /None of your second factors/],
  ] as const) {
    const { challengeId, publicKey } = await challengeFor(owner, action)
    const before = await stateOf(world)
    const refused = await answerStepUp(owner, challengeId, {
      method: 'webauthn',
      assertion: authenticator.get(publicKey!, wrong),
    })
    t.match(refused.problem, { status: 422, code: 'validation-error', errors: [{ field, message }] })
    t.strictSame(await stateOf(world), before, message.source)
    await world.query('update challenge set wrong_codes = 0')
  }
  const forged = new Authenticator({ origin: originOf(world) })
  t.match((await prove(owner, forged, action, { id: authenticator.id })).problem, {
    status: 422,
    errors: [{ field: '/assertion/response/signature' }],
  })

  // Bodies that are no answers are not counted.
  const { challengeId, publicKey } = await challengeFor(owner, action)
  const good = () => authenticator.get(publicKey!)
  const long = 'A'.repeat(13_336)
  for (const [body, field, code] of [
    [{ method: 'webauthn' }, '/assertion', 'required'],
    [{ method: 'webauthn', assertion: good(), code: '123456' }, '/code', 'not_applicable'],
    [{ method: 'totp', code: '123456', assertion: good() }, '/assertion', 'not_applicable'],
    [{ method: 'totp', code: '12345' }, '/code', 'invalid_format'],
    [{ method: 'totp' }, '/code', 'required'],
    [{ method: 'recovery_code', code: 'AAAA' }, '/code', 'invalid_format'],
    [{ method: 'push', code: '123456' }, '/method', 'invalid_value'],
    [{ method: 'webauthn', assertion: { ...good(), id: long, rawId: long } }, '/assertion/id', 'too_long'],
    [{ method: 'webauthn', assertion: { ...good(), id: '!' } }, '/assertion/id', 'invalid_format'],
    [{ method: 'webauthn', assertion: { ...good(), response: {} } }, '/assertion/response/clientDataJSON', 'required'],
    [{ method: 'webauthn', assertion: [] }, '/assertion', 'invalid_type'],
  ] as const) {
    const before = await stateOf(world)
    t.match((await answerStepUp(owner, challengeId, body)).problem, { status: 422, errors: [{ field, code }] })
    t.strictSame(await stateOf(world), before, `${field} ${code}`)
  }
  t.match(await world.query('select wrong_codes from challenge where id = $1', [challengeId]), [{ wrong_codes: 0 }])

  for (let wrong = 0; wrong < 4; wrong++) {
    const assertion = authenticator.get(publicKey!, { rpId: 'evil.example' })
    t.equal((await answerStepUp(owner, challengeId, { method: 'webauthn', assertion })).status, 422)
  }
  t.equal(
    (await answerStepUp(owner, challengeId, { method: 'totp', code: owner.wrongCode() })).problem.code,
    'challenge-locked',
  )
  t.equal(
    (await answerStepUp(owner, challengeId, { method: 'webauthn', assertion: good() })).problem.code,
    'challenge-locked',
    'the right one comes too late',
  )
  const half = (await owner.password()).body as HalfOpened
  t.match(
    (
      await finishSignIn(owner, half, {
        method: 'webauthn',
        assertion: authenticator.get(half.mfa.publicKey, { origin: 'https://evil.example' }),
      })
    ).problem,
    { status: 401, code: 'unauthenticated', detail: /another origin/ },
  )
})

t.test('a challenge is answered once, in its time, by its own session', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const owner = await world.person('owner').signIn()
  const { authenticator } = await register(world, owner, { counts: false })
  const action = { action: 'settings.change' }
  const first = await challengeFor(owner, action)
  const answer = { method: 'webauthn', assertion: authenticator.get(first.publicKey!) }
  const replies = await Promise.all([1, 2, 3, 4].map(() => answerStepUp(owner, first.challengeId, answer)))
  t.strictSame(
    replies.map(({ status }) => status).sort(),
    [200, 409, 409, 409],
    'an authenticator that does not count is no way around',
  )
  owner.token = replies.find(({ status }) => status === 200)!.body.token
  t.match((await answerStepUp(owner, first.challengeId, answer)).problem, { currentStatus: 'verified' })
  const second = await challengeFor(owner, action)
  t.match((await answerStepUp(owner, second.challengeId, answer)).problem, {
    status: 422,
    errors: [{ message: 'It answers another challenge.' }],
  })
  const right = { method: 'webauthn', assertion: authenticator.get(second.publicKey!) }
  const elsewhere = await world.person('owner').signIn()
  t.equal((await answerStepUp(elsewhere, second.challengeId, right)).problem.code, 'not-found')
  const approver = await world.person('approver').signIn()
  t.equal((await answerStepUp(approver, second.challengeId, right)).problem.code, 'not-found')
  const half = (await owner.password()).body as HalfOpened
  t.match(
    (await finishSignIn(owner, { ...half, mfa: { ...half.mfa, challengeId: second.challengeId } }, right)).problem,
    { status: 422, errors: [{ field: '/challengeId', code: 'not_found' }] },
    'a challenge of step-up signs nobody in',
  )
  world.advance(300_000)
  t.match((await answerStepUp(owner, second.challengeId, right)).problem, { status: 409, currentStatus: 'expired' })
})

t.test('a registration is answered once, in its time, by the session that began it', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const owner = await world.person('owner').signIn()
  await owner.stepUp('settings.change')
  const made = (person: typeof owner, id: string, body: object) =>
    person.post<MfaFactor>(`/users/me/mfa-factors/${id}/verify`, body)
  const authenticator = new Authenticator({ origin: originOf(world) })
  const factor = await addAuthenticator(owner)
  const options = factor.publicKey!
  const other = await addAuthenticator(owner)
  for (const [body, field, code] of [
    [{}, '/attestation', 'required'],
    [{ code: owner.code() }, '/code', 'not_applicable'],
    [{ attestation: authenticator.create(other.publicKey!) }, '/attestation/response/clientDataJSON', 'invalid_value'],
    [{ attestation: authenticator.create(options, { rpId: 'evil.example' }) }, '/attestation', 'invalid_value'],
    [{ attestation: authenticator.create(options, { id: 'AQID' }) }, '/attestation/id', 'invalid_value'],
    [{ attestation: { ...authenticator.create(options), id: 'A'.repeat(13_336) } }, '/attestation/id', 'too_long'],
  ] as const) {
    t.match(
      (await made(owner, factor.id, body)).problem,
      { status: 422, errors: [{ field, code }] },
      `${field} ${code}`,
    )
  }
  const attestation = authenticator.create(options)
  const elsewhere = await world.person('owner').signIn()
  await elsewhere.stepUp('settings.change')
  t.match((await made(elsewhere, factor.id, { attestation })).problem, { status: 409, currentStatus: 'absent' })
  const approver = await world.person('approver').signIn()
  await approver.stepUp('settings.change')
  t.equal((await made(approver, factor.id, { attestation })).problem.code, 'not-found')
  const replies = await Promise.all([1, 2, 3].map(() => made(owner, factor.id, { attestation })))
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 409, 409])

  for (let wrong = 0; wrong < 5; wrong++)
    await made(owner, other.id, { attestation: authenticator.create(other.publicKey!, { verified: false }) })
  t.equal(
    (await made(owner, other.id, { attestation: authenticator.create(other.publicKey!) })).problem.code,
    'challenge-locked',
  )
  const late = await addAuthenticator(owner)
  world.advance(300_000)
  await owner.stepUp('settings.change')
  const fresh = new Authenticator({ origin: originOf(world) })
  t.match((await made(owner, late.id, { attestation: fresh.create(late.publicKey!) })).problem, {
    status: 409,
    currentStatus: 'expired',
  })
})

t.test('a count of signatures that does not rise is refused, and the person is told', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const { id, authenticator } = await register(world, owner, { name: 'Blue key' })
  authenticator.count = 40
  const proven = await prove(owner, authenticator, { action: 'settings.change' })
  owner.token = proven.body.token
  const { challengeId, publicKey } = await challengeFor(owner, { action: 'settings.change' })
  for (const count of [41, 12, 0]) {
    t.match(
      (
        await answerStepUp(owner, challengeId, {
          method: 'webauthn',
          assertion: authenticator.get(publicKey!, { count }),
        })
      ).problem,
      { status: 422, errors: [{ field: '/assertion/response/authenticatorData', message: /may have been copied/ }] },
    )
  }
  t.match(await world.query('select sign_count from mfa_factor where id = $1', [id]), [{ sign_count: '41' }])
  const events = (await owner.get<PageBody<AuditEvent>>('/audit-events?filter[action]=mfa_factor.copy_suspected')).body
    .data
  t.match(events, [
    { object: { type: 'mfa_factor', id }, before: { signCount: 41 }, after: { signCount: 0 } },
    { after: { signCount: 12 } },
    { after: { signCount: 41 } },
  ])
  const { data } = (await owner.get<{ data: { type: string; text: string }[] }>('/notifications')).body
  t.match(data[0], { type: 'security_alert', text: /"Blue key" was used from the address 127\.0\.0\.1/ })
  t.ok(world.logged.some((line) => line.includes('an authenticator may have been copied') && line.includes(id)))
  await until(
    'a mail',
    async () => (await mailsOf(world)).some((mail) => mail.includes('may have been copied')) || null,
  )
  authenticator.count = 41
  t.equal((await prove(owner, authenticator, { action: 'settings.change' })).status, 200, 'the next count is taken')
})

t.test('an approval names the method of the proof with which it was given', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null, { requiredApprovals: 2 })] })
  const approver = await world.person('approver').signIn()
  const { authenticator } = await register(world, approver)
  const payment = await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 10_000))
  const approvalId = payment.body.approvalId!
  const first = await decide(owner, approvalId, { decision: 'approved' })
  t.equal(first.status, 200, first.text)
  const subject = { type: 'approval', id: approvalId }
  approver.token = (await prove(approver, authenticator, { action: 'approval.decide', subject })).body.token
  const decided = await approver.post<{ decisions: StepUpChallenge[] }>(`/approvals/${approvalId}/decisions`, {
    decision: 'approved',
  })
  t.match(decided.body, { decisions: [{ stepUpMethod: 'totp' }, { stepUpMethod: 'webauthn' }] })
})
