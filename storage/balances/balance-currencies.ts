/** Finds the currencies in which a customer has balances. */
import type { TransactionClient } from '../db/transaction.ts'

/** Reads the balances of a customer that are not closed, by currency. */
export async function openBalances(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
): Promise<readonly { readonly id: string; readonly currency: string }[]> {
  const { rows } = await client.query<{ id: string; currency: string }>({
    name: 'open_balances',
    text: `select id, currency from balance where customer_id = $1 and status <> 'closed' order by currency, id`,
    values: [customerId],
  })
  return rows
}
