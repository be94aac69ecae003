/**
 * The partitions of tables that grow with time: made ahead, dropped when their time is over, so that retention costs
 * nothing. A row outside all of them lands in the default partition and is only slower, never lost.
 */
import { addDays, timestamp } from '../lib/clock.ts'
import type { Database } from './database.ts'
import { REQUEST_LOG_DAYS } from './request-log.ts'

interface Partitioned {
  readonly table: string
  /** Whole days kept before today. A key is honoured for 24 hours, so yesterday is needed; events are kept for redelivery. */
  readonly keepDays: number
  /** Of the partitions, where rows grow after they were written. */
  readonly storage?: string
}

const TABLES: readonly Partitioned[] = [
  { table: 'idempotency', keepDays: 2 },
  { table: 'outbox', keepDays: 33 },
  { table: 'request_log', keepDays: REQUEST_LOG_DAYS },
  // Long after they have run out, for whoever asks at what rate something was not done.
  { table: 'quote', keepDays: 30 },
  // As long as its event, and the three days that a delivery may be tried again. Room for an attempt to be written where the row is.
  { table: 'webhook_delivery', keepDays: 33, storage: 'with (fillfactor = 30)' },
]
/** Made ahead: a node that is stopped over a long weekend finds its partitions when it comes back. */
const AHEAD_DAYS = 7
/** One node at a time; any fixed number does, this one spells "part". */
const LOCK = 0x70617274

/** Makes the partitions that are missing and drops those that are out of date. @throws what the driver throws */
export async function maintainPartitions(database: Database, now: number): Promise<void> {
  const today = timestamp(now).slice(0, 10)
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(${LOCK})`)
    for (const { table, keepDays, storage = '' } of TABLES) {
      const { rows } = await client.query<{ name: string }>(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass`, [table])
      const existing = new Set(rows.map(({ name }) => name))
      for (let nth = -1; nth <= AHEAD_DAYS; nth++) {
        const day = addDays(today, nth)
        if (existing.has(partitionName(table, day))) continue
        await client.query(`create table ${partitionName(table, day)} partition of ${table} for values from ('${day}') to ('${addDays(day, 1)}') ${storage}`)
      }
      const oldest = partitionName(table, addDays(today, -keepDays))
      const outdated = [...existing].filter((name) => /_\d{8}$/.test(name) && name < oldest)
      for (const name of outdated) await client.query(`drop table ${name}`)
      // The audit proves by events what it can, and has to know how far back they go.
      if (table === 'outbox' && outdated.length > 0) await client.query('update event_retention set kept_from = greatest(kept_from, $1)', [addDays(today, -keepDays)])
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => { /* The connection is gone; so is the transaction. */ })
    throw error
  } finally {
    client.release()
  }
}

const partitionName = (table: string, day: string): string => `${table}_${day.replaceAll('-', '')}`
