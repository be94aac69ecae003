/**
 * The trial balance of an operator: debits and credits of every account of the chart, per connection and currency.
 * Summed from the postings themselves, which takes a second for some million of them; no stored total is used that
 * could be wrong.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { CHART } from '../../lib/ledger/chart.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { Database } from '../db/database.ts'
import { bigintExpression, expression, select } from '../db/select.ts'

const TOTAL = select({
  key: expression<string>('n.key'),
  connectionId: expression<string | null>('n.connection_id'),
  currency: expression<string>('n.currency'),
  accounts: bigintExpression('count(distinct n.id)'),
  debits: bigintExpression('sum(s.debit)'),
  credits: bigintExpression('sum(s.credit)'),
})
const TOTALS = `with side as (
    select debit_account as id, sum(amount) as debit, 0::numeric as credit from posting where $2::timestamptz is null or booked_at < $2 group by 1
    union all
    select credit_account, 0, sum(amount) from posting where $2::timestamptz is null or booked_at < $2 group by 1),
  named as (
    select id, key, connection_id, currency from account where operator_id = $1
    union all
    select id, 'cust', connection_id, currency from balance where operator_id = $1)
  select ${TOTAL.sql} from side s join named n on n.id = s.id group by 1, 2, 3`

/**
 * Computes the trial balance. `asOf` is RFC 3339, exclusive; null for everything. `now` is epoch milliseconds. @throws
 * the driver's errors
 */
export async function trialBalance(
  database: Database,
  { operatorId, asOf, now }: { readonly operatorId: string; readonly asOf: string | null; readonly now: number },
) {
  const found = await database.query({
    name: 'trial_balance',
    text: TOTALS,
    values: [operatorId, asOf],
  })
  const places = new Map(CHART.map((account, place) => [account.key as string, { account, place }]))
  const totals = new Map<string, { debits: bigint; credits: bigint }>()
  const rows = found.map((each) => {
    const { key, connectionId, currency, accounts, debits, credits } = TOTAL.read(each)
    const { account, place } = places.get(key)!
    const total = totals.get(currency) ?? { debits: 0n, credits: 0n }
    totals.set(currency, { debits: total.debits + debits, credits: total.credits + credits })
    const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: currency as CurrencyCode })
    return {
      order: `${currency} ${String(place).padStart(3, '0')} ${connectionId ?? ''}`,
      row: {
        code: account.code,
        account: account.key,
        class: account.class,
        connectionId,
        currency,
        accounts: Number(accounts),
        debits: money(debits),
        credits: money(credits),
        balance: money(account.normalSide === 'debit' ? debits - credits : credits - debits),
      },
    }
  })
  return {
    asOf,
    generatedAt: timestamp(now),
    rows: rows.sort((left, right) => (left.order < right.order ? -1 : 1)).map(({ row }) => row),
    totals: [...totals]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([currency, { debits, credits }]) => {
        const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: currency as CurrencyCode })
        return { currency, debits: money(debits), credits: money(credits), difference: money(debits - credits) }
      }),
  }
}
