/**
 * How far the events of connections have been listed.
 *
 * Written by hand: a task reads and writes one row, and the rows of all connections are begun with one statement.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { plainArray } from '../db/array-literal.ts'
import { from, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'
import { ProviderPollRow } from './provider-inbox-entity.ts'

const POLL = select(from(ProviderPollRow, ''))
export type ProviderPoll = ReturnType<typeof POLL.read>

/** A task that has not come although its row is due for so long is added again. */
const LOST_MS = 600_000

/**
 * Begins to list the events of the connections to these providers that take part in payments and are not listed yet,
 * and adds tasks that were lost. `now` is epoch milliseconds.
 */
export async function beginPolls(database: Queries, providers: readonly string[], now: number): Promise<void> {
  const connections = await database.query<[string]>({
    name: 'connections_to_poll',
    values: [plainArray(providers)],
    text: `select k.id from provider_connection k where k.provider = any($1::text[]) and k.status in ('active', 'draining')
      and not exists (select from provider_poll p where p.connection_id = k.id)`,
  })
  if (connections.length > 0)
    await database.query({
      name: 'begin_polls',
      values: [
        plainArray(connections.map(([id]) => id)),
        plainArray(connections.map(([id]) => shardOf(id))),
        timestamp(now),
      ],
      text: `insert into provider_poll (connection_id, shard, since, due_at) select u.id, u.shard, $3, $3
        from unnest($1::uuid[], $2::smallint[]) as u(id, shard) on conflict do nothing`,
    })
  await database.query({
    name: 'remind_polls',
    values: [timestamp(now - LOST_MS)],
    text: 'update provider_poll set due_at = due_at where due_at < $1',
  })
}

/** Reads how far a connection has been listed; null when it is not listed. */
export async function readPoll(database: Queries, connectionId: string): Promise<ProviderPoll | null> {
  const [row] = await database.query({
    name: 'read_poll',
    values: [connectionId],
    text: `select ${POLL.sql} from provider_poll where connection_id = $1`,
  })
  return row === undefined ? null : POLL.read(row)
}

/** Writes how far a connection has been listed, and when its provider is asked next. Times are epoch milliseconds. */
export async function writePoll(
  database: Queries,
  { connectionId, since, beganAt, cursor, failures, error, polledAt, dueAt }: Omit<ProviderPoll, 'shard'>,
): Promise<void> {
  await database.query({
    name: 'write_poll',
    values: [
      connectionId,
      timestamp(since),
      beganAt === null ? null : timestamp(beganAt),
      cursor,
      failures,
      error,
      polledAt === null ? null : timestamp(polledAt),
      timestamp(dueAt),
    ],
    text: `update provider_poll set since = $2, began_at = $3, cursor = $4, failures = $5, error = $6, polled_at = $7, due_at = $8
      where connection_id = $1`,
  })
}

/** Ends the listing of a connection. */
export async function endPoll(database: Queries, connectionId: string): Promise<void> {
  await database.query({
    name: 'end_poll',
    values: [connectionId],
    text: 'delete from provider_poll where connection_id = $1',
  })
}
