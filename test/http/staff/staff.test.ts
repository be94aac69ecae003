/** The staff of an operator over HTTP: whom an administrator lets in, changes and removes. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { StaffInvitation, StaffMember } from '../../../lib/staff/staff-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { mailsOf } from '../../support/mails.ts'
import type { Person } from '../../support/person.ts'
import { hire, join, mailedToken } from '../../support/staff.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const STAFF = '/operator/staff'
const INVITATIONS = '/operator/staff-invitations'
const ANY = { 'if-match': '*' }

const listed = async (admin: Person, query = '') =>
  (await admin.get<PageBody<StaffMember>>(`${STAFF}${query}`)).body.data
const staffOf = async (admin: Person, email: string) => {
  const found = (await listed(admin, '?filter[status]=active,suspended,removed&limit=100')).find(
    (one) => one.email === email,
  )
  if (found === undefined) throw new Error(`${email} is none of the staff.`)
  return found
}

async function admins(world: World): Promise<readonly [Person, Person]> {
  const first = await world.person('operator_admin').signIn()
  return [first, await hire(world, first, 'second@operator.example.com', 'operator_admin')]
}

t.test('an administrator invites, lists, changes and removes staff', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const email = 'kim@operator.example.com'
  const body = { email, role: 'operations', name: 'Kim Lee' }
  t.match((await admin.post(INVITATIONS, body)).problem, { code: 'step-up-required', action: 'membership.change' })
  await admin.stepUp('membership.change')
  const invited = await admin.post<StaffInvitation>(INVITATIONS, body)
  t.equal(invited.status, 201)
  const { id } = invited.body
  t.equal(invited.headers.get('location'), `/v1${INVITATIONS}/${id}`)
  t.match(invited.body, { ...body, status: 'pending', invitedByName: 'Sandbox Admin', acceptedAt: null })
  t.match((await admin.post(INVITATIONS, { ...body, email: 'KIM@operator.example.com' })).problem.errors, [
    { field: '/email', code: 'invalid_value' },
  ])
  const first = await mailedToken(world, email)
  t.match((await mailsOf(world)).at(-1), /Subject: Sandbox Admin invites you to Sandbox Operator/)
  const [times] = await world.query(
    'select m.valid_until = i.expires_at as same from mail m, invitation i where i.id = $1 order by m.id desc limit 1',
    [id],
  )
  t.strictSame(times, { same: true }, 'the mail ends with its link')

  const etag = invited.headers.get('etag')!
  const patch = (change: object, headers: Record<string, string>) =>
    admin.send<StaffInvitation>('PATCH', `${INVITATIONS}/${id}`, change, headers)
  t.equal((await patch({ role: 'compliance' }, {})).problem.code, 'precondition-required')
  const changed = await patch({ role: 'compliance' }, { 'if-match': etag })
  t.match(changed.body, { role: 'compliance', name: 'Kim Lee', status: 'pending' })
  t.equal((await patch({ role: 'support' }, { 'if-match': etag })).problem.code, 'precondition-failed')
  const second = await mailedToken(world, email)
  t.not(second, first)
  await t.rejects(join(world, email, first), /not-found/, 'the link before no longer works')
  const kim = await join(world, email, second)
  t.match((await patch({}, ANY)).problem, { code: 'invalid-transition', currentStatus: 'accepted' })
  t.match((await admin.send('DELETE', `${INVITATIONS}/${id}`)).problem, { currentStatus: 'accepted' })

  const one = await staffOf(admin, email)
  t.match(one, { name: 'Kim Lee', role: 'compliance', status: 'active', mfaEnabled: true, operatorId: admin.tenantId })
  t.strictSame((await listed(admin, '?filter[role]=compliance')).map((each) => each.email).sort(), [
    'compliance@operator.example.com',
    email,
  ])
  t.equal((await kim.get('/compliance-holds')).status, 200)
  const path = `${STAFF}/${one.id}`
  const read = await admin.get<StaffMember>(path)
  t.strictSame(read.body, one)
  t.equal((await admin.send('PATCH', path, { role: 'support' })).problem.code, 'precondition-required')
  const moved = await admin.send<StaffMember>(
    'PATCH',
    path,
    { role: 'support' },
    {
      'if-match': read.headers.get('etag')!,
    },
  )
  t.match(moved.body, { role: 'support', status: 'active' })
  t.match((await kim.get('/compliance-holds')).problem, { requiredCapability: 'compliance.manage' }, 'at once')
  t.equal((await kim.get('/balances')).status, 200, 'and the session goes on')

  await kim.stepUp('membership.change')
  const { challengeId } = (
    await kim.post<{ challengeId: string }>('/step-up/challenges', { action: 'settings.change' })
  ).body
  t.equal((await admin.send('PATCH', path, { status: 'suspended' }, ANY)).status, 200)
  t.match((await kim.get('/balances')).problem, { code: 'session-expired', reason: 'revoked' })
  t.match(
    await world.query('select from challenge where id = $1 and expires_at <= $2', [challengeId, new Date(world.now())]),
    [{}],
    'the open challenge is closed',
  )
  await kim.signIn()
  t.equal((await kim.get('/balances')).problem.code, 'tenant-forbidden', 'whoever is suspended reaches nothing')
  t.equal((await admin.send('PATCH', path, { status: 'active' }, ANY)).status, 200)
  t.equal((await kim.get('/balances')).status, 200)

  const now = (await admin.get(path)).headers.get('etag')!
  t.equal((await admin.send('DELETE', path)).problem.code, 'precondition-required')
  t.equal((await admin.send('DELETE', path, undefined, { 'if-match': etag })).problem.code, 'precondition-failed')
  t.equal((await admin.send('DELETE', path, undefined, { 'if-match': now })).status, 204)
  t.match((await kim.get('/balances')).problem, { code: 'session-expired', reason: 'revoked' })
  t.match((await admin.send('DELETE', path, undefined, ANY)).problem, { currentStatus: 'removed' })
  t.notOk(
    (await listed(admin)).some((each) => each.email === email),
    'removed people are not listed',
  )
  t.match(await staffOf(admin, email), { status: 'removed' })
  const events = (await admin.get<PageBody<AuditEvent>>('/audit-events?limit=50')).body.data
  const mine = events.filter(({ object }) => [id, one.id].includes(object.id)).map(({ action }) => action)
  t.strictSame(mine.reverse(), [
    'invitation.created',
    'invitation.resent',
    'invitation.accepted',
    'membership.updated',
    'membership.updated',
    'membership.updated',
    'membership.removed',
  ])
})

t.test('the staff are managed by administrators alone, and each sees their own operator', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const [one] = (await listed(admin)) as [StaffMember]
  const owner = await world.person('owner').signIn()
  for (const role of ['compliance', 'operations', 'treasury', 'support', 'integration'] as const) {
    const person = await world.person(role).signIn()
    for (const path of [STAFF, `${STAFF}/${one.id}`, INVITATIONS])
      t.match(
        (await person.get(path)).problem,
        { status: 403, requiredCapability: 'operator.manage' },
        `${role} ${path}`,
      )
    t.match((await person.post(INVITATIONS, { email: 'a@b.example', role: 'operator_admin' })).problem, {
      status: 403,
      requiredCapability: 'operator.manage',
    })
  }
  t.equal((await owner.get(STAFF)).problem.code, 'tenant-forbidden')
  t.equal((await world.operator.get(STAFF)).problem.code, 'insufficient-scope', 'not for keys')
  await admin.stepUp('membership.change')
  for (const path of [`${STAFF}/${randomUUID()}`, `${INVITATIONS}/${randomUUID()}`]) {
    t.equal((await admin.get(path)).problem.code, 'not-found')
    t.equal((await admin.send('PATCH', path, {}, ANY)).problem.code, 'not-found')
    t.equal((await admin.send('DELETE', path, undefined, ANY)).problem.code, 'not-found')
  }
  const member = await world.query<{ id: string }>(`select id from membership where level = 'customer' limit 1`)
  t.equal((await admin.get(`${STAFF}/${member[0]!.id}`)).problem.code, 'not-found', 'a member is none of the staff')
})

t.test('bad bodies are named, and change nothing', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const compliance = await staffOf(admin, 'compliance@operator.example.com')
  await admin.stepUp('membership.change')
  for (const [body, field, code] of [
    [{ role: 'support' }, '/email', 'required'],
    [{ email: 'kim', role: 'support' }, '/email', 'invalid_format'],
    [{ email: 'kim@bank.example' }, '/role', 'required'],
    [{ email: 'kim@bank.example', role: 'owner' }, '/role', 'invalid_value'],
    [{ email: 'kim@bank.example', role: 'support', name: '' }, '/name', 'too_short'],
    [{ email: 'kim@bank.example', role: 'support', teamIds: [] }, '/teamIds', 'unknown_field'],
    [{ email: 'compliance@operator.example.com', role: 'support' }, '/email', 'invalid_value'],
  ] as const)
    t.match((await admin.post(INVITATIONS, body)).problem.errors, [{ field, code }], JSON.stringify(body))
  for (const [body, field, code] of [
    [{ role: 'owner' }, '/role', 'invalid_value'],
    [{ status: 'removed' }, '/status', 'invalid_value'],
    [{ email: 'kim@bank.example' }, '/email', 'read_only_field'],
    [{ limits: null }, '/limits', 'unknown_field'],
  ] as const)
    t.match(
      (await admin.send('PATCH', `${STAFF}/${compliance.id}`, body, ANY)).problem.errors,
      [{ field, code }],
      JSON.stringify(body),
    )
  t.strictSame(await staffOf(admin, compliance.email), compliance)
  t.strictSame((await admin.get<PageBody<StaffInvitation>>(INVITATIONS)).body.data, [])
  t.strictSame(await world.query('select from mail'), [])
})

t.test('an invitation ends after seven days, can be renewed then, and is revoked for good', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const admin = await world.person('operator_admin').signIn()
  await admin.stepUp('membership.change')
  const email = 'kim@bank.example'
  const { id } = (await admin.post<StaffInvitation>(INVITATIONS, { email, role: 'support' })).body
  const path = `${INVITATIONS}/${id}`
  const before = await mailedToken(world, email)
  world.advance(7 * DAY_MS)
  await admin.signIn()
  t.match((await admin.get<StaffInvitation>(path)).body, { status: 'expired' })
  t.equal((await admin.get<PageBody<StaffInvitation>>(`${INVITATIONS}?filter[status]=pending`)).body.data.length, 0)
  t.equal((await admin.get(`/invitations/${before}`)).problem.code, 'not-found')
  await admin.stepUp('membership.change')
  t.match((await admin.send('PATCH', path, {}, ANY)).body, { status: 'pending' })
  const link = await mailedToken(world, email)
  t.equal((await admin.get(`/invitations/${link}`)).status, 200)
  t.equal((await admin.send('DELETE', path)).status, 204)
  t.equal((await admin.send('DELETE', path)).status, 204, 'again')
  t.equal((await admin.get(`/invitations/${link}`)).problem.code, 'not-found')
  t.match((await admin.send('PATCH', path, {}, ANY)).problem, { currentStatus: 'revoked' })
  t.equal((await admin.post(INVITATIONS, { email, role: 'support' })).status, 201, 'the address is free again')
})

t.test('one administrator remains', async (t) => {
  await using world = await createWorld()
  const [first, second] = await admins(world)
  const [one, two] = [await staffOf(first, first.login.email), await staffOf(first, second.login.email)]
  await first.stepUp('membership.change')
  await second.stepUp('membership.change')
  const own = { status: 409, code: 'invalid-transition', currentStatus: 'own_membership' }
  t.match((await first.send('DELETE', `${STAFF}/${one.id}`, undefined, ANY)).problem, own)
  t.match((await first.send('PATCH', `${STAFF}/${one.id}`, { role: 'support' }, ANY)).problem, own)
  t.equal((await first.send('PATCH', `${STAFF}/${two.id}`, { role: 'support' }, ANY)).status, 200)
  t.match((await second.send('DELETE', `${STAFF}/${one.id}`, undefined, ANY)).problem, {
    requiredCapability: 'operator.manage',
  })
})

for (const change of ['removed', 'degraded'] as const)
  t.test(`two administrators who have each other ${change} at once, on two nodes, do not both succeed`, async (t) => {
    await using world = await createWorld({ nodes: 2 })
    const [first, second] = await admins(world)
    const [one, two] = [await staffOf(first, first.login.email), await staffOf(first, second.login.email)]
    await first.stepUp('membership.change')
    await second.stepUp('membership.change')
    // Both requests have passed their checks, and wait for the turn of their transactions.
    const blocker = new pg.Client({ connectionString: world.databaseUrl })
    await blocker.connect()
    await blocker.query(`begin`)
    await blocker.query(`select pg_advisory_xact_lock(hashtextextended('members of ' || $1, 0))`, [first.tenantId])
    const send = (by: Person, { id }: StaffMember) =>
      change === 'removed'
        ? by.send('DELETE', `${STAFF}/${id}`, undefined, ANY)
        : by.send('PATCH', `${STAFF}/${id}`, { role: 'support' }, ANY)
    const both = Promise.all([send(first, two), send(second, one)])
    await until('both wait', async () => {
      const waiting = await world.query(`select from pg_locks where locktype = 'advisory' and not granted`)
      return waiting.length === 2
    })
    await blocker.query('commit')
    await blocker.end()
    const replies = await both
    t.strictSame(replies.map(({ status }) => status).sort(), [change === 'removed' ? 204 : 200, 409])
    t.match(replies.find(({ status }) => status === 409)!.problem, { currentStatus: 'last_administrator' })
    t.equal((await world.query(`select from membership where role = 'operator_admin' and status = 'active'`)).length, 1)
  })
