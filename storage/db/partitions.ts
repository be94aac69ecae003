/**
 * The partitions of tables that grow with time: made ahead, and dropped after their retention, so that retention costs
 * no deletes. A row outside all of them lands in the default partition: it is slower, but never lost.
 *
 * - Each table is maintained in transactions of its own: a failure of one table is reported, and the others go on.
 * - Rows of the default partition that belong to a new partition (a node's clock was ahead, or no node was up to make
 *   partitions) are moved into it under the lock of the default partition, in the transaction that makes it.
 * - A new partition is made beside its table and then attached, so that reads and writes of the others go on. Creating
 *   it directly as a partition would wait for every reader of the table, and every other query would wait behind that.
 */
import { addDays, timestamp } from '../../lib/base/clock.ts'
import type { Database } from './database.ts'
import { inTransaction, type TransactionClient } from './transaction.ts'

/** Days that logged API requests are kept. */
export const REQUEST_LOG_DAYS = 7

interface Partitioned {
  readonly table: string
  /** The partition key: a column of days or times. */
  readonly by: string
  /**
   * Whole days kept before today. A key is honoured for 24 hours, so yesterday is needed; events are kept for
   * redelivery.
   */
  readonly keepDays: number
  /** Storage parameters of the partitions of a table whose rows grow after they were written. */
  readonly storage?: string
}

const TABLES: readonly Partitioned[] = [
  { table: 'idempotency', by: 'day', keepDays: 2 },
  { table: 'outbox', by: 'created_at', keepDays: 33 },
  { table: 'request_log', by: 'at', keepDays: REQUEST_LOG_DAYS },
  // Kept long after their expiry, as evidence of rates at which no exchange was made.
  { table: 'quote', by: 'day', keepDays: 30 },
  // Kept as long as the event, plus the three days of delivery attempts. The fill factor leaves room to write an
  // attempt beside its row.
  { table: 'webhook_delivery', by: 'created_at', keepDays: 33, storage: 'with (fillfactor = 30)' },
]
/** Days made ahead: a node that is stopped over a long weekend finds its partitions at its next start. */
const AHEAD_DAYS = 7
/** Advisory lock: a single node at a time for each table. Any fixed number works; this number spells "part". */
const LOCK = 0x70617274
/**
 * Timeout of a table lock, which is tried again at the next maintenance: queries that wait behind the lock are delayed
 * until then.
 */
const LOCK_MS = 3_000
/** Rows moved into one new partition: about two seconds of writing. More stay where they are, and are reported. */
const MOVED_MAX = 100_000
/** Rows deleted from the default partition at a time. */
const DELETED_MAX = 50_000

/** Reports to the operator of the service. */
export interface PartitionReport {
  /** Rows were dated ahead of all partitions, and have been moved to their own partition. */
  readonly moved: (what: { readonly table: string; readonly day: string; readonly rows: number }) => void
  /** The maintenance of one table failed; its new rows go to the default partition meanwhile. */
  readonly failed: (error: unknown, table: string) => void
}

const THROWING: PartitionReport = {
  moved: () => undefined,
  failed: (error) => {
    throw error
  },
}

/**
 * Makes missing partitions. `now` is epoch milliseconds. @throws nothing when there is a report; else the driver's
 * errors
 */
export async function makePartitions(
  database: Database,
  now: number,
  report: PartitionReport = THROWING,
): Promise<void> {
  const today = timestamp(now).slice(0, 10)
  for (const partitioned of TABLES) {
    try {
      const days = Array.from({ length: AHEAD_DAYS + 2 }, (_, nth) => addDays(today, nth - 1))
      const existing = new Set(
        (await database.query<[string]>({ name: 'partitions', text: PARTITIONS, values: [partitioned.table] })).map(
          ([name]) => name,
        ),
      )
      for (const day of days)
        if (!existing.has(partitionName(partitioned.table, day))) await make(database, partitioned, day, report)
    } catch (error) {
      report.failed(error, partitioned.table)
    }
  }
}

/**
 * Drops partitions past their retention, and such rows of the default partitions. `now` is epoch milliseconds. @throws
 * as `makePartitions`
 */
export async function dropPartitions(
  database: Database,
  now: number,
  report: PartitionReport = THROWING,
): Promise<void> {
  const today = timestamp(now).slice(0, 10)
  for (const partitioned of TABLES) {
    await inTransaction(database, (client) => drop(client, partitioned, addDays(today, -partitioned.keepDays))).catch(
      (error: unknown) => report.failed(error, partitioned.table),
    )
  }
}

/** Makes missing partitions, then drops old ones. @throws as `makePartitions` and `dropPartitions` */
export async function maintainPartitions(
  database: Database,
  now: number,
  report: PartitionReport = THROWING,
): Promise<void> {
  await makePartitions(database, now, report)
  await dropPartitions(database, now, report)
}

const PARTITIONS = `select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass`

async function lock(client: TransactionClient, table: string): Promise<void> {
  await client.query(`set local lock_timeout = ${LOCK_MS}`)
  await client.query(`select pg_advisory_xact_lock(${LOCK}, hashtext('${table}'))`)
}

async function namesOf(client: TransactionClient, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<[string]>({ text: PARTITIONS, values: [table], rowMode: 'array' })
  return rows.map(([name]) => name)
}

async function make(
  database: Database,
  { table, by, storage = '' }: Partitioned,
  day: string,
  report: PartitionReport,
): Promise<void> {
  const name = partitionName(table, day)
  const [from, until] = [day, addDays(day, 1)]
  const within = `${by} >= '${from}' and ${by} < '${until}'`
  const rows = await inTransaction(database, async (client) => {
    await lock(client, table)
    // Another node may have made the partition while this one waited.
    if ((await namesOf(client, table)).includes(name)) return 0
    const countRows = async (): Promise<number> => {
      const {
        rows: [found],
      } = await client.query<{ count: number }>(
        `select count(*)::int as count from (select from ${table}_default where ${within} limit ${MOVED_MAX + 1}) d`,
      )
      return found?.count ?? 0
    }
    // The lock keeps new rows out of the default partition between the move and the attach. Where rows move, queries wait
    // for the whole table: one that was planned without the new partition and runs after the move would miss them, and a
    // follower of events would pass them by.
    const isMoving = (await countRows()) > 0
    await client.query(`lock table ${isMoving ? table : `${table}_default`} in access exclusive mode`)
    const count = await countRows()
    if (count > 0 && !isMoving)
      throw new Error(`Rows of ${day} came to ${table}_default just now; the next maintenance moves them.`)
    if (count > MOVED_MAX)
      throw new Error(
        `More than ${MOVED_MAX} rows of ${day} are in ${table}_default; move them by hand and make ${name}.`,
      )
    await client.query(`create table ${name} (like ${table} including all) ${storage}`)
    if (count > 0)
      await client.query(
        `with moved as (delete from ${table}_default where ${within} returning *) insert into ${name} select * from moved`,
      )
    await client.query(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${until}')`)
    return count
  })
  if (rows > 0) report.moved({ table, day, rows })
}

/** Drops one table's old partitions. `oldest` is the first day that is kept. */
async function drop(client: TransactionClient, { table, by }: Partitioned, oldest: string): Promise<void> {
  await lock(client, table)
  const names = await namesOf(client, table)
  const outdated = names.filter((name) => /_\d{8}$/.test(name) && name < partitionName(table, oldest))
  const { rowCount: deleted } = await client.query(
    `delete from ${table}_default where ctid = any(array(select ctid from ${table}_default where ${by} < '${oldest}' limit ${DELETED_MAX}))`,
  )
  for (const name of outdated) await client.query(`drop table ${name}`)
  // The audit checks against events where they exist, so it needs the age of the oldest.
  if (table === 'outbox' && (outdated.length > 0 || deleted !== 0))
    await client.query('update event_retention set kept_from = greatest(kept_from, $1)', [oldest])
}

const partitionName = (table: string, day: string): string => `${table}_${day.replaceAll('-', '')}`
