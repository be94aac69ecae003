/** The days, rails and limits of payments by the connection through which they leave, at their check and at their creation. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Payment, PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import { businessDayFrom, cutOffOf, nextBusinessDay, railDate } from '../../../lib/rails/business-days.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { putAt } from './cash-support.ts'

/** Adds a connection to the sandbox bank or to another provider. @returns its id */
async function connectTo(world: World, provider: string, status = 'active'): Promise<string> {
  const id = randomUUID()
  await world.query(
    `insert into provider_connection (id, operator_id, provider, environment, role, fallback_currencies, status, name, created_at)
     select $1, operator_id, $2, 'sandbox', 'fallback', '{EUR,GBP}', $3, 'Bank ' || $2, now() from provider_connection order by created_at limit 1`,
    [id, provider, status],
  )
  return id
}

/** Checks a payment and makes it: both have to say the same. */
async function checkedAndMade(
  t: Test,
  client: Client,
  body: ReturnType<typeof paymentBody> & { readonly requestedRail?: Rail | null },
): Promise<Payment> {
  const check = (await client.post<PaymentCheck>('/payments/validate', body)).body
  const made = await client.createPayment(body)
  t.equal(check.valid, made.status === 201, made.text)
  t.equal(check.executionDate, made.body.executionDate, 'the date of the check')
  t.equal(check.rail, made.body.rail, 'the rail of the check')
  return made.body
}

t.test('a payment keeps the days of the connection by which it leaves', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const nextDate = (date: string) => Temporal.PlainDate.from(date).add({ days: 1 }).toString()
  let date = nextDate(railDate('sepa', world.now()))
  while (Temporal.PlainDate.from(date).dayOfWeek !== 6) date = nextDate(date)
  world.advance(cutOffOf('sepa', date) - world.now())
  const monday = businessDayFrom('sepa', date)
  const tuesday = nextBusinessDay('sepa', monday)
  const secondId = await connectTo(world, 'sandbox')
  const admin = await world.person('operator_admin').signIn()
  const set = async (id: string, body: object) =>
    await admin.send('PATCH', `/provider-connections/${id}/calendar`, body, { 'if-match': '*' })
  t.equal((await set(secondId, { realCalendar: true, closedDays: [{ rail: 'sepa', dates: [monday] }] })).status, 200)
  const body = { ...paymentBody(balances.EUR, recipients.EUR, 5_000), requestedRail: 'sepa' as const }
  t.match(await checkedAndMade(t, client, body), { status: 'processing', executionDate: date }, 'at home no calendar')

  const rule = await admin.post('/routing-rules', {
    name: 'Euro by the second bank',
    priority: 1,
    match: { currency: 'EUR', amountMin: { amountMinor: '5000', currency: 'EUR' } },
    connectionId: secondId,
  })
  t.equal(rule.status, 201, rule.text)
  await until('the rule is in force', async () => {
    const { body: check } = await client.post<PaymentCheck>('/payments/validate', body)
    return check.executionDate === tuesday
  })
  const routed = await checkedAndMade(t, client, body)
  t.match(routed, { status: 'scheduled', executionDate: tuesday })
  const [due] = await world.query<{ until: Date }>('select until from payment_due where payment_id = $1', [routed.id])
  t.equal(due!.until.getTime(), cutOffOf('sepa', tuesday), 'missing money is waited for until its cut-off')
  const other = { ...body, amount: { amountMinor: '4999', currency: 'EUR' as const } }
  t.match(await checkedAndMade(t, client, other), { status: 'processing', executionDate: date })
  await world.audit()
})

t.test('a payment has the rails and limits of connections that can carry it', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const partialId = await connectTo(world, 'clearbank')
  await world.query(`update provider_connection set status = 'draining' where id <> $1`, [partialId])
  await putAt(world, balances.GBP, partialId)
  const body = (minor: number, requestedRail: Rail | null = null) => ({
    ...paymentBody(balances.GBP, recipients.GBP, minor, 'GBP'),
    requestedRail,
  })
  await until('every node knows of it', async () => {
    const { body: check } = await client.post<PaymentCheck>('/payments/validate', body(1_000, 'chaps'))
    return check.rail === null
  })
  const check = (await client.post<PaymentCheck>('/payments/validate', body(1_000, 'chaps'))).body
  t.match(check, { valid: false, rail: null })
  const refused = await client.createPayment(body(1_000, 'chaps'))
  t.equal(refused.status, 422, refused.text)
  t.equal((await client.createPayment(body(1_000, 'bacs'))).status, 422)
  t.match(await checkedAndMade(t, client, body(1_000)), { rail: 'faster_payments' })
  t.equal((await client.createPayment(body(100_000_001))).status, 422, 'beyond the limit of the bank there is no rail')
  const fullId = await connectTo(world, 'sandbox')
  await until('another connection carries it', async () => {
    const { body: again } = await client.post<PaymentCheck>('/payments/validate', body(1_000, 'chaps'))
    return again.rail === 'chaps'
  })
  const made = await checkedAndMade(t, client, body(1_000, 'chaps'))
  t.strictSame(await world.query('select connection_id from payment where id = $1', [made.id]), [
    { connection_id: fullId },
  ])
})
