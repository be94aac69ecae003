/** The inbox of providers over HTTP: which webhooks are believed, what they change, and what staff see and do about it. */
import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import type { OrderStatus } from '../../../actors/providers/bank.ts'
import type { ProviderEventDetail, ProviderEventReprocessing } from '../../../lib/providers/provider-event-schema.ts'
import { eventsOf, postingsOf, sentPayment } from '../../support/outcomes.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { bySandbox } from '../kyc/support.ts'
import {
  connectionLike,
  deliver,
  eventBody,
  listed,
  putSecret,
  seededConnection,
  send,
  sent,
  settled as settledEvent,
  TestPartners,
  used,
} from './inbox-support.ts'

/** An amount with which the sandbox bank says nothing by itself. */
const STUCK = 1701
const UNKNOWN = '00000000-0000-7000-8000-000000000000'
const MEGABYTE = 1024 * 1024

t.test('a right signature is answered 202, any other 401; an event counts once', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operations').signIn()
  const { id } = await seededConnection(world)
  const retired = await connectionLike(world, id, 'retired')
  const bare = await connectionLike(world, id, 'active')
  const early = eventBody('something.else', {})
  t.equal((await deliver(world, id, early, bySandbox(early, { at: world.now() }))).status, 401, 'without a secret')
  await putSecret(world, id)
  const body = eventBody('something.else', { reference: randomUUID() })
  const at = world.now()
  for (const [connection, headers, bytes] of [
    [id, {}, body],
    [id, bySandbox(body, { at, secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` }), body],
    [id, bySandbox(body, { at }), `${body} `],
    [id, bySandbox(body, { at: at - 301_000 }), body],
    // Further ahead than by the five minutes, because time passes during the requests before.
    [id, bySandbox(body, { at: at + 900_000 }), body],
    [retired, bySandbox(body, { at }), body],
    [bare, bySandbox(body, { at }), body],
    [UNKNOWN, bySandbox(body, { at }), body],
  ] as const) {
    const refused = await deliver(world, connection, bytes, headers)
    t.match(
      [refused.status, await refused.json()],
      [401, { code: 'unauthenticated', detail: 'The signature of the webhook is missing, wrong or too old.' }],
      'all alike',
    )
  }
  t.strictSame(await world.query('select from provider_inbox'), [], 'nothing was kept')

  const again = JSON.stringify(JSON.parse(body), null, 2)
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, nth) => (nth % 2 === 0 ? body : again)).map((each) =>
      deliver(world, id, each, bySandbox(each, { at: world.now() })),
    ),
  )
  t.strictSame([...new Set(replies.map(({ status }) => status))], [202], 'a replay is taken and changes nothing')
  const event = await used(staff, world, id, (JSON.parse(body) as { id: string }).id)
  t.match(event, { status: 'ignored', reason: 'not_for_us', source: 'webhook', verifiedBy: 'signature', attempts: 1 })
  t.equal(event.headers['webhook-signature'], '[redacted]')
  t.equal(event.headers['content-type'], 'application/json')
  t.ok(event.body?.encoding === 'utf8' && [body, again].includes(event.body.content), 'as it came')
  t.equal((await listed(staff)).filter(({ source }) => source === 'webhook').length, 1)

  for (const unreadable of ['', 'no JSON', '{"type":7}']) {
    t.equal((await deliver(world, id, unreadable, bySandbox(unreadable, { at: world.now() }))).status, 202)
    const found = await used(staff, world, id, createHash('sha256').update(unreadable).digest('hex'))
    t.match(found, { status: 'failed', reason: 'unreadable', type: 'unreadable' }, 'kept, and not used')
  }
  const failures = await world.query(`select from outbox where type = 'provider_event.failed'`)
  t.equal(failures.length, 3, 'the operator is told of each')

  const padded = (bytes: number) => {
    const plain = eventBody('something.else', { pad: '' }, 'large')
    return plain.replace('"pad":""', `"pad":"${'x'.repeat(bytes - plain.length)}"`)
  }
  const largest = padded(5 * MEGABYTE)
  t.equal(largest.length, 5 * MEGABYTE)
  await send(world, id, largest)
  t.match(await used(staff, world, id, 'large'), { status: 'ignored' })
  const larger = `${largest} `
  const refused = await deliver(world, id, larger, bySandbox(larger, { at: world.now() }))
  t.match([refused.status, await refused.json()], [413, { code: 'payload-too-large', maxBytes: 5 * MEGABYTE }])

  const other = await world.person('support').signIn()
  for (const path of ['/provider-events', `/provider-events/${event.id}`]) t.equal((await other.get(path)).status, 403)
  t.equal((await other.post(`/provider-events/${event.id}/reprocess`, { mode: 'preview' })).status, 403)
})

t.test('messages move payments and credits of their own connection alone', async (t) => {
  const partners = new TestPartners()
  await using world = await createWorld({ overrides: { inboxPartners: partners } })
  const staff = await world.person('operations').signIn()
  const { id, operatorId } = await seededConnection(world)
  partners.add({ id, operatorId })
  const [paid, returned, foreign, late] = [
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
  ]
  const { client, balances } = world.seeded

  const settled = await sent(world, staff, id, eventBody('payment.settled', { reference: paid.id }))
  t.match(settled, {
    status: 'processed',
    type: 'payment.settled',
    objectIds: [paid.id],
    messages: [
      {
        object: 'payment',
        objectId: paid.id,
        outcome: 'applied',
        statusBefore: 'processing',
        statusAfter: 'completed',
      },
    ],
  })
  t.equal((await client.payment(paid.id)).status, 'completed')
  const repeated = await sent(world, staff, id, eventBody('payment.settled', { reference: paid.id }))
  t.match(repeated.messages, [{ outcome: 'no_effect', statusBefore: 'completed', statusAfter: 'completed' }])
  t.match(repeated.messages[0]?.comparison, {
    firstEventId: settled.id,
    firstSource: 'webhook',
    events: 2,
    disagree: false,
  })
  const against = await sent(
    world,
    staff,
    id,
    eventBody('payment.rejected', { reference: paid.id, schemeCode: 'AC04' }),
  )
  t.match(against.messages, [{ outcome: 'no_effect', schemeCode: 'AC04', comparison: { disagree: true, events: 3 } }])
  t.equal((await client.payment(paid.id)).status, 'completed', 'the first word stands')

  const back = { reference: returned.id, schemeCode: 'AC04', amountMinor: String(STUCK) }
  t.match(await sent(world, staff, id, eventBody('payment.returned', back)), {
    messages: [{ outcome: 'applied', amountMinor: String(STUCK), statusAfter: 'returned' }],
  })
  t.match(await sent(world, staff, id, eventBody('payment.settled', { reference: returned.id })), {
    messages: [{ outcome: 'no_effect', statusAfter: 'returned' }],
  })

  const rival = { id: randomUUID(), operatorId: randomUUID() }
  partners.add(rival)
  const hostile = eventBody('payment.rejected', { reference: foreign.id, schemeCode: 'AC04' })
  await send(world, rival.id, hostile)
  const theirs = await settledEvent(world, rival.id, (JSON.parse(hostile) as { id: string }).id)
  t.match(await world.query('select reason from provider_inbox where id = $1', [theirs]), [{ reason: 'unmatched' }])
  t.equal((await client.payment(foreign.id)).status, 'processing', 'a payment of another connection stays')
  t.equal((await staff.get(`/provider-events/${theirs}`)).status, 404, 'an event of another operator')
  t.equal((await listed(staff, `&filter[connectionId]=${rival.id}`)).length, 0)
  for (const body of [{ mode: 'preview' }, { mode: 'apply' }])
    t.equal((await staff.post(`/provider-events/${theirs}/reprocess`, body)).status, 404)
  t.equal((await staff.post(`/provider-events/${theirs}/dismiss`, { reason: 'Not ours' })).status, 404)

  const facts = { currency: 'EUR', amountMinor: '2500', valueDate: '2026-01-02', payerName: 'Anna Adams' }
  const credit = { ...facts, reference: randomUUID(), account: balances.EUR }
  const booked = await sent(world, staff, id, eventBody('account.credited', credit))
  t.match(booked.messages, [
    { object: 'incoming_payment', objectId: credit.reference, outcome: 'applied', statusAfter: 'received' },
  ])
  t.match(await sent(world, staff, id, eventBody('account.credited', credit)), {
    messages: [{ outcome: 'no_effect' }],
  })
  const elsewhere = { ...facts, reference: randomUUID(), account: UNKNOWN }
  t.match(await sent(world, staff, id, eventBody('account.credited', elsewhere)), {
    messages: [{ outcome: 'applied', statusAfter: 'unallocated' }],
  })
  t.equal((await world.query('select from incoming_payment where amount = 2500')).length, 2)

  await world.query('update payment set provider_ref = $2 where id = $1', [late.id, 'BANK-77'])
  t.match(await sent(world, staff, id, eventBody('payment.settled', { reference: 'BANK-77' })), {
    status: 'processed',
    messages: [{ reference: 'BANK-77', objectId: late.id, statusAfter: 'completed' }],
  })

  const mine = await listed(staff, `&filter[objectId]=${paid.id}`)
  t.strictSame(
    mine.map(({ id: each }) => each),
    [against.id, repeated.id, settled.id],
    'newest first',
  )
  t.strictSame(
    (await listed(staff, `&filter[type]=payment.returned&filter[status]=processed`)).map(({ objectIds }) => objectIds),
    [[returned.id]],
  )
  const future = encodeURIComponent(new Date(world.now() + 60_000).toISOString())
  t.equal((await listed(staff, `&filter[receivedFrom]=${future}`)).length, 0)
})

t.test('the sandbox bank itself is in the same list, page by page', async (t) => {
  const partners = new TestPartners()
  await using world = await createWorld({ overrides: { inboxPartners: partners } })
  const staff = await world.person('operations').signIn()
  const { id, operatorId } = await seededConnection(world)
  partners.add({ id, operatorId })
  const { client, balances, recipients } = world.seeded
  const made = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const amount = { amountMinor: '1250', currency: 'EUR' as const }
      const body = { sourceBalanceId: balances.EUR, recipientId: recipients.EUR, amount, reference: 'Invoice 42' }
      return (await client.createPayment(body)).body.id
    }),
  )
  await until('all payments are completed', async () => {
    const [row] = await world.query<{ open: number }>(
      `select count(*)::int as open from payment where status <> 'completed'`,
    )
    return row?.open === 0
  })
  const stuck = await sentPayment(world, STUCK)
  const event = await sent(world, staff, id, eventBody('payment.settled', { reference: stuck.id }))
  await world.query(`select brin_summarize_new_values('provider_event_ranges')`)

  const told = await listed(staff, '&filter[source]=message')
  t.strictSame(told.flatMap(({ objectIds }) => objectIds).sort(), made.toSorted())
  t.match(told[0], { status: 'processed', source: 'message', type: 'settled', partnerEventId: null })
  const whole = await listed(staff)
  t.equal(whole.length, 7)
  t.equal(whole[0]?.id, event.id, 'the message of an event is not listed beside it')
  const pages: string[] = []
  let path = '/provider-events?limit=3&withTotal=true'
  for (let nth = 0; nth < 4 && path !== ''; nth++) {
    const { body } = await staff.get<{ data: { id: string }[]; page: { nextCursor: string | null; total?: number } }>(
      path,
    )
    if (nth === 0) t.equal(body.page.total, 7)
    pages.push(...body.data.map(({ id: each }) => each))
    path = body.page.nextCursor === null ? '' : `/provider-events?limit=3&cursor=${body.page.nextCursor}`
  }
  t.strictSame(
    pages,
    whole.map(({ id: each }) => each),
  )
  const detail = (await staff.get<ProviderEventDetail>(`/provider-events/${told[0]!.id}`)).body
  t.match(detail, { body: null, headers: {}, messages: [{ type: 'settled', outcome: 'applied' }] })
  t.equal((await listed(staff, `&filter[objectId]=${made[0]}`)).length, 1)
  t.equal((await listed(staff, '&filter[status]=failed,ignored')).length, 0)
  const again = await staff.post(`/provider-events/${told[0]!.id}/reprocess`, { mode: 'preview' })
  t.match([again.status, again.problem.code], [409, 'invalid-transition'], 'there is nothing to use again')
})

t.test('what matches nothing is assigned or dismissed, and the difference is shown before it is made', async (t) => {
  const partners = new TestPartners()
  await using world = await createWorld({ overrides: { inboxPartners: partners } })
  const staff = await world.person('operations').signIn()
  const { id, operatorId } = await seededConnection(world)
  partners.add({ id, operatorId })
  const payment = await sentPayment(world, STUCK)
  const { client } = world.seeded
  const again = (eventId: string, body: object) =>
    staff.post<ProviderEventReprocessing>(`/provider-events/${eventId}/reprocess`, body)

  const event = await sent(world, staff, id, eventBody('payment.settled', { reference: 'who knows' }))
  t.match(event, { status: 'ignored', reason: 'unmatched', attempts: 3, messages: [{ outcome: 'unmatched' }] })
  t.strictSame(
    (await listed(staff, '&filter[reason]=unmatched')).map(({ id: each }) => each),
    [event.id],
  )
  const plain = await again(event.id, { mode: 'preview' })
  t.match([plain.status, plain.body], [200, { changing: 0, events: [{ messages: [{ outcome: 'unmatched' }] }] }])
  const wrong = await again(event.id, { mode: 'preview', assignTo: UNKNOWN })
  t.match([wrong.status, wrong.problem.errors], [422, [{ field: '/assignTo', code: 'not_found' }]])
  const shown = await again(event.id, { mode: 'preview', assignTo: payment.id })
  t.match(shown.body, {
    changing: 1,
    events: [
      {
        eventId: event.id,
        messages: [{ outcome: 'applied', objectId: payment.id, statusBefore: 'processing', statusAfter: 'completed' }],
      },
    ],
  })
  t.equal((await client.payment(payment.id)).status, 'processing', 'nothing was done')
  t.strictSame(await eventsOf(world, event.id), [])
  const { previewToken } = shown.body
  t.equal((await again(event.id, { mode: 'apply', assignTo: payment.id })).status, 422, 'without a token')
  t.equal((await again(event.id, { mode: 'apply', previewToken })).status, 412, 'another difference')
  // Money moves by it, so a second person has to see the same and ask for the same.
  const assignment = { assignTo: payment.id, reason: 'By its amount' }
  const proposed = await again(event.id, { mode: 'apply', previewToken, ...assignment })
  t.match([proposed.status, proposed.body.status], [202, 'pending_approval'], proposed.text)
  const waiting = (await staff.get<ProviderEventDetail>(`/provider-events/${event.id}`)).body
  t.match(waiting, { status: 'ignored', assignedId: null, proposal: { assignTo: payment.id, reason: 'By its amount' } })
  const alone = (await again(event.id, { mode: 'preview', assignTo: payment.id })).body
  t.equal(
    (await again(event.id, { mode: 'apply', previewToken: alone.previewToken, ...assignment })).body.status,
    'pending_approval',
    'the same person is no second one',
  )
  const second = await world.person('operator_admin').signIn()
  const asked = async (assignTo: string) =>
    (
      await second.post<ProviderEventReprocessing>(`/provider-events/${event.id}/reprocess`, {
        mode: 'preview',
        assignTo,
      })
    ).body.previewToken
  t.equal((await client.payment(payment.id)).status, 'processing', 'nothing was done')
  const applied = await second.post<ProviderEventReprocessing>(`/provider-events/${event.id}/reprocess`, {
    mode: 'apply',
    previewToken: await asked(payment.id),
    ...assignment,
  })
  t.match([applied.status, applied.body.status], [202, 'accepted'], applied.text)
  const taken = await used(staff, world, id, event.partnerEventId!)
  t.match(taken, {
    status: 'processed',
    assignedId: payment.id,
    decisionReason: 'By its amount',
    messages: [{ outcome: 'applied', objectId: payment.id }],
  })
  t.equal((await client.payment(payment.id)).status, 'completed')
  t.strictSame(await postingsOf(world, payment.id), [
    ['L10', String(STUCK)],
    ['L11', String(STUCK)],
  ])
  t.equal(taken.proposal, null)
  t.match(await world.query(`select action from audit_event where object_id = $1 order by id`, [event.id]), [
    { action: 'provider_event.assignment_proposed' },
    { action: 'provider_event.assignment_proposed' },
    { action: 'provider_event.assigned' },
  ])
  t.equal((await again(event.id, { mode: 'apply', previewToken, assignTo: payment.id })).status, 412, 'once')
  t.match((await again(event.id, { mode: 'preview' })).body, {
    changing: 0,
    events: [{ messages: [{ outcome: 'known' }] }],
  })

  // One person decides where the operator lets one person resolve exceptions; and two who mean different payments are
  // not two.
  const [one, other] = [await sentPayment(world, STUCK), await sentPayment(world, STUCK)]
  const unknown = await sent(world, staff, id, eventBody('payment.settled', { reference: 'whose' }))
  const ask = async (who: Person, assignTo: string) => {
    const path = `/provider-events/${unknown.id}/reprocess`
    const { body } = await who.post<ProviderEventReprocessing>(path, { mode: 'preview', assignTo })
    const { previewToken } = body
    return (await who.post<ProviderEventReprocessing>(path, { mode: 'apply', previewToken, assignTo })).body.status
  }
  t.equal(await ask(staff, one.id), 'pending_approval')
  t.equal(await ask(second, other.id), 'pending_approval', 'another payment is another request')
  t.equal(await ask(staff, one.id), 'pending_approval')
  await world.query('update operator set payments_four_eyes_exceptions = false')
  t.equal(await ask(staff, other.id), 'accepted')
  await world.query('update operator set payments_four_eyes_exceptions = true')
  await used(staff, world, id, unknown.partnerEventId!)
  t.equal((await client.payment(other.id)).status, 'completed')
  t.equal((await client.payment(one.id)).status, 'processing')

  const stray = await sent(world, staff, id, eventBody('payment.rejected', { reference: 'somebody' }))
  t.equal((await staff.post(`/provider-events/${taken.id}/dismiss`, { reason: 'x' })).status, 409, 'it was used')
  const dismissed = await staff.post<ProviderEventDetail>(`/provider-events/${stray.id}/dismiss`, { reason: 'A test' })
  t.match(dismissed.body, { status: 'ignored', reason: 'dismissed', decisionReason: 'A test' })
  t.equal((await listed(staff, '&filter[reason]=unmatched')).length, 0)

  // A range: an event that came before its payment had its reference.
  const early = await sentPayment(world, STUCK)
  await sent(world, staff, id, eventBody('payment.settled', { reference: 'EARLY' }))
  await world.query('update payment set provider_ref = $2 where id = $1', [early.id, 'EARLY'])
  const range = {
    connectionId: id,
    receivedFrom: new Date(world.now() - 86_400_000).toISOString(),
    receivedTo: new Date(world.now() + 86_400_000).toISOString(),
  }
  const ranged = (body: object) =>
    staff.post<ProviderEventReprocessing>('/provider-events/reprocess', { ...range, ...body })
  const preview = (await ranged({ mode: 'preview' })).body
  t.match([preview.changing, preview.events.length], [1, 2], 'the dismissed one too')
  t.equal((await ranged({ mode: 'apply', previewToken: 'x'.repeat(43) })).status, 412)
  t.equal((await ranged({ mode: 'apply', previewToken: preview.previewToken })).status, 202)
  await until('the payment is completed', async () => (await client.payment(early.id)).status === 'completed')
})

t.test('where webhooks are hints the provider is asked, and its answer counts', async (t) => {
  const partners = new TestPartners()
  await using world = await createWorld({ overrides: { inboxPartners: partners } })
  const staff = await world.person('operations').signIn()
  const { id, operatorId } = await seededConnection(world)
  const says = new Map<string, OrderStatus>()
  const asked: string[] = []
  partners.add(
    { id, operatorId },
    {
      areHints: true,
      status: async (questions) => {
        asked.push(...questions.map(({ reference }) => reference))
        return new Map(
          questions.flatMap(({ reference }) => (says.has(reference) ? [[reference, says.get(reference)!]] : [])),
        )
      },
    },
  )
  const { client } = world.seeded
  const [behind, wrong, silent] = [
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
    await sentPayment(world, STUCK),
  ]
  says.set(behind.id, { kind: 'pending' })
  const hint = eventBody('payment.settled', { reference: behind.id })
  await send(world, id, hint)
  await until('the provider was asked', () => asked.includes(behind.id))
  t.equal((await client.payment(behind.id)).status, 'processing', 'a hint alone moves nothing')
  says.set(behind.id, { kind: 'settled' })
  t.match(await used(staff, world, id, (JSON.parse(hint) as { id: string }).id), {
    status: 'processed',
    messages: [{ outcome: 'applied', statusAfter: 'completed' }],
  })
  t.equal((await client.payment(behind.id)).status, 'completed')

  says.set(wrong.id, { kind: 'rejected', schemeCode: 'AC04' })
  const corrected = await sent(world, staff, id, eventBody('payment.settled', { reference: wrong.id }))
  t.match(corrected.messages, [{ outcome: 'corrected', type: 'settled', statusAfter: 'failed' }])
  t.match(await client.payment(wrong.id), { status: 'failed', failure: { schemeCode: 'AC04' } })

  const never = eventBody('payment.settled', { reference: silent.id })
  await send(world, id, never)
  await until('it was tried', () => asked.filter((reference) => reference === silent.id).length > 0)
  // The attempts take hours, in which sessions end.
  const failedId = await settledEvent(world, id, (JSON.parse(never) as { id: string }).id)
  const later = await world.person('operations').signIn()
  const failed = (await later.get<ProviderEventDetail>(`/provider-events/${failedId}`)).body
  t.match(failed, { reason: 'contradicted', attempts: 8, messages: [{ outcome: 'waits' }] })
  t.equal((await client.payment(silent.id)).status, 'processing')
  t.match(await eventsOf(world, failed.id), [['provider_event.failed', 'failed', 'verified']])
})
