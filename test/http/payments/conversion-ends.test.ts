/** Payments whose money is bought first: however the exchange ends, the payment ends or goes on in the same commit. */
import t from 'tap'
import type { Test } from 'tap'
import type { Exception } from '../../../lib/compliance/exception-schema.ts'
import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { exceptionOf, setFourEyes } from '../compliance/staff.ts'
import { becomes, money, postings, quote } from '../exchange/support.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

/** The amount sold, in cents: the partner gives no answer about it for a minute. */
const SILENT = 1_501
const MINUTE_MS = 60_000

/** A payment in dollars out of euros, whose exchange is in doubt. */
async function inDoubt(world: World): Promise<Payment & { readonly exchangeId: string }> {
  const { client, balances, recipients } = world.seeded
  const {
    body: { id: quoteId, buyAmount },
  } = await quote(client, { amount: money(SILENT, 'EUR') })
  const made = await client.createPayment({
    sourceBalanceId: balances.EUR,
    recipientId: recipients.USD,
    amount: buyAmount,
    reference: 'Invoice 42',
    purposeCode: 'SUPP',
    quoteId,
  })
  const exchangeId = made.body.exchangeId as string
  await becomes(world, client, exchangeId, 'exception')
  return { ...made.body, exchangeId }
}

async function resolve(
  t: Test,
  exchangeId: string,
  outcome: 'completed' | 'failed',
  people: readonly Person[],
): Promise<void> {
  const { id } = await exceptionOf(people[0]!, exchangeId)
  for (const [nth, person] of people.entries()) {
    const reply = await person.post<Exception>(`/exceptions/${id}/resolve`, {
      outcome,
      evidence: 'Line 7 of the statement.',
    })
    t.equal(reply.status, nth === people.length - 1 ? 200 : 202, reply.text)
  }
}

const funds = async ({ seeded: { client, balances } }: World) => {
  const [euros, dollars] = [await client.balance(balances.EUR), await client.balance(balances.USD)]
  return {
    euros: euros.bookBalance.amountMinor,
    dollars: dollars.bookBalance.amountMinor,
    held: dollars.heldBalance.amountMinor,
  }
}

t.test('two people of the operator say how an exchange ended, and its payment follows', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const people = [await world.person('operations').signIn(), await world.person('operator_admin').signIn()]
  const before = await funds(world)

  const failed = await inDoubt(world)
  await resolve(t, failed.exchangeId, 'failed', people)
  t.match(await client.payment(failed.id), {
    status: 'failed',
    failure: { code: 'technical_error', message: 'The currency could not be bought.' },
    sentAt: null,
  })
  t.strictSame(
    (await postings(world, failed.exchangeId)).map((line) => line.slice(0, 3)),
    ['L30', 'L35'],
  )
  t.strictSame(await funds(world), before, 'what was sold is back')

  const completed = await inDoubt(world)
  const paid = await funds(world)
  await resolve(t, completed.exchangeId, 'completed', people)
  await until('the payment is completed', async () => {
    if ((await client.payment(completed.id)).status === 'completed') return true
    world.advance(1_000)
    return false
  })
  t.strictSame(await postings(world, completed.id), [
    `L10 USD ${completed.amount.amountMinor}`,
    `L11 USD ${completed.amount.amountMinor}`,
  ])
  t.strictSame(await funds(world), { ...before, euros: paid.euros, held: '0' }, 'what was bought has been paid')

  // The partner remembers both by now, and says so too late.
  const was = await funds(world)
  world.advance(2 * MINUTE_MS)
  await until(
    'nothing more is expected of the partner',
    async () => (await world.query('select from fx_order')).length === 0,
  )
  t.match((await client.get<Exchange>(`/exchanges/${failed.exchangeId}`)).body, { status: 'failed' })
  t.strictSame(await funds(world), was)
  await world.audit()
})

t.test('a payment that was cancelled meanwhile stays cancelled, whichever way its exchange ends', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client } = world.seeded
  const staff = await world.person('operations').signIn()
  const before = await funds(world)
  for (const outcome of ['failed', 'completed'] as const) {
    const payment = await inDoubt(world)
    t.match((await client.post<Payment>(`/payments/${payment.id}/cancel`, {})).body, { status: 'cancelled' })
    await resolve(t, payment.exchangeId, outcome, [staff])
    t.match(await client.payment(payment.id), { status: 'cancelled' })
    t.strictSame(await postings(world, payment.id), [])
    const dollars = Number(before.dollars) + (outcome === 'completed' ? Number(payment.amount.amountMinor) : 0)
    t.strictSame(await funds(world), {
      euros: String(Number(before.euros) - (outcome === 'completed' ? SILENT : 0)),
      dollars: String(dollars),
      held: '0',
    })
    await world.audit()
  }
})

t.test('what the partner and people say at one moment is booked once, with the payment', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client } = world.seeded
  const staff = await world.person('operations').signIn()
  const payment = await inDoubt(world)
  const { id } = await exceptionOf(staff, payment.exchangeId)
  const [resolved, told] = await Promise.all([
    staff.post(`/exceptions/${id}/resolve`, { outcome: 'failed', evidence: 'By telephone.' }),
    client.post(`/simulations/exchanges/${payment.exchangeId}/status`, { status: 'completed' }),
  ])
  t.ok([200, 409].includes(resolved.status), resolved.text)
  t.ok([202, 409].includes(told.status), told.text)
  const exchange = await until('the exchange has ended', async () => {
    const { body } = await client.get<Exchange>(`/exchanges/${payment.exchangeId}`)
    if (body.status === 'completed' || body.status === 'failed') return body
    world.advance(1_000)
    return false
  })
  const status = exchange.status === 'failed' ? 'failed' : 'completed'
  await until(`the payment is ${status}`, async () => {
    if ((await client.payment(payment.id)).status === status) return true
    world.advance(1_000)
    return false
  })
  await world.audit()
})
