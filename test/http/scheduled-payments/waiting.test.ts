/** Occurrences whose money is not there yet, and days on which the connection rests. */
import t from 'tap'
import { businessDayFrom, nextBusinessDay, railDate } from '../../../lib/rails/business-days.ts'
import { pay } from '../incoming-payments/support.ts'
import { createWorld } from '../../support/world.ts'
import { create, inDays, occurrences, paymentsOf, reaching, read, runNow } from './support.ts'

const QUARTER_MS = 15 * 60_000
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

t.test('what a schedule makes waits for its money, and for a day on which its connection works', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { bookBalance } = await client.balance(balances.EUR)
  const amount = eur(Number(bookBalance.amountMinor) + 5_000)
  const made = (await create(world, { amount })).body
  await runNow(world, made.id)
  await reaching(world, made.id, 'a payment that waits', ({ occurrencesCreated }) => occurrencesCreated === 1)
  const [waiting] = await paymentsOf(world, made.id)
  t.match(waiting, {
    status: 'scheduled',
    createdVia: 'schedule',
    executionDate: railDate('sepa_instant', world.now()),
  })
  t.strictSame(await client.holds(balances.EUR), [], 'nothing is set aside for it yet')
  t.match((await occurrences(world, made.id)).data, [{ number: 1, status: 'created', paymentId: waiting!.id }])
  await pay(client, { balanceId: balances.EUR, amount: eur(6_000) })
  // Late at night the day would be over before it is looked for again.
  const left = await world.query<{ until: Date }>('select until from payment_due where payment_id = $1', [waiting!.id])
  if (left[0]!.until.getTime() - world.now() > 2 * QUARTER_MS) world.advance(QUARTER_MS)
  else await world.query('update payment_due set due_at = now() where payment_id = $1', [waiting!.id])
  await client.paymentReaching(waiting!.id, 'completed', 20_000)
  t.match(await client.balance(balances.EUR), { bookBalance: eur(1_000) })
  t.match(await read(world, made.id), { status: 'active', consecutiveFailures: 0 })

  const day = businessDayFrom('sepa', inDays(world, 3))
  const body = { requestedRail: 'sepa' as const, startDate: day, amount: eur(100), frequency: 'once' as const }
  t.match((await occurrences(world, (await create(world, body)).body.id)).upcoming, [
    { plannedDate: day, executionDate: day },
  ])
  await world.query('update provider_connection set config = $1', [
    JSON.stringify({ realCalendar: true, closedDays: { sepa: [day] } }),
  ])
  t.match((await occurrences(world, (await create(world, body)).body.id)).upcoming, [
    { plannedDate: day, executionDate: nextBusinessDay('sepa', day) },
  ])
})
