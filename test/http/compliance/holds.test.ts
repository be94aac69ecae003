/**
 * The compliance gate and what staff do about it, over HTTP: what they see, what the customer does not, and where the
 * money is.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { ComplianceHold, ComplianceHoldDetail } from '../../../lib/compliance/compliance-hold-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { eur, eventsOf, exceptionOf, holdOf, pay, setFourEyes, updatesOf } from './staff.ts'

/** Words that no answer to a customer may contain. */
const TELLING = /complian|sanction|screen|legal|compliance_hold|frozen|sandbox-triggers/i

t.test('a payment in which something is found is under review, and the customer reads no more than that', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const payment = await pay(world, 5_000, 'SBX:HOLD')
  const held = await client.paymentReaching(payment.id, 'on_hold')
  t.match(held, {
    status: 'on_hold',
    exception: null,
    failure: null,
    statusReason: null,
    cancellable: false,
    sentAt: null,
  })
  t.notOk('processing' in held, 'it stands in no queue')
  const holds = await client.holds(balances.EUR)
  t.match(holds, [
    { subjectType: 'payment_review', description: 'Payment under review', amount: eur(5_000), status: 'active' },
  ])
  t.equal(holds.length, 1)
  t.equal(holds[0]!.subjectId, holds[0]!.id, 'a review names nothing but itself')
  t.match(await client.balance(balances.EUR), { heldBalance: eur(5_000), availableBalance: eur(9_995_000) })
  t.strictSame(
    (await client.journal(balances.EUR)).filter(({ source }) => source.id === payment.id),
    [],
    'nothing is booked',
  )
  t.strictSame(await eventsOf(world, payment.id), [
    'payment.created  processing',
    'payment.status_changed processing on_hold',
  ])
  t.strictSame((await updatesOf(world, payment.id)).at(-1), 'on_hold: Payment under review.')

  const refused = await client.post(`/payments/${payment.id}/cancel`, {})
  t.match(refused.problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'on_hold',
    detail: 'The payment can no longer be cancelled.',
  })
  t.equal((await client.payment(payment.id)).status, 'on_hold')
  for (const path of [
    `/payments/${payment.id}`,
    '/payments',
    `/balances/${balances.EUR}/holds`,
    `/balances/${balances.EUR}/journal`,
    `/payments/${payment.id}/updates`,
  ]) {
    // The reference is the customer's own.
    t.notMatch((await client.get(path)).text.replaceAll('SBX:HOLD', ''), TELLING, path)
  }
  t.notMatch(refused.text, TELLING)
  const owner = await world.person('owner').signIn()
  t.notMatch((await owner.get('/audit-events')).text, TELLING, 'nor does the trail say so')
  t.match((await client.get('/compliance-holds')).problem, { status: 403 }, 'not for keys')
  t.match((await owner.get('/compliance-holds')).problem, { status: 403 }, 'not for members')
  t.match(
    (await world.operator.get('/compliance-holds')).problem,
    { status: 403, code: 'insufficient-scope' },
    "not for the operator's keys",
  )
  const operations = await world.person('operations').signIn()
  t.match((await operations.get('/compliance-holds')).problem, { status: 403, requiredCapability: 'compliance.manage' })

  const staff = await world.person('compliance').signIn()
  const { body: page } = await staff.get<PageBody<ComplianceHold>>('/compliance-holds')
  t.equal(page.data.length, 1)
  t.match(page.data[0], {
    kind: 'outbound_screening',
    provider: 'sandbox',
    status: 'open',
    related: { object: 'payment', id: payment.id },
    customerId: payment.customerId,
    customerName: String,
    amount: eur(5_000),
    counterpartyName: payment.recipient.name,
    proposal: null,
    assignee: null,
    decidedBy: null,
    decidedAt: null,
    reason: null,
    freezeFunds: null,
  })
  t.match(page.data[0]!.findings, [{ list: String, name: String, score: 100 }])
  const hold = page.data[0]!
  t.strictSame(await eventsOf(world, hold.id), ['compliance_hold.created  open'])
  t.match((await operations.get<PageBody<object>>('/exceptions')).body.data, [
    { kind: 'compliance_hold', status: 'open', related: { object: 'payment', id: payment.id }, amount: eur(5_000) },
  ])

  for (const [filter, found] of [
    ['filter[kind]=outbound_screening', 1],
    ['filter[kind]=inbound_recall', 0],
    ['filter[status]=released', 0],
    [`filter[customerId]=${payment.customerId}`, 1],
    [`filter[customerId]=${randomUUID()}`, 0],
    [`filter[assignee]=${randomUUID()}`, 0],
    ['filter[olderThanHours]=1', 0],
    ['filter[olderThanHours]=0', 1],
    ['sort=-createdAt', 1],
  ] as const)
    t.equal((await staff.get<PageBody<object>>(`/compliance-holds?${filter}`)).body.data.length, found, filter)
  t.match((await staff.get('/compliance-holds?filter[olderThanHours]=soon')).problem, {
    status: 400,
    errors: [{ field: 'query.filter[olderThanHours]', code: 'invalid_type' }],
  })
  t.equal((await staff.get(`/compliance-holds/${randomUUID()}`)).status, 404)
})

t.test('two people let a payment go on, and it is not stopped again', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const payment = await pay(world, 1_602)
  await client.paymentReaching(payment.id, 'on_hold')
  const first = await world.person('compliance').signIn()
  const second = await world.person('operator_admin').signIn()
  const { id } = await holdOf(first, payment.id)
  const path = `/compliance-holds/${id}`

  t.match((await first.post(`${path}/release`, {})).problem, {
    status: 422,
    errors: [{ field: '/reason', code: 'required' }],
  })
  t.equal(
    (await first.post(`/compliance-holds/${randomUUID()}/release`, {})).status,
    404,
    'a missing hold wins over a bad body',
  )
  t.equal((await first.post(`/compliance-holds/${randomUUID()}/release`, { reason: 'Nothing.' })).status, 404)
  const noted = await first.post<ComplianceHoldDetail>(`${path}/notes`, { text: 'Asked for papers.' })
  t.equal(noted.status, 201)
  t.match(noted.body.notes, [{ text: 'Asked for papers.', byName: String, at: String }])

  const proposed = await first.post<ComplianceHoldDetail>(`${path}/release`, { reason: 'Somebody else.' })
  t.equal(proposed.status, 202)
  t.match(proposed.body, {
    status: 'open',
    proposal: { decision: 'released', reason: 'Somebody else.', freezeFunds: false },
    decidedBy: null,
  })
  t.equal(proposed.body.assignee, proposed.body.proposal!.by)
  t.equal(
    (await first.post(`${path}/release`, { reason: 'I am sure.' })).status,
    202,
    'the same person twice is one person',
  )
  t.equal((await client.payment(payment.id)).status, 'on_hold')
  const other = await second.post<ComplianceHoldDetail>(`${path}/block`, { reason: 'I do not think so.' })
  t.equal(other.status, 202, 'a differing word takes the place of the first')
  t.match(other.body.proposal, { decision: 'blocked', reason: 'I do not think so.' })
  t.equal((await first.post(`${path}/release`, { reason: 'Papers seen.' })).status, 202)
  const released = await second.post<ComplianceHoldDetail>(`${path}/release`, { reason: 'Papers seen by me, too.' })
  t.equal(released.status, 200, released.text)
  t.match(released.body, {
    status: 'released',
    reason: 'Papers seen by me, too.',
    decidedByName: String,
    decidedAt: String,
    freezeFunds: false,
  })
  t.match((await second.post(`${path}/block`, { reason: 'Too late.' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'released',
    allowed: ['open'],
  })

  const done = await client.paymentReaching(payment.id, 'completed')
  t.match(done, { status: 'completed', exception: null, failure: null })
  t.strictSame(
    (await eventsOf(world, payment.id)).map((line) => line.split(' ').slice(-2).join(' ')),
    ['payment.created', 'processing on_hold', 'on_hold processing', 'processing completed', 'processing completed'].map(
      (line, nth) => (nth === 0 ? ' processing' : line),
    ),
  )
  t.strictSame(await eventsOf(world, id), ['compliance_hold.created  open', 'compliance_hold.released open released'])
  t.strictSame(await client.holds(balances.EUR), [])
  t.match(
    (await client.holds(balances.EUR, 'released,captured')).map(({ subjectType, status }) => [subjectType, status]),
    [
      ['payment', 'captured'],
      ['payment_review', 'released'],
      ['payment', 'released'],
    ],
  )
  t.match(await client.balance(balances.EUR), { heldBalance: eur(0), bookBalance: eur(10_000_000 - 1_602) })
  t.match(await exceptionOf(second, payment.id), { kind: 'compliance_hold', status: 'resolved', outcome: 'released' })
  const trail = (await second.get<PageBody<AuditEvent>>(`/audit-events?filter[objectId]=${id}`)).body.data
  t.strictSame(
    trail.map(({ action }) => action),
    [
      'compliance_hold.released',
      'compliance_hold.proposed',
      'compliance_hold.proposed',
      'compliance_hold.proposed',
      'compliance_hold.proposed',
      'compliance_hold.noted',
    ],
  )
})

t.test('blocked, a payment has failed without a word of why, and the money is free or frozen', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client, balances } = world.seeded
  const staff = await world.person('compliance').signIn()
  const free = await pay(world, 7_000, 'SBX:HOLD')
  const frozen = await pay(world, 3_000, 'SBX:HOLD')
  for (const payment of [free, frozen]) await client.paymentReaching(payment.id, 'on_hold')
  const freeHold = await holdOf(staff, free.id)
  const frozenHold = await holdOf(staff, frozen.id)
  t.equal(
    (await staff.post(`/compliance-holds/${freeHold.id}/block`, { reason: 'On the list.' })).status,
    200,
    'one person is enough',
  )
  t.match(
    (
      await staff.post<ComplianceHoldDetail>(`/compliance-holds/${frozenHold.id}/block`, {
        reason: 'By order.',
        freezeFunds: true,
      })
    ).body,
    { status: 'blocked', freezeFunds: true },
  )
  for (const payment of [free, frozen]) {
    const failed = await client.payment(payment.id)
    t.match(failed, {
      status: 'failed',
      failure: { code: 'declined', scheme: null, schemeCode: null, retryable: false },
      statusReason: { code: 'declined' },
      exception: null,
      failedAt: String,
      sentAt: null,
    })
    t.notMatch(JSON.stringify(failed).replaceAll('SBX:HOLD', ''), TELLING)
    t.strictSame((await eventsOf(world, payment.id)).slice(1), [
      'payment.status_changed processing on_hold',
      'payment.status_changed on_hold failed',
      'payment.failed on_hold failed',
    ])
  }
  t.strictSame(await eventsOf(world, freeHold.id), [
    'compliance_hold.created  open',
    'compliance_hold.blocked open blocked',
  ])
  const holds = await client.list<{ id: string; subjectId: string; subjectType: string; description: string }>(
    `/balances/${balances.EUR}/holds`,
  )
  t.match(holds.body.data, [{ subjectType: 'payment_review', description: 'Payment under review', amount: eur(3_000) }])
  t.equal(holds.body.data.length, 1)
  t.equal(holds.body.data[0]!.subjectId, holds.body.data[0]!.id)
  t.notMatch(holds.text, TELLING)
  t.strictSame(await world.query('select subject_type from hold where status = $1', ['active']), [
    { subject_type: 'legal_order' },
  ])
  t.match(await client.balance(balances.EUR), { heldBalance: eur(3_000), bookBalance: eur(10_000_000) })
})

t.test('the sandbox decides by itself after half a minute where it is told to', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const released = await pay(world, 1_601)
  const blocked = await pay(world, 1_603)
  const both = await pay(world, 2_000, 'SBX:HOLD-RELEASE SBX:AC04')
  for (const { id } of [released, blocked, both]) await client.paymentReaching(id, 'on_hold')
  world.advance(29_000)
  t.equal((await client.payment(released.id)).status, 'on_hold')
  world.advance(2_000)
  await until('the sandbox has decided', async () => (await client.payment(blocked.id)).status === 'failed')
  world.advance(20_000)
  await client.paymentReaching(released.id, 'completed')
  t.match((await client.paymentReaching(both.id, 'failed')).failure, { code: 'account_closed' })
  t.match((await client.payment(blocked.id)).failure, { code: 'declined' })
  const staff = await world.person('compliance').signIn()
  t.match(await holdOf(staff, blocked.id), { status: 'blocked', decidedByName: 'Sandbox reviewer' })
})

t.test(
  'names of the list are found whatever their order and accents, and one person in two sessions is one',
  async (t) => {
    await using world = await createWorld()
    const { client, recipients } = world.seeded
    await world.query('update recipient set name = $2, version = version + 1 where id = $1', [
      recipients.EUR,
      'SANCTIONOV, Víktor',
    ])
    const payment = await pay(world, 4_000)
    await client.paymentReaching(payment.id, 'on_hold')
    const staff = await world.person('compliance').signIn()
    const again = await world.person('compliance').signIn()
    const hold = await holdOf(staff, payment.id)
    t.strictSame(hold.findings, [{ list: 'SANDBOX-PERSONS', name: 'Viktor Sanctionov', score: 100 }])
    t.equal((await staff.post(`/compliance-holds/${hold.id}/release`, { reason: 'Another one.' })).status, 202)
    t.equal((await again.post(`/compliance-holds/${hold.id}/release`, { reason: 'Another one.' })).status, 202)
  },
)

t.test('many people at once decide once', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const payment = await pay(world, 1_602)
  await client.paymentReaching(payment.id, 'on_hold')
  const people = [await world.person('compliance').signIn(), await world.person('operator_admin').signIn()]
  const { id } = await holdOf(people[0]!, payment.id)
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, nth) =>
      people[nth % 2]!.post(`/compliance-holds/${id}/release`, { reason: 'Fine.' }),
    ),
  )
  t.equal(replies.filter(({ status }) => status === 200).length, 1, replies.map(({ status }) => status).join(' '))
  t.ok(replies.every(({ status }) => [200, 202, 409].includes(status)))
  await client.paymentReaching(payment.id, 'completed')
  t.strictSame(await eventsOf(world, id), ['compliance_hold.created  open', 'compliance_hold.released open released'])
})
