/**
 * The day of scheduled payments, to the millisecond: from 00:05 where the rail is they are paid or wait for money, which
 * is looked for every quarter of an hour until the cut-off.
 */
import t from 'tap'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { addDays, timestamp } from '../../../lib/base/clock.ts'
import { businessDayFrom, cutOffOf, railDate } from '../../../lib/rails/business-days.ts'
import { eventsOf } from '../../support/outcomes.ts'
import { createWorld, paymentBody, transferBody, type Customer } from '../../support/world.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MINOR = 5_000
/** A cent less than a payment needs. */
const MINOR_LESS = BigInt(MINOR) - 1n
/** Where euros are paid. */
const ZONE = 'Europe/Brussels'
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })

const inDays = (days: number): string => addDays(railDate('sepa_instant', world.now()), days)
const at = (date: string, time: string): number =>
  Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(ZONE).epochMilliseconds

/** A customer with euros on the balance that pays, and on another one. */
async function customerWith(amount: bigint, other = 0n) {
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount },
      { currency: 'EUR', amount: other },
    ],
  })
  const [balanceId, otherId] = customer.balanceIds as [string, string]
  return { ...customer, balanceId, otherId }
}

const schedule = async ({ client, recipients, balanceId }: Customer & { balanceId: string }, body: object) =>
  (await client.createPayment({ ...paymentBody(balanceId, recipients.EUR, MINOR), ...body })).body
const updatesOf = async (id: string): Promise<string[]> =>
  (
    await world.query<{ status: string; actor: string }>(
      'select status, actor from status_update where object_id = $1 order by version',
      [id],
    )
  ).map(({ status, actor }) => `${status} ${actor}`)
const dueOf = async (id: string): Promise<{ readonly dueAt: number; readonly until: number }> => {
  const [row] = await world.query<{ due_at: Date; until: Date }>(
    'select due_at, until from payment_due where payment_id = $1',
    [id],
  )
  return { dueAt: row!.due_at.getTime(), until: row!.until.getTime() }
}

await t.test('at 00:05 of its day, and not a millisecond earlier, its money is held', async (t) => {
  const customer = await customerWith(20_000n)
  const { client, balanceId } = customer
  const date = inDays(3)
  const payment = await schedule(customer, { executionDate: date })
  world.advanceTo(at(date, '00:05') - 1)
  await world.pollOnce()
  t.equal((await client.payment(payment.id)).status, 'scheduled')
  t.match(await client.balance(balanceId), { heldBalance: eur(0) })
  world.advance(1)
  const now = world.now()
  await world.pollOnce()
  t.match(await client.payment(payment.id), {
    status: 'processing',
    processing: { status: 'queued' },
    executionDate: date,
  })
  t.match(await client.holds(balanceId), [
    { subjectType: 'payment', subjectId: payment.id, amount: payment.totalDebit, createdAt: timestamp(now) },
  ])
  t.strictSame(await client.holds(balanceId, 'captured,released'), [])
  t.strictSame(await eventsOf(world, payment.id), [
    ['payment.created', 'scheduled', null],
    ['payment.status_changed', 'processing', 'scheduled'],
  ])
  t.strictSame(await updatesOf(payment.id), ['scheduled member', 'processing system'])
  await world.audit()
})

await t.test('money is looked for every quarter of an hour, to the millisecond', async (t) => {
  const customer = await customerWith(MINOR_LESS, BigInt(MINOR))
  const { client, balanceId, otherId } = customer
  const date = inDays(1)
  const payment = await schedule(customer, { executionDate: date })
  const dueAt = at(date, '00:05')
  world.advanceTo(dueAt)
  await world.pollOnce()
  t.equal((await client.payment(payment.id)).status, 'scheduled')
  t.strictSame(await dueOf(payment.id), { dueAt: dueAt + 15 * MINUTE_MS, until: at(addDays(date, 1), '00:00') })
  t.equal((await client.createTransfer(transferBody(otherId, balanceId, MINOR))).status, 201)
  world.advanceTo(dueAt + 15 * MINUTE_MS - 1)
  await world.pollOnce()
  t.equal((await client.payment(payment.id)).status, 'scheduled', 'money does not make it due earlier')
  world.advance(1)
  await world.pollOnce()
  t.equal((await client.payment(payment.id)).status, 'processing')
  t.match(await client.holds(balanceId), [{ subjectId: payment.id }])
  await world.audit()
})

await t.test('at the end of its day, and not a millisecond earlier, it fails without its money', async (t) => {
  const customer = await customerWith(MINOR_LESS)
  const { client, balanceId } = customer
  const date = inDays(2)
  const payment = await schedule(customer, { executionDate: date })
  const end = at(addDays(date, 1), '00:00')
  world.advanceTo(end - 1)
  await world.pollOnce()
  t.equal((await client.payment(payment.id)).status, 'scheduled')
  t.strictSame(await dueOf(payment.id), { dueAt: end, until: end }, 'looked for once more at the very end')
  world.advanceTo(end)
  await world.pollOnce()
  t.match(await client.payment(payment.id), {
    status: 'failed',
    failure: { code: 'insufficient_funds', at: timestamp(end) },
    failedAt: timestamp(end),
    sentAt: null,
  })
  t.strictSame(await eventsOf(world, payment.id), [
    ['payment.created', 'scheduled', null],
    ['payment.status_changed', 'failed', 'scheduled'],
    ['payment.failed', 'failed', 'scheduled'],
  ])
  t.strictSame(await updatesOf(payment.id), ['scheduled member', 'failed system'])
  t.strictSame(await client.holds(balanceId, 'active,released'), [], 'nothing was ever held')
  await world.audit()
})

await t.test(
  'customers who cancel when the day begins: each payment is cancelled once, and its money is free',
  async (t) => {
    const customer = await customerWith(100_000n)
    const { client, balanceId } = customer
    const date = inDays(2)
    const payments: Payment[] = []
    for (let count = 0; count < 6; count++) payments.push(await schedule(customer, { executionDate: date }))
    world.advanceTo(at(date, '00:05'))
    const [replies] = await Promise.all([
      Promise.all(payments.map(({ id }) => client.post<Payment>(`/payments/${id}/cancel`, {}))),
      world.pollOnce(),
      world.pollOnce(),
    ])
    for (const { body } of replies) t.equal(body.status, 'cancelled')
    await world.pollOnce()
    for (const { id } of payments) {
      t.match((await client.post(`/payments/${id}/cancel`, {})).problem, {
        status: 409,
        code: 'not-cancellable',
        currentStatus: 'cancelled',
      })
      const updates = await updatesOf(id)
      t.equal(updates.filter((update) => update.startsWith('cancelled')).length, 1)
      t.ok(updates.filter((update) => update.startsWith('processing')).length <= 1)
    }
    t.match(await client.balance(balanceId), { heldBalance: eur(0), availableBalance: eur(100_000) })
    t.strictSame(await world.query('select from payment_due'), [])
    t.strictSame(
      await world.query('select from partner_instruction where payment_id = any($1)', [payments.map(({ id }) => id)]),
      [],
    )
    await world.audit()
  },
)

await t.test(
  'a clock that jumps over the day: what has its money is paid, what has none fails, each once',
  async (t) => {
    const [rich, poor] = [await customerWith(2n * BigInt(MINOR)), await customerWith(MINOR_LESS)]
    const paid = [
      await schedule(rich, { executionDate: inDays(1) }),
      await schedule(rich, { executionDate: inDays(4) }),
    ]
    const failed = [
      await schedule(poor, { executionDate: inDays(1) }),
      await schedule(poor, { executionDate: inDays(4) }),
    ]
    world.advance(10 * DAY_MS)
    await Promise.all([world.pollOnce(), world.pollOnce()])
    for (const { id } of paid) {
      t.equal((await rich.client.payment(id)).status, 'processing')
      t.strictSame(await updatesOf(id), ['scheduled member', 'processing system'])
    }
    t.equal((await rich.client.holds(rich.balanceId)).length, 2)
    for (const { id } of failed) {
      t.match(await poor.client.payment(id), { status: 'failed', failure: { code: 'insufficient_funds' } })
      t.strictSame(await updatesOf(id), ['scheduled member', 'failed system'])
    }
    await world.audit()
  },
)

await t.test('a rail with a cut-off waits for money until then, and no millisecond longer', async (t) => {
  await world.query('update provider_connection set config = $1', [JSON.stringify({ realCalendar: true })])
  // Balances that are remembered know what was set before.
  await world.restart()
  const customer = await customerWith(MINOR_LESS)
  const date = businessDayFrom('sepa', inDays(3))
  const payment = await schedule(customer, { executionDate: date, requestedRail: 'sepa' })
  t.match(payment, { status: 'scheduled', executionDate: date })
  const { dueAt, until } = await dueOf(payment.id)
  t.strictSame([dueAt, until], [at(date, '00:05'), cutOffOf('sepa', date)])
  world.advanceTo(until - 1)
  await world.pollOnce()
  t.equal((await customer.client.payment(payment.id)).status, 'scheduled')
  world.advance(1)
  await world.pollOnce()
  t.match(await customer.client.payment(payment.id), { status: 'failed', failedAt: timestamp(until) })
  await world.audit()
})
