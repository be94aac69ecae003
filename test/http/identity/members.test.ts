/** The people of a customer over HTTP: roles, teams, invitations, the primary owner. */
import t from 'tap'
import type {
  AcceptedInvitation,
  Invitation,
  Member,
  OpenInvitation,
  Team,
} from '../../../lib/identity/member-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { mailsOf } from '../../support/mails.ts'
import { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { addMember } from '../approvals/people.ts'

const base = (person: Person) => `/customers/${person.tenantId}`

async function members(person: Person, query = ''): Promise<Map<string, Member>> {
  return new Map(
    (await person.get<PageBody<Member>>(`${base(person)}/memberships${query}`)).body.data.map((member) => [
      member.email,
      member,
    ]),
  )
}

async function change(person: Person, member: Member, body: object) {
  const { headers } = await person.get(`${base(person)}/memberships/${member.id}`)
  return await person.send<Member>('PATCH', `${base(person)}/memberships/${member.id}`, body, {
    'if-match': headers.get('etag')!,
  })
}

const remove = (person: Person, member: Member) =>
  person.send('DELETE', `${base(person)}/memberships/${member.id}`, undefined, { 'if-match': '*' })

async function approveDomains(person: Person, domains: readonly string[]): Promise<void> {
  await person.stepUp('settings.change')
  const path = `${base(person)}/settings/approved-domains`
  const { headers } = await person.get(path)
  await person.send('PUT', path, { domains }, { 'if-match': headers.get('etag')! }).then(({ body }) => body)
}

/** The token in the newest mail to an address. */
async function tokenFor(world: World, email: string): Promise<string> {
  return await until(`a mail to ${email}`, async () => {
    const mail = (await mailsOf(world)).findLast((text) => text.includes(`To: ${email}`))
    return /invitations\/(inv_[A-Za-z0-9_-]+)/.exec(mail ?? '')?.[1] ?? null
  })
}

t.test('members are listed, changed and removed, and an owner remains', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const preparer = await world.person('preparer').signIn()
  const all = await members(preparer)
  t.strictSame(
    [...all.values()].map(({ role, status, isPrimaryOwner, mfaEnabled }) => [role, status, isPrimaryOwner, mfaEnabled]),
    [
      ['preparer', 'active', false, true],
      ['approver', 'active', false, true],
      ['owner', 'active', true, true],
    ],
  )
  const [me, approver, prepares] = ['owner@example.com', 'approver@example.com', 'preparer@example.com'].map(
    (email) => all.get(email)!,
  ) as [Member, Member, Member]
  t.match((await change(preparer, approver, { role: 'viewer' })).problem, {
    status: 403,
    requiredCapability: 'members.manage',
  })
  t.match((await change(owner, approver, { role: 'viewer' })).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'membership.change',
  })
  await owner.stepUp('membership.change')
  t.match((await change(owner, me, { role: 'admin' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'own_membership',
  })
  t.equal(
    (await owner.send('PATCH', `${base(owner)}/memberships/${approver.id}`, {}, {})).problem.code,
    'precondition-required',
  )
  t.equal(
    (await owner.send('PATCH', `${base(owner)}/memberships/${approver.id}`, {}, { 'if-match': 'W/"9-000000000000"' }))
      .problem.code,
    'precondition-failed',
  )

  t.match((await change(owner, prepares, { status: 'suspended' })).body, { status: 'suspended' })
  t.equal(
    (await preparer.get(`${base(owner)}/memberships`)).problem.code,
    'tenant-forbidden',
    'at once, in a session that is open',
  )
  t.match((await change(owner, prepares, { status: 'active', role: 'viewer' })).body, {
    status: 'active',
    role: 'viewer',
  })
  t.match((await preparer.get(`${base(owner)}/memberships`)).problem, { requiredCapability: 'members.read' })

  t.match((await change(owner, approver, { role: 'admin' })).body, { role: 'admin' })
  const admin = await world.person('approver').signIn()
  await admin.stepUp('membership.change')
  t.match(
    (await change(admin, me, { role: 'viewer' })).problem,
    { status: 403, requiredCapability: 'owner' },
    'only owners change owners',
  )
  t.match(
    (await change(admin, prepares, { role: 'owner' })).problem,
    { status: 403, requiredCapability: 'owner' },
    'or make them',
  )
  t.equal((await remove(admin, prepares)).status, 204)
  t.notOk((await members(owner)).has('preparer@example.com'))
  t.match((await members(owner, '?filter[status]=removed')).get('preparer@example.com'), { status: 'removed' })
  t.match((await change(owner, prepares, { role: 'admin' })).problem, { currentStatus: 'removed' })

  t.match((await admin.send('PUT', `${base(owner)}/primary-owner`, { membershipId: approver.id })).problem, {
    status: 403,
    requiredCapability: 'owner',
  })
  t.match((await owner.send('PUT', `${base(owner)}/primary-owner`, { membershipId: prepares.id })).problem, {
    errors: [{ field: '/membershipId', code: 'not_found' }],
  })
  t.match((await owner.send<Member>('PUT', `${base(owner)}/primary-owner`, { membershipId: approver.id })).body, {
    isPrimaryOwner: true,
    role: 'owner',
  })
  t.match(
    (await owner.send('PUT', `${base(owner)}/primary-owner`, { membershipId: me.id })).problem,
    { status: 403 },
    'it is no longer theirs',
  )
  t.match((await change(owner, approver, { role: 'admin' })).problem, { status: 409, currentStatus: 'primary_owner' })
  t.equal((await remove(admin, me)).status, 204, 'another owner may go now')
  const actions = (
    await admin.get<PageBody<{ action: string }>>('/audit-events?filter[objectType]=membership')
  ).body.data.map(({ action }) => action)
  t.strictSame(actions.slice(0, 3), ['membership.removed', 'primary_owner.transferred', 'membership.removed'])
})

t.test('teams have members of the customer and names of their own', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const all = [...(await members(owner)).values()].filter(({ role }) => role !== 'owner')
  const path = `${base(owner)}/teams`
  await owner.stepUp('membership.change')
  const made = await owner.post<Team>(path, { name: 'Treasury', membershipIds: [all[0]!.id] })
  t.equal(made.status, 201, made.text)
  t.equal(made.headers.get('location'), `/v1${path}/${made.body.id}`)
  t.match((await owner.get<Team>(`${path}/${made.body.id}`)).body, { name: 'Treasury', membershipIds: [all[0]!.id] })
  t.match((await owner.post(path, { name: 'treasury' })).problem, {
    errors: [{ field: '/name', code: 'invalid_value' }],
  })
  t.match((await owner.post(path, { name: 'Strangers', membershipIds: [owner.tenantId] })).problem, {
    errors: [{ field: '/membershipIds/0', code: 'not_found' }],
  })
  const etag = made.headers.get('etag')!
  const changed = await owner.send<Team>(
    'PATCH',
    `${path}/${made.body.id}`,
    { name: 'Finance', membershipIds: all.map(({ id }) => id) },
    { 'if-match': etag },
  )
  t.match(changed.body, { name: 'Finance' })
  t.equal(changed.body.membershipIds.length, 2)
  t.equal(
    (await owner.send('PATCH', `${path}/${made.body.id}`, { name: 'Again' }, { 'if-match': etag })).problem.code,
    'precondition-failed',
  )
  t.strictSame([...(await members(owner, `?filter[teamId]=${made.body.id}`)).keys()].length, 2)
  await owner.stepUp('membership.change')
  t.match((await change(owner, all[0]!, { teamIds: [] })).body, { teamIds: [] })
  t.match((await change(owner, all[0]!, { teamIds: [owner.tenantId] })).problem, {
    errors: [{ field: '/teamIds/0', code: 'not_found' }],
  })
  t.equal((await owner.send('DELETE', `${path}/${made.body.id}`, undefined, { 'if-match': '*' })).status, 204)
  t.equal((await owner.get(`${path}/${made.body.id}`)).problem.code, 'not-found')
  t.strictSame((await owner.get<PageBody<Team>>(path)).body.data, [])
})

t.test('a change of who is in a team needs a step-up, and nobody puts themselves into a team', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const admin = await addMember(world, 'admin')
  const all = [...(await members(owner)).values()]
  const [me, approver] = ['owner@example.com', 'approver@example.com'].map(
    (email) => all.find((member) => member.email === email)!.id,
  )
  const path = `${base(owner)}/teams`
  const proof = { status: 403, code: 'step-up-required', action: 'membership.change' }
  const self = { status: 409, code: 'invalid-transition', currentStatus: 'own_membership' }
  t.match((await owner.post(path, { name: 'Controllers' })).problem, proof)
  t.match((await owner.post(path, { name: 'Controllers', membershipIds: [me] })).problem, proof)
  await owner.stepUp('membership.change')
  t.match((await owner.post(path, { name: 'Controllers', membershipIds: [approver, me!.toUpperCase()] })).problem, self)
  t.strictSame((await owner.get<PageBody<Team>>(path)).body.data, [], 'no team was made')
  const made = await owner.post<Team>(path, { name: 'Controllers', membershipIds: [approver] })
  t.equal(made.status, 201, made.text)
  const one = `${path}/${made.body.id}`
  const patch = (by: typeof owner, body: object) => by.send<Team>('PATCH', one, body, { 'if-match': '*' })
  t.match((await patch(owner, { membershipIds: [approver, me] })).problem, self)
  t.match((await patch(admin, { membershipIds: [approver, me] })).problem, proof)
  t.equal((await patch(admin, { name: 'Second pair of eyes' })).status, 200, 'a name alone needs no proof')
  await admin.stepUp('membership.change')
  t.strictSame(
    (await patch(admin, { membershipIds: [approver, me] })).body.membershipIds.toSorted(),
    [approver, me].toSorted(),
    'somebody else puts them in',
  )
  t.equal((await patch(owner, { membershipIds: [me] })).status, 200, 'they were in it already')
  t.strictSame((await owner.get<Team>(one)).body.membershipIds, [me])
})

t.test('an invitation reaches an approved domain, is accepted once, and makes a member who can sign in', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const path = `${base(owner)}/invitations`
  await owner.stepUp('membership.change')
  const ann = { email: 'Ann@example.com', role: 'approver' }
  t.equal((await owner.post(path, ann)).problem.code, 'invitation_domains_required')
  await approveDomains(owner, ['example.com'])
  t.match((await owner.post(path, { ...ann, email: 'ann@example.org' })).problem, {
    status: 422,
    code: 'domain_not_approved',
    domain: 'example.org',
  })
  t.match((await owner.post(path, { ...ann, email: 'approver@example.com' })).problem, {
    errors: [{ field: '/email', code: 'invalid_value' }],
  })
  const made = await owner.post<Invitation>(path, ann)
  t.match(made.body, { email: 'Ann@example.com', role: 'approver', status: 'pending', invitedByName: 'Sandbox Owner' })
  t.match(
    (await owner.post(path, ann)).problem,
    { errors: [{ field: '/email', code: 'invalid_value' }] },
    'once at a time',
  )
  const first = await tokenFor(world, ann.email)
  const again = await owner.post<Invitation>(`${path}/${made.body.id}/resend`)
  t.equal(again.status, 200, again.text)
  const token = await until('another link', async () => {
    const now = await tokenFor(world, ann.email)
    return now === first ? null : now
  })
  t.equal(
    (await owner.send('GET', `/invitations/${first}`, undefined, {}, null)).problem.code,
    'not-found',
    'the first link is void',
  )
  t.match((await owner.send<OpenInvitation>('GET', `/invitations/${token}`, undefined, {}, null)).body, {
    email: 'Ann@example.com',
    role: 'approver',
    invitedByName: 'Sandbox Owner',
    knownPerson: false,
  })
  const accept = (body: object, link = token) =>
    owner.send<AcceptedInvitation>('POST', `/invitations/${link}/accept`, body, {}, null)
  t.match((await accept({ password: 'correct horse battery' })).problem, {
    errors: [{ field: '/name', code: 'required' }],
  })
  t.match((await accept({ name: 'Ann', password: 'short' })).problem, {
    errors: [{ field: '/password', code: 'too_short' }],
  })
  const both = await Promise.all([
    accept({ name: 'Ann', password: 'correct horse battery' }),
    accept({ name: 'Ann', password: 'correct horse battery' }),
  ])
  t.strictSame(both.map(({ status }) => status).sort(), [200, 404], 'a link is good once')
  t.match((await owner.get<Invitation>(`${path}/${made.body.id}`)).body, { status: 'accepted', acceptedAt: String })
  const person = new Person({
    url: () => world.url,
    login: { email: 'ann@example.com', password: 'correct horse battery', totpSecret: '' },
    tenantId: owner.tenantId,
    now: world.now,
  })
  await person.signIn()
  t.match((await members(person)).get('Ann@example.com'), { role: 'approver', status: 'active', name: 'Ann' })

  await owner.stepUp('membership.change')
  t.equal((await remove(owner, (await members(owner)).get('Ann@example.com')!)).status, 204)
  const second = await owner.post<Invitation>(path, { ...ann, role: 'viewer' })
  const link = await until('a link', async () => {
    const now = await tokenFor(world, ann.email)
    return now === token ? null : now
  })
  t.match((await owner.send<OpenInvitation>('GET', `/invitations/${link}`, undefined, {}, null)).body, {
    knownPerson: true,
  })
  t.equal(
    (await accept({ password: 'not the password' }, link)).problem.code,
    'unauthenticated',
    'whoever has the address proves it',
  )
  t.equal((await accept({ password: 'correct horse battery' }, link)).status, 200)
  t.match((await members(owner)).get('Ann@example.com'), { role: 'viewer', status: 'active' })
  t.match((await owner.send('DELETE', `${path}/${second.body.id}`)).problem, {
    code: 'invalid-transition',
    currentStatus: 'accepted',
  })

  const third = await owner.post<Invitation>(path, { email: 'bob@example.com', role: 'viewer' })
  const bobs = await tokenFor(world, 'bob@example.com')
  world.advance(8 * 86_400_000)
  const later = await world.person('owner').signIn()
  t.match((await later.get<Invitation>(`${path}/${third.body.id}`)).body, { status: 'expired' })
  t.equal((await accept({ name: 'Bob', password: 'correct horse battery' }, bobs)).problem.code, 'not-found')
  await later.stepUp('membership.change')
  const fourth = await later.post<Invitation>(path, { email: 'bob@example.com', role: 'viewer' })
  t.equal(fourth.status, 201, 'one that has run out stands in nobody’s way')
  t.equal((await later.send('DELETE', `${path}/${fourth.body.id}`)).status, 204)
  t.strictSame(
    (await later.get<PageBody<Invitation>>(`${path}?filter[status]=revoked,expired`)).body.data.map(
      ({ status }) => status,
    ),
    ['revoked', 'expired'],
  )
})

t.test('a customer has a hundred members at most, those who are invited among them', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  await owner.stepUp('membership.change')
  await approveDomains(owner, ['example.com'])
  await owner.stepUp('membership.change')
  // Three are there, and one of these was removed.
  await world.query(
    `with made as (insert into platform_user (id, email, email_key, name, password_hash, password_changed_at, status, created_at, updated_at)
        select gen_random_uuid(), n || '@example.org', n || '@example.org', 'Person ' || n, '', now(), 'active', now(), now() from generate_series(1, 97) n returning id, email)
      insert into membership (id, user_id, level, tenant_id, operator_id, role, status, created_at, updated_at)
        select gen_random_uuid(), made.id, 'customer', m.tenant_id, m.operator_id, 'viewer', case made.email when '1@example.org' then 'removed' else 'active' end, now(), now()
        from made, membership m where m.tenant_id = $1 and m.role = 'owner'`,
    [owner.tenantId],
  )
  const invite = (name: string) =>
    owner.post<Invitation>(`${base(owner)}/invitations`, { email: `${name}@example.com`, role: 'viewer' })
  const replies = await Promise.all(['ann', 'bob', 'eve'].map(invite))
  t.strictSame(
    replies.map(({ status }) => status).sort(),
    [201, 409, 409],
    'the hundredth, whoever else asks at the same time',
  )
  t.match(replies.find(({ status }) => status === 409)?.problem, {
    code: 'limit-reached',
    limit: 100,
    resource: 'membership',
  })
  const { id } = replies.find(({ status }) => status === 201)!.body
  t.equal((await owner.send('DELETE', `${base(owner)}/invitations/${id}`)).status, 204)
  t.equal((await invite('zoe')).status, 201, 'who is not invited any more counts no more')
})
