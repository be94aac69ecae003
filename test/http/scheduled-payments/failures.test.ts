/** Occurrences that come to nothing: which of them count, when they stop a schedule, and who hears of it. */
import t from 'tap'
import type { ScheduledPayment } from '../../../lib/scheduled-payments/scheduled-payment-schema.ts'
import { createWorld } from '../../support/world.ts'
import { decide, setPolicy, tier } from '../approvals/people.ts'
import {
  act,
  create,
  dueIn,
  inDays,
  occurrences,
  patch,
  paymentsOf,
  reaching,
  read,
  runNow,
  statusEvents,
  trail,
} from './support.ts'

t.test('three in a row without money stop it, and those who pay are told', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const made = (await create(world, { frequency: 'daily', amount: { amountMinor: '999999999', currency: 'EUR' } })).body
  // Each waits for money until its day is over.
  for (const failures of [0, 1, 2]) {
    world.advanceTo(dueIn(world, 1))
    await reaching(
      world,
      made.id,
      `${failures} failures`,
      ({ consecutiveFailures, occurrencesCreated }) =>
        consecutiveFailures === failures && occurrencesCreated === failures + 1,
    )
  }
  world.advanceTo(dueIn(world, 1))
  await reaching(world, made.id, 'its end', ({ status }) => status === 'failed')
  t.match(await read(world, made.id), { nextOccurrenceAt: null, consecutiveFailures: 3 })
  // Whether one more was made at that very moment, nobody can say.
  t.match(
    (await occurrences(world, made.id)).data.slice(-3),
    [3, 2, 1].map((number) => ({ number, status: 'created', paymentStatus: 'failed', refusal: null })),
  )
  t.match(
    (await paymentsOf(world, made.id)).slice(-3),
    [1, 2, 3].map(() => ({ status: 'failed', failure: { code: 'insufficient_funds' } })),
  )
  t.strictSame(await client.holds(balances.EUR), [])
  t.strictSame(await statusEvents(world, made.id), ['none active', 'active failed'])
  t.strictSame(await trail(world, made.id), ['scheduled_payment.created key', 'scheduled_payment.failed system'])
  const owner = await world.person('owner').signIn()
  const { data } = (await owner.get<{ data: { type: string; objectId?: string; title: string }[] }>('/notifications'))
    .body
  t.match(
    data.filter(({ type }) => type === 'scheduled_payment_stopped'),
    [{ title: `Scheduled payment ${made.number} was stopped` }],
  )
  t.match((await act(world, made.id, 'cancel')).problem, { status: 409, currentStatus: 'failed' })
})

t.test('a payment that fails counts, one that arrives begins anew', async (t) => {
  await using world = await createWorld()
  // The sandbox bank rejects by the reference.
  const made = (await create(world, { frequency: 'daily', reference: 'SBX:AC04' })).body
  const next = async (what: string, is: Parameters<typeof reaching>[3]) => {
    const { occurrencesCreated: before } = await read(world, made.id)
    await runNow(world, made.id)
    await reaching(world, made.id, 'one more payment', ({ occurrencesCreated }) => occurrencesCreated === before + 1)
    // The bank knows in seconds.
    world.advance(5_000)
    return await reaching(world, made.id, what, is)
  }
  t.match(await next('one failure', ({ consecutiveFailures }) => consecutiveFailures === 1), {
    status: 'active',
    lastPaymentStatus: 'failed',
    occurrencesCreated: 1,
  })
  await next('two failures', ({ consecutiveFailures }) => consecutiveFailures === 2)
  await patch(world, made.id, { reference: 'Rent' })
  t.match(await next('a success', ({ consecutiveFailures }) => consecutiveFailures === 0), {
    status: 'active',
    lastPaymentStatus: 'completed',
    occurrencesCreated: 3,
  })
  await patch(world, made.id, { reference: 'SBX:AC04' })
  for (const failures of [1, 2, 3])
    await next(`${failures} failures`, ({ consecutiveFailures }) => consecutiveFailures === failures)
  t.match(await read(world, made.id), { status: 'failed', occurrencesCreated: 6, lastPaymentStatus: 'failed' })
  t.strictSame(await statusEvents(world, made.id), ['none active', 'active failed'])
  await world.seeded.client.paymentsSettled()
})

t.test('its payments wait for people where the policy says so', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 1, null)] })
  const made = (await create(world, {})).body
  await runNow(world, made.id)
  const waiting = await reaching(
    world,
    made.id,
    'a payment that waits',
    ({ lastPaymentStatus }) => lastPaymentStatus === 'pending_approval',
  )
  t.match(waiting, { status: 'active', occurrencesCreated: 1 })
  const [payment] = await paymentsOf(world, made.id)
  t.equal((await world.seeded.client.holds(world.seeded.balances.EUR)).length, 1, 'with its hold')
  const approver = await world.person('approver').signIn()
  t.equal(
    (await decide(approver, payment!.approvalId!, { decision: 'rejected', comment: 'Not this month.' })).status,
    200,
  )
  const rejected = await reaching(
    world,
    made.id,
    'rejected',
    ({ lastPaymentStatus }) => lastPaymentStatus === 'rejected',
  )
  t.match(rejected, { status: 'active', consecutiveFailures: 0 }, 'what people stop is no failure')
})

t.test('a recipient who is blocked pauses it, and cannot be removed while it goes on', async (t) => {
  await using world = await createWorld()
  const { client, recipients } = world.seeded
  const made = (await create(world)).body
  const staff = await world.person('operator_admin').signIn()
  const block = async (action: 'block' | 'unblock') => {
    const reply = await staff.post(
      `/recipients/${recipients.EUR}/${action}`,
      action === 'block' ? { reason: 'Fraud reported.' } : undefined,
    )
    t.ok(reply.status < 300, `${action}: ${reply.text}`)
  }
  const removed = await client.send(`/v1/recipients/${recipients.EUR}`, {
    method: 'DELETE',
    headers: { 'if-match': '*' },
  })
  t.match(removed.problem, { status: 409, code: 'recipient-in-use', paymentIds: [], scheduledPaymentIds: [made.id] })
  await block('block')
  t.match(await read(world, made.id), {
    status: 'paused',
    nextOccurrenceAt: null,
    pausedAt: String,
    consecutiveFailures: 0,
  })
  t.match((await act(world, made.id, 'resume')).problem, {
    status: 422,
    code: 'recipient-not-approved',
    recipientStatus: 'blocked',
  })
  t.match((await create(world)).problem, { status: 422, code: 'recipient-not-approved', recipientStatus: 'blocked' })
  t.strictSame(await trail(world, made.id), ['scheduled_payment.created key', 'scheduled_payment.paused system'])
  const owner = await world.person('owner').signIn()
  const { data } = (await owner.get<{ data: { type: string; title: string }[] }>('/notifications')).body
  t.match(
    data.filter(({ type }) => type === 'scheduled_payment_stopped'),
    [{ title: `Scheduled payment ${made.number} is paused` }],
  )
  await block('unblock')
  t.match(await read(world, made.id), { status: 'paused' }, 'it does not go on by itself')
  t.match((await act(world, made.id, 'resume')).body, { status: 'active' })
  t.strictSame(await statusEvents(world, made.id), ['none active', 'active paused', 'paused active'])
  await act(world, made.id, 'cancel')
  t.equal(
    (await client.send(`/v1/recipients/${recipients.EUR}`, { method: 'DELETE', headers: { 'if-match': '*' } })).status,
    204,
    'then it can',
  )
})

t.test('a recipient who was blocked unseen pauses it when it is due', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { startDate: inDays(world, 3) })).body
  // As if it had been blocked while the occurrence was being made.
  await world.query(`update recipient set status = 'blocked', version = version + 1 where id = $1`, [made.recipientId])
  await runNow(world, made.id)
  const paused: ScheduledPayment = await reaching(world, made.id, 'paused', ({ status }) => status === 'paused')
  t.match(paused, { consecutiveFailures: 0, occurrencesCreated: 0 })
  t.match((await occurrences(world, made.id)).data, [
    { number: 1, status: 'refused', refusal: { code: 'recipient-not-approved' } },
  ])
})
