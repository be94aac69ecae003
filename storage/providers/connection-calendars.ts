/** Calendars and cut-offs of an operator's connections, as rows. They are part of the connections' configuration. */
import { timestamp } from '../../lib/base/clock.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import type { TransactionClient } from '../db/transaction.ts'

export interface ConnectionCalendarRecord {
  readonly connectionId: string
  readonly version: number
  readonly sandbox: boolean
  /** Whether cut-offs and calendars apply: everywhere except in sandboxes that have not switched them on. */
  readonly kept: boolean
  readonly terms: CalendarTerms
  /** Null until the first change; epoch milliseconds. */
  readonly updatedBy: string | null
  readonly updatedAt: number | null
}

interface Row {
  readonly id: string
  readonly version: number
  readonly sandbox: boolean
  readonly kept: boolean
  readonly terms: CalendarTerms
  readonly updated_by: string | null
  readonly updated_ms: number | null
}

const SELECT = `select k.id, k.version, k.environment = 'sandbox' as sandbox, k.environment <> 'sandbox' or coalesce((k.config->>'realCalendar')::boolean, false) as kept,
    json_strip_nulls(json_build_object('cutOffs', k.config->'cutOffs', 'closedDays', k.config->'closedDays')) as terms,
    k.updated_by, (extract(epoch from k.updated_at) * 1000)::float8 as updated_ms
  from provider_connection k where k.id = $1 and k.operator_id = $2`

/**
 * Reads the calendar of one of an operator's connections; null when the operator has no such connection. `lock` keeps
 * others from changing it until the transaction ends.
 */
export async function readConnectionCalendar(
  client: Pick<TransactionClient, 'query'>,
  operatorId: string,
  connectionId: string,
  lock = false,
): Promise<ConnectionCalendarRecord | null> {
  const {
    rows: [row],
  } = await client.query<Row>({
    name: lock ? 'lock_connection_calendar' : 'read_connection_calendar',
    text: lock ? `${SELECT} for no key update` : SELECT,
    values: [connectionId, operatorId],
  })
  return row === undefined
    ? null
    : {
        connectionId: row.id,
        version: row.version,
        sandbox: row.sandbox,
        kept: row.kept,
        terms: row.terms,
        updatedBy: row.updated_by,
        updatedAt: row.updated_ms,
      }
}

/**
 * Writes the calendar of a locked connection as its next version; other configuration stays. The versions of the
 * connection's balances move, so that later payments are decided by the new calendar, on every node (I3).
 */
export async function writeConnectionCalendar(
  client: TransactionClient,
  {
    connectionId,
    kept,
    terms: { cutOffs = {}, closedDays = {} },
    by,
    now,
  }: Pick<ConnectionCalendarRecord, 'connectionId' | 'kept' | 'terms'> & { readonly by: string; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'write_connection_calendar',
    values: [connectionId, JSON.stringify({ realCalendar: kept, cutOffs, closedDays }), by, timestamp(now)],
    text: 'update provider_connection set config = config || $2, version = version + 1, updated_by = $3, updated_at = $4 where id = $1',
  })
  await client.query({
    name: 'fence_connection',
    values: [connectionId],
    text: `with locked as materialized (select id from balance where connection_id = $1 order by id for update)
      update balance b set version = b.version + 1 from locked where b.id = locked.id`,
  })
}

/** SQL of the calendar of a connection `k`; null where cut-offs and calendars are ignored. */
export const CALENDAR_OF_CONNECTION = `case when k.environment <> 'sandbox' or (k.config->>'realCalendar')::boolean then k.config end`
