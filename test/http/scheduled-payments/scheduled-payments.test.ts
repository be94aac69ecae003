/** Scheduled payments over HTTP: made, read, listed and changed, and everything that is refused. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { ScheduledPayment } from '../../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { PageBody, Reply } from '../../support/client.ts'
import { createWorld } from '../../support/world.ts'
import { act, create, DAY_MS, inDays, occurrences, patch, read, scheduleBody, statusEvents } from './support.ts'

const FIELDS = [
  'amount',
  'chargeBearer',
  'consecutiveFailures',
  'createdAt',
  'createdBy',
  'customerId',
  'dayPolicy',
  'endDate',
  'externalId',
  'frequency',
  'id',
  'lastDayOfMonth',
  'lastPaymentId',
  'lastPaymentStatus',
  'maxOccurrences',
  'metadata',
  'nextOccurrenceAt',
  'number',
  'occurrencesCreated',
  'pausedAt',
  'purposeCode',
  'recipientId',
  'reference',
  'requestedRail',
  'sourceBalanceId',
  'startDate',
  'status',
  'updatedAt',
]

t.test('one is made, read, listed and made again under its key', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const key = randomUUID()
  const change = {
    externalId: 'RENT-1',
    metadata: { costCentre: '4711', a: 'b' },
    maxOccurrences: 12,
    dayPolicy: 'next_business_day' as const,
  }
  const made = await create(world, change, key)
  t.equal(made.status, 201, made.text)
  const { body } = made
  t.strictSame(Object.keys(body).sort(), FIELDS)
  t.match(body, {
    status: 'active',
    recipientId: recipients.EUR,
    sourceBalanceId: balances.EUR,
    frequency: 'monthly',
    startDate: inDays(world, 1),
    endDate: null,
    maxOccurrences: 12,
    dayPolicy: 'next_business_day',
    lastDayOfMonth: false,
    requestedRail: null,
    purposeCode: null,
    chargeBearer: 'shared',
    externalId: 'RENT-1',
    number: /^SCH[0-9A-Z]{10}$/,
    metadata: { costCentre: '4711' },
  })
  t.equal(made.headers.get('location'), `/v1/scheduled-payments/${body.id}`)
  const got = await client.get<ScheduledPayment>(`/scheduled-payments/${body.id}`)
  t.equal(got.text, made.text)
  t.equal(got.headers.get('etag'), made.headers.get('etag'))
  t.equal(
    (await client.get(`/scheduled-payments/${body.id}`, { 'if-none-match': got.headers.get('etag')! })).status,
    304,
  )
  const again = await create(world, change, key)
  t.equal(again.text, made.text)
  t.strictSame(
    [again.status, again.headers.get('idempotency-replayed'), again.headers.get('location'), again.headers.get('etag')],
    [201, 'true', made.headers.get('location'), made.headers.get('etag')],
  )
  t.match((await create(world, { ...change, reference: 'Other' }, key)).problem, {
    status: 422,
    code: 'idempotency-key-reused',
  })
  const duplicate = randomUUID()
  for (let attempt = 0; attempt < 2; attempt++)
    t.match((await create(world, { externalId: 'RENT-1' }, duplicate)).problem, {
      status: 409,
      code: 'duplicate-external-id',
      existingId: body.id,
    })
  t.strictSame(await statusEvents(world, body.id), ['none active'])

  // The next dates rise by a month, and there are no more than twelve.
  const { upcoming, data } = await occurrences(world, body.id)
  t.strictSame(data, [])
  t.equal(upcoming.length, 12)
  t.equal(upcoming[0]!.plannedDate, inDays(world, 1))
  t.strictSame(
    upcoming.map(({ plannedDate }) => plannedDate),
    upcoming.map(({ plannedDate }) => plannedDate).toSorted(),
  )

  const stranger = await world.customer({ balances: [] })
  for (const path of ['', '/occurrences'])
    t.equal((await stranger.client.get(`/scheduled-payments/${body.id}${path}`)).status, 404, path)
  for (const path of ['pause', 'resume', 'cancel'])
    t.equal((await stranger.client.post(`/scheduled-payments/${body.id}/${path}`, undefined)).status, 404, path)
  t.equal((await stranger.client.post(`/simulations/scheduled-payments/${body.id}/run-now`, undefined)).status, 404)
  t.strictSame((await stranger.client.list('/scheduled-payments')).body.data, [])
})

t.test('the list is in the order in which they come, and can be narrowed', async (t) => {
  await using world = await createWorld()
  const { client, recipients, balances } = world.seeded
  const later = (await create(world, { startDate: inDays(world, 9), frequency: 'weekly' })).body
  const paused = (await create(world)).body
  await act(world, paused.id, 'pause')
  const sooner = (await create(world, { startDate: inDays(world, 2) })).body
  const pounds = (
    await create(world, {
      startDate: inDays(world, 4),
      recipientId: recipients.GBP,
      sourceBalanceId: balances.GBP,
      amount: { amountMinor: '100', currency: 'GBP' },
    })
  ).body
  const ids = async (query: Record<string, string> = {}) =>
    (await client.list<ScheduledPayment>('/scheduled-payments', query)).body.data.map(({ id }) => id)
  t.strictSame(await ids(), [sooner.id, pounds.id, later.id, paused.id], 'those that have no next occurrence come last')
  t.strictSame(await ids({ sort: '-createdAt' }), [pounds.id, sooner.id, paused.id, later.id])
  t.strictSame(await ids({ 'filter[status]': 'paused,failed' }), [paused.id])
  t.strictSame(await ids({ 'filter[frequency]': 'weekly' }), [later.id])
  t.strictSame(await ids({ 'filter[recipientId]': recipients.GBP }), [pounds.id])
  t.strictSame(await ids({ 'filter[sourceBalanceId]': balances.GBP }), [pounds.id])
  t.strictSame(
    await ids({ 'filter[nextFrom]': pounds.nextOccurrenceAt!, 'filter[nextTo]': pounds.nextOccurrenceAt! }),
    [pounds.id],
  )
  const walked: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: Reply<PageBody<ScheduledPayment>> = await client.list<ScheduledPayment>('/scheduled-payments', {
      limit: 1,
      ...(cursor === '' ? {} : { cursor }),
    })
    walked.push(...body.data.map(({ id }) => id))
    cursor = body.page.nextCursor
  }
  t.strictSame(walked, await ids(), 'page by page it is the same')
  t.equal((await client.list('/scheduled-payments', { limit: 1, withTotal: true })).body.page.total, 4)
})

t.test('what cannot be is refused, and nothing is written', async (t) => {
  await using world = await createWorld()
  const { recipients, balances } = world.seeded
  const day = (days: number) => inDays(world, days)
  const eur = (amountMinor: string) => ({ amountMinor, currency: 'EUR' })
  const rows: readonly (readonly [string, object, string, string])[] = [
    ['a start in the past', { startDate: day(-1) }, '/startDate', 'in_past'],
    ['today where the rail has hours', { startDate: day(0), requestedRail: 'sepa' }, '/startDate', 'in_past'],
    ['a start far away', { startDate: day(400) }, '/startDate', 'too_far_ahead'],
    ['no date', { startDate: '2027-02-30' }, '/startDate', 'invalid_format'],
    ['both ends', { endDate: day(60), maxOccurrences: 3 }, '/maxOccurrences', 'not_applicable'],
    ['an end before the start', { endDate: day(0) }, '/endDate', 'too_small'],
    ['no occurrences', { maxOccurrences: 0 }, '/maxOccurrences', 'too_small'],
    ['too many occurrences', { maxOccurrences: 1000 }, '/maxOccurrences', 'too_large'],
    ['an end of what happens once', { frequency: 'once', endDate: day(60) }, '/endDate', 'not_applicable'],
    ['a number of what happens once', { frequency: 'once', maxOccurrences: 1 }, '/maxOccurrences', 'not_applicable'],
    ['the last day of a week', { frequency: 'weekly', lastDayOfMonth: true }, '/lastDayOfMonth', 'not_applicable'],
    [
      'an exact day of a rail that rests',
      { dayPolicy: 'exact', requestedRail: 'sepa' },
      '/dayPolicy',
      'not_applicable',
    ],
    ['another word', { frequency: 'hourly' }, '/frequency', 'invalid_value'],
    ['an unknown recipient', { recipientId: randomUUID() }, '/recipientId', 'not_found'],
    ['an unknown balance', { sourceBalanceId: randomUUID() }, '/sourceBalanceId', 'not_found'],
    ['another currency', { amount: { amountMinor: '1', currency: 'GBP' } }, '/amount/currency', 'currency_mismatch'],
    ['across currencies', { sourceBalanceId: balances.GBP }, '/sourceBalanceId', 'currency_mismatch'],
    [
      'a reference the rail cannot carry',
      {
        recipientId: recipients.GBP,
        sourceBalanceId: balances.GBP,
        amount: { amountMinor: '1', currency: 'GBP' },
        reference: 'x'.repeat(60),
      },
      '/reference',
      'too_long',
    ],
    ['what the service sets', { nextOccurrenceAt: '2027-01-01T00:00:00Z' }, '/nextOccurrenceAt', 'read_only_field'],
    ['what does not exist', { colour: 'red' }, '/colour', 'unknown_field'],
  ]
  for (const [what, change, field, code] of rows) {
    const { problem } = await create(world, change as never)
    t.match(problem, { status: 422, code: 'validation-error', errors: [{ field, code }] }, what)
  }
  t.match((await create(world, { amount: eur('1000000000000001') })).problem, { status: 422, code: 'limit-exceeded' })
  t.match((await create(world, { requestedRail: 'chaps' })).problem, { status: 422, code: 'rail-unavailable' })
  t.strictSame(await world.query('select from scheduled_payment'), [])
  t.strictSame(await world.query(`select from outbox where object = 'scheduled_payment'`), [])
  t.equal((await create(world, { startDate: day(0) })).status, 201, 'an instant rail works today')
  t.equal((await create(world, { dayPolicy: 'exact' })).status, 201, 'and on an exact day')
})

t.test('a change is on the version that was read, and checked like a new one', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const made = await create(world, { metadata: { one: '1', two: '2' } })
  const { id } = made.body
  t.equal(
    (
      await client.send(`/v1/scheduled-payments/${id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
    ).status,
    428,
  )
  const changed = await patch(world, id, {
    amount: { amountMinor: '5', currency: 'EUR' },
    requestedRail: 'sepa',
    endDate: inDays(world, 400),
    metadata: { one: null, three: '3' },
  })
  t.equal(changed.status, 200, changed.text)
  t.match(changed.body, {
    amount: { amountMinor: '5' },
    requestedRail: 'sepa',
    endDate: inDays(world, 400),
    status: 'active',
    reference: 'Rent',
  })
  t.strictSame(changed.body.metadata, { two: '2', three: '3' })
  t.equal(changed.text, (await client.get(`/scheduled-payments/${id}`)).text)
  const nothing = await patch(world, id, { requestedRail: 'sepa', metadata: { two: '2' } })
  t.strictSame(
    [nothing.status, nothing.text, nothing.headers.get('etag')],
    [200, changed.text, changed.headers.get('etag')],
    'what changes nothing is no new version',
  )
  const stale = await patch(world, id, { reference: 'Late' }, made.headers.get('etag')!)
  t.match(stale.problem, { status: 412, code: 'precondition-failed', currentEtag: changed.headers.get('etag') })
  t.match(
    (await patch(world, id, { startDate: inDays(world, 5) })).problem,
    { status: 422, errors: [{ field: '/startDate' }] },
    'the start stays',
  )
  t.match((await patch(world, id, { maxOccurrences: 3 })).problem, {
    status: 422,
    errors: [{ field: '/maxOccurrences', code: 'not_applicable' }],
  })
  t.match((await patch(world, id, { requestedRail: 'chaps' })).problem, { status: 422, code: 'rail-unavailable' })
  t.match((await patch(world, id, { endDate: null, maxOccurrences: 3 })).body, { endDate: null, maxOccurrences: 3 })
  const exact = (await create(world, { dayPolicy: 'exact' })).body
  t.match(
    (await patch(world, exact.id, { requestedRail: 'sepa' })).problem,
    { status: 422, errors: [{ field: '/dayPolicy', code: 'not_applicable' }] },
    'a rail that rests keeps no exact day',
  )

  const paused = (await create(world, { startDate: inDays(world, 20) })).body
  await act(world, paused.id, 'pause')
  t.match((await patch(world, paused.id, { reference: 'Still' })).body, {
    status: 'paused',
    reference: 'Still',
    nextOccurrenceAt: null,
  })
  const over = await patch(world, made.body.id, { endDate: made.body.startDate, maxOccurrences: null })
  t.match(over.body, { status: 'active', endDate: made.body.startDate }, 'one is left')
})

t.test('people prove themselves, and cancelling under a key is answered once', async (t) => {
  await using world = await createWorld()
  const preparer = await world.person('preparer').signIn()
  const send = () =>
    preparer.post<ScheduledPayment>('/scheduled-payments', scheduleBody(world), { 'idempotency-key': randomUUID() })
  t.match((await send()).problem, { status: 403, code: 'step-up-required', action: 'payment.above_threshold' })
  await preparer.stepUp('payment.above_threshold')
  const made = (await send()).body
  t.equal((await (await world.person('approver').signIn()).post(`/scheduled-payments/${made.id}/pause`)).status, 403)
  const key = { 'idempotency-key': randomUUID() }
  const cancel = await preparer.post<ScheduledPayment>(`/scheduled-payments/${made.id}/cancel`, undefined, key)
  t.match(cancel.body, { status: 'cancelled' })
  const again = await preparer.post<ScheduledPayment>(`/scheduled-payments/${made.id}/cancel`, undefined, key)
  t.strictSame([again.status, again.text, again.headers.get('idempotency-replayed')], [200, cancel.text, 'true'])
  t.match((await preparer.post(`/scheduled-payments/${made.id}/cancel`)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'cancelled',
    allowed: ['active', 'paused'],
  })
  t.strictSame(
    (
      await world.query<{ actor_type: string }>(`select actor_type from audit_event where object_id = $1 order by id`, [
        made.id,
      ])
    ).map(({ actor_type }) => actor_type),
    ['member', 'member'],
  )
  t.equal(
    (await world.seeded.client.send(`/v1/scheduled-payments/${made.id}`, { headers: { authorization: undefined } }))
      .status,
    401,
  )
})

t.test('there is a limit, and an operator can switch it off', async (t) => {
  await using world = await createWorld()
  const made = (await create(world)).body
  await world.query(
    `insert into scheduled_payment (id, customer_id, operator_id, shard, number, status, recipient_id, source_balance_id, currency, amount, rail, reference, charge_bearer, frequency,
      start_date, day_policy, last_day_of_month, created_by, created_by_name, created_at, updated_at)
    select gen_random_uuid(), customer_id, operator_id, shard, 'SCHX' || n, 'paused', recipient_id, source_balance_id, currency, amount, rail, reference, charge_bearer, frequency,
      start_date, day_policy, last_day_of_month, created_by, created_by_name, created_at, updated_at from scheduled_payment, generate_series(1, 19999) n where id = $1`,
    [made.id],
  )
  t.match((await create(world)).problem, {
    status: 409,
    code: 'limit-reached',
    limit: 20_000,
    resource: 'scheduled_payment',
  })
  await act(world, made.id, 'cancel')
  t.equal((await create(world)).status, 201, 'those that have ended do not count')
  const admin = await world.person('operator_admin').signIn()
  await admin.stepUp('settings.change')
  const off = await admin.send(
    'PATCH',
    '/operator/feature-flags',
    { flags: { 'payments.scheduled': false } },
    { 'if-match': '*' },
  )
  t.equal(off.status, 200, off.text)
  t.match((await create(world)).problem, { status: 404, code: 'feature-disabled', feature: 'payments.scheduled' })
  t.equal((await world.seeded.client.get(`/scheduled-payments/${made.id}`)).status, 404)
})

t.test('days are those of the rail', async (t) => {
  await using world = await createWorld()
  // The first Saturday that is at least a week away.
  let saturday = inDays(world, 7)
  while (Temporal.PlainDate.from(saturday).dayOfWeek !== 6)
    saturday = Temporal.PlainDate.from(saturday).add({ days: 1 }).toString()
  const dayOf = async (change: object): Promise<number> => {
    const { executionDate } = (
      await occurrences(world, (await create(world, { startDate: saturday, ...change })).body.id)
    ).upcoming[0]!
    return Temporal.PlainDate.from(executionDate).dayOfWeek
  }
  t.equal(await dayOf({}), 6, 'an instant rail never rests')
  t.ok((await dayOf({ requestedRail: 'sepa' })) < 6)
  t.ok((await dayOf({ requestedRail: 'sepa', dayPolicy: 'previous_business_day' })) < 6)
  const made = (await create(world, { startDate: saturday, requestedRail: 'sepa', dayPolicy: 'previous_business_day' }))
    .body
  t.ok(Date.parse(made.nextOccurrenceAt!) < Date.parse(`${saturday}T00:00:00Z`), 'before the day')
  t.ok(Date.parse(made.nextOccurrenceAt!) > Date.parse(`${saturday}T00:00:00Z`) - 6 * DAY_MS)
  t.match(await read(world, made.id), { dayPolicy: 'previous_business_day', requestedRail: 'sepa' })
})
