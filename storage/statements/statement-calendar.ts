/**
 * The progress of each shard's monthly statements: rows that are due, taken by one node at a time.
 *
 * Written by hand: a row belongs to a shard, not to a tenant, and one node at a time takes it.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'
import type { Database } from '../db/database.ts'
import { inTransaction, type TransactionClient } from '../db/transaction.ts'

/** The position of a shard in the calendar. */
export interface CalendarPlace {
  readonly shard: number
  /** The first day of the month whose statements are due. */
  readonly month: string
  /** The last balance whose statement was planned; null at the beginning. */
  readonly afterBalance: string | null
}

/** Begins the calendar of every shard without one at a month; earlier months have no statements. */
export async function beginCalendar(database: Database, month: string, dueAt: number): Promise<void> {
  await database.query({
    name: 'calendar_begin',
    values: [SHARD_COUNT - 1, month, timestamp(dueAt)],
    text: 'insert into statement_calendar (shard, month, due_at) select shard, $2::date, $3::timestamptz from generate_series(0, $1) shard on conflict do nothing',
  })
}

/**
 * Runs the work for a shard, if it is due, in a transaction that holds the shard's position. Another node that holds it
 * does the work.
 */
export async function withDueShard(
  database: Database,
  { now, shard }: { readonly now: number; readonly shard: number },
  work: (client: TransactionClient, place: CalendarPlace) => Promise<void>,
): Promise<void> {
  await inTransaction(database, async (client) => {
    const {
      rows: [row],
    } = await client.query<{ month: string; after_balance: string | null }>({
      name: 'calendar_due',
      values: [timestamp(now), shard],
      text: 'select month::text as month, after_balance from statement_calendar where due_at <= $1 and shard = $2 for update skip locked',
    })
    if (row !== undefined) await work(client, { shard, month: row.month, afterBalance: row.after_balance })
  })
}

/** A balance that gets a statement for a month. */
export interface CalendarBalance {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
}

/**
 * Finds the next balances of a shard that existed in a month and have no statement of it yet. `read` is the last
 * balance read, null when there are no more.
 */
export async function balancesOfMonth(
  client: TransactionClient,
  { shard, afterBalance }: CalendarPlace,
  { from, until, max }: { readonly from: string; readonly until: string; readonly max: number },
): Promise<{ readonly balances: CalendarBalance[]; readonly read: string | null }> {
  const { rows } = await client.query<{ id: string; customer_id: string; operator_id: string; wanted: boolean }>({
    name: 'calendar_balances',
    values: [shard, afterBalance, from, until, max],
    text: `select b.id, b.customer_id, b.operator_id, b.created_at < $4::date and (b.closed_at is null or b.closed_at >= $3::date)
        and not exists (select from statement s where s.balance_id = b.id and s.kind = 'monthly' and s.period_to >= $4::date - 1) as wanted
      from balance b where b.shard = $1 and ($2::uuid is null or b.id > $2) order by b.id limit $5`,
  })
  return {
    balances: rows
      .filter(({ wanted }) => wanted)
      .map(({ id, customer_id, operator_id }) => ({ id, customerId: customer_id, operatorId: operator_id })),
    read: rows.length === max ? rows.at(-1)!.id : null,
  }
}

/** Records a shard's progress. */
export async function moveCalendar(
  client: TransactionClient,
  { shard, month, afterBalance }: CalendarPlace,
  dueAt: number | null,
): Promise<void> {
  await client.query({
    name: 'calendar_move',
    values: [shard, month, afterBalance, dueAt === null ? null : timestamp(dueAt)],
    text: 'update statement_calendar set month = $2, after_balance = $3, due_at = coalesce($4, due_at) where shard = $1',
  })
}
