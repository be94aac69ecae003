/** Calendars and cut-offs of an operator's connections, as rows. They are part of the connections' configuration. */
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { ProviderConnection } from './provider-connection-entity.ts'

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

/**
 * Reads the calendar of one of an operator's connections; null when the operator has no such connection. `lock` keeps
 * others from changing it until the transaction ends.
 */
export async function readConnectionCalendar(
  client: StatementRunner,
  operatorId: string,
  connectionId: string,
  lock = false,
): Promise<ConnectionCalendarRecord | null> {
  if (lock)
    // Weaker than the lock of an entity manager: balances of the connection are opened meanwhile.
    await client.query({
      name: 'lock_connection_calendar',
      text: 'select from provider_connection where id = $1 and operator_id = $2 for no key update',
      values: [connectionId, operatorId],
    })
  const row = await entitiesOf(client, { operatorId }).findOne(ProviderConnection, { id: connectionId })
  if (row === null) return null
  const { cutOffs, closedDays, realCalendar = false } = row.config
  const sandbox = row.environment === 'sandbox'
  return {
    connectionId: row.id,
    version: row.version,
    sandbox,
    kept: !sandbox || realCalendar,
    terms: { ...(cutOffs == null ? {} : { cutOffs }), ...(closedDays == null ? {} : { closedDays }) },
    updatedBy: row.updatedBy ?? null,
    updatedAt: row.updatedAt ?? null,
  }
}

/**
 * Writes the calendar of a locked connection as its next version; other configuration stays. The versions of the
 * connection's balances move, so that later payments are decided by the new calendar, on every node (I3).
 */
export async function writeConnectionCalendar(
  client: TransactionClient,
  operatorId: string,
  {
    connectionId,
    kept,
    terms: { cutOffs = {}, closedDays = {} },
    by,
    now,
  }: Pick<ConnectionCalendarRecord, 'connectionId' | 'kept' | 'terms'> & { readonly by: string; readonly now: number },
): Promise<void> {
  const rows = entitiesOf(client, { operatorId })
  const row = await rows.get(ProviderConnection, connectionId)
  const config = { ...row.config, realCalendar: kept, cutOffs, closedDays }
  Object.assign(row, { config, updatedBy: by, updatedAt: now })
  await rows.save()
  await client.query({
    name: 'fence_connection',
    values: [connectionId],
    text: `with locked as materialized (select id from balance where connection_id = $1 order by id for update)
      update balance b set version = b.version + 1 from locked where b.id = locked.id`,
  })
}

/** SQL of the calendar of a connection `k`; null where cut-offs and calendars are ignored. */
export const CALENDAR_OF_CONNECTION = `case when k.environment <> 'sandbox' or (k.config->>'realCalendar')::boolean then k.config end`

/**
 * SQL that joins to a payment `p` the connection `k` by which it leaves: the one to which it was routed, or that of the
 * balance that pays, which may have moved since the payment was made.
 */
export const LEAVES_BY = `left join balance pays on pays.id = p.paying_balance_id
  join provider_connection k on k.id = case when p.routing is null then coalesce(pays.connection_id, p.connection_id) else p.connection_id end`
