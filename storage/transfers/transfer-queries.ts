/** Transfers as the customer sees them, and as the domain reads them. */
import { sql } from 'kysely'
import { transferJson, type TransferRecord } from '../../lib/transfers/transfer.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface TransferFilters {
  readonly status?: readonly string[]
  readonly fromBalanceId?: readonly string[]
  readonly toBalanceId?: readonly string[]
  /** Balances on either side of the transfer. */
  readonly balanceId?: readonly string[]
  readonly currency?: readonly string[]
  readonly externalId?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type TransferListQuery = RowQuery<TransferFilters, '-createdAt' | 'createdAt'>

interface TransferColumns {
  readonly id: string
  readonly customer_id: string
  readonly number: string
  readonly external_id: string | null
  readonly status: TransferRecord['status']
  readonly version: number
  readonly from_balance_id: string
  readonly to_balance_id: string
  readonly currency: string
  readonly amount: string
  readonly reference: string | null
  readonly created_by: string
  readonly created_via: TransferRecord['createdVia']
  readonly metadata: Record<string, string> | null
  readonly by_partner: boolean
  readonly failure: string | null
  readonly completed_ms: number | null
  readonly created_ms: number
  readonly updated_ms: number
}

const ms = (column: string, name: string) => `(extract(epoch from t.${column}) * 1000)::float8 as ${name}`

const COLUMNS = `t.id, t.customer_id, t.number, t.external_id, t.status, t.version, t.from_balance_id, t.to_balance_id, t.currency, t.amount, t.reference,
    t.created_by, t.created_via, t.metadata, exists (select from transfer_order o where o.transfer_id = t.id) as by_partner, t.failure,
    ${ms('completed_at', 'completed_ms')}, ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`

function transferRecord(row: TransferColumns): TransferRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    number: row.number,
    externalId: row.external_id,
    status: row.status,
    version: row.version,
    fromBalanceId: row.from_balance_id,
    toBalanceId: row.to_balance_id,
    currency: row.currency,
    amount: BigInt(row.amount),
    reference: row.reference,
    createdBy: row.created_by,
    createdVia: row.created_via,
    metadata: row.metadata ?? {},
    byPartner: row.by_partner,
    failure: row.failure === null ? null : (JSON.parse(row.failure) as TransferRecord['failure']),
    completedAt: row.completed_ms,
    createdAt: row.created_ms,
    updatedAt: row.updated_ms,
  }
}

/** Finds a transfer by its id, of any customer; null when it does not exist. */
export async function findTransfer(database: Database, id: string): Promise<TransferRecord | null> {
  const {
    rows: [row],
  } = await database.pool.query<TransferColumns>({
    name: 'get_transfer',
    text: `select ${COLUMNS} from transfer t where t.id = $1`,
    values: [id],
  })
  return row === undefined ? null : transferRecord(row)
}

/** Reads one transfer of a customer with its version; null when the transfer is not the tenant's. */
export async function getTransfer(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'customer') return null
  const record = await findTransfer(database, id)
  if (record === null || record.customerId !== tenant.id) return null
  return { version: record.version, view: transferJson(record) }
}

/** Lists the transfers of a customer. Operators have none of their own. */
export async function listTransfers(
  db: ReadDatabase,
  query: TransferListQuery,
): Promise<ListResult<ReturnType<typeof transferJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<TransferColumns>(db, [transferBranch(query)], query)
  return { ...page, rows: rows.map((row) => transferJson(transferRecord(row))) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function transferBranch({ tenant, filters, sort }: TransferListQuery): Branch {
  const where = new Conditions()
    .add(sql`t.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`t.status`, filters.status, 'text')
    .anyOf(sql`t.from_balance_id`, filters.fromBalanceId, 'uuid')
    .anyOf(sql`t.to_balance_id`, filters.toBalanceId, 'uuid')
    .anyOf(sql`t.currency`, filters.currency, 'bpchar')
    .anyOf(sql`t.external_id`, filters.externalId, 'text')
    .created('t', filters.createdFrom, filters.createdTo)
  const { balanceId } = filters
  if (balanceId !== undefined)
    where.add(sql`(t.from_balance_id = any(${balanceId}::uuid[]) or t.to_balance_id = any(${balanceId}::uuid[]))`)
  return {
    columns: sql.raw(COLUMNS),
    from: sql`transfer t`,
    where: where.list,
    order: { keys: [{ expression: sql`t.id`, type: 'uuid' }], descending: sort === '-createdAt' },
  }
}
