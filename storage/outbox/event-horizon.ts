/**
 * Computes the horizon of events: the transaction before which all transactions of this database are over. Followers
 * read up to it.
 *
 * A snapshot knows the transactions under way in the whole cluster, so its xmin stops while any session keeps one open
 * in any database. Events are written in this database only: transactions of other databases are excluded, each only
 * with proof. Without proof a transaction counts, so an event can be late but never skipped.
 *
 * The proof, in this order: (1) a snapshot lists transaction X as under way; (2) pg_stat_activity, read after that,
 * shows that process P is connected to another database; (3) pg_locks, read after that, shows that P holds the lock of
 * X. X belongs to one process from its beginning to its end, and was under way from before (1) until after (3); so P
 * was that process at (2), and a process stays with its database. A prepared transaction has no process;
 * pg_prepared_xacts names its database. Processes (pid, datid) and locks are visible to every role. A transaction that
 * neither view lists (it has just ended, or its origin is unknown) is waited for.
 */
import { plainArray } from '../db/array-literal.ts'
import type { Queries } from '../db/transaction.ts'
import { expression, select } from '../db/select.ts'

/** The oldest transaction under way of this database, or of an unknown one, which holds the horizon back. */
export interface OldestTransaction {
  readonly transaction: string
  /** Null for a prepared transaction, and for one that has just ended. */
  readonly pid: number | null
}

/**
 * The horizon of one snapshot: transactions before it are over. `oldest` is the transaction at the horizon; null when
 * none is under way.
 */
export interface EventHorizon {
  readonly horizon: string
  readonly oldest: OldestTransaction | null
}

/**
 * Reads the horizon. Each statement needs a snapshot of its own (read committed).
 *
 * @param underWay transactions under way, and `newest` the first that had not begun, both of the snapshot
 * @throws the driver's errors
 */
export async function eventHorizon(
  queries: Queries,
  { underWay, newest }: { readonly underWay: readonly string[]; readonly newest: string },
): Promise<EventHorizon> {
  if (underWay.length === 0) return { horizon: newest, oldest: null }
  const foreign = await queries.query<[number]>({
    name: 'horizon_processes',
    values: [],
    text: `select a.pid from pg_stat_activity a where a.datid <> (select d.oid from pg_database d where d.datname = current_database())`,
  })
  const holders = await queries.query<[string, number | null, boolean]>({
    name: 'horizon_holders',
    values: [plainArray(underWay), plainArray(foreign.map(([pid]) => pid))],
    text: `select u.x::text, l.pid, coalesce(l.pid = any($2::integer[]), false) or exists (
        select from pg_prepared_xacts p where p.transaction = u.x::xid and p.database <> current_database())
      from unnest($1::text[]) t(x) cross join lateral (select t.x::xid8) u(x)
      left join pg_locks l on l.locktype = 'transactionid' and l.transactionid = u.x::xid and l.mode = 'ExclusiveLock' and l.granted`,
  })
  const strangers = new Set(holders.filter(([, , stranger]) => stranger).map(([transaction]) => transaction))
  const ours = underWay.filter((transaction) => !strangers.has(transaction)).map(BigInt)
  if (ours.length === 0) return { horizon: newest, oldest: null }
  const first = String(ours.reduce((least, each) => (each < least ? each : least)))
  return {
    horizon: first,
    oldest: { transaction: first, pid: holders.find(([transaction]) => transaction === first)?.[1] ?? null },
  }
}

/**
 * The columns of a snapshot `s` that `eventHorizon` takes: transactions under way, and the first that had not begun.
 */
export const SNAPSHOT = {
  underWay: expression<string[]>('array(select x::text from pg_snapshot_xip(s) x)'),
  newest: expression<string>('pg_snapshot_xmax(s)::text'),
} as const
const SNAPSHOT_ROW = select(SNAPSHOT)

/**
 * Reads the present horizon and the age of the transaction there, milliseconds; null where this role may not see it.
 * @throws the driver's errors
 */
export async function readHorizon(queries: Queries): Promise<EventHorizon & { readonly ageMs: number | null }> {
  const [row] = await queries.query({
    name: 'horizon_snapshot',
    values: [],
    text: `select ${SNAPSHOT_ROW.sql} from pg_current_snapshot() s`,
  })
  const found = await eventHorizon(queries, SNAPSHOT_ROW.read(row as unknown[]))
  if (found.oldest === null) return { ...found, ageMs: 0 }
  const [age] = await queries.query<[number | null]>({
    name: 'horizon_age',
    values: [found.oldest.pid, found.oldest.transaction],
    text: `select (extract(epoch from clock_timestamp() - coalesce(
      (select a.xact_start from pg_stat_activity a where a.pid = $1), (select p.prepared from pg_prepared_xacts p where p.transaction = $2::text::xid8::xid))) * 1000)::float8`,
  })
  return { ...found, ageMs: age?.[0] ?? null }
}
