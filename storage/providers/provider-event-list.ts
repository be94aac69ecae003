/**
 * Events of providers as staff see them, in one list: those of the inbox, and the messages that the built-in sandbox
 * tells in the process itself, of which provider_event has a row each.
 *
 * provider_event is written with every message of a payment and has no index of its times but one of block ranges, which
 * is no order. So the rows near the edge of a page are found first, in spans of time that grow tenfold until they hold
 * a page: a flood is read by the second, and a quiet table by the month.
 */
import { sql, type RawBuilder } from 'kysely'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { ProviderEventView } from '../../lib/providers/provider-event-schema.ts'
import { PROVIDER_EVENTS_KEPT_MS, type VerifiedBy } from '../../lib/providers/provider-event.ts'
import type { Queries } from '../db/transaction.ts'
import {
  Conditions,
  EMPTY,
  epochMs,
  readPage,
  type Branch,
  type Order,
  type ReadDatabase,
  type TimeTo,
} from '../db/page.ts'

export interface ProviderEventFilters {
  readonly connectionId?: readonly string[]
  readonly status?: readonly string[]
  readonly reason?: readonly string[]
  readonly source?: readonly string[]
  readonly type?: readonly string[]
  readonly objectId?: readonly string[]
  readonly receivedFrom?: string
  readonly receivedTo?: TimeTo
}
export type ProviderEventListQuery = RowQuery<ProviderEventFilters, '-receivedAt'>

/** The row of a list, whichever table it is from. */
export interface ProviderEventListRow {
  readonly id: string
  readonly connection_id: string
  readonly source: ProviderEventView['source']
  readonly status: ProviderEventView['status']
  readonly reason: ProviderEventView['reason']
  readonly type: string
  readonly partner_event_id: string | null
  readonly verified_by: VerifiedBy | null
  readonly object_ids: readonly string[]
  readonly attempts: number
  readonly occurred_ms: number | null
  readonly received_ms: number
  readonly processed_ms: number | null
  readonly next_ms: number | null
}

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/** Shows a row. */
export const providerEventView = (row: ProviderEventListRow): ProviderEventView => ({
  id: row.id,
  connectionId: row.connection_id,
  source: row.source,
  status: row.status,
  reason: row.reason,
  type: row.type,
  partnerEventId: row.partner_event_id,
  verifiedBy: row.verified_by,
  objectIds: [...row.object_ids],
  attempts: row.attempts,
  occurredAt: timeOrNull(row.occurred_ms),
  receivedAt: timestamp(row.received_ms),
  processedAt: timeOrNull(row.processed_ms),
  nextAttemptAt: timeOrNull(row.next_ms),
})

/** The columns of an event `e` of the inbox. */
export const INBOX_COLUMNS = sql`e.id, e.connection_id, e.source, e.status, e.reason, e.type, e.partner_event_id, e.verified_by,
  array(select distinct m.object_id from provider_inbox_message m where m.event_id = e.id and m.object_id is not null) as object_ids,
  e.attempts::integer, ${epochMs('e.occurred_at')} as occurred_ms, ${epochMs('e.received_at')} as received_ms,
  ${epochMs('e.processed_at')} as processed_ms, ${epochMs('e.due_at')} as next_ms`

/** The same columns of a message `e` of the built-in sandbox. */
export const MESSAGE_COLUMNS = sql`e.id, e.connection_id, 'message' as source, 'processed' as status, null as reason, e.type,
  null as partner_event_id, null as verified_by, array[e.object_id] as object_ids, 1 as attempts, null::float8 as occurred_ms,
  ${epochMs('e.received_at')} as received_ms, ${epochMs('e.received_at')} as processed_ms, null::float8 as next_ms`

/** The condition on a message `e` that no event of the inbox has told it. */
export const TOLD_IN_PROCESS = sql`not exists (select from provider_inbox_message m where m.message_id = e.id)`

const ORDER: Order = {
  keys: [
    { expression: sql`e.received_at`, type: 'timestamptz' },
    { expression: sql`e.id`, type: 'uuid' },
  ],
  descending: true,
}

/** Lists the events of an operator, by pages. `now` is epoch milliseconds. */
export async function listProviderEvents(
  db: ReadDatabase,
  { tenant, filters, ...page }: ProviderEventListQuery,
  now: number,
): Promise<ListResult<ProviderEventView>> {
  if (tenant.kind !== 'operator') return page.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const messages = await messageBranch(db, tenant.id, filters, { ...page, now })
  const inbox: Branch = {
    columns: INBOX_COLUMNS,
    from: sql`provider_inbox e`,
    where: inboxConditions(tenant.id, filters).list,
    order: ORDER,
  }
  const asked = filters.source
  const branches = [
    ...(asked?.every((source) => source === 'message') === true ? [] : [inbox]),
    ...(messages === null ? [] : [messages]),
  ]
  const { rows, ...rest } = await readPage<ProviderEventListRow>(db, branches, page)
  return { ...rest, rows: rows.map(providerEventView) }
}

/** The conditions on events `e` of the inbox of an operator. */
function inboxConditions(operatorId: string, filters: ProviderEventFilters): Conditions {
  const where = new Conditions()
    .add(sql`e.operator_id = ${operatorId}::uuid`)
    .anyOf(sql`e.connection_id`, filters.connectionId, 'uuid')
    .anyOf(sql`e.status`, filters.status, 'text')
    .anyOf(sql`e.reason`, filters.reason, 'text')
    .anyOf(sql`e.source`, filters.source, 'text')
    .anyOf(sql`e.type`, filters.type, 'text')
    .during(sql`e.received_at`, filters.receivedFrom, filters.receivedTo)
  // The statuses of the queue have an index of their own, which a list of parameters does not show to fit.
  if (filters.status?.every((status) => status === 'ignored' || status === 'failed') === true)
    where.add(sql`e.status in ('ignored', 'failed')`)
  if (filters.objectId !== undefined)
    where.add(
      sql`e.id in (select m.event_id from provider_inbox_message m where m.object_id = any(${filters.objectId}::uuid[]))`,
    )
  return where
}

type PagePart = Pick<ProviderEventListQuery, 'limit' | 'position'> & { readonly now: number }

/** The messages of the operator's sandboxes; null where the filters leave none. */
async function messageBranch(
  db: ReadDatabase,
  operatorId: string,
  filters: ProviderEventFilters,
  page: PagePart,
): Promise<Branch | null> {
  const { connectionId, status, reason, source, type, objectId, receivedFrom, receivedTo } = filters
  if (reason !== undefined || status?.includes('processed') === false || source?.includes('message') === false)
    return null
  const connections = (await sandboxesOf(db, operatorId)).filter((id) => connectionId?.includes(id) !== false)
  if (connections.length === 0) return null
  const { list: where } = new Conditions()
    .add(sql`e.connection_id = any(${connections}::uuid[])`)
    .anyOf(sql`e.type`, type, 'text')
    .anyOf(sql`e.object_id`, objectId, 'uuid')
    .during(sql`e.received_at`, receivedFrom, receivedTo)
    .add(TOLD_IN_PROCESS)
  const bound = objectId === undefined ? await nearEdge(db, where, page) : undefined
  const branch: Branch = { columns: MESSAGE_COLUMNS, from: sql`provider_event e`, where, order: ORDER }
  return bound === undefined ? branch : { ...branch, bound }
}

/** Reads the ids of the connections of an operator to the built-in sandbox. */
async function sandboxesOf({ kysely }: ReadDatabase, operatorId: string): Promise<readonly string[]> {
  const { rows } = await sql<{
    id: string
  }>`select id from provider_connection where operator_id = ${operatorId} and provider = 'sandbox'`.execute(kysely)
  return rows.map(({ id }) => id)
}

/** The first span of time, and how much longer each next one is. */
const SPAN_MS = 1_000
const GROWTH = 10

/** Finds the span of time beside the edge of a page that holds a page of messages; undefined: no span does. */
async function nearEdge(
  { kysely }: ReadDatabase,
  where: readonly RawBuilder<unknown>[],
  { limit, position, now }: PagePart,
): Promise<RawBuilder<unknown> | undefined> {
  const isBack = position?.direction === 'before'
  const edge = sql`${position === null ? timestamp(now + DAY_MS) : String(position.keys[0])}::timestamptz`
  const start = position === null ? sql`${timestamp(now)}::timestamptz` : edge
  for (let ms = SPAN_MS; ms < PROVIDER_EVENTS_KEPT_MS; ms *= GROWTH) {
    const span = sql`${sql.lit(ms)} * interval '1 ms'`
    const bound = isBack
      ? sql`e.received_at >= ${edge} and e.received_at <= ${edge} + ${span}`
      : sql`e.received_at <= ${edge} and e.received_at >= ${start} - ${span}`
    const found =
      await sql`select from provider_event e where ${sql.join([...where, bound], sql` and `)} limit ${sql.lit(limit + 2)}`.execute(
        kysely,
      )
    // One row may be the edge itself.
    if (found.rows.length > limit + 1) return bound
  }
  return undefined
}

/**
 * Summarises the new block ranges of provider_event. A range that is not summarised is read by every list.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function summariseProviderEvents(database: Queries): Promise<void> {
  await database.query({
    name: 'summarise_provider_events',
    values: [],
    text: `select brin_summarize_new_values('provider_event_ranges')`,
  })
}
