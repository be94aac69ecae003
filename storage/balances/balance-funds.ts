/** Checks on a balance's money for decisions that are made outside of the balance's actor. */
import type { TransactionClient } from '../db/transaction.ts'

/**
 * Makes sure, within the transaction that will use the money, that a balance has `amount` beyond its holds, minor
 * units. The row stays locked and its version moves, so that no actor keeps a cached balance that is too high.
 *
 * @returns false when the money is not there; then no row stays locked
 */
export async function takeAvailable(
  client: Pick<TransactionClient, 'query'>,
  balanceId: string,
  amount: bigint,
): Promise<boolean> {
  const { rows } = await client.query({
    name: 'take_available',
    text: 'update balance set version = version + 1 where id = $1 and posted - held >= $2 returning id',
    values: [balanceId, amount.toString()],
  })
  return rows.length === 1
}

/**
 * Whether `toBalanceId` accepts money, until the transaction ends. Both balances are locked, in the order in which the
 * commit locks them.
 */
export async function takesMoney(
  client: TransactionClient,
  { fromBalanceId, toBalanceId }: { readonly fromBalanceId: string; readonly toBalanceId: string },
): Promise<boolean> {
  const { rows } = await client.query<{ id: string; takes: boolean }>({
    name: 'takes_money',
    values: [[fromBalanceId, toBalanceId]],
    text: `select id, status in ('active', 'frozen') as takes from balance where id = any($1::uuid[]) order by id for update`,
  })
  return rows.find(({ id }) => id === toBalanceId)?.takes === true
}
