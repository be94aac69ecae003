/** Finds the balances that an exchange sells from and buys to when the request names none. */
import { OPEN_BALANCES_MAX } from '../../lib/balances/balance.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { moneyProblem } from '../../lib/customers/money-access.ts'
import { countOpenBalances, insertBalance } from '../balances/balance-changes.ts'
import { lockCustomer } from '../balances/closure.ts'
import type { Database } from '../db/database.ts'
import { readSetting } from '../customers/settings.ts'
import { inTransaction } from '../db/transaction.ts'

export interface DefaultBalance {
  readonly id: string
  readonly name: string
}

const DEFAULTS = `select distinct on (currency) currency, id, name from balance
  where customer_id = $1 and currency = any($2::text[]) and type = 'main' and status = 'active' order by currency, is_default desc, id`

/**
 * Finds the default balance of a customer in each of the currencies, or else its oldest open one; a currency without a
 * balance is absent.
 */
export async function defaultBalances(
  database: Database,
  customerId: string,
  currencies: readonly string[],
): Promise<ReadonlyMap<string, DefaultBalance>> {
  const rows = await database.query<[string, string, string]>({
    name: 'default_balances',
    text: DEFAULTS,
    values: [customerId, currencies],
  })
  return new Map(rows.map(([currency, id, name]) => [currency, { id, name }]))
}

/** Reads the name of one balance of a customer; null when the balance is not the customer's. */
export async function balanceName(database: Database, customerId: string, id: string): Promise<string | null> {
  const [row] = await database.query<[string]>({
    name: 'balance_name',
    text: 'select name from balance where id = $1 and customer_id = $2',
    values: [id, customerId],
  })
  return row?.[0] ?? null
}

/**
 * Opens the balance that receives the bought currency, or returns the one that another request has opened meanwhile.
 * Runs in a transaction of its own: if the exchange is refused later, an empty balance remains.
 *
 * @returns the reason for a refusal, where the balance cannot be opened
 */
export async function openBuyBalance(
  database: Database,
  ids: IdSource,
  { customerId, currency, now }: { readonly customerId: string; readonly currency: string; readonly now: number },
): Promise<DefaultBalance | 'not_enabled' | 'too_many' | 'customer_not_active'> {
  return await inTransaction(database, async (client) => {
    const setting = await readSetting(client, customerId, 'currencies', true)
    if (setting !== null && !(setting.value as { enabled: string[] }).enabled.includes(currency)) return 'not_enabled'
    const standing = await lockCustomer(client, customerId)
    if (standing === null || moneyProblem(standing, 'prepare') !== null) return 'customer_not_active'
    const {
      rows: [known],
    } = await client.query<{ id: string; name: string }>({
      name: 'default_balance',
      text: DEFAULTS,
      values: [customerId, [currency]],
    })
    if (known !== undefined) return known
    if ((await countOpenBalances(client, customerId)) >= OPEN_BALANCES_MAX) return 'too_many'
    const balance = { id: ids.next(), name: `${currency} account` }
    await insertBalance(client, { ...balance, customerId, currency, parentBalanceId: null, metadata: {}, now })
    return balance
  })
}
