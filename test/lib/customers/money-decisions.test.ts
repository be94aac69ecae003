/** The decisions of a paying balance under the status of its customer: nothing is recorded, held or moved. */
import t from 'tap'
import { bookExchange } from '../../../lib/exchange/book-exchange.ts'
import { CHART } from '../../../lib/ledger/chart.ts'
import { payingProblem } from '../../../lib/balances/staff-hold.ts'
import { createPayment } from '../../../lib/payments/create-payment.ts'
import { createTransfer } from '../../../lib/transfers/transfer.ts'
import { moneyProblem, type MoneyUse } from '../../../lib/customers/money-access.ts'
import { CUSTOMER_MEASURES, LIFE_STATUSES, type CustomerStanding } from '../../../lib/customers/status.ts'
import { balanceState, ids, MONDAY, paymentCommand, transferCommand } from '../../support/commands.ts'
import { exchangeCommand, quoteOf } from '../../support/exchange-commands.ts'

const balance = balanceState({ available: 1_000_000n })
const { customerId } = balance
const everyAccount = Object.fromEntries(CHART.map(({ key }) => [key, key]))
const accounts = { sell: everyAccount, buy: everyAccount }
const quote = quoteOf(balance, 'EUR', 'USD', 1_000n)

const DECISIONS: readonly {
  readonly name: string
  readonly use: MoneyUse
  readonly decide: (state: typeof balance) => { readonly reply: object; readonly effects: object | null }
}[] = [
  {
    name: 'a payment',
    use: 'pay',
    decide: (state) => createPayment(state, paymentCommand({ customerId, amount: 100n }), MONDAY),
  },
  {
    name: 'a transfer',
    use: 'move',
    decide: (state) =>
      createTransfer(
        state,
        transferCommand({
          customerId,
          amount: 100n,
          toBalanceId: ids.next(),
          toConnectionId: balance.connectionId,
        }),
        MONDAY,
      ),
  },
  {
    name: 'an exchange',
    use: 'move',
    decide: (state) =>
      bookExchange(state, exchangeCommand(state, quote, { from: state.id, to: ids.next(), accounts }), MONDAY),
  },
]

const STANDINGS = LIFE_STATUSES.flatMap((customerStatus) =>
  [null, ...CUSTOMER_MEASURES].map((customerMeasure): CustomerStanding => ({ customerStatus, customerMeasure })),
)

t.test('each decision asks the table of statuses', (t) => {
  for (const { name, use, decide } of DECISIONS)
    for (const standing of STANDINGS) {
      const problem = moneyProblem(standing, use)
      const { reply, effects } = decide({ ...balance, ...standing })
      const { customerStatus, customerMeasure } = standing
      if (problem === null)
        t.not(
          (reply as { kind: string }).kind,
          'refused',
          `${name} of an ${customerStatus}, ${customerMeasure} customer`,
        )
      else {
        t.match(reply, { kind: 'refused', problem, body: null }, `${name}, ${customerStatus}, ${customerMeasure}`)
        t.equal(
          effects,
          null,
          `${name}, ${customerStatus}, ${customerMeasure}: nothing is written, not even the refusal`,
        )
      }
    }
  t.end()
})

t.test('an approval asks for the freeze of the balance, and then for the status of its customer', (t) => {
  for (const standing of STANDINGS)
    for (const use of ['move', 'pay'] as const) {
      t.strictSame(
        payingProblem({ status: 'active', ...standing }, use),
        moneyProblem(standing, use),
        `${standing.customerStatus}, ${standing.customerMeasure}, ${use}`,
      )
      t.match(payingProblem({ status: 'frozen', ...standing }, use), { slug: 'invalid-transition' })
    }
  t.equal(payingProblem(null, 'pay'), null)
  t.end()
})
