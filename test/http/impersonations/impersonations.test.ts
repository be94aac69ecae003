/** Impersonation over HTTP: staff read what a customer reads, write nothing, and leave a trail on both sides. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { MINUTE_MS } from '../../../lib/base/clock.ts'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { Impersonation } from '../../../lib/impersonations/impersonation-schema.ts'
import { pathParameters } from '../../../http/route/route.ts'
import { routes } from '../../../http/server/routes.ts'
import { Client, type PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { hire } from '../../support/staff.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'

const PATH = '/impersonations'
const CURRENT = '/impersonations/current'
const REASON = 'Ticket 4711: a payment that cannot be found.'

interface Opened extends Impersonation {
  readonly token: string
}

/** Has a person impersonate the seeded customer; returns a client with the token of the impersonation. */
async function impersonate(world: World, by: Person): Promise<{ readonly opened: Opened; readonly as: Client }> {
  const customerId = world.seeded.client.tenantId
  const reply = await by.post<Opened>(PATH, { customerId, reason: REASON })
  if (reply.status !== 201) throw new Error(reply.text)
  return {
    opened: reply.body,
    as: new Client({ url: () => world.url, apiKey: reply.body.token, tenantId: customerId }),
  }
}
const ofOperator = (world: World, as: Client) => as.with({ tenantId: world.operator.tenantId })
const events = async (reader: Person | Client, query: string) =>
  (await reader.get<PageBody<AuditEvent>>(`/audit-events?limit=100&${query}`)).body.data

t.test('support reads what the customer reads, and both trails tell of it', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const support = await world.person('support').signIn()
  const admin = await world.person('operator_admin').signIn()
  const owner = await world.person('owner').signIn()
  const paid = await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await client.paymentReaching(paid.body.id, 'completed')
  const { opened, as } = await impersonate(world, support)
  t.match(opened, { customerId: client.tenantId, customerName: String, reason: REASON, token: /^ses_/ })
  t.equal(Date.parse(opened.expiresAt) - Date.parse(opened.createdAt), 30 * MINUTE_MS)
  for (const path of ['/balances', `/balances/${balances.EUR}`, '/payments', '/recipients', '/transactions'])
    t.equal((await as.get(path)).text, (await owner.get(path)).text, `${path} is what the owner reads`)
  t.match((await as.get<Customer>(`/customers/${client.tenantId}`)).body, { id: client.tenantId, risk: null })
  const current = await ofOperator(world, as).get<Impersonation>(CURRENT)
  t.equal(current.status, 200)
  t.notOk('token' in current.body, 'the token is shown once')
  t.equal(current.body.id, opened.id)
  t.equal((await support.get(CURRENT)).problem.code, 'not-found', 'the own session impersonates nobody')

  const mine = `filter[objectId]=${opened.id}`
  t.equal((await ofOperator(world, as).send('/v1/impersonations/current', { method: 'DELETE' })).status, 204)
  t.match((await as.get('/balances')).problem, { code: 'session-expired', reason: 'revoked' })
  t.equal((await support.get('/balances')).status, 200, 'the session that opened it goes on')
  const [ofCustomer, ofAll] = [await events(owner, mine), await events(admin, mine)]
  const actor = { type: 'staff', name: 'Sandbox Support' }
  t.match(ofCustomer.map(({ action }) => action).reverse(), [
    'impersonation.started',
    ...Array(6).fill('impersonation.read'),
    'impersonation.ended',
  ])
  t.ok(ofCustomer.every((event) => event.actor.name === actor.name && event.actor.type === actor.type))
  t.match(
    ofCustomer.find(({ after }) => JSON.stringify(after).includes(`/balances/${balances.EUR}`)),
    {
      actor,
      after: { operationId: 'getBalance', path: `/v1/balances/${balances.EUR}`, query: '' },
      requestId: String,
    },
  )
  t.notOk(JSON.stringify(ofCustomer).includes('4711'), 'the reason is the operator’s')
  t.equal(ofAll.length, ofCustomer.length + 1, 'the operator has its own entry beside those of the customer')
  t.match(
    ofAll.find(({ customerId }) => customerId === null),
    {
      action: 'impersonation.started',
      actor,
      after: { customerId: client.tenantId, reason: REASON },
    },
  )
})

t.test('every operation that writes is refused, and so is all that is not the customer’s data', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const support = await world.person('support').signIn()
  const { as } = await impersonate(world, support)
  const counted = async () =>
    await world.query(
      `select (select count(*) from payment) as payments, (select count(*) from api_key) as keys, (select count(*) from challenge) as challenges,
        (select count(*) from audit_event) as events, (select count(*) from session where status = 'active') as sessions`,
    )
  const before = await counted()
  let refused = 0
  for (const route of routes) {
    if (route.callers === 'public' || route.whileImpersonating === true) continue
    const ofCustomer = route.method === 'get' && route.callers !== 'staff' && ['customer', 'any'].includes(route.tenant)
    if (ofCustomer) continue
    let path = route.path
    for (const name of pathParameters(path))
      path = path.replace(`{${name}}`, name === 'customerId' ? client.tenantId : randomUUID())
    const reply = await as.send(`/v1${path}`, {
      method: route.method.toUpperCase(),
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), 'if-match': '*' },
      ...(route.body === undefined ? {} : { body: '{}' }),
    })
    t.match(reply.problem, { status: 403, code: 'impersonation-restricted' }, route.operationId)
    refused += 1
  }
  t.ok(refused > 100)
  t.strictSame(await counted(), before, 'nothing was written')
})

t.test('an impersonation shows no secrets, no fields of staff, and no other customer', async (t) => {
  await using world = await createWorld()
  const other = await world.customer({ balances: [] })
  const support = await world.person('support').signIn()
  const { as } = await impersonate(world, support)
  for (const path of ['/api-keys', '/integrator-webhooks', '/audit-events'])
    t.equal((await as.get(path)).problem.code, 'insufficient-scope', path)
  t.equal((await as.with({ tenantId: other.id }).get('/balances')).problem.code, 'tenant-forbidden')
  t.equal((await ofOperator(world, as).get('/balances')).problem.code, 'tenant-forbidden')
  t.equal((await as.get(`/customers/${other.id}`)).problem.code, 'not-found')
  t.equal((await as.get('/users/me')).problem.code, 'impersonation-restricted')
  const balances = await as.get<PageBody<object>>('/balances')
  t.notMatch(balances.text, 'connectionId')
})

t.test('only whoever may impersonate starts one, for a customer of the operator and with a reason', async (t) => {
  await using world = await createWorld()
  const customerId = world.seeded.client.tenantId
  const support = await world.person('support').signIn()
  for (const role of ['compliance', 'operations', 'treasury', 'integration'] as const)
    t.match((await (await world.person(role).signIn()).post(PATH, { customerId, reason: REASON })).problem, {
      status: 403,
      requiredCapability: 'support.impersonate',
    })
  t.equal((await world.operator.post(PATH, { customerId, reason: REASON })).problem.code, 'insufficient-scope')
  const owner = await world.person('owner').signIn()
  t.equal((await owner.post(PATH, { customerId, reason: REASON })).problem.code, 'tenant-forbidden')
  for (const [body, field, code] of [
    [{ reason: REASON }, '/customerId', 'required'],
    [{ customerId }, '/reason', 'required'],
    [{ customerId, reason: 'why' }, '/reason', 'too_short'],
    [{ customerId: 'x', reason: REASON }, '/customerId', 'invalid_format'],
    [{ customerId: randomUUID(), reason: REASON }, '/customerId', 'not_found'],
    [{ customerId: support.tenantId, reason: REASON }, '/customerId', 'not_found'],
    [{ customerId, reason: REASON, minutes: 60 }, '/minutes', 'unknown_field'],
  ] as const)
    t.match((await support.post(PATH, body)).problem.errors, [{ field, code }], JSON.stringify(body))
  t.strictSame(await world.query('select from session where impersonated_customer_id is not null'), [])
})

t.test('an impersonation ends with its time, its session, the role and the person', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const admin = await world.person('operator_admin').signIn()
  const kim = await hire(world, admin, 'kim@operator.example.com', 'support')
  const ended = { status: 401, code: 'session-expired' }
  const timed = (await impersonate(world, kim)).as
  for (let minutes = 0; minutes < 29; minutes += 1) {
    world.advance(MINUTE_MS)
    if (minutes % 10 === 9) {
      t.equal((await timed.get('/balances')).status, 200)
      await kim.get('/balances')
      await admin.get('/operator')
    }
  }
  world.advance(MINUTE_MS - 1)
  t.equal((await timed.get('/balances')).status, 200)
  world.advance(1)
  t.match((await timed.get('/balances')).problem, { ...ended, reason: 'expired' })

  const opened = (await impersonate(world, kim)).as
  t.equal((await kim.send('DELETE', '/sessions/current')).status, 204)
  t.match((await opened.get('/balances')).problem, { ...ended, reason: 'revoked' }, 'with the session that opened it')

  await kim.signIn()
  const asSupport = (await impersonate(world, kim)).as
  const [one] = (
    await admin.get<PageBody<{ readonly id: string; readonly email: string }>>('/operator/staff?limit=100')
  ).body.data.filter(({ email }) => email === 'kim@operator.example.com')
  await admin.stepUp('membership.change')
  const change = (body: object) => admin.send('PATCH', `/operator/staff/${one!.id}`, body, { 'if-match': '*' })
  t.equal((await change({ role: 'operations' })).status, 200)
  t.match((await asSupport.get('/balances')).problem, ended, 'with the capability')
  t.equal((await change({ role: 'support' })).status, 200)
  const last = (await impersonate(world, kim)).as
  t.equal((await last.get('/balances')).status, 200)
  const removed = await admin.send('DELETE', `/operator/staff/${one!.id}`, undefined, { 'if-match': '*' })
  t.equal(removed.status, 204)
  t.match((await last.get('/balances')).problem, { ...ended, reason: 'revoked' }, 'with the person')
})
