/**
 * Drafts over HTTP: written, changed, thrown away and submitted; and what can be known of a payment before it is made.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Payment, PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import { addDays } from '../../../lib/base/clock.ts'
import { railDate } from '../../../lib/rails/business-days.ts'
import type { Reply } from '../../support/client.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { setPolicy, tier } from '../approvals/people.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

const eventsOf = async (world: World, id: string) =>
  (
    await world.query<{ type: string; status: string; previous_status: string | null }>(
      'select type, status, previous_status from outbox where object_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ type, status, previous_status }) => [type, previous_status, status].join(' '))
const updatesOf = async (world: World, id: string) =>
  (
    await world.query<{ version: number; status: string }>(
      'select version, status from status_update where object_id = $1 order by version',
      [id],
    )
  ).map(({ version, status }) => `${version} ${status}`)

const bodyOf = (world: World, minor = 5_000) => ({
  ...paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, minor),
  draft: true,
})
const draft = async (world: World, overrides: object = {}): Promise<Payment> =>
  (await world.seeded.client.createPayment({ ...bodyOf(world), ...overrides })).body

async function patch(world: World, id: string, body: object, tag?: string): Promise<Reply<Payment>> {
  const { client } = world.seeded
  const etag = tag ?? (await client.get(`/payments/${id}`)).headers.get('etag')!
  return await client.send<Payment>(`/v1/payments/${id}`, {
    method: 'PATCH',
    headers: { 'if-match': etag, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

t.test('P1, P2, P3: a draft is written, changed and thrown away, and nothing else happens', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const key = randomUUID()
  const body = { ...bodyOf(world), externalId: 'order-1', metadata: { po: '7', a: 'b' } }
  const created = await client.createPayment(body, key)
  t.equal(created.status, 201, created.text)
  const { id, number } = created.body
  t.match(created.body, {
    status: 'draft',
    rail: null,
    executionDate: null,
    estimatedArrival: null,
    fee: null,
    submittedBy: null,
    submittedAt: null,
    cancellable: false,
    endToEndId: number,
    createdVia: 'api_key',
  })
  t.equal(created.headers.get('location'), `/v1/payments/${id}`)
  t.equal((await client.get(`/payments/${id}`)).headers.get('etag'), created.headers.get('etag'))
  t.equal((await client.balance(balances.EUR)).heldBalance.amountMinor, '0')
  t.strictSame(await eventsOf(world, id), [], 'nobody is told')
  t.match((await client.createPayment({ ...body, externalId: 'order-1' })).problem, {
    status: 409,
    code: 'duplicate-external-id',
    existingId: id,
  })

  t.equal(
    (
      await client.send(`/v1/payments/${id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
    ).problem.code,
    'precondition-required',
  )
  t.equal((await patch(world, id, { reference: 'Other' }, 'W/"9-000000000000"')).problem.code, 'precondition-failed')
  const day = addDays(railDate('sepa_instant', world.now()), 5)
  const changed = await patch(world, id, {
    amount: eur(7_000),
    reference: 'Invoice 43',
    executionDate: day,
    metadata: { a: null, c: 'd' },
    purpose: 'Rent',
    externalId: 'order-2',
    chargeBearer: 'sender',
  })
  t.equal(changed.status, 200, changed.text)
  t.match(changed.body, {
    status: 'draft',
    amount: eur(7_000),
    reference: 'Invoice 43',
    executionDate: day,
    metadata: { c: 'd', po: '7' },
    purpose: 'Rent',
    externalId: 'order-2',
    number,
    endToEndId: number,
    chargeBearer: 'sender',
  })
  t.match(changed.headers.get('etag'), /^W\/"2-/)
  const same = await patch(world, id, { reference: 'Invoice 43' })
  t.equal(same.headers.get('etag'), changed.headers.get('etag'), 'nothing has changed')
  t.match((await patch(world, id, { amount: { amountMinor: '1', currency: 'GBP' } })).problem, {
    status: 422,
    errors: [{ field: '/amount/currency', code: 'currency_mismatch' }],
  })
  t.match((await patch(world, id, { sourceBalanceId: randomUUID() })).problem, {
    status: 422,
    errors: [{ field: '/sourceBalanceId', code: 'not_found' }],
  })
  t.match((await patch(world, id, { status: 'completed' })).problem, {
    status: 422,
    errors: [{ field: '/status', code: 'read_only_field' }],
  })
  t.match((await patch(world, id, { executionDate: '2020-01-01' })).problem, {
    status: 422,
    errors: [{ field: '/executionDate', code: 'in_past' }],
  })
  const again = await client.createPayment(body, key)
  t.equal(again.text, created.text, 'the same key is the same bytes')
  t.equal(again.headers.get('location'), created.headers.get('location'))
  t.match((await client.list<Payment>('/payments', { 'filter[status]': 'draft', sort: '-executionDate' })).body.data, [
    { id },
  ])
  t.strictSame(await updatesOf(world, id), ['1 draft', '2 draft'])

  const waiting = await draft(world, {
    recipientId: (
      await world.query<{ id: string }>(
        `select id from recipient where status = 'pending_approval' and customer_id = $1`,
        [client.tenantId],
      )
    )[0]!.id,
  })
  t.equal(waiting.status, 'draft', 'a recipient that nobody has approved yet is good enough for a draft')
  t.match((await client.post(`/payments/${waiting.id}/submit`, {})).problem, {
    status: 422,
    code: 'recipient-not-approved',
    recipientStatus: 'pending_approval',
  })
  t.match((await client.createPayment({ ...bodyOf(world), recipientId: randomUUID() })).problem, {
    status: 422,
    errors: [{ field: '/recipientId', code: 'not_found' }],
  })
  await world.query(`update recipient set name = 'New Name BV', version = version + 1 where id = $1`, [recipients.EUR])
  t.equal((await client.payment(id)).recipient.name, 'New Name BV', 'a draft shows its recipient as it is now')

  const remove = async (of: string, tag: string | undefined) =>
    await client.send(`/v1/payments/${of}`, { method: 'DELETE', headers: { 'if-match': tag } })
  t.equal((await remove(id, undefined)).problem.code, 'precondition-required')
  t.equal((await remove(id, 'W/"1-000000000000"')).problem.code, 'precondition-failed')
  t.equal((await remove(id, '*')).status, 204)
  t.equal((await client.get(`/payments/${id}`)).status, 404)
  t.equal((await remove(id, '*')).problem.code, 'not-found')
  t.equal((await client.createPayment(body, key)).text, created.text, 'its creation is still answered')
  const trail = await world.query<{ action: string }>(
    'select action from audit_event where object_id = $1 order by id',
    [id],
  )
  t.strictSame(
    trail.map(({ action }) => action),
    ['payment.updated', 'payment.deleted'],
  )
  t.strictSame(await client.holds(balances.EUR), [])
})

t.test('P6: a submitted draft is a payment like any other, decided once', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const made = await draft(world)
  const key = randomUUID()
  t.match((await client.post(`/payments/${made.id}/submit`, { expectedVersion: 2 })).problem, {
    status: 412,
    code: 'precondition-failed',
  })
  t.match((await client.post(`/payments/${made.id}/submit`, { expectedVersion: 0 })).problem, { status: 422 })
  const submitted = await client.send<Payment>(`/v1/payments/${made.id}/submit`, {
    method: 'POST',
    headers: { 'idempotency-key': key },
  })
  t.equal(submitted.status, 200, submitted.text)
  t.match(submitted.body, {
    id: made.id,
    number: made.number,
    status: 'processing',
    processing: { status: 'queued' },
    rail: 'sepa_instant',
    executionDate: String,
    createdAt: made.createdAt,
    submittedBy: made.createdBy,
    submittedAt: String,
  })
  const done = await client.paymentReaching(made.id, 'completed')
  t.equal(done.submittedAt, submitted.body.submittedAt)
  t.strictSame(await eventsOf(world, made.id), [
    'payment.created  processing',
    'payment.status_changed processing completed',
    'payment.completed processing completed',
  ])
  t.strictSame(await updatesOf(world, made.id), ['1 draft', '2 processing', '3 processing', '4 completed'])
  t.match((await client.journal(balances.EUR))[0], { amount: eur(5_000) })
  const again = await client.send<Payment>(`/v1/payments/${made.id}/submit`, {
    method: 'POST',
    headers: { 'idempotency-key': key },
  })
  t.equal(again.text, submitted.text, 'what was answered stays the answer')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  const other = randomUUID()
  for (const replayed of [null, 'true']) {
    const refused = await client.post(`/payments/${made.id}/submit`, {}, other)
    t.match(refused.problem, {
      status: 409,
      code: 'invalid-transition',
      currentStatus: 'completed',
      allowed: ['draft'],
    })
    t.equal(refused.headers.get('idempotency-replayed'), replayed)
  }
  t.match((await client.send(`/v1/payments/${made.id}`, { method: 'DELETE', headers: { 'if-match': '*' } })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'completed',
  })
  t.equal((await client.post(`/payments/${randomUUID()}/submit`, {})).status, 404)
  t.match((await patch(world, made.id, { amount: eur(1), reference: 'x' })).problem, {
    status: 422,
    errors: [
      { field: '/amount', code: 'read_only_field' },
      { field: '/reference', code: 'read_only_field' },
    ],
  })
})

t.test('many submissions of one draft at once are one payment', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const made = await draft(world)
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => client.post<Payment>(`/payments/${made.id}/submit`, {})),
  )
  t.equal(replies.filter(({ status }) => status === 200).length, 1)
  t.ok(
    replies.every(({ status }) => status === 200 || status === 409),
    replies.map(({ status }) => status).join(' '),
  )
  await client.paymentReaching(made.id, 'completed')
  t.match(await client.balance(balances.EUR), { bookBalance: eur(9_995_000), heldBalance: eur(0) })

  const torn = await draft(world)
  const [submitted, deleted] = await Promise.all([
    client.post<Payment>(`/payments/${torn.id}/submit`, {}),
    client.send(`/v1/payments/${torn.id}`, { method: 'DELETE', headers: { 'if-match': '*' } }),
  ])
  t.equal(Number(submitted.status === 200) + Number(deleted.status === 204), 1, `${submitted.status} ${deleted.status}`)
})

t.test('P4, P5: a draft may wait for people or for its day; what is refused leaves it a draft', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const key = randomUUID()
  const much = await draft(world, { amount: eur(99_999_999) })
  for (const replayed of [null, 'true']) {
    const refused = await client.post(`/payments/${much.id}/submit`, {}, key)
    t.match(refused.problem, { status: 409, code: 'insufficient-funds' })
    t.equal(refused.headers.get('idempotency-replayed'), replayed)
  }
  t.equal((await patch(world, much.id, { amount: eur(100) })).status, 200, 'and may be mended')
  t.equal((await client.post<Payment>(`/payments/${much.id}/submit`, {})).body.status, 'processing')
  const later = await draft(world, { executionDate: addDays(railDate('sepa_instant', world.now()), 9) })
  t.equal((await client.post<Payment>(`/payments/${later.id}/submit`, {})).body.status, 'scheduled')
  t.equal((await client.post<Payment>(`/payments/${later.id}/cancel`, {})).body.status, 'cancelled')
  await setPolicy(t, await world.person('owner').signIn(), 'payment', { tiers: [tier(1, 1_000, null)] })
  const asked = await draft(world)
  const submitted = (await client.post<Payment>(`/payments/${asked.id}/submit`, {})).body
  t.match(submitted, { status: 'pending_approval', approvalId: String })
  t.match(await client.holds(balances.EUR), [{ subjectId: asked.id }])
  t.strictSame(await eventsOf(world, asked.id), ['payment.created  pending_approval'])
  t.equal((await client.post<Payment>(`/payments/${asked.id}/cancel`, {})).body.status, 'cancelled')
})

t.test('of what was submitted only notes can be changed, and its creation is still answered as it was', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const key = randomUUID()
  const body = { ...paymentBody(balances.EUR, recipients.EUR, 500), metadata: { a: 'b' }, internalNote: 'First' }
  const created = await client.createPayment(body, key)
  const { id } = created.body
  const changed = await patch(world, id, { internalNote: 'Second', metadata: { c: 'd' } }, '*')
  t.match(changed.body, { internalNote: 'Second', metadata: { a: 'b', c: 'd' }, status: 'processing' })
  t.match((await patch(world, id, { internalNote: null }, '*')).body, { internalNote: null })
  t.match((await patch(world, id, { documentIds: [randomUUID()] }, '*')).problem, {
    status: 422,
    errors: [{ field: '/documentIds/0', code: 'not_found' }],
  })
  t.equal((await client.createPayment(body, key)).text, created.text)
  t.strictSame(await updatesOf(world, id), ['1 processing', '2 processing', '3 processing'])
  t.strictSame(await eventsOf(world, id), ['payment.created  processing'])
  await world.restart({ dispatch: true })
  await client.paymentReaching(id, 'completed')
})

t.test('a draft is submitted by whom it is shown to be, and people have to prove themselves', async (t) => {
  await using world = await createWorld()
  const made = await draft(world)
  const preparer = await world.person('preparer').signIn()
  t.equal(
    (await preparer.post(`/payments/${made.id}/submit`, {}, { 'idempotency-key': randomUUID() })).problem.code,
    'step-up-required',
  )
  await preparer.stepUp('payment.above_threshold')
  const submitted = await preparer.post<Payment>(`/payments/${made.id}/submit`, {}, { 'idempotency-key': randomUUID() })
  t.equal(submitted.status, 200, submitted.text)
  t.equal(submitted.body.createdBy, made.createdBy)
  t.not(submitted.body.submittedBy, made.createdBy)
})

t.test('what would become of a payment is said without making it', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const check = async (body: object) => (await client.post<PaymentCheck>('/payments/validate', body)).body
  const good = paymentBody(balances.EUR, recipients.EUR, 5_000)
  t.match(await check(good), {
    valid: true,
    rail: 'sepa_instant',
    railReason: 'instant',
    fee: null,
    totalDebit: eur(5_000),
    executionDate: railDate('sepa_instant', world.now()),
    estimatedArrival: String,
    approval: { required: false, tier: null, requiredApprovals: null },
    verification: { outcome: 'match' },
    issues: [],
  })
  const asked = await check({
    ...good,
    requestedRail: 'sepa',
    executionDate: addDays(railDate('sepa', world.now()), 3),
  })
  t.match(asked, {
    valid: true,
    rail: 'sepa',
    railReason: 'requested',
    executionDate: addDays(railDate('sepa', world.now()), 3),
  })
  t.match(await check({ ...good, amount: eur(99_999_999) }), {
    valid: false,
    rail: 'sepa_instant',
    totalDebit: eur(99_999_999),
    issues: [{ severity: 'error', code: 'insufficient-funds', field: null }],
  })
  t.match(await check({ ...good, reference: 'Bär' }), {
    valid: false,
    rail: 'sepa_instant',
    issues: [{ code: 'invalid_characters', field: '/reference' }],
  })
  t.match(await check({ ...good, requestedRail: 'chaps' }), {
    valid: false,
    rail: null,
    executionDate: null,
    issues: [{ code: 'rail-unavailable' }],
  })
  t.match(await check({ ...good, sourceBalanceId: randomUUID(), recipientId: randomUUID() }), {
    valid: false,
    issues: [
      { code: 'not_found', field: '/sourceBalanceId' },
      { code: 'not_found', field: '/recipientId' },
    ],
  })
  t.match(await check({ ...good, sourceBalanceId: balances.GBP }), {
    valid: false,
    issues: [{ code: 'quote_required', field: '/quoteId' }],
  })
  t.match(
    (await client.post('/payments/validate', { ...good, amount: null })).problem,
    { status: 422 },
    'a body without the shape is no question',
  )

  await setPolicy(t, await world.person('owner').signIn(), 'payment', {
    tiers: [tier(1, 1_000, null, { requiredApprovals: 2 })],
  })
  await world.query(`update recipient set status = 'blocked', version = version + 1 where id = $1`, [recipients.EUR])
  await client.createPayment({ ...bodyOf(world), externalId: 'taken' })
  const several = await check({ ...good, amount: eur(99_999_999), externalId: 'taken' })
  t.match(several, { valid: false, approval: { required: true, tier: 1, requiredApprovals: 2 } })
  t.strictSame(
    several.issues.map(({ code }) => code),
    ['duplicate-external-id', 'recipient-not-approved', 'insufficient-funds'],
    'every reason that can be known',
  )
  t.strictSame((await world.query('select from payment where status <> $1', ['draft'])).length, 0, 'nothing was made')
  t.strictSame(await client.holds(balances.EUR), [])
})
