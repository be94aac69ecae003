/** The life of a recipient over HTTP: every row of its state machine, with its events, its trail and its reviews. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import type { RecipientReview } from '../../../lib/recipients/recipient-review-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { setPolicy, tier } from '../approvals/people.ts'
import { createAs, createByKey, decideAs, newIban, patchAs, recipientBody, setMode, statusEvents } from './support.ts'

const DAY_MS = 86_400_000

const read = async (world: World, id: string): Promise<Recipient> =>
  (await world.seeded.client.get<Recipient>(`/recipients/${id}`)).body
const pendingReview = async (world: World, recipientId: string): Promise<string> =>
  (
    await world.query<{ id: string }>(
      `select id from recipient_review where recipient_id = $1 and status = 'pending'`,
      [recipientId],
    )
  )[0]!.id
const trail = async (world: World, id: string): Promise<string[]> =>
  (
    await world.query<{ action: string; actor_type: string }>(
      'select action, actor_type from audit_event where object_id = $1 order by id',
      [id],
    )
  ).map(({ action, actor_type }) => `${action} ${actor_type}`)

t.test('a person makes one that nobody has to look at', async (t) => {
  await using world = await createWorld()
  await setMode(world, 'none')
  const owner = await world.person('owner').signIn()
  t.match((await owner.post('/recipients', recipientBody(), { 'idempotency-key': randomUUID() })).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'recipient.create',
  })
  const made = await createAs(owner, {
    metadata: { vendor: '4711' },
    nickname: 'Supplies',
    email: 'bills@example.com',
    purpose: 'Goods',
    externalId: 'V-1',
  })
  t.equal(made.status, 201)
  const { body } = made
  t.match(body, {
    status: 'active',
    approval: null,
    nickname: 'Supplies',
    email: 'bills@example.com',
    externalId: 'V-1',
    metadata: { vendor: '4711' },
    lastPaidAt: null,
    verification: {
      scheme: 'vop',
      outcome: 'match',
      reasonCode: 'MTCH',
      matchedName: null,
      requestedName: 'Test Supplies BV',
      validUntil: null,
      override: null,
    },
  })
  t.equal(made.headers.get('location'), `/v1/recipients/${body.id}`)
  const got = await world.seeded.client.get<Recipient>(`/recipients/${body.id}`)
  t.strictSame(got.body, body, 'reading it shows the same')
  t.equal(got.headers.get('etag'), made.headers.get('etag'))
  t.strictSame(await statusEvents(world, body.id), ['none active'])
  t.strictSame(await trail(world, body.id), ['recipient.created member'])
  t.equal((await world.seeded.client.get(`/recipients/${body.id}/approval`)).status, 404)
  const paid = await world.seeded.client.createPayment(paymentBody(world.seeded.balances.EUR, body.id, 100))
  t.equal(paid.status, 201, 'it can be paid')
  await world.seeded.client.paymentsSettled()
})

t.test('what a key makes waits for a human, whatever the mode', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  for (const [mode, source] of [
    ['none', 'default'],
    ['customer_tier', 'recipient'],
  ] as const) {
    await setMode(world, mode)
    const made = (await createByKey(client)).body
    t.match(made, {
      status: 'pending_approval',
      approval: { mode, status: 'pending', stage: 'customer', approvalId: String, decidedAt: null },
    })
    const refused = await client.createPayment(paymentBody(balances.EUR, made.id, 100))
    t.match(refused.problem, { status: 422, code: 'recipient-not-approved', recipientStatus: 'pending_approval' })
    const approver = await world.person('approver').signIn()
    const approval = (await approver.get<Approval>(`/approvals/${made.approval!.approvalId}`)).body
    t.match(approval, {
      subjectType: 'recipient',
      subjectId: made.id,
      canDecide: true,
      policy: { source },
      subjectSummary: { recipientName: made.name, recipientMaskedIdentifier: made.maskedIdentifier },
    })
    await decideAs(t, approver, approval.id, 'approved')
    const active = await read(world, made.id)
    t.strictSame((await client.get(`/recipients/${made.id}/approval`)).body, active.approval)
    t.match(active, {
      status: 'active',
      approval: { status: 'approved', approvalId: approval.id, decidedBy: String, decidedAt: String },
    })
    t.strictSame(await statusEvents(world, made.id), ['none pending_approval', 'pending_approval active'])
    t.equal((await client.createPayment(paymentBody(balances.EUR, made.id, 100))).status, 201, 'at once it can be paid')
  }
  await client.paymentsSettled()
})

t.test("a customer's own policy goes before its operator's mode, and says who approves", async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'recipient', {
    recipientMode: 'customer_tier',
    tiers: [tier(1, 0, null, { approverRoles: ['approver'] })],
  })
  await setMode(world, 'operator_queue')
  const made = (await createAs(owner)).body
  t.match(made, { status: 'pending_approval', approval: { mode: 'customer_tier', stage: 'customer' } })
  const approval = (await owner.get<Approval>(`/approvals/${made.approval!.approvalId}`)).body
  t.match(approval, { canDecide: false, policy: { source: 'snapshot', tier: { approverRoles: ['approver'] } } })
})

t.test('a rejected one is changed and asked about again', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const made = (await createAs(owner)).body
  t.equal(made.status, 'pending_approval')
  const approver = await world.person('approver').signIn()
  await decideAs(t, approver, made.approval!.approvalId!, 'rejected')
  t.match(await read(world, made.id), {
    status: 'rejected',
    approval: { status: 'rejected', reason: 'Not our supplier.' },
  })
  t.match((await patchAs(owner, made.id, { nickname: 'X' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'rejected',
  })
  await setMode(world, 'none')
  const again = (await patchAs(owner, made.id, { name: 'Better Supplies BV' })).body
  t.match(
    again,
    { name: 'Better Supplies BV', status: 'pending_approval', verification: { requestedName: 'Better Supplies BV' } },
    'also where nobody has to look at new ones',
  )
  t.not(again.approval!.approvalId, made.approval!.approvalId)
  await decideAs(t, approver, again.approval!.approvalId!, 'approved')
  t.strictSame(await statusEvents(world, made.id), [
    'none pending_approval',
    'pending_approval rejected',
    'rejected pending_approval',
    'pending_approval active',
  ])
})

t.test("time ends a review, of the customer's people and of the operator's", async (t) => {
  await using world = await createWorld()
  const own = (await createByKey(world.seeded.client)).body
  await setMode(world, 'operator_queue')
  const queued = (await createByKey(world.seeded.client)).body
  t.match(queued.approval, { mode: 'operator_queue', stage: 'operator', approvalId: null })
  world.advance(7 * DAY_MS + 1_000)
  await until(
    'the approval expires',
    async () =>
      (await world.query(`select from recipient where id = $1 and status = 'rejected'`, [own.id])).length === 1,
  )
  t.match(
    (await world.query<{ approval: object }>('select approval from recipient where id = $1', [own.id]))[0]!.approval,
    { status: 'expired' },
  )
  t.equal(
    (await world.query<{ status: string }>('select status from recipient where id = $1', [queued.id]))[0]!.status,
    'pending_approval',
    'staff have longer',
  )
  world.advance(7 * DAY_MS)
  await until(
    'the review expires',
    async () =>
      (await world.query(`select from recipient where id = $1 and status = 'rejected'`, [queued.id])).length === 1,
  )
  t.match(
    (await world.query<{ approval: object }>('select approval from recipient where id = $1', [queued.id]))[0]!.approval,
    { status: 'expired', decidedBy: null },
  )
  t.strictSame(await statusEvents(world, queued.id), ['none pending_approval', 'pending_approval rejected'])
})

t.test("the operator's people decide on their queue", async (t) => {
  await using world = await createWorld()
  await setMode(world, 'operator_queue')
  const first = (await createByKey(world.seeded.client)).body
  const second = (await createByKey(world.seeded.client)).body
  const staff = await world.person('compliance').signIn()
  const listed = (await staff.get<{ data: RecipientReview[] }>('/recipient-reviews?sort=createdAt')).body.data
  t.strictSame(
    listed.map(({ recipient }) => recipient.id),
    [first.id, second.id],
  )
  t.match(listed[0], {
    status: 'pending',
    customerId: world.seeded.client.tenantId,
    customerName: 'Sandbox Company',
    requestedByName: 'Sandbox key',
    recipient: { bank: { iban: first.bank.iban } },
  })
  const [one, other] = [await pendingReview(world, first.id), await pendingReview(world, second.id)]
  t.equal((await staff.get(`/recipient-reviews/${one}`)).status, 200)
  const approved = (await staff.post<RecipientReview>(`/recipient-reviews/${one}/approve`)).body
  t.match(approved, { status: 'approved', decidedAt: String, decidedBy: String })
  t.match(
    await read(world, first.id),
    { status: 'active', approval: { status: 'approved', decidedBy: null } },
    'the customer does not learn who it was',
  )
  t.match((await staff.post(`/recipient-reviews/${one}/approve`)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'approved',
  })
  t.match((await staff.post(`/recipient-reviews/${other}/reject`, {})).problem, {
    errors: [{ field: '/reason', code: 'required' }],
  })
  t.equal((await staff.post(`/recipient-reviews/${other}/reject`, { reason: 'Unknown company.' })).status, 200)
  t.match(await read(world, second.id), {
    status: 'rejected',
    approval: { status: 'rejected', reason: 'Unknown company.' },
  })
  t.equal((await staff.post(`/recipient-reviews/${randomUUID()}/approve`)).problem.code, 'not-found')
  t.equal((await staff.get<{ data: unknown[] }>('/recipient-reviews')).body.data.length, 0, 'nothing is left')
  t.equal(
    (await staff.get<{ data: unknown[] }>('/recipient-reviews?filter[status]=approved,rejected')).body.data.length,
    2,
  )
  const owner = await world.person('owner').signIn()
  t.equal((await owner.get('/recipient-reviews')).status, 403)
  const support = await world.person('operations').signIn()
  t.match((await support.get('/recipient-reviews')).problem, { status: 403, requiredCapability: 'compliance.manage' })
})

t.test("first the customer's people, then the operator's", async (t) => {
  await using world = await createWorld()
  await setMode(world, 'customer_then_operator')
  const made = (await createByKey(world.seeded.client)).body
  t.match(made.approval, { mode: 'customer_then_operator', stage: 'customer' })
  await decideAs(t, await world.person('approver').signIn(), made.approval!.approvalId!, 'approved')
  t.match(await read(world, made.id), {
    status: 'pending_approval',
    approval: { status: 'pending', stage: 'operator', approvalId: made.approval!.approvalId },
  })
  t.strictSame(await statusEvents(world, made.id), ['none pending_approval'], 'nothing has changed for those who pay')
  const staff = await world.person('compliance').signIn()
  t.equal(
    (await staff.post(`/recipient-reviews/${await pendingReview(world, made.id)}/approve`, { reason: 'Known.' }))
      .status,
    200,
  )
  t.match(await read(world, made.id), { status: 'active', approval: { status: 'approved', stage: 'operator' } })
})

t.test('a change of what is reviewed reopens the review and withdraws payments that wait', async (t) => {
  await using world = await createWorld()
  await setMode(world, 'none')
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const made = (await createAs(owner)).body
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)] })
  const waiting = (await client.createPayment(paymentBody(balances.EUR, made.id, 500))).body
  t.equal(waiting.status, 'pending_approval')
  await setMode(world, 'customer_tier')

  const harmless = await patchAs(owner, made.id, {
    nickname: 'N',
    email: null,
    defaultReference: 'R',
    purpose: 'P',
    externalId: 'E',
    metadata: { a: '1' },
  })
  t.match(harmless.body, { status: 'active', nickname: 'N', externalId: 'E', metadata: { a: '1' } })
  t.strictSame(await statusEvents(world, made.id), ['none active'], 'the other members say nothing')
  const same = await patchAs(owner, made.id, { name: made.name, bank: { iban: made.bank.iban!.toLowerCase() } })
  t.equal(same.headers.get('etag'), harmless.headers.get('etag'), 'the same again changes nothing')

  const iban = newIban()
  const changed = (await patchAs(owner, made.id, { bank: { iban } })).body
  t.match(changed, { status: 'pending_approval', bank: { iban }, approval: { status: 'pending' }, nickname: 'N' })
  t.match(await client.payment(waiting.id), { status: 'cancelled', statusReason: { code: 'recipient_changed' } })
  t.equal((await client.holds(balances.EUR)).length, 0, 'its money is free')
  const twice = (
    await patchAs(owner, made.id, { address: { line1: 'Street 1', city: 'Town', postalCode: '1000', country: 'NL' } })
  ).body
  t.equal(twice.status, 'pending_approval')
  t.match(
    (await owner.get<Approval>(`/approvals/${changed.approval!.approvalId}`)).body,
    { status: 'cancelled' },
    'the review of what was is withdrawn',
  )
  t.match(
    (await patchAs(owner, made.id, { nickname: null })).body,
    { status: 'pending_approval', nickname: null },
    'the others can be changed while it waits',
  )
  await decideAs(t, await world.person('approver').signIn(), twice.approval!.approvalId!, 'approved')
  t.strictSame(await statusEvents(world, made.id), [
    'none active',
    'active pending_approval',
    'pending_approval active',
  ])

  await setMode(world, 'none')
  t.match(
    (await patchAs(owner, made.id, { type: 'individual' })).body,
    { status: 'active', type: 'individual', approval: null },
    'where nobody has to look, it stays usable',
  )
  const byKey = await client.send<Recipient>(`/v1/recipients/${made.id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify({ name: 'By Key BV' }),
  })
  t.match(
    byKey.body,
    { status: 'pending_approval', approval: { mode: 'none' } },
    'what a key changes waits for a human',
  )
})

t.test('staff block and unblock', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)] })
  const waiting = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 500))).body
  const staff = await world.person('compliance').signIn()
  t.equal((await staff.post(`/recipients/${recipients.EUR}/block`, { reason: 'A report.' })).status, 204)
  t.match(await client.payment(waiting.id), { status: 'cancelled', statusReason: { code: 'recipient_changed' } })
  t.match((await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 500))).problem, {
    code: 'recipient-not-approved',
    recipientStatus: 'blocked',
  })
  t.match((await staff.post(`/recipients/${recipients.EUR}/block`, { reason: 'Again.' })).problem, {
    code: 'invalid-transition',
    currentStatus: 'blocked',
  })
  t.match((await patchAs(owner, recipients.EUR, { name: 'Other Name BV' })).problem, {
    code: 'invalid-transition',
    currentStatus: 'blocked',
  })
  t.equal((await staff.post(`/recipients/${recipients.EUR}/unblock`)).status, 204)
  t.strictSame(await statusEvents(world, recipients.EUR), ['active blocked', 'blocked active'])
  t.match((await owner.post(`/recipients/${recipients.EUR}/block`, { reason: 'Not mine to do.' })).problem, {
    status: 403,
  })
})

t.test('deleting, and what stands in its way', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const pending = (await createByKey(client)).body
  const owner = await world.person('owner').signIn()
  const path = `/v1/recipients/${recipients.EUR}`
  t.equal((await client.send(path, { method: 'DELETE' })).status, 428)
  const payment = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 500))).body
  t.match((await client.send(path, { method: 'DELETE', headers: { 'if-match': '*' } })).problem, {
    status: 409,
    code: 'recipient-in-use',
    paymentIds: [payment.id],
  })
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)] })
  const waits = (await client.createPayment(paymentBody(balances.GBP, recipients.GBP, 500, 'GBP'))).body
  t.match(
    (await client.send(`/v1/recipients/${recipients.GBP}`, { method: 'DELETE', headers: { 'if-match': '*' } })).problem,
    { code: 'recipient-in-use', paymentIds: [waits.id] },
  )

  const etag = (await client.get(`/recipients/${pending.id}`)).headers.get('etag')!
  t.equal(
    (
      await client.send(`/v1/recipients/${pending.id}`, {
        method: 'DELETE',
        headers: { 'if-match': 'W/"9-aaaaaaaaaaaa"' },
      })
    ).status,
    412,
  )
  t.equal(
    (await client.send(`/v1/recipients/${pending.id}`, { method: 'DELETE', headers: { 'if-match': etag } })).status,
    204,
  )
  t.equal((await client.get(`/recipients/${pending.id}`)).status, 404)
  t.equal(
    (await client.send(`/v1/recipients/${pending.id}`, { method: 'DELETE', headers: { 'if-match': '*' } })).status,
    404,
  )
  t.match(
    (await owner.get<Approval>(`/approvals/${pending.approval!.approvalId}`)).body,
    { status: 'cancelled' },
    'nobody has to decide any more',
  )
  t.strictSame(await statusEvents(world, pending.id), ['none pending_approval', 'pending_approval deleted'])
  t.match((await client.createPayment(paymentBody(balances.EUR, pending.id, 500))).problem, {
    errors: [{ field: '/recipientId', code: 'not_found' }],
  })
  const ids = async (query: Record<string, string>) =>
    (await client.list<Recipient>('/recipients', query)).body.data.map(({ id }) => id)
  t.notOk((await ids({})).includes(pending.id), 'it is on no list')
  t.strictSame(await ids({ 'filter[status]': 'deleted' }), [pending.id], 'but for those who ask')
  t.equal(
    (await createByKey(client, { bank: { iban: pending.bank.iban } })).status,
    201,
    'the account can be used again',
  )
})

t.test('a recipient that is paid on its way is in use until the payment has ended', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const stuck = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1701))).body
  await until('it is with the partner', async () => !('processing' in (await client.payment(stuck.id))))
  t.match(
    (await client.send(`/v1/recipients/${recipients.EUR}`, { method: 'DELETE', headers: { 'if-match': '*' } })).problem,
    { code: 'recipient-in-use', paymentIds: [stuck.id] },
  )
  const done = (await client.createPayment(paymentBody(balances.GBP, recipients.GBP, 100, 'GBP'))).body
  await client.paymentReaching(done.id, 'completed')
  t.equal(
    (await client.send(`/v1/recipients/${recipients.GBP}`, { method: 'DELETE', headers: { 'if-match': '*' } })).status,
    204,
  )
})
