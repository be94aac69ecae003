/**
 * Events of a database that was restored into another cluster, which has transaction numbers of its own.
 *
 * A dump keeps `outbox.written_in` and the positions of the followers, which are transaction numbers of the old
 * cluster. Where the new cluster's numbers are higher, no change is needed: every old number is below every new one.
 * Where they are lower, new events would seem older than followed ones, and old events would be followed again once the
 * numbers have caught up. So all recent events get small numbers in the order of the positions: the events between two
 * positions share one number, and each position becomes the number that separates the same events as before. Each event
 * is still followed exactly once.
 *
 * The snapshots of webhook endpoints hold old numbers too. They are forgotten, so that no endpoint misses an event that
 * was not relayed yet; an endpoint created shortly before the dump may be told of an event before its time.
 *
 * A row that the restore has written has another transaction (`xmin`) than the one in `written_in`; a row that was
 * written after the restore has the same, and keeps its number. Numbers below FIRST belong to no ordinary transaction.
 */
import type { TransactionClient } from '../db/transaction.ts'
import { FOLLOWERS } from './followers.ts'

/** The lowest number that PostgreSQL gives to an ordinary transaction; a new cluster begins some 700 above. */
const FIRST = 3
/** Followers read no further back than two days before they last moved (CLOCK_SLACK_MS of outbox-cursor.ts). */
const LOOK_BACK = '2 days'
/**
 * The advisory lock; any fixed number works, this one spells "rest". One follower renumbers, the others resume with
 * their next pass.
 */
const LOCK = 0x72657374

const TABLES = Object.keys(FOLLOWERS)

const RENUMBER = `with snapshot as materialized (select pg_snapshot_xmax(pg_current_snapshot()) as newest),
  follower as materialized (${TABLES.map((table) => `select position, moved_at from ${table}`).join(' union all ')}),
  place as materialized (select distinct position from follower, snapshot where position > newest),
  since as materialized (select least(min(moved_at), now()) - interval '${LOOK_BACK}' as at from follower),
  ${TABLES.map(
    (table) => `${table}_moved as (
    update ${table} f set position = (${FIRST} + (select count(*) from place where place.position <= f.position))::text::xid8 from snapshot where f.position > newest)`,
  ).join(',\n  ')},
  endpoints as (update webhook_endpoint set created_snapshot = null where created_snapshot is not null)
  update outbox o set written_in = (${FIRST} + (select count(*) from place where place.position <= o.written_in))::text::xid8
  from snapshot, since where o.created_at >= since.at and (o.written_in > newest or o.xmin::text::bigint <> (o.written_in::text::bigint & 4294967295))`

/**
 * Renumbers the events and the positions of all followers, within the transaction. False while another follower
 * renumbers.
 *
 * Waits for followers that are in the middle of a pass, each of which ends within its own statement time-out.
 */
export async function renumberEvents(client: TransactionClient): Promise<boolean> {
  const {
    rows: [lock],
  } = await client.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock(${LOCK}) as taken`)
  if (lock?.taken !== true) return false
  for (const key of Object.values(FOLLOWERS)) await client.query(`select pg_advisory_xact_lock(${key})`)
  await client.query(RENUMBER)
  return true
}
