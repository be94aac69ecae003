import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { PASSWORD_RESET_MS } from '../../../lib/identity/password-rules.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const NEXT = 'four words that nobody else has'

/** The token in the mail that is the nth with this subject. */
async function resetToken(world: World, nth = 1): Promise<string> {
  return await until(`the reset mail ${nth} is written`, async () => {
    const found = (await mailsOf(world)).filter((mail) => mail.includes('Subject: Choose a new password'))
    return /password-resets\/([A-Za-z0-9_-]{43})\r?$/m.exec(found[nth - 1] ?? '')?.[1]
  })
}

t.test('a person changes their password; every other session ends, and they are told', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const other = await world.person('owner').signIn()
  const change = (currentPassword: string, newPassword: string) =>
    owner.post('/users/me/password', { currentPassword, newPassword })
  t.match((await change('not the password', NEXT)).problem, {
    status: 422,
    errors: [{ field: '/currentPassword', code: 'invalid_value' }],
  })
  for (const [password, code] of [
    ['too short', 'too_short'],
    ['x'.repeat(129), 'too_long'],
    ['password1234', 'invalid_value'],
    ['abcabcabcabcabc', 'invalid_value'],
    ['OWNER@example.com', 'invalid_value'],
  ] as const) {
    t.match(
      (await change(owner.login.password, password)).problem,
      { status: 422, errors: [{ field: '/newPassword', code }] },
      password,
    )
  }
  t.equal((await other.get('/users/me')).status, 200, 'nothing has changed yet')
  const done = await change(owner.login.password, NEXT)
  t.equal(done.status, 204)
  t.equal((await owner.get('/users/me')).status, 200)
  t.match((await other.get('/users/me')).problem, { status: 401, code: 'session-expired', reason: 'revoked' })
  t.equal((await owner.password()).status, 401, 'the old one is over')
  t.equal((await owner.password(NEXT)).status, 201)
  await until('they are told', async () =>
    (await mailsOf(world)).find(
      (mail) => mail.includes('To: owner@example.com') && mail.includes('Subject: Your password was changed'),
    ),
  )
})

t.test('guessing the current password locks the address like guessing at sign-in', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  for (let wrong = 0; wrong < 5; wrong++)
    await owner.post('/users/me/password', { currentPassword: `guess number ${wrong}`, newPassword: NEXT })
  t.equal(
    (await owner.post('/users/me/password', { currentPassword: owner.login.password, newPassword: NEXT })).status,
    422,
    'also the right one comes too late',
  )
  t.equal((await owner.password()).status, 401)
})

t.test('a new password comes by mail, once and within an hour, and ends every session', async (t) => {
  await using world = await createWorld({ logLevel: 'info' })
  const owner = await world.person('owner').signIn()
  const ask = (email: string) => owner.send('POST', '/password-resets', { email }, {}, null)
  const complete = (token: string, password: string) =>
    owner.send('POST', `/password-resets/${token}`, { password }, {}, null)

  const known = await ask('Owner@Example.com')
  t.equal(known.status, 202)
  t.equal(known.text, '')
  const unknown = await ask('nobody@example.com')
  t.equal(unknown.status, 202, 'the answer does not say who has an account')
  t.strictSame([...unknown.headers.keys()], [...known.headers.keys()])
  const token = await resetToken(world)
  t.equal((await mailsOf(world)).length, 1, 'and only who has one gets a mail')
  const [file] = await readdir(join(world.dataDir, 'outbox'))
  t.equal((await stat(join(world.dataDir, 'outbox', file!))).mode & 0o777, 0o600, 'a link is for its owner alone')
  t.equal((await stat(join(world.dataDir, 'outbox'))).mode & 0o777, 0o700)
  t.ok(
    world.logged.some((line) => line.includes('owner@example.com') && line.includes(token)),
    "on a developer's machine the log shows the mail",
  )

  t.match((await complete(token, 'short')).problem, {
    status: 422,
    errors: [{ field: '/password', code: 'too_short' }],
  })
  t.equal((await complete('x'.repeat(43), NEXT)).problem.code, 'not-found')
  t.match((await complete('nonsense', NEXT)).problem, {
    status: 400,
    errors: [{ field: 'path.token', code: 'invalid_format' }],
  })
  const replies = await Promise.all([1, 2, 3].map(() => complete(token, NEXT)))
  t.strictSame(replies.map(({ status }) => status).sort(), [204, 404, 404], 'of several who use the link one does')
  t.match((await owner.get('/users/me')).problem, { code: 'session-expired', reason: 'revoked' })
  t.equal((await owner.password()).status, 401)
  t.equal((await owner.password(NEXT)).status, 201)

  await ask('owner@example.com')
  const late = await resetToken(world, 2)
  world.advance(PASSWORD_RESET_MS)
  t.equal((await complete(late, 'another one that is long')).status, 404, 'an hour later it is too late')
})

t.test('a reset opens an address that failures have locked, and no more than three are on their way', async (t) => {
  await using world = await createWorld()
  const owner = world.person('owner')
  for (let failure = 0; failure < 5; failure++) await owner.password('not the password')
  t.equal((await owner.password()).status, 401)
  const asked = await Promise.all(
    Array.from({ length: 8 }, () => owner.send('POST', '/password-resets', { email: 'owner@example.com' }, {}, null)),
  )
  t.ok(
    asked.every(({ status }) => status === 202),
    'also for those who ask at the same time',
  )
  const token = await resetToken(world, 3)
  t.equal((await owner.send('POST', `/password-resets/${token}`, { password: NEXT }, {}, null)).status, 204)
  t.equal((await owner.password(NEXT)).status, 201)
  await until('they are told of the change', async () => (await mailsOf(world)).length >= 4)
  t.equal((await mailsOf(world)).filter((mail) => mail.includes('Choose a new password')).length, 3)
})

t.test('disabled people get no link', async (t) => {
  await using world = await createWorld()
  const owner = world.person('owner')
  await owner.send('POST', '/password-resets', { email: 'owner@example.com' }, {}, null)
  const token = await resetToken(world)
  await world.query("update platform_user set status = 'disabled' where email = 'owner@example.com'")
  t.equal(
    (await owner.send('POST', `/password-resets/${token}`, { password: NEXT }, {}, null)).status,
    404,
    'one sent before is void',
  )
  t.equal((await owner.send('POST', '/password-resets', { email: 'owner@example.com' }, {}, null)).status, 202)
  await world.person('approver').send('POST', '/password-resets', { email: 'approver@example.com' }, {}, null)
  await resetToken(world, 2)
  t.equal((await mailsOf(world)).filter((mail) => mail.includes('To: owner@example.com')).length, 1)
})
