/** Scheduled payments that become due: what is made, when no more is, and who hears of it. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addDays } from '../../../lib/base/clock.ts'
import { createWorld } from '../../support/world.ts'
import {
  act,
  create,
  DAY_MS,
  dueIn,
  inDays,
  occurrences,
  patch,
  paymentsOf,
  reaching,
  runNow,
  statusEvents,
  trail,
} from './support.ts'

t.test('a payment is made on its day, like any other, and the next day follows', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const made = (await create(world, { frequency: 'daily', maxOccurrences: 2, metadata: { costCentre: '4711' } })).body
  t.match(made, { status: 'active', occurrencesCreated: 0, lastPaymentId: null, lastPaymentStatus: null })
  t.strictSame(await paymentsOf(world, made.id), [], 'not before')

  world.advanceTo(dueIn(world, 1))
  const first = await reaching(
    world,
    made.id,
    'one payment, completed',
    ({ lastPaymentStatus }) => lastPaymentStatus === 'completed',
  )
  t.match(first, { status: 'active', occurrencesCreated: 1, consecutiveFailures: 0 })
  t.ok(first.nextOccurrenceAt! > made.nextOccurrenceAt!)
  const [payment] = await paymentsOf(world, made.id)
  t.match(payment, {
    id: first.lastPaymentId,
    createdVia: 'schedule',
    scheduledPaymentId: made.id,
    createdBy: made.createdBy,
    reference: 'Rent',
    amount: made.amount,
    status: 'completed',
    metadata: { costCentre: '4711' },
    externalId: null,
  })
  t.match(await occurrences(world, made.id), {
    data: [
      {
        number: 1,
        plannedDate: made.startDate,
        executionDate: made.startDate,
        status: 'created',
        paymentId: payment!.id,
        paymentStatus: 'completed',
        refusal: null,
      },
    ],
    upcoming: [{ plannedDate: addDays(made.startDate, 1), executionDate: addDays(made.startDate, 1) }],
  })

  world.advanceTo(dueIn(world, 1))
  const last = await reaching(world, made.id, 'completed', ({ status }) => status === 'completed')
  t.match(last, { occurrencesCreated: 2, nextOccurrenceAt: null })
  t.equal((await paymentsOf(world, made.id)).length, 2)
  t.strictSame((await occurrences(world, made.id)).upcoming, [])
  t.strictSame(
    (await occurrences(world, made.id, '?limit=1')).data.map(({ number }) => number),
    [2],
    'the newest first',
  )
  t.strictSame(await statusEvents(world, made.id), ['none active', 'active completed'])
  t.strictSame(await trail(world, made.id), ['scheduled_payment.created key', 'scheduled_payment.completed system'])
  await client.paymentsSettled()
  t.equal((await client.balance(balances.EUR)).bookBalance.amountMinor, String(10_000_000n - 190_000n))
  for (const action of ['pause', 'resume', 'cancel'] as const) {
    t.match(
      (await act(world, made.id, action)).problem,
      { status: 409, code: 'invalid-transition', currentStatus: 'completed' },
      action,
    )
  }
  t.match((await runNow(world, made.id)).problem, {
    status: 409,
    code: 'simulation-not-possible',
    currentStatus: 'completed',
  })
  t.match((await patch(world, made.id, { reference: 'More rent' })).problem, {
    status: 409,
    code: 'invalid-transition',
  })
})

t.test('a sandbox need not wait for the day', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { startDate: inDays(world, 40) })).body
  const run = await runNow(world, made.id)
  t.equal(run.status, 202)
  t.match(run.body, {
    kind: 'scheduled_run',
    status: 'queued',
    provider: 'platform',
    details: { scheduledPaymentId: made.id, plannedDate: made.startDate },
  })
  const after = await reaching(
    world,
    made.id,
    'completed',
    ({ lastPaymentStatus }) => lastPaymentStatus === 'completed',
  )
  t.match(after, { status: 'active', occurrencesCreated: 1 })
  t.ok(after.nextOccurrenceAt! > made.nextOccurrenceAt!, 'the one that was run is not run again')
  t.match((await occurrences(world, made.id)).data, [{ number: 1, plannedDate: made.startDate, status: 'created' }])
  t.strictSame(await statusEvents(world, made.id), ['none active'], 'its status has not changed')

  // A simulation under a key happens once.
  const key = randomUUID()
  const path = `/simulations/scheduled-payments/${made.id}/run-now`
  const [once, again] = [
    await world.seeded.client.post(path, undefined, key),
    await world.seeded.client.post(path, undefined, key),
  ]
  t.strictSame([again.status, again.text, again.headers.get('idempotency-replayed')], [202, once.text, 'true'])
  await reaching(world, made.id, 'made again', ({ occurrencesCreated }) => occurrencesCreated === 2)

  // A change counts from the next one on.
  t.match((await patch(world, made.id, { amount: { amountMinor: '1', currency: 'EUR' }, reference: 'Less' })).body, {
    amount: { amountMinor: '1' },
    reference: 'Less',
  })
  await runNow(world, made.id)
  await reaching(world, made.id, 'made once more', ({ occurrencesCreated }) => occurrencesCreated === 3)
  t.match(await paymentsOf(world, made.id), [
    { reference: 'Less', amount: { amountMinor: '1' } },
    { reference: 'Rent', amount: { amountMinor: '95000' } },
    { reference: 'Rent', amount: { amountMinor: '95000' } },
  ])
  await world.seeded.client.paymentsSettled()
})

t.test('what is missed in a pause is passed over', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { frequency: 'daily' })).body
  const paused = await act(world, made.id, 'pause')
  t.match(paused.body, { status: 'paused', nextOccurrenceAt: null, pausedAt: String })
  t.match((await act(world, made.id, 'pause')).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'paused',
    allowed: ['active'],
  })
  t.match((await runNow(world, made.id)).problem, {
    status: 409,
    code: 'simulation-not-possible',
    currentStatus: 'paused',
  })
  t.strictSame((await occurrences(world, made.id)).upcoming, [])
  world.advance(10 * DAY_MS)
  t.strictSame(await paymentsOf(world, made.id), [])
  const resumed = (await act(world, made.id, 'resume')).body
  t.match(resumed, { status: 'active', pausedAt: null })
  t.ok(Date.parse(resumed.nextOccurrenceAt!) > world.now(), 'it goes on with what lies ahead')
  t.ok(Date.parse(resumed.nextOccurrenceAt!) <= world.now() + DAY_MS, 'and no later')
  world.advanceTo(Date.parse(resumed.nextOccurrenceAt!) + 1_000)
  await reaching(world, made.id, 'made once', ({ lastPaymentStatus }) => lastPaymentStatus === 'completed')
  t.equal((await paymentsOf(world, made.id)).length, 1)

  const cancelled = (await act(world, made.id, 'cancel')).body
  t.match(cancelled, { status: 'cancelled', nextOccurrenceAt: null, occurrencesCreated: 1 })
  world.advance(3 * DAY_MS)
  t.match((await act(world, made.id, 'resume')).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'cancelled',
    allowed: ['paused'],
  })
  t.equal((await paymentsOf(world, made.id)).length, 1, 'what was paid stays, and no more comes')
  t.strictSame(await statusEvents(world, made.id), [
    'none active',
    'active paused',
    'paused active',
    'active cancelled',
  ])
  t.strictSame(await trail(world, made.id), [
    'scheduled_payment.created key',
    'scheduled_payment.paused key',
    'scheduled_payment.resumed key',
    'scheduled_payment.cancelled key',
  ])
})

t.test('a pause that outlasts the schedule ends it', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { frequency: 'weekly', endDate: inDays(world, 9) })).body
  await act(world, made.id, 'pause')
  world.advance(20 * DAY_MS)
  t.match((await act(world, made.id, 'resume')).body, { status: 'completed', nextOccurrenceAt: null })
  t.strictSame(await statusEvents(world, made.id), ['none active', 'active paused', 'paused completed'])
})
