/** Incoming payments as their customers see them, and suspense items as the operator's staff see them. */
import { sql } from 'kysely'
import { incomingPaymentJson, suspenseItemJson } from '../../lib/incoming-payments/incoming-payment.ts'
import type { Database } from '../db/database.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import { INCOMING_COLUMNS, incomingRecord, type IncomingRow } from './incoming-payments.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface IncomingFilters {
  readonly balanceId?: readonly string[]
  readonly currency?: readonly string[]
  readonly rail?: readonly string[]
  readonly receivedFrom?: string
  readonly receivedTo?: TimeTo
  readonly fundsRequestId?: readonly string[]
}

export type IncomingListQuery = RowQuery<IncomingFilters, '-receivedAt' | 'receivedAt'>

const COLUMNS = sql.raw(INCOMING_COLUMNS)

/** Orders by the time of the credit: a payment that was under review appears at its credit time, not in the past. */
const byReceipt = (descending: boolean): Order => ({
  keys: [
    { expression: sql`i.credited_at`, type: 'timestamptz' },
    { expression: sql`i.id`, type: 'uuid' },
  ],
  descending,
})

/** Lists the payments credited to balances of a customer. Operators have none of their own. */
export async function listIncomingPayments(
  db: ReadDatabase,
  query: IncomingListQuery,
): Promise<ListResult<ReturnType<typeof incomingPaymentJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<IncomingRow>(db, [incomingBranch(query)], query)
  return { ...page, rows: rows.map((row) => incomingPaymentJson(incomingRecord(row))) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function incomingBranch({ tenant, filters, sort }: IncomingListQuery): Branch {
  const where = new Conditions()
    .add(sql`i.customer_id = ${tenant.id}::uuid`)
    // Written exactly as in the index's condition; otherwise the planner cannot use the index.
    .add(sql`i.credited_at is not null`)
    .anyOf(sql`i.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`i.currency`, filters.currency, 'bpchar')
    .anyOf(sql`i.rail`, filters.rail, 'text')
    .anyOf(sql`i.funds_request_id`, filters.fundsRequestId, 'uuid')
    .during(sql`i.credited_at`, filters.receivedFrom, filters.receivedTo)
  return {
    columns: COLUMNS,
    from: sql`incoming_payment i`,
    where: where.list,
    order: byReceipt(sort === '-receivedAt'),
  }
}

/**
 * Reads one incoming payment of a customer with its version; null when the payment is not the tenant's, or not credited
 * yet.
 */
export async function getIncomingPayment(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'customer') return null
  const {
    rows: [row],
  } = await database.pool.query<IncomingRow>({
    name: 'get_incoming_payment',
    values: [id, tenant.id],
    text: `select ${INCOMING_COLUMNS} from incoming_payment i where i.id = $1 and i.customer_id = $2 and i.credited_at is not null`,
  })
  return row === undefined ? null : { version: row.version, view: incomingPaymentJson(incomingRecord(row)) }
}

export interface SuspenseFilters {
  readonly status?: readonly string[]
  readonly reason?: readonly string[]
  readonly currency?: readonly string[]
  readonly receivedFrom?: string
  readonly receivedTo?: TimeTo
}

export type SuspenseListQuery = RowQuery<SuspenseFilters, 'receivedAt' | '-receivedAt'>

/** Orders by id: ids ascend with time, and suspense items are few. */
const byId = (descending: boolean): Order => ({ keys: [{ expression: sql`i.id`, type: 'uuid' }], descending })

/** Lists payments that an operator received without an owner. Customers see none. */
export async function listSuspense(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: SuspenseListQuery,
): Promise<ListResult<ReturnType<typeof suspenseItemJson>>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`i.operator_id = ${tenant.id}::uuid`)
    .add(sql`i.suspense is not null`)
    .anyOf(sql`i.suspense`, filters.status, 'text')
    .anyOf(sql`i.suspense_reason`, filters.reason, 'text')
    .anyOf(sql`i.currency`, filters.currency, 'bpchar')
    .during(sql`i.received_at`, filters.receivedFrom, filters.receivedTo)
  const branch = {
    columns: COLUMNS,
    from: sql`incoming_payment i`,
    where: where.list,
    order: byId(sort === '-receivedAt'),
  }
  const { rows, ...page } = await readPage<IncomingRow>(db, [branch], query)
  return { ...page, rows: rows.map((row) => suspenseItemJson(incomingRecord(row))) }
}

/** Reads one suspense item with its version; null when the item is not the operator's. */
export async function getSuspenseItem(client: StatementRunner, tenant: Tenant, id: string) {
  if (tenant.kind !== 'operator') return null
  const {
    rows: [row],
  } = await client.query<IncomingRow>({
    name: 'get_suspense_item',
    text: `select ${INCOMING_COLUMNS} from incoming_payment i where i.id = $1 and i.operator_id = $2 and i.suspense is not null`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : { version: row.version, view: suspenseItemJson(incomingRecord(row)) }
}
