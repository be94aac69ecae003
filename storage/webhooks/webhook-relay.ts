/**
 * Makes deliveries from events: one pass at a time in the whole service, in one transaction that also moves the cursor
 * (storage/outbox/outbox-cursor.ts). So each event is relayed exactly once, on whichever node it was written or is
 * relayed.
 *
 * The transaction need not wait for the disk (openWebhookDatabase). If Postgres crashes, it loses the deliveries and
 * the cursor's position together, and the events are relayed again under their own ids.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { RETRY_WINDOW_MS } from '../../lib/webhooks/schedule.ts'
import { TEST_EVENT_TYPE, type EventType } from '../../lib/base/event-types.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import { inTransaction } from '../db/transaction.ts'
import type { EndpointStatus } from '../../lib/webhooks/envelope.ts'
import { expression, select } from '../db/select.ts'

/** The channel that notifies nodes of due deliveries and of changed endpoints. */
export const WEBHOOK_CHANNEL = 'webhooks'

/** Events of one pass. At a few microseconds each it ends within some tens of milliseconds. */
const EVENTS_MAX = 2_000
/** Endpoints in one notification, at 40 bytes each; Postgres accepts 8 000 bytes. */
const ANNOUNCED_MAX = 190

const MATCH = select({
  eventId: expression<string>('o.id'),
  /** Text, so that it returns exactly as it was: deliveries find their event by it. */
  createdAt: expression<string>('o.created_at::text'),
  type: expression<EventType>('o.type'),
  endpointId: expression<string>('e.id'),
  shard: expression<number>('e.shard'),
  status: expression<EndpointStatus>('e.status'),
})
type Match = ReturnType<typeof MATCH.read>

// An event of a transaction that was over before the endpoint was created is not for it, however late it is relayed.
// Events that a customer simulates are for the customer alone; a test is for one endpoint, and has its delivery
// already. Compliance holds are for operators only, whatever event types an endpoint has.
const MATCHES = `select ${MATCH.sql}
  from outbox o join webhook_endpoint e on e.tenant_id in (o.customer_id, o.operator_id) and o.type = any(e.events)
  where ${IN_EVENT_RANGE} and (o.type <> $4 or o.sandbox) and (not o.sandbox or e.tenant_id = o.customer_id)
    and (o.object <> 'compliance_hold' or e.tenant_id = o.operator_id)
    and (e.created_snapshot is null or not pg_visible_in_snapshot(o.written_in, e.created_snapshot)) order by o.written_in, o.id`

const INSERT = `with rows as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::uuid[], $6::smallint[], $7::boolean[])
      as u(id, event_id, event_created_at, event_type, endpoint_id, shard, active)),
  queued as (
    insert into webhook_queue (delivery_id, delivery_created_at, endpoint_id, event_id, event_created_at, shard, due_at, window_ends_at)
    select id, $8, endpoint_id, event_id, event_created_at, shard, $8, event_created_at + interval '${RETRY_WINDOW_MS / 1_000} seconds' from rows where active)
  insert into webhook_delivery (id, created_at, endpoint_id, event_id, event_created_at, event_type, status, next_attempt_at, completed_at)
  select id, $8, endpoint_id, event_id, event_created_at, event_type, case when active then 'pending' else 'discarded' end,
    case when active then $8::timestamptz end, case when active then null else $8::timestamptz end from rows`

export interface RelayPass {
  /** Deliveries that were made, including discarded ones. */
  readonly deliveries: number
  /** Whether there were events, or another node is relaying: run again soon. */
  readonly events: boolean
  /** Whether more events wait: run again immediately. */
  readonly again: boolean
  /** Whether any endpoint exists; without one only the cursor is kept. */
  readonly wanted: boolean
}

/**
 * Makes one pass. `now` is epoch milliseconds; `onRestored` is called when the database was restored into another
 * cluster and its events were renumbered.
 *
 * @throws DatabaseUnavailable, OutcomeUnknown and the driver's errors; the next pass resumes where the last committed
 * pass ended
 */
export async function relayEvents(
  database: Database,
  ids: IdSource,
  now: number,
  onRestored: () => void,
): Promise<RelayPass> {
  return await inTransaction(database, async (client) => {
    const place = await OutboxCursor.take(client, 'webhook_relay', now, onRestored)
    if (place === null) return { deliveries: 0, events: true, again: false, wanted: true }
    const ask: Ask = async <Row extends unknown[]>(name: string, text: string, values: unknown[]) =>
      (await client.query({ name, text, values, rowMode: 'array' })).rows as unknown as Row[]
    return await relay(ask, place, ids, now)
  })
}

/** The content of a notification. */
export interface Announcement {
  readonly kind: 'due' | 'changed'
  readonly endpoints: readonly { readonly id: string; readonly shard: number }[]
}

/** Builds the text of a notification; empty when there are too many endpoints. */
export function announcement({ kind, endpoints }: Announcement): string {
  return endpoints.length > ANNOUNCED_MAX
    ? ''
    : `${kind} ${endpoints.map(({ id, shard }) => `${id}:${shard}`).join(',')}`
}

/** Reads a notification; null: the node must query the database itself. */
export function readAnnouncement(text: string): Announcement | null {
  const [kind, list = ''] = text.split(' ')
  if (kind !== 'due' && kind !== 'changed') return null
  return {
    kind,
    endpoints: list
      .split(',')
      .map((entry) => ({ id: entry.slice(0, entry.indexOf(':')), shard: Number(entry.slice(entry.indexOf(':') + 1)) })),
  }
}

type Ask = <Row extends unknown[]>(name: string, text: string, values: unknown[]) => Promise<Row[]>

async function relay(ask: Ask, place: OutboxCursor, ids: IdSource, now: number): Promise<RelayPass> {
  // Read after the cursor: an endpoint that is not visible here was created after all events of this pass.
  const [wanting] = await ask<[boolean]>('relay_wanted', 'select exists (select from webhook_endpoint)', [])
  const wanted = wanting?.[0] === true
  const stretch = await place.next(wanted ? EVENTS_MAX : null)
  if (stretch === null) return { deliveries: 0, events: false, again: false, wanted }
  const rows = wanted ? await ask('relay_matches', MATCHES, [...stretch.bounds, TEST_EVENT_TYPE]) : []
  const matches = rows.map((row) => MATCH.read(row))
  if (matches.length > 0) await deliver(ask, ids, now, matches)
  await place.move(stretch)
  return { deliveries: matches.length, events: wanted, again: stretch.more, wanted }
}

async function deliver(ask: Ask, ids: IdSource, now: number, matches: readonly Match[]): Promise<void> {
  const column = (value: (match: Match) => string | number) => plainArray(matches.map(value))
  const isActive = ({ status }: Match): boolean => status === 'active'
  await ask('relay_insert', INSERT, [
    column(() => ids.next()),
    column(({ eventId }) => eventId),
    textArray(matches.map(({ createdAt }) => createdAt)),
    textArray(matches.map(({ type }) => type)),
    column(({ endpointId }) => endpointId),
    column(({ shard }) => shard),
    column((match) => String(isActive(match))),
    timestamp(now),
  ])
  const due = new Map(matches.filter(isActive).map(({ endpointId, shard }) => [endpointId, shard]))
  if (due.size === 0) return
  await ask('relay_notify', 'select pg_notify($1, $2)', [
    WEBHOOK_CHANNEL,
    announcement({ kind: 'due', endpoints: [...due].map(([id, shard]) => ({ id, shard })) }),
  ])
}
