/** Connections to banking partners as staff read them, with their health and what is in flight. */
import { sql } from 'kysely'
import { OPEN_MANDATE_STATUSES } from '../../lib/direct-debits/mandate.ts'
import type { ConnectionTies, ProbeResult } from '../../lib/providers/connection.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { plainArray } from '../db/array-literal.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { bigintExpression, expression, instantOrNull, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'
import { openAccountsAt } from '../ledger/ledger-accounts.ts'

export interface ConnectionFilters {
  readonly status?: readonly string[]
  readonly provider?: readonly string[]
  readonly environment?: readonly string[]
  readonly role?: readonly string[]
  readonly customerId?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type ConnectionListQuery = RowQuery<ConnectionFilters, '-createdAt'>

/** Lists the ids of an operator's connections, by pages. */
export async function listConnectionIds(
  db: ReadDatabase,
  { tenant, filters, sort: _, ...query }: ConnectionListQuery,
): Promise<ListResult<string>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`k.operator_id = ${tenant.id}::uuid`)
    .anyOf(sql`k.status`, filters.status, 'text')
    .anyOf(sql`k.provider`, filters.provider, 'text')
    .anyOf(sql`k.environment`, filters.environment, 'text')
    .anyOf(sql`k.role`, filters.role, 'text')
    .anyOf(sql`k.customer_id`, filters.customerId, 'uuid')
    .created('k', filters.createdFrom, filters.createdTo)
  const branch = {
    columns: sql`k.id`,
    from: sql`provider_connection k`,
    where: where.list,
    order: { keys: [{ expression: sql`k.id`, type: 'uuid' as const }], descending: true },
  }
  const { rows, ...page } = await readPage<{ id: string }>(db, [branch], query)
  return { ...page, rows: rows.map(({ id }) => id) }
}

/** Orders that wait for the partner or for its answer, of a connection `$k`, with the time at which each was handed over. */
const ORDERS = (k: string): string => `
  select p.sent_at as at from partner_instruction i join payment p on p.id = i.payment_id where p.connection_id = ${k}
  union all
  select o.sent_at from transfer_order o where o.due_at is not null and ${k} in (o.from_connection_id, o.to_connection_id)
  union all
  select o.sent_at from fx_order o join exchange e on e.id = o.exchange_id where e.connection_id = ${k}
  union all
  select n.updated_at from incoming_payment n where n.connection_id = ${k} and n.return_state in ('due', 'sent')
  union all
  select c.created_at from cash_order c where c.from_connection_id = ${k} and c.from_booked_at is null
  union all
  select c.created_at from cash_order c where c.to_connection_id = ${k} and c.to_booked_at is null`

/** The live part of a connection, which its row does not have: it changes by itself. Times are epoch milliseconds. */
const LIVE = select({
  connectionId: expression<string>('k.id'),
  probe: expression<ProbeResult | null>('h.probe'),
  probedAt: instantOrNull('h.probed_at'),
  lastError: expression<string | null>('h.last_error'),
  isKnown: expression<boolean>(
    'h.probed_at is not null or exists (select from provider_call_count c where c.connection_id = k.id)',
  ),
  inFlight: bigintExpression('f.count'),
  oldestUnconfirmedAt: instantOrNull('f.oldest'),
})
export type ConnectionLive = ReturnType<typeof LIVE.read>

/** Reads the health and the orders in flight of connections, by their ids. @throws the driver's errors */
export async function readLive(queries: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, ConnectionLive>> {
  const rows = await queries.query({
    name: 'live_connections',
    values: [plainArray(ids)],
    text: `select ${LIVE.sql} from unnest($1::uuid[]) as k(id) left join provider_health h on h.connection_id = k.id
      cross join lateral (select count(*) as count, min(o.at) as oldest from (${ORDERS('k.id')}) o) f`,
  })
  return new Map(rows.map((row) => LIVE.read(row)).map((live) => [live.connectionId, live]))
}

/** SQL of the ties of the connection `$1`, in the order of `TIES`. */
const TIE_COUNTS = {
  inFlight: `select count(*) from (${ORDERS('$1::uuid')}) o`,
  waitingCredits: `select count(*) from incoming_payment n where n.connection_id = $1 and n.status in ('unallocated', 'under_review')`,
  exchanges: `select count(*) from exchange x where x.connection_id = $1 and x.status not in ('completed', 'failed', 'rejected', 'cancelled', 'expired', 'closed_out')
    and not exists (select from fx_order o where o.exchange_id = x.id)`,
  debits: `select (select count(*) from incoming_debit d where d.connection_id = $1 and (d.status in ('announced', 'pending_confirmation') or d.answer_due_at is not null))
    + (select count(*) from collection c where c.connection_id = $1
      and (c.status in ('pending', 'submitted', 'exception') or c.reversal_status = 'pending'))`,
  mandates: `select count(*) from mandate m where m.connection_id = $1 and (m.end_due_at is not null
    or (m.direction = 'collect' and m.status in (${OPEN_MANDATE_STATUSES.map((status) => `'${status}'`).join(', ')})))`,
  holds: `select (select count(*) from compliance_hold h join transfer_order o on o.transfer_id = h.subject_id
      where h.status = 'open' and h.subject_type = 'transfer' and $1 in (o.from_connection_id, o.to_connection_id))
    + (select count(*) from hold h join incoming_payment n on n.id = h.subject_id where h.status = 'active' and h.subject_type = 'recall' and n.connection_id = $1)`,
  balances: `select count(*) from balance b where b.connection_id = $1 and b.status <> 'closed'`,
  files: `select (select count(*) from provider_file f where f.connection_id = $1 and f.direction = 'out' and f.due_at is not null)
    + (select count(*) from collection_file f where f.connection_id = $1 and f.status = 'gathering')`,
  events: `select (select count(*) from provider_inbox e where e.due_at is not null and e.connection_id = $1)
    + (select count(*) from provider_inbox e join provider_connection k on k.id = e.connection_id
      where e.status = 'failed' and e.operator_id = k.operator_id and k.id = $1)`,
  rules: `select count(*) from routing_rule r where r.connection_id = $1`,
  webhooks: `select count(*) from provider_connection k where k.id = $1 and k.webhook_registration = 'registered'`,
} as const satisfies Readonly<Record<keyof Omit<ConnectionTies, 'accounts'>, string>>

/** Counts the ties of a connection, and sums its accounts of the ledger. @throws the driver's errors */
export async function readTies(queries: Queries, connectionId: string): Promise<ConnectionTies> {
  const names = Object.keys(TIE_COUNTS) as (keyof typeof TIE_COUNTS)[]
  const [counts] = await queries.query<string[]>({
    name: 'connection_ties',
    values: [connectionId],
    text: `select ${names.map((name) => `(${TIE_COUNTS[name]})`).join(', ')}`,
  })
  const of = Object.fromEntries(names.map((name, nth) => [name, Number(counts![nth])]))
  return {
    ...(of as Omit<ConnectionTies, 'accounts'>),
    accounts: await openAccountsAt(queries, connectionId),
  }
}
