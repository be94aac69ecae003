/** Customers that staff and keys of the operator make: what is made, what is refused, and how its first owner comes in. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { OpenInvitation } from '../../../lib/identity/member-schema.ts'
import { INVITATION_MS } from '../../../lib/identity/invitation.ts'
import type { OperatorSettings } from '../../../lib/operators/operator-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { mailsOf } from '../../support/mails.ts'
import { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const PASSWORD = 'correct horse battery'
const OWNER = { email: 'noor@molen.example', firstName: 'Noor', lastName: 'de Wit' }
const DRAFT = { legalName: 'Molen Handel BV', incorporationCountry: 'NL' }

/** The token of the last link that was mailed to an address. */
async function linkTo(world: World, email: string, count = 1): Promise<string> {
  const tokens = async () =>
    (await mailsOf(world))
      .filter((mail) => mail.includes(`To: ${email}`))
      .map((mail) => /\/invitations\/([\w-]+)/.exec(mail)?.[1])
      .filter((token) => token !== undefined)
  await until(`mail ${count} to ${email}`, async () => (await tokens()).length >= count)
  return (await tokens()).at(-1) as string
}

const strangerOf = (world: World, tenantId: string, email = OWNER.email) =>
  new Person({
    url: () => world.url,
    login: { email, password: PASSWORD, totpSecret: '' },
    tenantId,
    now: world.now,
  })

async function setDomains(world: World, domains: readonly string[]): Promise<void> {
  const admin = await world.person('operator_admin').signIn()
  const { headers } = await admin.get<OperatorSettings>('/operator/settings')
  const set = await admin.send<OperatorSettings>(
    'PATCH',
    '/operator/settings',
    { apiKeyInvitationDomains: domains },
    { 'if-match': headers.get('etag') as string },
  )
  t.strictSame(set.body.apiKeyInvitationDomains, domains, set.text)
}

const eventsOf = (world: World, id: string) =>
  world.query<{ type: string; status: string; previous_status: string | null }>(
    'select type, status, previous_status from outbox where object_id = $1 order by created_at, id',
    [id],
  )

t.test('staff make a draft, its owner comes in by the link, and onboarding begins', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('compliance').signIn()
  const key = randomUUID()
  const body = { ...DRAFT, tradingName: 'De Molen', registrationNumber: '12345678', primaryOwner: OWNER }
  const made = await staff.post<Customer>('/customers', body, { 'idempotency-key': key })
  t.equal(made.status, 201, made.text)
  const { id, number } = made.body
  t.match(number, /^[1-9][0-9]{7}$/)
  t.equal(made.headers.get('location'), `/v1/customers/${id}`)
  t.match(made.body, {
    operatorId: world.operator.tenantId,
    legalName: 'Molen Handel BV',
    tradingName: 'De Molen',
    identityType: 'corporate',
    customerType: 'business',
    registrationNumber: '12345678',
    incorporationCountry: 'NL',
    incorporationDate: null,
    status: 'draft',
    risk: null,
    approvedAt: null,
    closedAt: null,
    metadata: {},
    accessStatus: 'invited',
  })
  const again = await staff.post<Customer>('/customers', body, { 'idempotency-key': key })
  t.strictSame([again.text, again.headers.get('idempotency-replayed')], [made.text, 'true'], 'once')
  const read = await staff.get<Customer>(`/customers/${id}`)
  t.strictSame([read.text, read.headers.get('etag')], [made.text, made.headers.get('etag')])

  const token = await linkTo(world, OWNER.email)
  const noor = strangerOf(world, id)
  t.match((await noor.send<OpenInvitation>('GET', `/invitations/${token}`, undefined, {}, null)).body, {
    customerName: 'Molen Handel BV',
    email: OWNER.email,
    name: 'Noor de Wit',
    role: 'owner',
    knownPerson: false,
  })
  t.equal((await mailsOf(world)).filter((mail) => mail.includes(OWNER.email)).length, 1, 'one mail')
  const accepted = await noor.send('POST', `/invitations/${token}/accept`, { password: PASSWORD }, {}, null)
  t.equal(accepted.status, 200, accepted.text)
  t.match((await staff.get<Customer>(`/customers/${id}`)).body, { status: 'draft', accessStatus: 'active' })
  await noor.signIn()
  t.match((await staff.get<Customer>(`/customers/${id}`)).body, { status: 'onboarding', accessStatus: 'active' })
  await noor.signIn()
  t.strictSame(
    (await eventsOf(world, id)).map(({ type, status, previous_status: before }) => [type, before, status]),
    [
      ['customer.created', null, 'draft'],
      ['customer.status_changed', 'draft', 'onboarding'],
    ],
    'the second sign-in begins nothing',
  )
  t.strictSame(
    (
      await world.query<{ action: string }>(
        `select action from audit_event where customer_id = $1 and action <> 'session.created' order by id`,
        [id],
      )
    ).map(({ action }) => action),
    ['customer.created', 'invitation.created', 'invitation.accepted', 'customer.onboarding_begun'],
  )
  t.match((await noor.get(`/customers/${id}/memberships`)).body, { data: [{ role: 'owner', isPrimaryOwner: true }] })
  t.match((await staff.post(`/customers/${id}/resend-invitation`)).problem, {
    code: 'invalid-transition',
    currentStatus: 'active',
  })
})

t.test('a key makes customers with owners at the approved domains alone', async (t) => {
  await using world = await createWorld()
  const { operator } = world
  const post = (body: object) => operator.post<Customer>('/customers', { ...DRAFT, ...body }, randomUUID())
  t.match((await post({})).problem, { status: 422, errors: [{ field: '/primaryOwner', code: 'required' }] })
  t.match((await post({ primaryOwner: OWNER })).problem, { status: 422, code: 'invitation_domains_required' })
  await setDomains(world, ['other.example'])
  t.match((await post({ primaryOwner: OWNER })).problem, {
    status: 422,
    code: 'domain_not_approved',
    domain: 'molen.example',
  })
  t.strictSame(
    await world.query(`select from customer where legal_name = $1`, [DRAFT.legalName]),
    [],
    'nothing is made',
  )
  await setDomains(world, ['molen.example'])
  const made = await post({ primaryOwner: { ...OWNER, email: 'Noor@Molen.example' }, customerType: 'sole_trader' })
  t.match(made.body, { status: 'draft', identityType: 'individual', accessStatus: 'invited' }, made.text)
  t.equal((await world.seeded.client.get('/customers')).status, 403, 'keys of customers make and read none')
  t.equal((await world.seeded.client.get(`/customers/${made.body.id}`)).status, 403)
})

t.test('what cannot be right is refused in clear words, and nothing is half done', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('compliance').signIn()
  const before = await world.query('select from customer')
  const refused = async (body: object) => (await staff.post('/customers', { ...DRAFT, ...body })).problem
  const field = (field: string, code: string) => ({ status: 422, errors: [{ field, code }] })
  t.match(await refused({ legalName: '\u0301'.repeat(200) }), field('/legalName', 'too_long'))
  t.match(await refused({ legalName: 'A\u0000B' }), field('/legalName', 'invalid_characters'))
  t.match(await refused({ incorporationCountry: 'XX' }), field('/incorporationCountry', 'invalid_value'))
  t.match(await refused({ incorporationCountry: 'nl' }), field('/incorporationCountry', 'invalid_format'))
  t.match(await refused({ externalId: 'A-1' }), field('/externalId', 'unknown_field'))
  t.match(
    await refused({ customerType: 'business', identityType: 'individual' }),
    field('/identityType', 'invalid_value'),
  )
  t.match(await refused({ pricingTemplateId: randomUUID() }), field('/pricingTemplateId', 'not_found'))
  t.match(await refused({ primaryOwner: { email: 'x', firstName: 'A', lastName: 'B' } }), {
    status: 422,
    errors: [{ field: '/primaryOwner/email' }],
  })
  t.match(await refused({ primaryOwner: { email: 'a@b.example' } }), { status: 422, code: 'validation-error' })
  t.equal((await world.query('select from customer')).length, before.length)
  t.strictSame(await world.query('select from invitation'), [])
  t.match(
    (await staff.post<Customer>('/customers', { ...DRAFT, identityType: 'individual', legalName: 'Jan Vis' })).body,
    { customerType: 'individual', accessStatus: 'not_invited' },
    'the type follows from the identity',
  )
  const operations = await world.person('operations').signIn()
  t.match((await operations.post('/customers', DRAFT)).problem, {
    code: 'insufficient-scope',
    requiredCapability: 'customers.manage',
  })
})

t.test('customers are listed, searched and filtered by their own operator', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('compliance').signIn()
  const make = async (body: object) => (await staff.post<Customer>('/customers', { ...DRAFT, ...body })).body
  const zoe = await make({ legalName: 'Zoë Café', customerType: 'sole_trader', incorporationCountry: 'BE' })
  const molen = await make({ tradingName: 'Windkracht', registrationNumber: 'KVK-778', metadata: { tier: 'gold' } })
  const ids = async (query: string) =>
    (await world.operator.get<PageBody<Customer>>(`/customers?${query}`)).body.data.map(({ id }) => id)
  const seeded = world.seeded.client.tenantId
  t.strictSame(await ids('limit=10'), [molen.id, zoe.id, seeded], 'the newest first')
  t.strictSame((await ids('sort=legalName')).at(-1), zoe.id)
  for (const [query, found] of [
    ['q=zoe+cafe', [zoe.id]],
    ['q=windkr', [molen.id]],
    ['q=778', [molen.id]],
    [`q=${molen.number}`, [molen.id]],
    ['filter[status]=draft', [molen.id, zoe.id]],
    ['filter[status]=active', [seeded]],
    ['filter[customerType]=sole_trader', [zoe.id]],
    ['filter[identityType]=individual', [zoe.id]],
    ['filter[accessStatus]=not_invited', [molen.id, zoe.id]],
    ['filter[accessStatus]=active', [seeded]],
    ['filter[country]=BE', [zoe.id]],
    ['filter[risk]=low', [seeded]],
    [`filter[number]=${zoe.number}`, [zoe.id]],
    ['filter[approvedFrom]=2020-01-01', [seeded]],
    [`filter[id]=${zoe.id},${randomUUID()}`, [zoe.id]],
    ['filter[metadata.tier]=gold', [molen.id]],
  ] as const)
    t.strictSame(await ids(query), found, query)
  const first = (await world.operator.get<PageBody<Customer>>('/customers?limit=2&withTotal=true')).body.page
  t.equal(first.total, 3)
  t.strictSame(await ids(`limit=2&cursor=${first.nextCursor}`), [seeded])
  const foreign = randomUUID()
  await world.query('insert into operator (id, name, created_at) values ($1, $2, now())', [foreign, 'Another operator'])
  await world.query('update customer set operator_id = $1 where id = $2', [foreign, zoe.id])
  t.strictSame(await ids('q=zoe'), [])
  t.equal((await staff.get(`/customers/${zoe.id}`)).status, 404)
  t.equal((await staff.post(`/customers/${zoe.id}/restrict`, { reason: 'x' })).status, 404)
  await world.query('update customer set operator_id = $1 where id = $2', [world.operator.tenantId, zoe.id])
})

t.test('staff change everything, members the trading name and attributes', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('compliance').signIn()
  const owner = await world.person('owner').signIn()
  const path = `/customers/${owner.tenantId}`
  const { headers } = await staff.get<Customer>(path)
  const tag = headers.get('etag') as string
  t.equal((await staff.send('PATCH', path, {})).status, 428)
  const changed = await staff.send<Customer>(
    'PATCH',
    path,
    { legalName: 'Nieuw BV', incorporationDate: '2001-02-03', metadata: { tier: 'gold', old: 'x' } },
    { 'if-match': tag },
  )
  t.match(changed.body, { legalName: 'Nieuw BV', incorporationDate: '2001-02-03', risk: 'low' }, changed.text)
  t.equal((await staff.send('PATCH', path, { tradingName: 'X' }, { 'if-match': tag })).status, 412)
  const own = await owner.send<Customer>(
    'PATCH',
    path,
    { tradingName: 'De Nieuwe', metadata: { old: null } },
    { 'if-match': '*' },
  )
  t.match(own.body, { legalName: 'Nieuw BV', tradingName: 'De Nieuwe', metadata: { tier: 'gold' }, risk: null })
  t.strictSame(own.body.metadata, { tier: 'gold' })
  t.match((await owner.send('PATCH', path, { legalName: 'Mine' }, { 'if-match': '*' })).problem, {
    status: 422,
    errors: [{ field: '/legalName', code: 'read_only_field' }],
  })
  t.match((await staff.send('PATCH', path, { incorporationDate: '2999-01-01' }, { 'if-match': '*' })).problem, {
    errors: [{ field: '/incorporationDate', code: 'invalid_value' }],
  })
  const approver = await world.person('approver').signIn()
  t.equal((await approver.send('PATCH', path, { tradingName: 'X' }, { 'if-match': '*' })).status, 403)
  const read = await owner.get<Customer>(path)
  t.match(read.body, { tradingName: 'De Nieuwe', risk: null }, 'members read their customer')
  const memberTag = read.headers.get('etag') as string
  t.equal((await approver.get(path)).headers.get('etag'), memberTag)
  const renamed = await owner.send<Customer>('PATCH', path, { tradingName: 'Later' }, { 'if-match': memberTag })
  t.equal(renamed.status, 200, renamed.text)
  t.equal((await owner.send('PATCH', path, { tradingName: 'Late' }, { 'if-match': memberTag })).status, 412)
  t.equal((await owner.get(path)).headers.get('etag'), renamed.headers.get('etag'), 'nothing has changed')
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  t.equal((await owner.get(`/customers/${stranger.id}`)).status, 404, 'and no other')
  t.match((await world.seeded.client.get(path)).problem, { code: 'insufficient-scope' }, 'keys of customers do not')
  const rated = await staff.post<Customer>(`${path}/risk`, { risk: 'high', reason: 'Cash business.' })
  t.match(rated.body, { risk: 'high' }, rated.text)
  t.match((await staff.post(`${path}/risk`, { risk: 'extreme', reason: 'x' })).problem, {
    errors: [{ field: '/risk', code: 'invalid_value' }],
  })
  t.match((await staff.post(`${path}/risk`, { risk: 'low' })).problem, {
    errors: [{ field: '/reason', code: 'required' }],
  })
  t.match(
    await world.query(
      `select before::json, after::json from audit_event where action = 'customer.risk_rated' and tenant_id = $1`,
      [world.operator.tenantId],
    ),
    [{ before: { risk: 'low' }, after: { risk: 'high', reason: 'Cash business.' } }],
  )
})

t.test('an owner who did not come is invited again, or another in place', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('compliance').signIn()
  const { id } = (await staff.post<Customer>('/customers', DRAFT)).body
  const path = `/customers/${id}/resend-invitation`
  t.match((await staff.post(path)).problem, { errors: [{ field: '/primaryOwner', code: 'required' }] })
  const wrong = { ...OWNER, email: 'nor@molen.example' }
  t.match((await staff.post<Customer>(path, { primaryOwner: wrong })).body, { accessStatus: 'invited' })
  const first = await linkTo(world, wrong.email)
  world.advance(INVITATION_MS + DAY_MS)
  await staff.signIn()
  t.equal((await staff.post(path, { reason: 'Asked by phone.' })).status, 200)
  const second = await linkTo(world, wrong.email, 2)
  const stranger = strangerOf(world, id)
  const open = (token: string) => stranger.send('GET', `/invitations/${token}`, undefined, {}, null)
  t.strictSame([(await open(first)).status, (await open(second)).status], [404, 200], 'the last link is good')
  t.equal((await staff.post(path, { primaryOwner: OWNER })).status, 200)
  const third = await linkTo(world, OWNER.email)
  t.strictSame(
    [(await open(second)).status, (await open(third)).status],
    [404, 200],
    'the person before is not invited',
  )
})

t.test('a price list of its own holds for a customer', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const list = await admin.post<{ id: string }>('/pricing-templates', {
    name: 'Special',
    rules: [{ kind: 'payment', currency: 'EUR', rail: null, fixed: { amountMinor: '77', currency: 'EUR' } }],
  })
  t.equal(list.status, 201, list.text)
  const made = await admin.post<Customer>('/customers', { ...DRAFT, pricingTemplateId: list.body.id })
  t.equal(made.status, 201, made.text)
  t.match(
    (
      await admin.send('DELETE', `/pricing-templates/${list.body.id}`, undefined, {
        'if-match': '*',
      })
    ).problem,
    { code: 'invalid-transition', detail: 'The list holds for some customers.' },
  )
  // The seeded customer has balances, so its payments show which list holds.
  const { client, balances, recipients } = world.seeded
  await world.query('update customer set pricing_template_id = $1 where id = $2', [list.body.id, client.tenantId])
  await world.query('update balance set version = version + 1 where customer_id = $1', [client.tenantId])
  const paid = await client.createPayment({
    sourceBalanceId: balances.EUR,
    recipientId: recipients.EUR,
    amount: { amountMinor: '100', currency: 'EUR' },
    reference: 'Invoice',
  })
  t.match(paid.body, { fee: { amountMinor: '77' } }, paid.text)
  await client.paymentsSettled()
})
