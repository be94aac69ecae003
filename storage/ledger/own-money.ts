/** The operator's own money at the ends of days, and whether the treasury was told that little of it is left. */
import { OWN_MONEY, type OwnMoney } from '../../lib/adjustments/adjustment.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { NoticeType } from '../../lib/notices/notices.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** The own money of an operator in a currency, before days were added and after. Amounts are minor units. */
export interface OwnMoneyMove {
  readonly operatorId: string
  readonly currency: string
  readonly before: OwnMoney
  readonly after: OwnMoney
}

const FUNDS = `sum(credits - debits) filter (where key !~ '^exp_'`
const EXPENSES = `sum(debits - credits) filter (where key ~ '^exp_'`

/** Reads the own money of every operator and currency with movements on days from `from` (`YYYY-MM-DD`) on. */
export async function ownMoneyMoves(client: TransactionClient, from: string): Promise<readonly OwnMoneyMove[]> {
  const { rows } = await client.query<[string, string, ...(string | null)[]]>({
    name: 'own_money_moves',
    rowMode: 'array',
    values: [from, OWN_MONEY],
    text: `select operator_id, currency, ${FUNDS} and day < $1::date), ${EXPENSES} and day < $1::date), ${FUNDS}), ${EXPENSES})
      from ledger_day where key = any($2::text[]) group by 1, 2 having max(day) >= $1::date order by 1, 2`,
  })
  const amount = (text: string | null | undefined): bigint => BigInt(text ?? 0)
  return rows.map(([operatorId, currency, fundsBefore, expensesBefore, funds, expenses]) => ({
    operatorId,
    currency,
    before: { funds: amount(fundsBefore), expenses: amount(expensesBefore) },
    after: { funds: amount(funds), expenses: amount(expenses) },
  }))
}

/** Whether people of a tenant have had a notice of this type and title since a moment, epoch milliseconds. */
export async function wasTold(
  client: TransactionClient,
  tenantId: string,
  { type, title, since }: { readonly type: NoticeType; readonly title: string; readonly since: number },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'own_money_told',
    values: [tenantId, type, title, timestamp(since)],
    text: 'select from notification where tenant_id = $1 and type = $2 and title = $3 and created_at >= $4::timestamptz limit 1',
  })
  return rowCount === 1
}
