/** What payments cost: rules that are data. */
import t from 'tap'
import { addDays } from '../../../lib/clock.ts'
import { railDate } from '../../../lib/payments/business-days.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

const DAY_MS = 86_400_000
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

t.test('what is charged is data: it is held, taken, and given back with the payment', async (t) => {
  await using world = await createWorld()
  const { operator } = world.service.sandbox!
  await world.query(`insert into fee_rule (operator_id, currency, fixed_minor, bps, max_minor) values ($1, 'EUR', 100, 10, 500)`, [operator.id])
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const [balanceId] = customer.balanceIds
  const pay = async (minor: number, days: number) => (await customer.client.createPayment({ ...paymentBody(balanceId!, customer.recipients.EUR, minor), executionDate: addDays(railDate('sepa_instant', world.now()), days) })).body
  const now = await pay(20_000, 0)
  t.match(now, { fee: eur(120), fees: [{ type: 'payment', amount: eur(120) }], totalDebit: eur(20_120) })
  await customer.client.paymentReaching(now.id, 'completed')
  t.match(await customer.client.balance(balanceId!), { bookBalance: eur(79_880) })
  const failing = await pay(1302, 0)
  await customer.client.paymentReaching(failing.id, 'failed')
  t.match(await customer.client.balance(balanceId!), { bookBalance: eur(79_880), heldBalance: eur(0) })
  t.equal((await customer.client.createPayment(paymentBody(balanceId!, customer.recipients.EUR, 79_880))).problem.code, 'insufficient-funds', 'the fee has to be there too')
  const later = await pay(30_000, 1)
  t.match(later, { status: 'scheduled', totalDebit: eur(30_130) })
  world.advance(DAY_MS)
  await customer.client.paymentReaching(later.id, 'completed', 20_000)
  t.match(await customer.client.balance(balanceId!), { bookBalance: eur(49_750) })
})
