/**
 * The moves of balances from one connection to another, and the accounts that their old partner kept. Statements only.
 *
 * Written by hand: commits of payments lock and change the same balances, and read no entity.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'

/** Balances that one read finds. */
const FOUND_MAX = 200

/** Reads the balances of a connection that are not closed, by id, from the one after `after` on. */
export async function balancesAt(
  database: Queries,
  connectionId: string,
  after: string | null,
): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'balances_at_connection',
    values: [connectionId, after, FOUND_MAX],
    text: `select id from balance where connection_id = $1 and status <> 'closed' and ($2::uuid is null or id > $2) order by id limit $3`,
  })
  return rows.map(([id]) => id)
}

/** Counts the balances of a connection that are not closed, and those that a job has moved. */
export async function countMoves(
  database: Queries,
  { connectionId, jobId }: { readonly connectionId: string; readonly jobId: string },
): Promise<{ readonly left: number; readonly moved: number }> {
  const [row] = await database.query<[string, string]>({
    name: 'count_connection_moves',
    values: [connectionId, jobId],
    text: `select (select count(*) from balance where connection_id = $1 and status <> 'closed'),
      (select count(*) from connection_move where from_connection_id = $1 and job_id = $2)`,
  })
  const [left, moved] = row as [string, string]
  return { left: Number(left), moved: Number(moved) }
}

/** The sums that a job has moved, minor units by currency. */
export async function sumsMoved(
  database: Queries,
  { connectionId, jobId }: { readonly connectionId: string; readonly jobId: string },
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await database.query<[string, string]>({
    name: 'sum_connection_moves',
    values: [connectionId, jobId],
    text: `select currency, sum(amount) from connection_move where from_connection_id = $1 and job_id = $2 group by currency order by currency`,
  })
  return new Map(rows.map(([currency, sum]) => [currency, BigInt(sum)]))
}

/**
 * Keeps two connections of an operator as they are until the transaction ends: whether the first drains and the second
 * takes its balances.
 */
export async function keepsMoving(
  client: TransactionClient,
  {
    operatorId,
    fromConnectionId,
    toConnectionId,
  }: { readonly operatorId: string; readonly fromConnectionId: string; readonly toConnectionId: string },
): Promise<boolean> {
  const { rows } = await client.query<{ id: string; status: string }>({
    name: 'keep_connections',
    values: [operatorId, [fromConnectionId, toConnectionId]],
    text: 'select id, status from provider_connection where operator_id = $1 and id = any($2::uuid[]) order by id for share',
  })
  const statusOf = new Map(rows.map(({ id, status }) => [id, status]))
  return statusOf.get(fromConnectionId) === 'draining' && statusOf.get(toConnectionId) === 'active'
}

/** A balance as its move has locked it. `posted` is minor units. */
export interface MovingBalance {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  readonly status: BalanceStatus
  readonly posted: bigint
  /** Whether it is still at the old connection. */
  readonly isThere: boolean
}

/** Locks a balance of an operator; null when there is none. */
export async function lockMovingBalance(
  client: TransactionClient,
  { id, operatorId, connectionId }: { readonly id: string; readonly operatorId: string; readonly connectionId: string },
): Promise<MovingBalance | null> {
  const {
    rows: [row],
  } = await client.query<{
    customer_id: string
    shard: number
    currency: string
    status: BalanceStatus
    posted: string
    is_there: boolean
  }>({
    name: 'lock_moving_balance',
    values: [id, operatorId, connectionId],
    text: `select customer_id, shard, currency, status, posted, connection_id = $3 as is_there from balance where id = $1 and operator_id = $2 for update`,
  })
  if (row === undefined) return null
  const { customer_id: customerId, shard, currency, status, posted, is_there: isThere } = row
  return { id, operatorId, customerId, shard, currency, status, posted: BigInt(posted), isThere }
}

/**
 * Counts what of a locked balance is under way at its connection: payments on their way (at any connection), transfers (also under review),
 * exchanges and contracts, credits that are reviewed, recalled or sent back, and accounts that are being opened. Payments that wait
 * for their day or an approval are not: they choose their connection when they are handed over. A payment that another
 * connection has counts too: its cash is owed by the connection where its balance was when it left.
 */
export async function underWayAt(
  client: TransactionClient,
  { id, customerId, shard }: Pick<MovingBalance, 'id' | 'customerId' | 'shard'>,
  connectionId: string,
): Promise<number> {
  const {
    rows: [row],
  } = await client.query<{ count: number }>({
    name: 'under_way_at_connection',
    values: [id, customerId, shard, connectionId],
    text: `select (
        (select count(*) from partner_instruction i join payment p on p.id = i.payment_id
          where i.shard = $3 and p.customer_id = $2 and p.paying_balance_id = $1 and (p.connection_id = $4 or p.sent_at is not null))
        + (select count(*) from transfer_order o join transfer t on t.id = o.transfer_id
          where o.shard = $3 and o.due_at is not null and t.customer_id = $2 and $1 in (t.from_balance_id, t.to_balance_id))
        + (select count(*) from compliance_hold c join transfer t on t.id = c.subject_id
          where c.status = 'open' and c.subject_type = 'transfer' and c.customer_id = $2 and $1 in (t.from_balance_id, t.to_balance_id))
        + (select count(*) from exchange x where x.customer_id = $2 and $1 in (x.sell_balance_id, x.buy_balance_id) and x.connection_id = $4
          and x.status not in ('completed', 'failed', 'rejected', 'cancelled', 'expired', 'closed_out'))
        + (select count(*) from incoming_payment n where n.connection_id = $4 and n.balance_id = $1
          and (n.return_state in ('due', 'sent') or n.status in ('unallocated', 'under_review')))
        + (select count(*) from incoming_debit g where g.balance_id = $1 and g.connection_id = $4 and g.due_at is not null)
        + (select count(*) from hold h where h.balance_id = $1 and h.status = 'active' and h.subject_type = 'recall')
        + (select count(*) from account_details d where d.balance_id = $1 and d.connection_id = $4 and d.status in ('pending', 'closing')))::int as count`,
  })
  return row!.count
}

/** Puts a locked balance on another connection. Its version rises: no actor goes on with what it remembers. */
export async function putBalance(
  client: TransactionClient,
  id: string,
  connectionId: string,
  now: number,
): Promise<void> {
  await client.query({
    name: 'put_balance',
    values: [id, connectionId, timestamp(now)],
    text: `update balance set connection_id = $2, version = version + 1, terms_version = terms_version + 1,
      updated_at = greatest(updated_at, $3::timestamptz) where id = $1`,
  })
}

/** The move of a balance. The amount is minor units, below zero for a balance that was overdrawn. */
export interface BalanceMove {
  readonly id: string
  readonly operatorId: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
  readonly jobId: string
  readonly balanceId: string
  readonly currency: string
  readonly amount: bigint
  readonly movedAt: number
}

/** Records a move, and tells the nodes, which remember connections of balances and of customers. */
export async function insertMove(client: TransactionClient, move: BalanceMove, customerId: string): Promise<void> {
  await client.query({
    name: 'insert_connection_move',
    values: [
      move.id,
      move.operatorId,
      move.fromConnectionId,
      move.toConnectionId,
      move.jobId,
      move.balanceId,
      move.currency,
      move.amount,
      timestamp(move.movedAt),
    ],
    text: `insert into connection_move (id, operator_id, from_connection_id, to_connection_id, job_id, balance_id, currency, amount, moved_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  })
  await client.query({
    name: 'tell_connection_move',
    values: [move.balanceId, customerId],
    text: `select pg_notify('balance_moved', $1), pg_notify('exchange_changed', 'currencies ' || $2)`,
  })
}

/** The accounts through which a balance can be paid at its old connection. */
interface OldAccount {
  readonly id: string
  readonly scope: string
  readonly rails: readonly string[]
}

/** Locks the active accounts of a locked balance at a connection. */
export async function lockAccountsAt(
  client: TransactionClient,
  balanceId: string,
  connectionId: string,
): Promise<readonly OldAccount[]> {
  const { rows } = await client.query<OldAccount>({
    name: 'lock_accounts_at',
    values: [balanceId, connectionId],
    text: `select id, scope, rails from account_details where balance_id = $1 and connection_id = $2 and status = 'active' order by id for update`,
  })
  return rows
}

/** Requests accounts of the same kinds at the new connection of a balance; they replace the old ones when they are open. */
export async function requestAccounts(
  client: TransactionClient,
  balanceId: string,
  accounts: readonly OldAccount[],
  { ids, now }: { readonly ids: IdSource; readonly now: number },
): Promise<void> {
  for (const { scope, rails } of accounts)
    await client.query({
      name: 'request_moved_account',
      values: [ids.next(), balanceId, scope, rails, timestamp(now)],
      text: `insert into account_details (id, customer_id, balance_id, currency, scope, rails, status, account_holder_name, shared, created_at, connection_id, shard, due_at)
        select $1, b.customer_id, b.id, b.currency, $3, $4, 'pending', c.legal_name, false, $5, b.connection_id, b.shard, $5
        from balance b join customer c on c.id = b.customer_id where b.id = $2`,
    })
}

/** Marks accounts that nothing follows as replaced: payers may use them until `validUntil`, or their bank is left. */
export async function retireAccounts(
  client: TransactionClient,
  accounts: readonly Pick<OldAccount, 'id'>[],
  validUntil: number,
): Promise<void> {
  await client.query({
    name: 'retire_accounts',
    values: [accounts.map(({ id }) => id), timestamp(validUntil)],
    text: `update account_details set status = 'replaced', valid_until = $2, due_at = $2 where id = any($1::uuid[])`,
  })
}

/** Closes all accounts at a connection whose partner is left; the balances show the best of what they still have. */
export async function closeAccountsAt(client: TransactionClient, connectionId: string, now: number): Promise<void> {
  await client.query({
    name: 'close_accounts_at',
    values: [connectionId, timestamp(now)],
    text: `with closed as (
        update account_details set status = 'closed', valid_until = least(valid_until, $2::timestamptz), due_at = null
        where connection_id = $1 and status in ('pending', 'active', 'replaced', 'closing') returning id, balance_id),
      left_over as (
        select c.balance_id, coalesce((select d.status from account_details d where d.balance_id = c.balance_id and d.id not in (select id from closed)
          order by array_position(array['active', 'pending', 'replaced', 'closing', 'failed', 'closed'], d.status) limit 1), 'closed') as status
        from (select distinct balance_id from closed) c)
      update balance b set details_status = l.status, updated_at = greatest(b.updated_at, $2::timestamptz)
      from left_over l where b.id = l.balance_id and b.details_status is distinct from l.status`,
  })
}
