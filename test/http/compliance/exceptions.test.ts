/**
 * Outcomes that nobody knows, resolved by two people of the operator: what they see, and what the ledger makes of it.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { Exception } from '../../../lib/compliance/exception-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { eur, eventsOf, exceptionOf, pay, setFourEyes } from './staff.ts'

t.test('two people say what became of a payment, and the ledger takes that step', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const payment = await pay(world, 1_503)
  const seen = await client.paymentReaching(payment.id, 'exception')
  t.equal(seen.exception, null, 'customers do not see which')
  const first = await world.person('operations').signIn()
  const second = await world.person('operator_admin').signIn()
  const found = await exceptionOf(first, payment.id)
  t.match(found, {
    kind: 'provider_timeout',
    status: 'open',
    related: { object: 'payment', id: payment.id },
    customerId: payment.customerId,
    customerName: String,
    amount: eur(1_503),
    message: String,
    assignee: null,
    proposal: null,
    resubmitForbidden: false,
    outcome: null,
    evidence: null,
    resolvedBy: null,
    resolvedAt: null,
  })
  const path = `/exceptions/${found.id}`
  t.match((await first.get(path)).body, { id: found.id })
  const compliance = await world.person('compliance').signIn()
  t.match((await compliance.get(path)).problem, { status: 403, requiredCapability: 'operations.manage' })
  t.match((await client.get(path)).problem, { status: 403 }, 'not for customers')
  t.equal((await first.get(`/exceptions/${randomUUID()}`)).status, 404)
  t.equal(
    (await first.post(`/exceptions/${randomUUID()}/resolve`, { outcome: 'completed', evidence: 'x' })).status,
    404,
  )

  for (const [body, field, code] of [
    [{ outcome: 'completed' }, '/evidence', 'required'],
    [{ outcome: 'lost', evidence: 'x' }, '/outcome', 'invalid_value'],
    [{ outcome: 'completed', evidence: 'x', amount: eur(1) }, '/amount', 'not_applicable'],
    [{ outcome: 'returned', evidence: 'x', amount: eur(1_504) }, '/amount/amountMinor', 'too_large'],
    [
      { outcome: 'returned', evidence: 'x', amount: { amountMinor: '1', currency: 'GBP' } },
      '/amount/currency',
      'currency_mismatch',
    ],
  ] as const)
    t.match(
      (await first.post(`${path}/resolve`, body)).problem,
      { status: 422, errors: [{ field, code }] },
      JSON.stringify(body),
    )

  const waits = await first.post<Exception>(`${path}/resolve`, { outcome: 'failed', evidence: 'The bank wrote so.' })
  t.equal(waits.status, 202)
  t.match(waits.body, {
    status: 'open',
    proposal: { outcome: 'failed', evidence: 'The bank wrote so.', amount: null },
    outcome: null,
  })
  t.equal(
    (await first.post(`${path}/resolve`, { outcome: 'failed', evidence: 'Again.' })).status,
    202,
    'one person twice is one person',
  )
  t.equal(
    (await second.post(`${path}/resolve`, { outcome: 'completed', evidence: 'Line 7 of the statement.' })).status,
    202,
    'a differing word takes its place',
  )
  t.equal((await client.payment(payment.id)).status, 'exception')
  const resolved = await first.post<Exception>(`${path}/resolve`, {
    outcome: 'completed',
    evidence: 'Seen line 7, too.',
  })
  t.equal(resolved.status, 200, resolved.text)
  t.match(resolved.body, {
    status: 'resolved',
    outcome: 'completed',
    evidence: 'Seen line 7, too.',
    resolvedByName: String,
    resolvedAt: String,
    outcomeAmount: null,
  })
  t.match(await client.payment(payment.id), { status: 'completed', completedAt: String })
  t.match((await first.post(`${path}/resolve`, { outcome: 'failed', evidence: 'x' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'resolved',
    allowed: ['open'],
  })
  t.strictSame((await eventsOf(world, payment.id)).slice(1), [
    'payment.status_changed processing exception',
    'payment.status_changed exception completed',
    'payment.completed exception completed',
  ])
  t.strictSame(
    (
      await world.query<{ rule: string }>('select rule from posting where source_id = $1 order by rule', [payment.id])
    ).map(({ rule }) => rule),
    ['L10', 'L11'],
  )
  t.match(await client.balance(balances.EUR), { heldBalance: eur(0), bookBalance: eur(10_000_000 - 1_503) })
  t.strictSame((await first.get<PageBody<object>>('/exceptions')).body.data, [], 'the queue is of those that are open')
  const trail = (await second.get<PageBody<AuditEvent>>(`/audit-events?filter[objectId]=${found.id}`)).body.data
  t.strictSame(
    trail.map(({ action }) => action),
    ['exception.resolved', 'exception.proposed', 'exception.proposed', 'exception.proposed'],
  )
  t.strictSame((trail[0]!.after as { evidence: string }).evidence, 'Seen line 7, too.')
})

t.test("failed and returned book what the partner's own word would have", async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client, balances } = world.seeded
  const staff = await world.person('operations').signIn()
  const failed = await pay(world, 2_000, 'SBX:TIMEOUT')
  const returned = await pay(world, 3_000, 'SBX:TIMEOUT')
  const partly = await pay(world, 4_000, 'SBX:TIMEOUT')
  for (const [payment, body] of [
    [failed, { outcome: 'failed', evidence: 'Refused by telephone.' }],
    [returned, { outcome: 'returned', evidence: 'Line 9.' }],
    [partly, { outcome: 'returned', evidence: 'Line 10.', amount: eur(3_900) }],
  ] as const) {
    await client.paymentReaching(payment.id, 'exception')
    const reply = await staff.post<Exception>(`/exceptions/${(await exceptionOf(staff, payment.id)).id}/resolve`, body)
    t.equal(reply.status, 200, reply.text)
    t.match(reply.body, {
      status: 'resolved',
      outcome: body.outcome,
      outcomeAmount: payment === partly ? eur(3_900) : payment === returned ? eur(3_000) : null,
    })
  }
  t.match(await client.payment(failed.id), { status: 'failed', failure: { code: 'technical_error' } })
  t.match(await client.payment(returned.id), { status: 'returned', returnedAmount: eur(3_000) })
  t.match(await client.payment(partly.id), { status: 'returned', returnedAmount: eur(3_900) })
  const rules = async (id: string) =>
    (
      await world.query<{ rule: string }>('select distinct rule from posting where source_id = $1 order by rule', [id])
    ).map(({ rule }) => rule)
  t.strictSame(await rules(failed.id), ['L10', 'L12'])
  t.strictSame(await rules(partly.id), ['L10', 'L11', 'L13'])
  t.match(await client.balance(balances.EUR), { heldBalance: eur(0), bookBalance: eur(10_000_000 - 100) })
})

t.test("the partner's word resolves an exception too, and nobody else then", async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const staff = await world.person('operations').signIn()
  const payment = await pay(world, 1_501)
  await client.paymentReaching(payment.id, 'exception')
  const { id } = await exceptionOf(staff, payment.id)
  world.advance(66_000)
  await client.paymentReaching(payment.id, 'completed')
  t.match((await staff.get<Exception>(`/exceptions/${id}`)).body, {
    status: 'resolved',
    outcome: 'completed',
    resolvedBy: null,
    evidence: null,
  })
  t.equal(
    (await staff.post(`/exceptions/${id}/resolve`, { outcome: 'failed', evidence: 'x' })).problem.code,
    'invalid-transition',
  )
})

t.test('what must not be sent again is asked about and stays open', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client } = world.seeded
  const staff = await world.person('operations').signIn()
  const payment = await pay(world, 1_503)
  await client.paymentReaching(payment.id, 'exception')
  // The bank has lost it, so it would be sent again after a while.
  await world.query('delete from sandbox_order where reference = $1', [payment.id])
  const { id } = await exceptionOf(staff, payment.id)
  const reply = await staff.post<Exception>(`/exceptions/${id}/resolve`, {
    outcome: 'resubmit_forbidden',
    evidence: 'It may have arrived by fax.',
  })
  t.match(reply.body, {
    status: 'open',
    resubmitForbidden: true,
    outcome: null,
    evidence: 'It may have arrived by fax.',
    proposal: null,
  })
  const asked = async () =>
    (
      await world.query<{ attempts: number }>('select attempts from partner_instruction where payment_id = $1', [
        payment.id,
      ])
    )[0]!.attempts
  await until(
    'the bank was asked often enough to send it again',
    async () => {
      world.advance(6_000)
      return (await asked()) > 5
    },
    { pollMs: 600, deadlineMs: 30_000 },
  )
  t.strictSame(
    await world.query('select reference from sandbox_order where reference = $1', [payment.id]),
    [],
    'it was not sent again',
  )
  t.equal((await client.payment(payment.id)).status, 'exception')
  t.equal((await staff.post(`/exceptions/${id}/resolve`, { outcome: 'completed', evidence: 'It had.' })).status, 200)
  t.equal((await client.payment(payment.id)).status, 'completed')
})

t.test('what is under review is decided on with its hold', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const staff = await world.person('operator_admin').signIn()
  const payment = await pay(world, 1_602)
  await client.paymentReaching(payment.id, 'on_hold')
  const { id } = await exceptionOf(staff, payment.id)
  t.match((await staff.post(`/exceptions/${id}/resolve`, { outcome: 'completed', evidence: 'x' })).problem, {
    status: 409,
    code: 'invalid-transition',
  })
})

t.test('people and the partner speak at once, and one of them is heard', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client } = world.seeded
  const people = [await world.person('operations').signIn(), await world.person('operator_admin').signIn()]
  const payment = await pay(world, 1_502)
  await client.paymentReaching(payment.id, 'exception')
  const { id } = await exceptionOf(people[0]!, payment.id)
  world.advance(66_000)
  const replies = await Promise.all(
    Array.from({ length: 6 }, (_, nth) =>
      people[nth % 2]!.post(`/exceptions/${id}/resolve`, { outcome: 'failed', evidence: `Word ${nth}.` }),
    ),
  )
  t.ok(
    replies.every(({ status }) => status === 200 || status === 409),
    replies.map(({ status }) => status).join(' '),
  )
  t.ok(replies.filter(({ status }) => status === 200).length <= 1)
  await client.paymentReaching(payment.id, 'failed')
  t.equal((await eventsOf(world, payment.id)).filter((event) => event.startsWith('payment.failed')).length, 1)
})
