/**
 * The cash that moves between two connections: which of its legs the banks have booked. Statements only.
 *
 * Written by hand: the commit inserts these rows, and a node claims many at once.
 */
import { timestamp } from '../../../lib/base/clock.ts'
import { pick } from '../../db/columns.ts'
import type { Database } from '../../db/database.ts'
import { from, select } from '../../db/select.ts'
import type { Queries, TransactionClient } from '../../db/transaction.ts'
import { plainArray } from '../../db/array-literal.ts'
import { CashOrder } from './cash-order-entity.ts'

const DUE = select(pick(from(CashOrder, 'o'), ['id', 'fromConnectionId', 'toConnectionId', 'currency', 'amount']))

/** An order of which the banks are to be told. The amount is minor units. */
export type DueCashOrder = ReturnType<typeof DUE.read>

/**
 * Claims due orders of these shards (null: all) until `until`, the longest due first; then another node may claim those
 * that are still due.
 */
export async function takeDueCashOrders(
  database: Database,
  {
    now,
    until,
    shards,
    max,
  }: { readonly now: number; readonly until: number; readonly shards: string | null; readonly max: number },
): Promise<readonly DueCashOrder[]> {
  const rows = await database.query({
    name: 'take_due_cash_orders',
    values: [timestamp(now), timestamp(until), shards, max],
    text: `with due as materialized (
        select id from cash_order where due_at <= $1::timestamptz and ($3::smallint[] is null or shard = any($3))
        order by due_at limit $4 for update skip locked)
      update cash_order o set due_at = $2 from due where o.id = due.id returning ${DUE.sql}`,
  })
  return rows.map((row) => DUE.read(row))
}

/** Ends the telling of an order; `bookedAt` are the connections whose banks have booked their leg. */
export async function cashOrderTold(
  client: TransactionClient,
  id: string,
  bookedAt: readonly string[],
  now: number,
): Promise<void> {
  await client.query({
    name: 'cash_order_told',
    values: [id, bookedAt, timestamp(now)],
    text: `update cash_order set due_at = null,
        from_booked_at = coalesce(from_booked_at, case when from_connection_id = any($2::uuid[]) then $3::timestamptz end),
        to_booked_at = coalesce(to_booked_at, case when to_connection_id = any($2::uuid[]) then $3::timestamptz end)
      where id = $1`,
  })
}

/** Notes that the leg of an order at a connection is booked; does nothing where no order has the id. */
export async function noteCashBooked(
  client: TransactionClient,
  { id, connectionId, now }: { readonly id: string; readonly connectionId: string; readonly now: number },
): Promise<void> {
  await cashOrderTold(client, id, [connectionId], now)
}

/**
 * Notes that the banks have booked all legs of one sum (`CashToMove`) at a connection.
 *
 * @returns the sum, minor units, and the number of its legs
 */
export async function bookCashToMove(
  client: TransactionClient,
  {
    connectionId,
    direction,
    otherConnectionId,
    currency,
  }: Pick<CashToMove, 'connectionId' | 'direction' | 'otherConnectionId' | 'currency'>,
  now: number,
): Promise<{ readonly amount: bigint; readonly payments: number }> {
  const [own, other] = direction === 'out' ? ['from', 'to'] : ['to', 'from']
  const {
    rows: [row],
  } = await client.query<{ amount: string; payments: number }>({
    name: `book_cash_${direction}`,
    values: [connectionId, otherConnectionId, currency, timestamp(now)],
    text: `with booked as (update cash_order set ${own}_booked_at = $4
        where ${own}_connection_id = $1 and ${other}_connection_id = $2 and currency = $3 and ${own}_booked_at is null and due_at is null
        returning amount)
      select coalesce(sum(amount), 0) as amount, count(*)::int as payments from booked`,
  })
  return { amount: BigInt(row!.amount), payments: row!.payments }
}

/** Cash that the operator has to move between its accounts at two banks: a sum of legs that one bank has not booked. */
export interface CashToMove {
  readonly connectionId: string
  readonly direction: 'in' | 'out'
  readonly otherConnectionId: string
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  readonly payments: number
}

/** Sums the legs at connections, by their ids, that no bank has booked although it was told. */
export async function readCashToMove(queries: Queries, ids: readonly string[]): Promise<readonly CashToMove[]> {
  const rows = await queries.query<[string, 'in' | 'out', string, string, string, number]>({
    name: 'cash_to_move',
    values: [plainArray(ids)],
    text: `select from_connection_id, 'out', to_connection_id, currency, sum(amount), count(*)::int from cash_order
        where from_connection_id = any($1::uuid[]) and from_booked_at is null and due_at is null group by 1, 3, 4
      union all
      select to_connection_id, 'in', from_connection_id, currency, sum(amount), count(*)::int from cash_order
        where to_connection_id = any($1::uuid[]) and to_booked_at is null and due_at is null group by 1, 3, 4
      order by 1, 4, 2, 3`,
  })
  return rows.map(([connectionId, direction, otherConnectionId, currency, amount, payments]) => ({
    ...{ connectionId, direction, otherConnectionId, currency, payments },
    amount: BigInt(amount),
  }))
}
