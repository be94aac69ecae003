/** Fences: a change of facts that decisions rest on moves the versions of the balances concerned (I3). */
import type { TransactionClient } from '../db/transaction.ts'

/**
 * Moves the version of every balance of the customers, so that each decision that rests on older facts about such a
 * customer is stale, on every node (I3). Payments therefore need no read of terms that hardly ever change.
 */
export async function fenceBalances(client: TransactionClient, customerIds: readonly string[]): Promise<void> {
  await client.query({
    name: 'fence_balances',
    text: `with locked as materialized (select id from balance where customer_id = any($1::uuid[]) order by id for update)
      update balance b set version = b.version + 1 from locked where b.id = locked.id`,
    values: [customerIds],
  })
}

/**
 * Moves the versions of all balances of an operator's customers, so that decisions on older terms are stale, and
 * notifies all nodes.
 */
export async function fenceOperator(client: TransactionClient, operatorId: string): Promise<void> {
  await client.query({
    name: 'touch_operator',
    text: 'update operator set version = version where id = $1',
    values: [operatorId],
  })
  const { rows } = await client.query<{ id: string }>({
    name: 'customers_of_operator',
    text: 'select id from customer where operator_id = $1 order by id',
    values: [operatorId],
  })
  await fenceBalances(
    client,
    rows.map(({ id }) => id),
  )
}
