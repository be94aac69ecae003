/** The links of invited staff over HTTP: what they show, whom they let in, and when they are refused. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { AcceptedInvitation, Invitation, OpenInvitation } from '../../../lib/identity/member-schema.ts'
import type { Operator } from '../../../lib/operators/operator-schema.ts'
import { initOperator } from '../../../actors/operators/init-operator.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { Database } from '../../../storage/db/database.ts'
import type { PageBody } from '../../support/client.ts'
import { Person } from '../../support/person.ts'
import { createWorld, type World } from '../../support/world.ts'
import { inviteStaff } from './links.ts'

const PASSWORD = 'correct horse battery'

const personOf = (world: World, email: string, totpSecret = '') =>
  new Person({
    url: () => world.url,
    login: { email, password: PASSWORD, totpSecret },
    tenantId: world.service.sandbox!.operator.id,
    now: world.now,
  })

const open = (person: Person, token: string) =>
  person.send<OpenInvitation>('GET', `/invitations/${token}`, undefined, {}, null)
const accept = (person: Person, token: string, body: object) =>
  person.send<AcceptedInvitation>('POST', `/invitations/${token}/accept`, body, {}, null)

t.test('the link of staff works once, and the person adds a second factor before anything else', async (t) => {
  await using world = await createWorld()
  const { operator, customer } = world.service.sandbox!
  const eve = personOf(world, 'eve@operator.example.com')
  const { token } = await inviteStaff(world, { email: 'Eve@operator.example.com', role: 'operations' })
  t.match((await open(eve, token)).body, {
    customerName: null,
    operatorName: 'Sandbox Operator',
    email: 'Eve@operator.example.com',
    name: null,
    role: 'operations',
    invitedByName: 'Sandbox Admin',
    knownPerson: false,
  })
  const other = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
  t.equal((await open(eve, other)).problem.code, 'not-found', 'another link')
  t.equal((await accept(eve, other, { name: 'Eve', password: PASSWORD })).problem.code, 'not-found')
  t.match((await accept(eve, token, { password: PASSWORD })).problem, {
    errors: [{ field: '/name', code: 'required' }],
  })
  t.match((await accept(eve, token, { name: 'Eve', password: 'short' })).problem, {
    errors: [{ field: '/password', code: 'too_short' }],
  })
  const both = await Promise.all([1, 2].map(() => accept(eve, token, { name: 'Eve', password: PASSWORD })))
  t.strictSame(both.map(({ status }) => status).sort(), [200, 404], 'a link is good once')
  t.match(both.find(({ status }) => status === 200)!.body, { customerId: null, operatorId: operator.id })
  t.equal((await open(eve, token)).problem.code, 'not-found', 'it was used')

  await eve.signIn()
  const owed = { status: 401, code: 'mfa-required', challengeId: null, methods: [] }
  t.match((await eve.get('/exceptions')).problem, owed)
  t.match((await eve.get('/balances', { 'x-tenant-id': customer.id })).problem, owed, 'for customers neither')
  t.match((await eve.get('/users/me')).body, { name: 'Eve', email: 'Eve@operator.example.com' })
  const { id, secret } = (await eve.post<{ id: string; secret: string }>('/users/me/mfa-factors', { kind: 'totp' }))
    .body
  const { status } = await eve.post(`/users/me/mfa-factors/${id}/verify`, { code: personOf(world, '', secret).code() })
  t.equal(status, 200)
  t.equal((await eve.get('/exceptions')).status, 200)
  t.equal((await eve.get('/balances', { 'x-tenant-id': customer.id })).status, 200)
  t.match(
    (await eve.get('/operator')).problem,
    { requiredCapability: 'operator.manage' },
    'the role is the invited one',
  )

  const admin = await world.person('operator_admin').signIn()
  const { data } = (await admin.get<PageBody<AuditEvent>>('/audit-events?filter[action]=invitation.accepted')).body
  t.match(data, [{ customerId: null, actor: { type: 'staff', name: 'Eve' }, after: { role: 'operations' } }])
})

t.test('a person who is known proves the address by the password, and keeps what they had', async (t) => {
  await using world = await createWorld()
  const { operator, customer } = world.service.sandbox!
  const { email, password } = customer.members.preparer
  const guest = world.person('preparer')
  const { token } = await inviteStaff(world, { email, role: 'operator_admin', name: 'Another Name' })
  t.match((await open(guest, token)).body, { knownPerson: true, name: 'Another Name' })
  t.match((await accept(guest, token, { password: 'not the password' })).problem, {
    status: 401,
    code: 'unauthenticated',
  })
  t.equal((await accept(guest, token, { password })).status, 200, 'a refusal does not use the link up')
  const person = await guest.signIn()
  t.match((await person.get<Operator>('/operator', { 'x-tenant-id': operator.id })).body, { id: operator.id })
  t.equal((await person.get('/balances')).status, 200)
  t.match((await person.get('/users/me')).body, { name: 'Sandbox Preparer' }, 'the name is their own')
})

t.test('the link of staff ends after seven days, and is none of a customer', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const { id, token } = await inviteStaff(world, { email: 'eve@operator.example.com', role: 'compliance', name: 'Eve' })
  await t.rejects(
    inviteStaff(world, { email: 'Eve@operator.example.com', role: 'support' }),
    { code: '23505', constraint: 'invitation_staff_pending' },
    'an address has one open invitation of an operator',
  )
  const path = `/customers/${owner.tenantId}/invitations`
  t.strictSame((await owner.get<PageBody<Invitation>>(path)).body.data, [])
  await owner.stepUp('membership.change')
  t.equal((await owner.get(`${path}/${id}`)).problem.code, 'not-found')
  t.equal((await owner.post(`${path}/${id}/resend`)).problem.code, 'not-found')
  t.equal((await owner.send('DELETE', `${path}/${id}`)).problem.code, 'not-found')

  const eve = personOf(world, 'eve@operator.example.com')
  world.advance(7 * DAY_MS - 60_000)
  t.equal((await open(eve, token)).status, 200, 'it is open for seven days')
  world.advance(60_000)
  t.equal((await open(eve, token)).problem.code, 'not-found', 'and no longer')
  t.equal((await accept(eve, token, { password: PASSWORD })).problem.code, 'not-found')
  t.strictSame(await world.query(`select from platform_user where email_key = 'eve@operator.example.com'`), [])
})

t.test('where there is an operator no other is made', async (t) => {
  await using world = await createWorld()
  const database = new Database(world.databaseUrl, 1)
  const clock = { now: world.now }
  const entry = { operator: 'Another Operator', email: 'eve@example.com', name: 'Eve' }
  const made = await initOperator({ database, clock, ids: createIdSource(clock), random: randomBytes }, entry)
  await database.close()
  t.equal(made, null)
  t.match(await world.query('select name from operator'), [{ name: 'Sandbox Operator' }])
  t.strictSame(await world.query('select from invitation'), [])
})
