/** Money of a balance that a decision takes which its actor does not make. */
import type { TransactionClient } from '../db/transaction.ts'

/**
 * Makes sure, for the transaction that takes it, that a balance has so much beyond what it holds, minor units. The row stays locked
 * and its version moves, so that no actor remembers more than there will be.
 *
 * @returns false when it has not; nothing is locked for good then
 */
export async function takeAvailable(client: Pick<TransactionClient, 'query'>, balanceId: string, amount: bigint): Promise<boolean> {
  const { rows } = await client.query({
    name: 'take_available', text: 'update balance set version = version + 1 where id = $1 and posted - held >= $2 returning id', values: [balanceId, amount.toString()],
  })
  return rows.length === 1
}

/** Whether a balance takes money, until the transaction ends. It is locked with the one that pays, in the order in which the commit locks them. */
export async function takesMoney(client: TransactionClient, { fromBalanceId, toBalanceId }: { readonly fromBalanceId: string; readonly toBalanceId: string }): Promise<boolean> {
  const { rows } = await client.query<{ id: string; takes: boolean }>({
    name: 'takes_money', values: [[fromBalanceId, toBalanceId]],
    text: `select id, status in ('active', 'frozen') as takes from balance where id = any($1::uuid[]) order by id for update`,
  })
  return rows.find(({ id }) => id === toBalanceId)?.takes === true
}
