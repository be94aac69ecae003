/** The third occurrence in a row that comes to nothing, to the millisecond: it ends the schedule, once. */
import t from 'tap'
import type { ScheduledPayment } from '../../../lib/scheduled-payments/scheduled-payment-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { act, create, DAY_MS, paymentsOf, read, statusEvents, trail, ZONE } from './support.ts'

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })

/** Daily payments for which there is no money. */
const daily = async (): Promise<ScheduledPayment> =>
  (await create(world, { frequency: 'daily', amount: { amountMinor: '999999999', currency: 'EUR' } })).body
/** The start of the day after a moment, where euros are paid. */
const nextMidnight = (ms: number): number =>
  Temporal.Instant.fromEpochMilliseconds(ms)
    .toZonedDateTimeISO(ZONE)
    .toPlainDate()
    .add({ days: 1 })
    .toZonedDateTime(ZONE).epochMilliseconds
/** Polls until nothing is due: no occurrence, no payment, and no event that a schedule has to follow. */
async function settle(): Promise<void> {
  await until('nothing is due', async () => {
    await world.pollOnce()
    const [row] = await world.query<{ due: boolean }>(
      `select exists (select from payment_due where due_at <= $1)
        or exists (select from scheduled_payment where status = 'active' and next_occurrence_at <= $1)
        or exists (select from scheduled_occurrence where status = 'due')
        or exists (select from outbox o, scheduled_payment_follow_up f where o.written_in >= f.position) as due`,
      [new Date(world.now())],
    )
    return row?.due === false
  })
}
const stops = async ({ id }: ScheduledPayment): Promise<number> =>
  (
    await world.query(
      `select distinct object_id, user_id from notification where type = 'scheduled_payment_stopped' and object_id = $1`,
      [id],
    )
  ).length
const told = async ({ id }: ScheduledPayment): Promise<number> =>
  (await world.query(`select from notification where type = 'scheduled_payment_stopped' and object_id = $1`, [id]))
    .length

await t.test('an occurrence is made at its time, and the end of its third day without money ends it all', async (t) => {
  const made = await daily()
  const first = Date.parse(made.nextOccurrenceAt!)
  world.advanceTo(first - 1)
  await settle()
  t.strictSame(await paymentsOf(world, made.id), [])
  for (let day = 1, due = first; day <= 3; day++) {
    world.advanceTo(due)
    await settle()
    t.equal((await paymentsOf(world, made.id)).length, day)
    const midnight = nextMidnight(due)
    world.advanceTo(midnight - 1)
    await settle()
    t.match(await read(world, made.id), { status: 'active', consecutiveFailures: day - 1, occurrencesCreated: day })
    if (day < 3) due = Date.parse((await read(world, made.id)).nextOccurrenceAt!)
    world.advanceTo(midnight)
    await settle()
    t.match(await read(world, made.id), { status: day < 3 ? 'active' : 'failed', consecutiveFailures: day })
  }
  t.equal((await read(world, made.id)).nextOccurrenceAt, null)
  world.advance(3 * DAY_MS)
  await settle()
  t.equal((await paymentsOf(world, made.id)).length, 3, 'no more are made')
  t.strictSame(await statusEvents(world, made.id), ['none active', 'active failed'])
  t.strictSame(await trail(world, made.id), ['scheduled_payment.created key', 'scheduled_payment.failed system'])
  t.equal(await told(made), await stops(made), 'everybody is told once')
  t.match((await act(world, made.id, 'cancel')).problem, { status: 409, currentStatus: 'failed' })
  await world.audit()
})

await t.test('a customer who cancels at that moment: it ends once, in one way', async (t) => {
  const made = await daily()
  let end = 0
  for (let day = 1; day <= 3; day++) {
    const due = Date.parse((await read(world, made.id)).nextOccurrenceAt!)
    end = nextMidnight(due)
    world.advanceTo(due)
    await settle()
    world.advanceTo(day < 3 ? end : end - 1)
    await settle()
  }
  t.match(await read(world, made.id), { status: 'active', consecutiveFailures: 2 })
  world.advanceTo(end)
  const [cancelled] = await Promise.all([act(world, made.id, 'cancel'), world.pollOnce(), world.pollOnce()])
  await settle()
  const status = cancelled.status === 200 ? 'cancelled' : 'failed'
  if (status === 'failed') t.match(cancelled.problem, { status: 409, currentStatus: 'failed' })
  t.match(await read(world, made.id), { status, nextOccurrenceAt: null })
  t.strictSame(await statusEvents(world, made.id), ['none active', `active ${status}`])
  await world.audit()
})

await t.test(
  'a clock that jumps over many days: what was missed is made, and the third failure ends it once',
  async (t) => {
    const made = await daily()
    // In the middle of the sixth day, after its occurrence.
    world.advanceTo(Date.parse(made.nextOccurrenceAt!) + 5.5 * DAY_MS)
    await settle()
    const missed = await paymentsOf(world, made.id)
    t.equal(missed.length, 6)
    for (const { status } of missed) t.equal(status, 'scheduled', 'each waits for money until the day ends')
    world.advanceTo(nextMidnight(world.now()))
    await settle()
    t.match(await read(world, made.id), { status: 'failed', nextOccurrenceAt: null })
    for (const payment of await paymentsOf(world, made.id))
      t.match(payment, { status: 'failed', failure: { code: 'insufficient_funds' } })
    t.strictSame(await statusEvents(world, made.id), ['none active', 'active failed'])
    t.equal(await told(made), await stops(made), 'everybody is told once')
    await world.audit()
  },
)
