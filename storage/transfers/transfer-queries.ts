/** Transfers as the customer sees them, and as the domain reads them. */
import { sql } from 'kysely'
import { transferJson, type TransferRecord } from '../../lib/transfers/transfer.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { without } from '../db/columns.ts'
import { Conditions, EMPTY, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { expression, from, select } from '../db/select.ts'
import { Transfer } from './transfer-entity.ts'

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

const TRANSFER = select({
  ...without(from(Transfer, 't'), ['operatorId', 'shard']),
  byPartner: expression<boolean>('exists (select from transfer_order o where o.transfer_id = t.id)'),
})

const transferRecord = (row: ReturnType<typeof TRANSFER.read>): TransferRecord => ({
  ...row,
  metadata: row.metadata ?? {},
})

/** Finds a transfer by its id, of any customer; null when it does not exist. */
export async function findTransfer(database: Database, id: string): Promise<TransferRecord | null> {
  const [row] = await database.query({
    name: 'get_transfer',
    text: `select ${TRANSFER.sql} from transfer t where t.id = $1`,
    values: [id],
  })
  return row === undefined ? null : transferRecord(TRANSFER.read(row))
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
  const { rows, ...page } = await readPage<object>(db, [transferBranch(query)], query)
  return { ...page, rows: rows.map((row) => transferJson(transferRecord(TRANSFER.readNamed(row)))) }
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
    columns: sql.raw(TRANSFER.named),
    from: sql`transfer t`,
    where: where.list,
    order: { keys: [{ expression: sql`t.id`, type: 'uuid' }], descending: sort === '-createdAt' },
  }
}
