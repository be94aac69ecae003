/**
 * Connections that keep cut-offs and bank holidays: when a payment without a date is carried out, and until when money
 * is waited for.
 */
import t from 'tap'
import type { PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import {
  addBusinessDays,
  businessDayFrom,
  cutOffOf,
  isBusinessDay,
  nextBusinessDay,
  railDate,
} from '../../../lib/rails/business-days.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'

/** Moves the clock to a wall-clock time of the next day that `wanted` says. */
function advanceTo(world: World, wanted: (date: string) => boolean, moment: (date: string) => number): string {
  let date = nextDate(railDate('sepa', world.now()))
  while (!wanted(date)) date = nextDate(date)
  world.advance(moment(date) - world.now())
  return date
}
const nextDate = (date: string) => Temporal.PlainDate.from(date).add({ days: 1 }).toString()
const saturday = (date: string) => Temporal.PlainDate.from(date).dayOfWeek === 6

async function realWorld(config: object): Promise<World> {
  const world = await createWorld()
  await world.query('update provider_connection set config = $1', [JSON.stringify(config)])
  return world
}

t.test('with real calendars a payment that comes too late is carried out on the next business day', async (t) => {
  await using world = await realWorld({ realCalendar: true })
  const { client, balances, recipients } = world.seeded
  const body = { ...paymentBody(balances.EUR, recipients.EUR, 5_000), requestedRail: 'sepa' as const }
  const tuesday = advanceTo(
    world,
    (date) => Temporal.PlainDate.from(date).dayOfWeek === 2 && isBusinessDay('sepa', date),
    (date) => cutOffOf('sepa', date) - 60_000,
  )
  t.match(
    (await client.createPayment(body)).body,
    { status: 'processing', executionDate: tuesday },
    'a minute before the cut-off',
  )
  world.advance(120_000)
  const late = (await client.createPayment(body)).body
  t.match(late, { status: 'scheduled', executionDate: nextBusinessDay('sepa', tuesday) }, 'a minute after it')
  t.equal(railDate('sepa', Date.parse(late.estimatedArrival!) - 1), addBusinessDays('sepa', late.executionDate!, 1))
  t.match(
    (await client.createPayment({ ...body, requestedRail: 'sepa_instant' })).body,
    { status: 'processing' },
    'what is open around the clock does not wait',
  )
  t.match(
    (await client.createPayment({ ...body, executionDate: tuesday })).body,
    { status: 'scheduled', executionDate: nextBusinessDay('sepa', tuesday) },
    'today can no longer be had',
  )

  const closed = advanceTo(world, saturday, (date) => cutOffOf('sepa', date) - 3_600_000)
  const monday = businessDayFrom('sepa', closed)
  t.match((await client.createPayment(body)).body, { status: 'scheduled', executionDate: monday }, 'not on a Saturday')
  const sunday = nextDate(closed)
  t.match(
    (await client.createPayment({ ...body, executionDate: sunday })).body,
    { executionDate: monday },
    'a date that is none moves on, and the answer says so',
  )
  t.match((await client.post<PaymentCheck>('/payments/validate', { ...body, executionDate: sunday })).body, {
    valid: true,
    executionDate: monday,
  })
})

t.test('what is set for a connection goes before the table', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const body = { ...paymentBody(balances.EUR, recipients.EUR, 5_000), requestedRail: 'sepa' as const }
  advanceTo(world, saturday, (date) => cutOffOf('sepa', date))
  t.match(
    (await client.createPayment(body)).body,
    { status: 'processing', executionDate: railDate('sepa', world.now()) },
    'a sandbox keeps no calendar by itself',
  )
  const monday = businessDayFrom('sepa', railDate('sepa', world.now()))
  await world.query('update provider_connection set config = $1', [
    JSON.stringify({ realCalendar: true, closedDays: { sepa: [monday] }, cutOffs: { sepa: '09:00' } }),
  ])
  // Balances that are remembered know what was set before.
  await world.restart()
  const tuesday = nextBusinessDay('sepa', monday)
  t.match((await client.createPayment(body)).body, { status: 'scheduled', executionDate: tuesday })
  const [due] = await world.query<{ until: Date }>('select until from payment_due')
  t.equal(
    due!.until.getTime(),
    cutOffOf('sepa', tuesday, { cutOffs: { sepa: '09:00' } }),
    'and money is waited for until its cut-off',
  )
})
