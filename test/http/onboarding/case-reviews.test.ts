/** The review of KYB cases by staff, over HTTP: the queue, questions, decisions of one or two people, and alerts. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { KybCaseItem, KybCaseReview } from '../../../lib/onboarding/case-review-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { eventsOf } from '../compliance/staff.ts'
import { addPerson, bySandbox, caseOf, deliver, putCase, sandboxConnection } from '../kyc/support.ts'

const TELLING = 'We have a suspicion of money laundering.'

/** The seeded customer with its case in review, and the people of its operator. */
async function inReview(world: World, customer = 'in_review') {
  const staff = await world.person('compliance').signIn()
  const admin = await world.person('operator_admin').signIn()
  const owner = await world.person('owner').signIn()
  const customerId = owner.tenantId
  await putCase(world, customerId, 'in_review', customer)
  await world.query('update kyb_case set submitted_at = created_at where customer_id = $1', [customerId])
  const { id } = await caseOf(world, customerId)
  const path = `/kyb-cases/${id}`
  return {
    staff,
    admin,
    owner,
    customerId,
    id,
    path,
    read: async () => (await staff.get<KybCaseReview>(path)).body,
    rate: async (risk: string) => {
      const { status } = await admin.post(`/customers/${customerId}/risk`, { risk, reason: 'Country.' })
      t.equal(status, 200)
    },
    /** Has the sandbox's provider review the customer and its persons. */
    simulate: async (outcome: string, personId?: string) => {
      const body = { outcome, ...(personId === undefined ? {} : { personId }) }
      const reply = await world.seeded.client.post('/simulations/kyc', body)
      if (reply.status !== 202) throw new Error(reply.text)
    },
  }
}

const noticesOf = async (owner: Person, type: string) =>
  (await owner.get<PageBody<{ title: string; text: string }>>(`/notifications?filter[type]=${type}`)).body.data

/** The actions on a case in the trail of the operator, the newest first. */
const trailOf = async (staff: Person, id: string) =>
  (await staff.get<PageBody<AuditEvent>>(`/audit-events?filter[objectId]=${id}`)).body.data.map(({ action }) => action)

t.test('the queue has what waits, with filters, sorts and pages', async (t) => {
  await using world = await createWorld()
  const { staff, admin, owner, id, customerId, path } = await inReview(world)
  const draft = (
    await staff.send<Customer>('POST', '/customers', { legalName: 'Molen Handel BV', incorporationCountry: 'NL' })
  ).body
  const find = async (query: string) => (await staff.get<PageBody<KybCaseItem>>(`/kyb-cases?${query}`)).body.data
  const [item] = await find('')
  t.match(item, {
    id,
    customerId,
    customerName: String,
    customerType: 'business',
    customerStatus: 'in_review',
    status: 'in_review',
    risk: 'low',
    assignee: null,
    openAlerts: 0,
    firstApproval: null,
    decision: null,
  })
  t.equal((await find('')).length, 1, 'drafts do not wait for staff')
  const all = 'filter[status]=draft,in_review'
  t.strictSame(
    (await find(all)).map((each) => each.customerId),
    [customerId, draft.id],
    'never submitted: last',
  )
  t.strictSame((await find(`${all}&sort=-updatedAt`)).length, 2)
  const me = (await staff.post<KybCaseReview>(`${path}/assign`)).body.assignee
  for (const [query, count] of [
    [`filter[assignee]=${me}`, 1],
    [`filter[assignee]=${randomUUID()}`, 0],
    ['filter[customerType]=individual', 0],
    ['filter[risk]=high', 0],
    ['filter[submittedFrom]=2000-01-01', 1],
    ['filter[submittedTo]=2000-01-01', 0],
    [`${all}&q=molen`, 1],
    ['q=molen', 0],
  ] as const)
    t.equal((await find(query)).length, count, query)
  const first = (await staff.get<PageBody<KybCaseItem>>(`/kyb-cases?${all}&limit=1`)).body
  const second = await find(`${all}&limit=1&cursor=${first.page.nextCursor}`)
  t.strictSame([first.data[0]!.id, second[0]!.customerId], [id, draft.id])
  for (const query of ['filter[status]=open', 'sort=createdAt', 'filter[assignee]=me'])
    t.equal((await staff.get(`/kyb-cases?${query}`)).status, 400, query)
  for (const other of [owner, await world.person('operations').signIn()])
    for (const at of ['/kyb-cases', path]) t.equal((await other.get(at)).status, 403, at)
  t.equal((await world.seeded.client.get('/kyb-cases')).status, 403)
  t.equal((await staff.get(`/kyb-cases/${randomUUID()}`)).status, 404)

  t.match((await staff.post(`${path}/assign`, { assigneeId: owner.tenantId })).problem, {
    status: 422,
    errors: [{ field: '/assigneeId', code: 'not_found' }],
  })
  t.equal((await admin.post<KybCaseReview>(`${path}/assign`, { assigneeId: null })).body.assignee, null)
})

t.test('staff ask, note and reject in words that tell nothing, and what is refused changes nothing', async (t) => {
  await using world = await createWorld()
  const { staff, admin, owner, id, path, read, customerId } = await inReview(world)
  const before = await read()
  const requirements = ['/documents/kyb_register_extract', '/company/website']
  for (const [action, body, expected] of [
    ['request-info', { message: TELLING, requirements: [] }, { code: 'tipping_off', field: '/message' }],
    ['reject', { reason: 'No.', reasonForCustomer: TELLING }, { code: 'tipping_off', field: '/reasonForCustomer' }],
    ['request-info', { message: 'Please.' }, { errors: [{ field: '/requirements', code: 'required' }] }],
    ['request-info', { message: 'Please.', requirements: ['website'] }, { errors: [{ field: '/requirements/0' }] }],
    ['request-info', { message: '', requirements: [] }, { errors: [{ field: '/message' }] }],
    ['reject', { reason: 'No.' }, { errors: [{ field: '/reasonForCustomer', code: 'required' }] }],
    ['reject', { reasonForCustomer: 'No.' }, { errors: [{ field: '/reason', code: 'required' }] }],
    ['reopen', {}, { errors: [{ field: '/reason', code: 'required' }] }],
    ['approve', { note: 7 }, { errors: [{ field: '/note' }] }],
    ['notes', { text: '' }, { errors: [{ field: '/text' }] }],
  ] as const)
    t.match((await staff.post(`${path}/${action}`, body)).problem, { status: 422, ...expected }, `${action}`)
  t.equal((await staff.post(`/kyb-cases/${randomUUID()}/reject`, {})).status, 404)
  t.match((await staff.post(`${path}/reopen`, { reason: 'Again.' })).problem, { code: 'invalid-transition' })
  t.strictSame(await read(), before)
  t.strictSame(await trailOf(admin, id), [])

  const etag = (await staff.get(path)).headers.get('etag') as string
  const asked = await staff.send<KybCaseReview>(
    'POST',
    `${path}/request-info`,
    { message: 'Please upload an extract.', requirements },
    { 'if-match': etag },
  )
  t.equal(asked.status, 200, asked.text)
  t.match(asked.body, {
    status: 'info_requested',
    customerStatus: 'info_required',
    infoRequested: requirements.map((field) => ({ field, message: 'Please upload an extract.', resolvedAt: null })),
  })
  t.equal(asked.body.assignee !== null, true, 'the first person who acts has it')
  t.match(await noticesOf(owner, 'kyb_info_requested'), [{ text: 'Please upload an extract.' }])
  t.match(
    await world.query(`select status from outbox where type = 'onboarding.requirements_changed' and object_id = $1`, [
      id,
    ]),
    [{ status: 'info_requested' }],
    'and programs of the customer are told',
  )
  t.match(
    (await staff.send('POST', `${path}/notes`, { text: 'Late.' }, { 'if-match': etag })).problem,
    { status: 412 },
    'another has changed it',
  )
  t.match((await staff.post(`${path}/approve`)).problem, {
    code: 'invalid-transition',
    currentStatus: 'info_requested',
  })
  const noted = await admin.post<KybCaseReview>(`${path}/notes`, { text: TELLING })
  t.equal(noted.status, 201)
  t.match(noted.body.notes, [{ text: TELLING, by: { name: String } }], 'staff may write what they think to each other')

  await putCase(world, customerId, 'in_review', 'in_review')
  const rejected = await staff.post<KybCaseReview>(`${path}/reject`, {
    reason: TELLING,
    reasonForCustomer: 'We cannot offer you an account.',
  })
  t.match(rejected.body, {
    status: 'rejected',
    customerStatus: 'rejected',
    decision: { decision: 'rejected', reason: TELLING, reasonForCustomer: 'We cannot offer you an account.' },
    nextReviewAt: null,
  })
  const told = await noticesOf(owner, 'kyb_decided')
  t.match(told, [{ text: 'We cannot offer you an account.' }])
  t.notMatch(JSON.stringify(told), /suspicion|laundering/)
  t.match(await owner.get('/audit-events').then(({ text }) => text), /^(?!.*(suspicion|kyb_case\.rejected))/s)
  t.match((await staff.post<KybCaseReview>(`${path}/reopen`, { reason: 'They have appealed.' })).body, {
    status: 'in_review',
    customerStatus: 'in_review',
  })
  t.strictSame(await trailOf(admin, id), [
    'kyb_case.reopened',
    'kyb_case.rejected',
    'kyb_case.noted',
    'kyb_case.info_requested',
  ])
  t.strictSame((await eventsOf(world, id)).filter((line) => line.startsWith('kyb_case.')).slice(-3), [
    'kyb_case.status_changed in_review info_requested',
    'kyb_case.status_changed in_review rejected',
    'kyb_case.status_changed rejected in_review',
  ])
})

t.test('an approval waits for the verification of all persons, and opens balances', async (t) => {
  await using world = await createWorld()
  const { staff, owner, customerId, path, simulate, id } = await inReview(world)
  const personId = await addPerson(world, customerId, 'Jansen')
  t.match((await staff.post(`${path}/approve`)).problem, { status: 409, code: 'kyc_incomplete', persons: [personId] })
  await simulate('approved')
  t.match((await staff.post(`${path}/approve`)).problem, { code: 'kyc_incomplete', persons: [personId] })
  await simulate('approved', personId)
  await until('the person is verified', async () => {
    await world.pollOnce()
    const [row] = await world.query<{ status: string }>('select status from kyb_person where id = $1', [personId])
    return row!.status === 'green'
  })
  const approved = await staff.post<KybCaseReview>(`${path}/approve`, { note: 'All is there.' })
  t.equal(approved.status, 200, approved.text)
  t.match(approved.body, {
    status: 'approved',
    customerStatus: 'active',
    decision: { decision: 'approved', reason: 'All is there.', first: null },
    firstApproval: null,
    reviewedAt: String,
  })
  const years = (Date.parse(approved.body.nextReviewAt!) - Date.parse(approved.body.reviewedAt!)) / (365.25 * DAY_MS)
  t.equal(Math.round(years), 3, 'low risk')
  t.match(await noticesOf(owner, 'kyb_decided'), [{ title: 'Your application was approved' }])
  t.ok((await eventsOf(world, customerId)).includes('customer.status_changed in_review active'))
  t.match((await staff.post(`${path}/approve`)).problem, { code: 'invalid-transition', currentStatus: 'approved' })
  t.ok((await trailOf(await world.person('operator_admin').signIn(), id)).includes('kyb_case.approved'))
})

t.test('a new customer begins with the balances that it expects to use', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('compliance').signIn()
  const { id } = (
    await staff.send<Customer>('POST', '/customers', { legalName: 'Molen Handel BV', incorporationCountry: 'NL' })
  ).body
  await putCase(world, id, 'in_review', 'in_review')
  await world.query(
    `update kyb_case set provider = 'manual', expected_activity = '{"currencies": ["GBP", "EUR"]}' where customer_id = $1`,
    [id],
  )
  const { id: caseId } = await caseOf(world, id)
  const approved = await staff.post<KybCaseReview>(`/kyb-cases/${caseId}/approve`)
  t.equal(approved.status, 200, approved.text)
  t.match((await staff.get<Customer>(`/customers/${id}`)).body, { status: 'active', approvedAt: String })
  const { data } = (await staff.get<PageBody<Balance>>(`/balances?filter[customerId]=${id}`)).body
  t.strictSame(data.map(({ currency }) => currency).sort(), ['EUR', 'GBP'])
  t.ok(data.every(({ status }) => status === 'active'))

  t.equal((await staff.post(`/kyb-cases/${caseId}/reopen`, { reason: 'A hint.' })).status, 200)
  t.match((await staff.get<Customer>(`/customers/${id}`)).body, { status: 'active' }, 'it stays approved meanwhile')
  t.equal((await staff.post(`/kyb-cases/${caseId}/approve`)).status, 200)
  t.equal((await staff.get<PageBody<Balance>>(`/balances?filter[customerId]=${id}`)).body.data.length, 2, 'once')
})

t.test('a customer of high risk takes two people, and many at once decide once', async (t) => {
  await using world = await createWorld()
  const { staff, admin, path, rate, read, id, customerId } = await inReview(world)
  await world.query(`update kyb_case set provider = 'manual' where customer_id = $1`, [customerId])
  await rate('high')
  const settings = async (kyb: object) => await admin.send('PATCH', '/operator/settings', { kyb }, { 'if-match': '*' })
  for (const months of [0, 61, 'six']) t.equal((await settings({ reviewMonthsHigh: months })).status, 422)
  t.equal((await settings({ reviewMonthsHigh: 24 })).status, 200)
  const first = await staff.post<KybCaseReview>(`${path}/approve`, { note: 'I have seen them.' })
  t.equal(first.status, 202, first.text)
  t.match(first.body, { status: 'in_review', firstApproval: { note: 'I have seen them.' }, decision: null })
  const again = await staff.post<KybCaseReview>(`${path}/approve`, { note: 'I am sure.' })
  t.equal(again.status, 202, 'one person twice is one')
  t.equal(again.body.firstApproval!.note, 'I have seen them.')
  await staff.post(`${path}/request-info`, { message: 'Please explain.', requirements: [] })
  t.equal((await read()).firstApproval, null, 'what was approved has changed')
  await putCase(world, customerId, 'in_review', 'in_review')
  const replies = await Promise.all(
    Array.from({ length: 6 }, (_, nth) => [staff, admin][nth % 2]!.post<KybCaseReview>(`${path}/approve`)),
  )
  t.equal(replies.filter(({ status }) => status === 200).length, 1, replies.map(({ status }) => status).join(' '))
  t.ok(replies.every(({ status }) => [200, 202, 409].includes(status)))
  const { decision, nextReviewAt, reviewedAt } = await read()
  t.not(decision!.first!.by.id, decision!.by.id, 'two different people')
  const years = (Date.parse(nextReviewAt!) - Date.parse(reviewedAt!)) / (365.25 * DAY_MS)
  t.equal(Math.round(years), 2, 'as the operator has set it')
  t.strictSame(
    (await trailOf(admin, id)).filter((action) => action === 'kyb_case.approved'),
    ['kyb_case.approved'],
  )
  await rate('prohibited')
  await staff.post(`${path}/reopen`, { reason: 'Prohibited.' })
  t.match((await staff.post(`${path}/approve`)).problem, { code: 'invalid-transition', allowed: [] })
})

t.test('what monitoring finds on an approved customer is decided by two people', async (t) => {
  await using world = await createWorld()
  const { staff, admin, owner, path, read, simulate, id, customerId } = await inReview(world)
  await simulate('approved')
  await until('reviewed', async () => {
    await world.pollOnce()
    return (await caseOf(world, customerId)).result?.reviewAnswer === 'green'
  })
  t.equal((await staff.post(`${path}/approve`)).status, 200)
  const connectionId = await sandboxConnection(admin)
  const { applicantId } = await caseOf(world, customerId)
  const monitor = async (name: string, seconds: number) => {
    const body = JSON.stringify({
      id: randomUUID(),
      type: 'applicant.reviewed',
      occurredAt: new Date(world.now() + seconds * 1_000).toISOString(),
      data: { subjectId: id, applicantId, answer: 'green', screening: [{ list: 'EU', name, score: 91 }] },
    })
    const reply = await deliver(world, connectionId, body, bySandbox(body, { at: world.now() }))
    t.equal(reply.status, 202)
    await until('the event was used', async () => {
      await world.pollOnce()
      return (await read()).alerts.some((alert) => alert.name === name)
    })
  }
  await monitor('Viktor Sanctionov', 1)
  const found = await read()
  t.match(found, { status: 'in_review', customerStatus: 'active', openAlerts: 1 })
  t.match(found.alerts, [{ list: 'EU', name: 'Viktor Sanctionov', score: 91, status: 'open', proposal: null }])
  t.match((await staff.post(`${path}/approve`)).problem, { status: 409, code: 'kyc_incomplete', persons: [] })
  t.notMatch((await owner.get('/audit-events')).text, /screening|Sanctionov/)
  t.match(await noticesOf(owner, 'kyb_info_requested'), [], 'the customer does not learn of it')
  await monitor('Another', 2)
  t.equal((await read()).alerts.length, 2)

  const [{ id: one }, { id: other }] = (await read()).alerts as readonly { id: string }[] as [
    { id: string },
    { id: string },
  ]
  const decide = async (person: Person, nth: number, decision: string) =>
    await person.post<KybCaseReview>(`${path}/alerts/${[one, other][nth]}/decide`, {
      decision,
      reason: 'Another date of birth.',
    })
  t.equal((await decide(staff, 0, 'cleared')).status, 202)
  t.equal((await decide(staff, 0, 'cleared')).status, 202, 'one person twice is one')
  t.equal((await decide(admin, 0, 'confirmed')).status, 202, 'a different view')
  t.equal((await decide(staff, 0, 'cleared')).status, 202)
  const cleared = await decide(admin, 0, 'cleared')
  t.equal(cleared.status, 200, cleared.text)
  t.match(cleared.body.alerts[0], {
    status: 'cleared',
    proposal: null,
    decision: { decision: 'cleared', reason: String },
  })
  t.not(cleared.body.alerts[0]!.decision!.by.id, cleared.body.alerts[0]!.decision!.first.by.id)
  t.match((await decide(staff, 0, 'cleared')).problem, { code: 'invalid-transition', currentStatus: 'cleared' })
  for (const [body, status] of [
    [{}, 422],
    [{ decision: 'open', reason: 'No.' }, 422],
  ] as const)
    t.equal((await staff.post(`${path}/alerts/${found.alerts[0]!.id}/decide`, body)).status, status)
  t.equal(
    (await staff.post(`${path}/alerts/${randomUUID()}/decide`, { decision: 'cleared', reason: 'No.' })).status,
    404,
  )
  t.equal((await decide(staff, 1, 'confirmed')).status, 202)
  t.equal((await decide(admin, 1, 'confirmed')).status, 200)
  t.match((await staff.post(`${path}/approve`)).problem, { code: 'kyc_incomplete' }, 'a confirmed alert')
  t.equal((await decide(staff, 1, 'cleared')).status, 202)
  t.equal((await decide(admin, 1, 'cleared')).status, 200, 'two people may find otherwise later')
  t.equal((await staff.post(`${path}/approve`)).status, 200)
  t.ok((await trailOf(admin, found.alerts[0]!.id)).includes('screening_alert.cleared'))
})

t.test('a review that is overdue takes the capability to pay, not the customer', async (t) => {
  await using world = await createWorld()
  const { staff, owner, path, read, customerId } = await inReview(world)
  const { client, balances, recipients } = world.seeded
  await world.query(`update kyb_case set provider = 'manual' where customer_id = $1`, [customerId])
  const { nextReviewAt } = (await staff.post<KybCaseReview>(`${path}/approve`)).body
  const due = Date.parse(nextReviewAt!)
  const reminders = async () => (await noticesOf(await owner.signIn(), 'kyb_review_due')).length
  const pay = async () => (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))).status

  world.advanceTo(due - 31 * DAY_MS)
  await world.pollOnce()
  t.equal(await reminders(), 0)
  for (const [days, count] of [
    [30, 1],
    [7, 2],
  ] as const) {
    world.advanceTo(due - days * DAY_MS + 1_000)
    await until(`reminder ${count}`, async () => {
      await world.pollOnce()
      return (await reminders()) === count
    })
  }
  t.equal(await pay(), 201)
  world.advanceTo(due + 1_000)
  await until('it has lapsed', async () => {
    await world.pollOnce()
    return (
      (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100)).catch(() => null))?.status === 403
    )
  })
  await staff.signIn()
  t.match(await read(), { status: 'approved', customerStatus: 'restricted' })
  t.equal(await reminders(), 3)

  const now = world.now()
  const made = { at: now, by: randomUUID() }
  await world.query('update kyb_case set attestations = $2, terms = $3 where customer_id = $1', [
    customerId,
    JSON.stringify({ allDirectors: made, allOwners: made }),
    JSON.stringify({ ...made, version: '2', address: null }),
  ])
  world.advance(DAY_MS + 2_000)
  await staff.signIn()
  await until('staff look at it', async () => {
    await world.pollOnce()
    return (await read()).status === 'in_review'
  })
  t.equal(await pay(), 201, 'what was confirmed gives the capability back')
  t.match(await read(), { customerStatus: 'active' })
  const renewed = (await staff.post<KybCaseReview>(`${path}/approve`)).body
  t.ok(Date.parse(renewed.nextReviewAt!) > due + 300 * DAY_MS)
})

t.test('the first of two people counts only while they review cases', async (t) => {
  await using world = await createWorld()
  const { staff, admin, path, rate, read, id, customerId } = await inReview(world)
  await world.query(`update kyb_case set provider = 'manual' where customer_id = $1`, [customerId])
  await rate('high')
  const put = async (member: string) =>
    await world.query(`update membership set ${member} where tenant_id = $1 and user_id = $2`, [staff.tenantId, me])
  const me = (await staff.post<KybCaseReview>(`${path}/assign`)).body.assignee
  for (const gone of [`status = 'suspended'`, `role = 'support'`]) {
    await world.query('update kyb_case set first_approval = null where id = $1', [id])
    t.equal((await staff.post(`${path}/approve`)).status, 202)
    await put(gone)
    t.equal((await admin.post(`${path}/approve`)).status, 202, gone)
    t.not((await admin.get<KybCaseReview>(path)).body.firstApproval!.by.id, me, 'it is the first now')
    await put(`status = 'active', role = 'compliance'`)
  }
  await world.query(
    `insert into screening_alert (id, case_id, customer_id, operator_id, provider, list, name, score, created_at, updated_at)
     select gen_random_uuid(), id, customer_id, operator_id, 'sumsub', 'pep', 'Anna', 100, now(), now() from kyb_case where id = $1`,
    [id],
  )
  const [alert] = (await read()).alerts
  const clear = async (person: Person) =>
    (await person.post(`${path}/alerts/${alert!.id}/decide`, { decision: 'cleared', reason: 'Another person.' })).status
  t.equal(await clear(staff), 202)
  await put(`status = 'suspended'`)
  t.equal(await clear(admin), 202, 'the proposal of a person who has left')
  await put(`status = 'active'`)
  t.equal(await clear(staff), 200)
  t.equal((await staff.post(`${path}/approve`)).status, 202)
  t.equal((await admin.post(`${path}/approve`)).status, 200)
})

t.test('a customer with balances does not withdraw', async (t) => {
  await using world = await createWorld()
  const { staff, owner, path, read, customerId } = await inReview(world)
  await putCase(world, customerId, 'approved', 'active')
  for (const [action, body] of [
    ['reopen', { reason: 'A hint.' }],
    ['reject', { reason: 'No.', reasonForCustomer: 'We cannot offer you an account.' }],
    ['reopen', { reason: 'They have appealed.' }],
  ] as const)
    t.equal((await staff.post(`${path}/${action}`, body)).status, 200, action)
  const before = await read()
  t.match(before, { status: 'in_review', customerStatus: 'in_review' })
  t.match((await owner.post(`/customers/${customerId}/kyb/withdraw`)).problem, {
    status: 409,
    code: 'invalid-transition',
    detail: 'The customer has open balances; request its closure.',
  })
  t.strictSame(await read(), before)
})

t.test('a case in review that no provider knows is one of staff', async (t) => {
  await using world = await createWorld()
  const { staff, path, customerId } = await inReview(world)
  await world.query(`update kyb_case set provider = 'sandbox' where customer_id = $1`, [customerId])
  t.match((await staff.post(`${path}/approve`)).problem, { code: 'kyc_incomplete' })
  await world.query(await readFile('storage/migrations/0076_manual_reviews.sql', 'utf8'))
  t.match((await staff.post<KybCaseReview>(`${path}/approve`)).body, { status: 'approved', provider: 'manual' })
})
