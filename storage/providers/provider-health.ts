/**
 * The health of connections to banking partners, as rows: calls counted by all nodes, and the last probe.
 *
 * Written by hand: nodes add to one row, and the state of a connection changes without its version.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { ProbeResult } from '../../lib/providers/connection.ts'
import {
  failuresAfter,
  healthOf,
  HEALTH_WINDOW_MS,
  NO_CALLS,
  slotOf,
  type CallCount,
  type CallTally,
  type HealthState,
} from '../../lib/providers/health.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** A change of a connection's health. */
export interface HealthChange {
  readonly operatorId: string
  readonly before: HealthState
  readonly after: HealthState
}

/**
 * Adds the calls that a node has made, and a probe where there was one, and judges the connection anew.
 *
 * @returns the change of its state; null when the state is as it was, or the connection is gone
 */
export async function addCalls(
  client: TransactionClient,
  connectionId: string,
  { tally, probe, now }: { readonly tally: CallTally; readonly probe: ProbeResult | null; readonly now: number },
): Promise<HealthChange | null> {
  const {
    rows: [connection],
  } = await client.query<{ operator_id: string; health: HealthState }>({
    name: 'lock_health',
    values: [connectionId],
    text: `select operator_id, health from provider_connection where id = $1 and status <> 'retired' for no key update`,
  })
  if (connection === undefined) return null
  const before = await failuresInRow(client, connectionId)
  const failures = failuresAfter(before, tally)
  await countCalls(client, connectionId, tally, now)
  const after = healthOf(await callsSince(client, connectionId, now - HEALTH_WINDOW_MS), failures)
  const hasChanged = after !== connection.health
  await client.query({
    name: 'note_health',
    values: [
      connectionId,
      failures,
      probe === null ? null : JSON.stringify(probe),
      timestamp(now),
      tally.lastError,
      hasChanged,
    ],
    text: `insert into provider_health as h (connection_id, failures_in_row, probe, probed_at, last_error, last_error_at, changed_at)
      values ($1, $2, $3::jsonb, case when $3::jsonb is not null then $4::timestamptz end, $5, case when $5::text is not null then $4::timestamptz end,
        case when $6::boolean then $4::timestamptz end)
      on conflict (connection_id) do update set failures_in_row = excluded.failures_in_row, probe = coalesce(excluded.probe, h.probe),
        probed_at = coalesce(excluded.probed_at, h.probed_at), last_error = coalesce(excluded.last_error, h.last_error),
        last_error_at = coalesce(excluded.last_error_at, h.last_error_at), changed_at = coalesce(excluded.changed_at, h.changed_at)`,
  })
  if (!hasChanged) return null
  await client.query({
    name: 'change_health',
    values: [connectionId, after],
    text: `with changed as (update provider_connection set health = $2 where id = $1 returning id)
      select pg_notify('provider_health', id::text) from changed`,
  })
  return { operatorId: connection.operator_id, before: connection.health, after }
}

async function failuresInRow(client: TransactionClient, connectionId: string): Promise<number> {
  const {
    rows: [row],
  } = await client.query<{ failures_in_row: number }>({
    name: 'failures_in_row',
    values: [connectionId],
    text: 'select failures_in_row from provider_health where connection_id = $1',
  })
  return row?.failures_in_row ?? 0
}

async function countCalls(
  client: TransactionClient,
  connectionId: string,
  { calls, errors, latencies }: CallTally,
  now: number,
): Promise<void> {
  if (calls === 0) return
  await client.query({
    name: 'count_calls',
    values: [connectionId, timestamp(slotOf(now)), calls, errors, latencies],
    text: `insert into provider_call_count as c (connection_id, slot, calls, errors, latencies) values ($1, $2, $3, $4, $5::integer[])
      on conflict (connection_id, slot) do update set calls = c.calls + excluded.calls, errors = c.errors + excluded.errors,
        latencies = array(select coalesce(a, 0) + coalesce(b, 0) from unnest(c.latencies, excluded.latencies) as u(a, b))`,
  })
  await client.query({
    name: 'forget_calls',
    values: [connectionId, timestamp(now - 2 * HEALTH_WINDOW_MS)],
    text: 'delete from provider_call_count where connection_id = $1 and slot < $2',
  })
}

async function callsSince(client: TransactionClient, connectionId: string, since: number): Promise<CallCount> {
  const { rows } = await client.query<{ calls: number; errors: number; latencies: number[] }>({
    name: 'calls_since',
    values: [connectionId, timestamp(since)],
    text: 'select calls, errors, latencies from provider_call_count where connection_id = $1 and slot >= $2',
  })
  return rows.reduce<CallCount>(
    (sum, { calls, errors, latencies }) => ({
      calls: sum.calls + calls,
      errors: sum.errors + errors,
      latencies: sum.latencies.map((count, index) => count + (latencies[index] ?? 0)),
    }),
    NO_CALLS,
  )
}

/** Reads the states of the connections that are not healthy, by their ids. @throws the driver's errors */
export async function readUnhealthy(database: Pick<Database, 'query'>): Promise<ReadonlyMap<string, HealthState>> {
  const rows = await database.query<[string, HealthState]>({
    name: 'unhealthy_connections',
    values: [],
    text: `select id, health from provider_connection where health <> 'healthy' and status <> 'retired'`,
  })
  return new Map(rows)
}

/** Reads which connections were probed before a time, or never: those that work and have a probe due. */
export async function readProbesDue(
  database: Pick<Database, 'query'>,
  { before, unhealthyBefore, max }: { readonly before: number; readonly unhealthyBefore: number; readonly max: number },
): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'probes_due',
    values: [timestamp(before), timestamp(unhealthyBefore), max],
    text: `select k.id from provider_connection k left join provider_health h on h.connection_id = k.id where k.status in ('active', 'draining')
        and coalesce(h.probed_at, '-infinity') < case when k.health = 'healthy' then $1::timestamptz else $2::timestamptz end
      order by h.probed_at nulls first limit $3`,
  })
  return rows.map(([id]) => id)
}
