/** Single facts about a balance, and the balances that are idle. Statements only. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'

/** Returns whether a balance belongs to an operator, within a transaction. @throws what the driver throws */
export async function balanceBelongsToOperator(
  client: TransactionClient,
  balanceId: string,
  operatorId: string,
): Promise<boolean> {
  const { rows } = await client.query({
    name: 'balance_of_operator',
    text: 'select from balance where id = $1 and operator_id = $2',
    values: [balanceId, operatorId],
  })
  return rows.length === 1
}

/** Reads the connection of a balance. @throws what the driver throws; Error when there is no such balance */
export async function connectionOfBalance(queries: Queries, balanceId: string): Promise<string> {
  const [row] = await queries.query<[string]>({
    name: 'connection_of_balance',
    text: 'select connection_id from balance where id = $1',
    values: [balanceId],
  })
  if (row === undefined) throw new Error(`The balance ${balanceId} does not exist.`)
  return row[0]
}

/**
 * Reads the status of a balance, within a transaction; null when there is no such balance. @throws what the driver
 * throws
 */
export async function statusOfBalance(
  client: Pick<TransactionClient, 'query'>,
  balanceId: string,
): Promise<BalanceStatus | null> {
  const {
    rows: [row],
  } = await client.query<{ status: BalanceStatus }>({
    name: 'status_of_balance',
    text: 'select status from balance where id = $1',
    values: [balanceId],
  })
  return row?.status ?? null
}

/**
 * Reads the posted amount of a customer's balance, in minor units; null when the customer has no such balance. @throws
 * DatabaseUnavailable, and what the driver throws
 */
export async function postedOfBalance(
  database: Queries,
  customerId: string,
  balanceId: string,
): Promise<bigint | null> {
  const [row] = await database.query<[string]>({
    name: 'balance_rest',
    text: 'select posted from balance where id = $1 and customer_id = $2',
    values: [balanceId, customerId],
  })
  return row === undefined ? null : BigInt(row[0])
}

/**
 * Reads the currency of a customer's balance, within a transaction; null when the customer has no such balance. @throws
 * what the driver throws
 */
export async function currencyOfBalance(
  client: TransactionClient,
  customerId: string,
  balanceId: string,
): Promise<string | null> {
  const {
    rows: [other],
  } = await client.query<{ currency: string }>({
    name: 'sweep_target',
    text: 'select currency from balance where id = $1 and customer_id = $2',
    values: [balanceId, customerId],
  })
  return other?.currency ?? null
}

// Every change of a balance moves its updated_at, so no row has come or gone since.
const IDLE = `select b.id, b.customer_id from balance b
    join setting s on s.owner_id = b.customer_id and s.name = 'preferences' and (s.value->>'closeEmptyBalances')::boolean
  where b.parent_balance_id is not null and b.status = 'active' and b.posted = 0 and b.held = 0 and b.updated_at <= $1::timestamptz
    and ($2::uuid is null or b.id > $2) order by b.id limit $3`

/**
 * Reads the empty sub-balances that have not changed since `before` (epoch milliseconds) and whose customers want them
 * closed, by id, those after `after` (null: from the first), `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function idleSubBalances(
  database: Queries,
  { before, after, max }: { readonly before: number; readonly after: string | null; readonly max: number },
): Promise<readonly { readonly id: string; readonly customerId: string }[]> {
  const rows = await database.query<[string, string]>({
    name: 'idle_balances',
    text: IDLE,
    values: [timestamp(before), after, max],
  })
  return rows.map(([id, customerId]) => ({ id, customerId }))
}
