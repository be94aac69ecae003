/** Funds requests as their customer makes, reads, changes and withdraws them. */
import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { FundsRequest } from '../../../lib/funds-requests/funds-request-schema.ts'
import { isCreditorReference } from '../../../lib/funds-requests/creditor-reference.ts'
import { OPEN_MAX } from '../../../lib/funds-requests/funds-request.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { apiOf, ask, eur, read, requestBody, statusEvents } from './support.ts'

const DAY_MS = 86_400_000
const FIELDS = [
  'allowPartial',
  'amount',
  'balanceId',
  'createdAt',
  'createdBy',
  'customerId',
  'depositDetails',
  'description',
  'dueDate',
  'expiresAt',
  'externalId',
  'id',
  'invoiceNumber',
  'lastRemindedAt',
  'link',
  'metadata',
  'number',
  'paidAmount',
  'payer',
  'payments',
  'reference',
  'remainingAmount',
  'remindersSent',
  'status',
  'updatedAt',
]
const day = (world: World, days: number) => new Date(world.now() + days * DAY_MS).toISOString().slice(0, 10)
const patch = (world: World, id: string, body: object, tag: string | undefined = '*') =>
  world.seeded.client.send<FundsRequest>(`/v1/funds-requests/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': tag },
    body: JSON.stringify(body),
  })

t.test('a request is made once, and is what it was made', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const key = randomUUID()
  const dueDate = day(world, 14)
  const body = requestBody(balances.EUR, 12_345, {
    payer: { name: 'Amsterdam Trading BV', email: 'billing@example.com', recipientId: recipients.EUR.toUpperCase() },
    invoiceNumber: 'INV-7',
    dueDate,
    allowPartial: true,
    externalId: 'F-1',
    metadata: { zone: 'a', id: '7' },
  })
  const created = await client.post<FundsRequest>('/funds-requests', body, key)
  t.equal(created.status, 201, created.text)
  const request = created.body
  t.strictSame(Object.keys(request).sort(), FIELDS, 'every documented field is there, and no other')
  t.match(request, {
    customerId: client.tenantId,
    number: /^FRQ[0-9A-HJKMNP-TV-Z]{10}$/,
    externalId: 'F-1',
    status: 'open',
    balanceId: balances.EUR,
    amount: eur(12_345),
    paidAmount: eur(0),
    remainingAmount: eur(12_345),
    payer: { name: 'Amsterdam Trading BV', email: 'billing@example.com', recipientId: recipients.EUR },
    description: 'Consulting in April',
    invoiceNumber: 'INV-7',
    dueDate,
    allowPartial: true,
    payments: [],
    remindersSent: 0,
    lastRemindedAt: null,
    metadata: { zone: 'a', id: '7' },
  })
  t.ok(isCreditorReference(request.reference))
  t.equal(Date.parse(request.expiresAt) - Date.parse(request.createdAt), 30 * DAY_MS)
  t.match(request.depositDetails, [{ balanceId: balances.EUR, status: 'active', iban: /^[A-Z]{2}\d\d/ }])
  t.equal(created.headers.get('location'), `/v1/funds-requests/${request.id}`)
  t.match(created.headers.get('etag'), /^W\/"1-[0-9a-f]{12}"$/)

  const again = await client.post<FundsRequest>('/funds-requests', body, key)
  t.equal(again.text, created.text, 'the same key is the same bytes')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(again.headers.get('location'), created.headers.get('location'))
  t.equal(again.headers.get('etag'), created.headers.get('etag'))
  const found = await client.get<FundsRequest>(`/funds-requests/${request.id}`)
  t.equal(found.text, created.text)
  t.equal(found.headers.get('etag'), created.headers.get('etag'))
  t.equal(
    (await client.get(`/funds-requests/${request.id}`, { 'if-none-match': found.headers.get('etag')! })).status,
    304,
  )
  t.match((await client.post('/funds-requests', { ...body, amount: eur(1) }, key)).problem, {
    status: 422,
    code: 'idempotency-key-reused',
  })
  t.match((await client.post('/funds-requests', body)).problem, {
    status: 409,
    code: 'duplicate-external-id',
    existingId: request.id,
  })
  t.match(
    (
      await client.send('/v1/funds-requests', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).problem,
    { status: 400 },
  )

  const token = request.link!.split('/').at(-1)!
  const rows = await world.query<{
    stored: string
  }>(`select coalesce(string_agg(r::text, ''), '') || (select coalesce(string_agg(i::text, ''), '') from idempotency i)
    || (select coalesce(string_agg(a::text, ''), '') from audit_event a) as stored from funds_request r`)
  t.notOk(rows[0]!.stored.includes(token), 'the token of the link is nowhere in the database')
  t.match(
    await until('the payer is told', async () => {
      const mails = await mailsOf(world)
      return mails.length > 0 && mails
    }),
    [/^[^]*To: billing@example\.com[^]*123\.45 EUR[^]*INV-7/],
    'once',
  )
  t.ok((await mailsOf(world))[0]!.includes(request.link!))
  t.strictSame(await statusEvents(world, request.id), [], 'nothing has changed its status')
  const owner = await world.person('owner').signIn()
  t.match((await owner.get<{ data: AuditEvent[] }>('/audit-events?filter[action]=funds_request.created')).body.data, [
    { object: { id: request.id } },
  ])

  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  t.equal((await stranger.client.get(`/funds-requests/${request.id}`)).status, 404)
  t.match((await stranger.client.post('/funds-requests', body)).problem, {
    code: 'validation-error',
    errors: [{ field: '/balanceId', code: 'not_found' }],
  })
  t.equal((await stranger.client.post(`/funds-requests/${request.id}/cancel`, {})).status, 404)
  t.equal((await stranger.client.post(`/funds-requests/${request.id}/remind`, {})).status, 404)
})

t.test('what a request may not be is refused by name and makes nothing', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { EUR } = balances
  const year = new Date(world.now() + 366 * DAY_MS).toISOString()
  for (const [name, body, status, field, code] of [
    [
      'another currency',
      { ...requestBody(EUR), amount: { amountMinor: '100', currency: 'GBP' } },
      422,
      '/amount/currency',
      'currency_mismatch',
    ],
    ['no such balance', requestBody(randomUUID()), 422, '/balanceId', 'not_found'],
    [
      'no such recipient',
      requestBody(EUR, 100, { payer: { name: 'A', recipientId: randomUUID() } }),
      422,
      '/payer/recipientId',
      'not_found',
    ],
    ['nobody', requestBody(EUR, 100, { payer: {} }), 422, '/payer/name', 'required'],
    [
      'a bad address',
      requestBody(EUR, 100, { payer: { name: 'A', email: 'nobody' } }),
      422,
      '/payer/email',
      'invalid_format',
    ],
    ['nothing', requestBody(EUR, 0), 422, '/amount/amountMinor', 'too_small'],
    ['no words', requestBody(EUR, 100, { description: '' }), 422, '/description', 'too_short'],
    ['too many words', requestBody(EUR, 100, { description: 'x'.repeat(141) }), 422, '/description', 'too_long'],
    ['due yesterday', requestBody(EUR, 100, { dueDate: day(world, -1) }), 422, '/dueDate', 'in_past'],
    ['over already', requestBody(EUR, 100, { expiresAt: '2020-01-01T00:00:00Z' }), 422, '/expiresAt', 'in_past'],
    ['over in a year and a day', requestBody(EUR, 100, { expiresAt: year }), 422, '/expiresAt', 'too_far_ahead'],
    ['a status of its own', requestBody(EUR, 100, { status: 'paid' }), 422, '/status', 'read_only_field'],
    ['an unknown member', requestBody(EUR, 100, { colour: 'red' }), 422, '/colour', 'unknown_field'],
  ] as const) {
    const reply = await client.post('/funds-requests', body)
    t.equal(reply.status, status, `${name}: ${reply.text}`)
    t.match(reply.problem, { code: 'validation-error', errors: [{ field, code }] }, name)
  }
  t.match((await client.post('/funds-requests', requestBody(EUR, 10n ** 15n + 1n))).problem, {
    status: 422,
    code: 'limit-exceeded',
  })
  const refused = randomUUID()
  await world.query(`update account_details set status = 'pending' where balance_id = $1`, [EUR])
  const no = await client.post('/funds-requests', requestBody(EUR), refused)
  t.match(
    no.problem,
    { status: 422, errors: [{ field: '/balanceId', code: 'account_not_eligible' }] },
    'a balance that nobody can pay to',
  )
  await world.query(`update account_details set status = 'active' where balance_id = $1`, [EUR])
  t.equal(
    (await client.post('/funds-requests', requestBody(EUR), refused)).text,
    no.text,
    'a no stays one under its key',
  )
  await world.query(`update balance set status = 'frozen', version = version + 1 where id = $1`, [EUR])
  t.match((await client.post('/funds-requests', requestBody(EUR))).problem, {
    errors: [{ field: '/balanceId', code: 'inactive' }],
  })
  await world.query(`update balance set status = 'active', version = version + 1 where id = $1`, [EUR])
  t.strictSame(await world.query('select id from funds_request'), [])

  await world.query(
    `insert into funds_request (id, customer_id, operator_id, shard, number, status, balance_id, currency, amount, payer_name, description, expires_at, allow_partial, reference,
      link_sha256, created_by, created_at, updated_at)
    select gen_random_uuid(), b.customer_id, b.operator_id, b.shard, 'FRQ' || n, 'open', b.id, 'EUR', 100, 'A', 'B', now() + interval '30 days', false, 'R' || n, sha256(n::text::bytea), b.customer_id, now(), now()
    from balance b, generate_series(1, $2) n where b.id = $1`,
    [EUR, OPEN_MAX],
  )
  t.match((await client.post('/funds-requests', requestBody(EUR))).problem, {
    status: 409,
    code: 'limit-reached',
    limit: OPEN_MAX,
    resource: 'funds_request',
  })
  const [first] = await world.query<{ id: string }>(`select id from funds_request where number = 'FRQ1'`)
  t.equal((await client.post(`/funds-requests/${first!.id}/cancel`, {})).status, 200)
  t.equal((await client.post('/funds-requests', requestBody(EUR))).status, 201, 'those that have ended do not count')
})

t.test('requests are listed and filtered', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const later = await ask(world, 100, { dueDate: day(world, 20) })
  const never = await ask(world, 200)
  const soon = await ask(world, 300, { dueDate: day(world, 10) })
  const pounds = (
    await client.post<FundsRequest>('/funds-requests', {
      ...requestBody(balances.GBP),
      amount: { amountMinor: '100', currency: 'GBP' },
    })
  ).body
  await client.post(`/funds-requests/${never.id}/cancel`, {})
  const ids = async (parameters: Record<string, string | number | boolean> = {}) =>
    (await client.list<FundsRequest>('/funds-requests', parameters)).body.data.map(({ id }) => id)
  t.strictSame(await ids(), [pounds.id, soon.id, never.id, later.id])
  t.strictSame(
    await ids({ sort: 'dueDate' }),
    [soon.id, later.id, never.id, pounds.id],
    'those without a day come last',
  )
  t.strictSame(await ids({ 'filter[status]': 'open' }), [pounds.id, soon.id, later.id])
  t.strictSame(await ids({ 'filter[status]': 'cancelled,paid' }), [never.id])
  t.strictSame(await ids({ 'filter[currency]': 'GBP' }), [pounds.id])
  t.strictSame(await ids({ 'filter[balanceId]': balances.EUR }), [soon.id, never.id, later.id])
  t.strictSame(await ids({ 'filter[number]': later.number }), [later.id])
  t.strictSame(await ids({ 'filter[dueFrom]': day(world, 10), 'filter[dueTo]': day(world, 19) }), [soon.id])
  const seen: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, page } = (
      await client.list<FundsRequest>('/funds-requests', {
        sort: 'dueDate',
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      })
    ).body
    seen.push(...data.map(({ id }) => id))
    cursor = page.nextCursor
  }
  t.strictSame(seen, await ids({ sort: 'dueDate' }), 'page by page')
  t.equal((await client.list('/funds-requests', { withTotal: true })).body.page.total, 4)
  t.equal((await client.get('/funds-requests?filter[colour]=red')).status, 400)
  t.strictSame(
    (await client.list<FundsRequest>('/funds-requests', { 'filter[number]': soon.number })).body.data[0],
    await read(client, soon.id),
    'a row is the whole resource',
  )
})

t.test('a request is changed on the version that was seen, and withdrawn', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const { id } = await ask(world)
  const tag = (await client.get(`/funds-requests/${id}`)).headers.get('etag')!
  t.equal(
    (
      await client.send(`/v1/funds-requests/${id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
    ).status,
    428,
  )
  const expiresAt = new Date(world.now() + 60 * DAY_MS).toISOString()
  const changed = await patch(
    world,
    id,
    { description: 'Consulting in May', dueDate: day(world, 5), expiresAt, metadata: { a: '1' } },
    tag,
  )
  t.match(changed.body, { description: 'Consulting in May', dueDate: day(world, 5), expiresAt, metadata: { a: '1' } })
  t.match(changed.headers.get('etag'), /^W\/"2-/)
  t.equal((await patch(world, id, { description: 'No' }, tag)).status, 412)
  t.equal(
    (await patch(world, id, { dueDate: null, metadata: { a: null } }, changed.headers.get('etag')!)).body.dueDate,
    null,
  )
  t.match((await patch(world, id, { amount: eur(1) })).problem, {
    errors: [{ field: '/amount', code: 'read_only_field' }],
  })
  t.match((await patch(world, id, { dueDate: day(world, -1) })).problem, {
    errors: [{ field: '/dueDate', code: 'in_past' }],
  })
  t.match((await patch(world, id, { expiresAt: '2020-01-01T00:00:00Z' })).problem, {
    errors: [{ field: '/expiresAt', code: 'in_past' }],
  })
  t.equal((await patch(world, randomUUID(), {})).status, 404)

  const key = randomUUID()
  const cancelled = await client.post<FundsRequest>(`/funds-requests/${id}/cancel`, {}, key)
  t.equal(cancelled.status, 200, cancelled.text)
  t.match(cancelled.body, { status: 'cancelled', link: /^http/ })
  t.equal(
    (await client.post(`/funds-requests/${id}/cancel`, {}, key)).text,
    cancelled.text,
    'the same key is the same answer',
  )
  t.match((await client.post(`/funds-requests/${id}/cancel`, {})).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'cancelled',
  })
  t.match((await patch(world, id, { description: 'Too late' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'cancelled',
  })
  t.strictSame(
    (await patch(world, id, { metadata: { b: '2' } })).body.metadata,
    { b: '2' },
    'attributes can always be changed',
  )
  t.strictSame(await statusEvents(world, id), [{ change: 'open cancelled', related: null }])
  const owner = await world.person('owner').signIn()
  const actions = (await owner.get<{ data: AuditEvent[] }>(`/audit-events?filter[objectId]=${id}`)).body.data.map(
    ({ action }) => action,
  )
  t.strictSame(actions, [
    'funds_request.updated',
    'funds_request.cancelled',
    'funds_request.updated',
    'funds_request.updated',
    'funds_request.created',
  ])
})

t.test('a payer is reminded once a day, five times', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const silent = await ask(world)
  t.match((await client.post(`/funds-requests/${silent.id}/remind`, {})).problem, {
    status: 422,
    errors: [{ field: '/payer/email', code: 'required' }],
  })
  const { id, number } = await ask(world, 10_000, {
    payer: { name: 'A', email: 'a@example.com' },
    send: false,
    expiresAt: new Date(world.now() + 90 * DAY_MS).toISOString(),
  })
  t.strictSame(await mailsOf(world), [], 'nobody was written to')
  for (let count = 1; count <= 5; count++) {
    const reminded = await client.post<FundsRequest>(`/funds-requests/${id}/remind`, {})
    t.equal(reminded.status, 200, reminded.text)
    t.match(reminded.body, { remindersSent: count, lastRemindedAt: /Z$/ })
    const refused = await client.post(`/funds-requests/${id}/remind`, {})
    if (count < 5) {
      t.match(refused.problem, { status: 429, code: 'rate-limited', violatedPolicies: ['funds-request-reminder'] })
      t.ok(Number(refused.headers.get('retry-after')) > 86_000)
    }
    world.advance(DAY_MS + 1_000)
  }
  t.match((await client.post(`/funds-requests/${id}/remind`, {})).problem, {
    status: 409,
    code: 'limit-reached',
    limit: 5,
  })
  const mails = await until('five mails', async () => {
    const found = await mailsOf(world)
    return found.length === 5 && found
  })
  t.ok(
    mails.every((mail) => mail.includes('Reminder:')),
    number,
  )
  t.equal((await client.post(`/funds-requests/${randomUUID()}/remind`, {})).status, 404)
})

t.test('where the operator has switched them off, there are none', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { id, link } = await ask(world)
  const admin = await world.person('operator_admin').signIn()
  await admin.stepUp('settings.change')
  t.equal(
    (
      await admin.send(
        'PATCH',
        '/operator/feature-flags',
        { flags: { 'payments.funds_requests': false } },
        { 'if-match': '*' },
      )
    ).status,
    200,
  )
  for (const reply of [
    await client.get(`/funds-requests/${id}`),
    await client.get('/funds-requests'),
    await client.post('/funds-requests', requestBody(balances.EUR)),
    await client.post(`/funds-requests/${id}/cancel`, {}),
  ])
    t.match(reply.problem, { status: 404, code: 'feature-disabled', feature: 'payments.funds_requests' })
  t.equal((await fetch(apiOf(link!))).status, 404)
  t.equal((await fetch(`${apiOf(link!)}/decline`, { method: 'POST' })).status, 404)
})
