/** Balances as the API shows them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { Balance } from './balance-entity.ts'
import { BalanceReader } from './balance-reader.ts'
import { without } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import type { Queries } from '../db/transaction.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { from, select } from '../db/select.ts'

export interface BalanceFilters {
  readonly status?: readonly string[]
  readonly currency?: readonly string[]
  readonly type?: readonly string[]
  readonly parentBalanceId?: readonly string[]
  /** For operators only. */
  readonly customerId?: readonly string[]
  readonly id?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type BalanceSort = 'currency' | '-createdAt' | 'name'
export type BalanceListQuery = RowQuery<BalanceFilters, BalanceSort>

const BALANCE = select(without(from(Balance, 'b'), ['operatorId', 'shard', 'version']))
type BalanceRow = ReturnType<typeof BALANCE.read>

const ORDERS: Readonly<Record<BalanceSort, Order>> = {
  currency: {
    keys: [
      { expression: sql`b.currency`, type: 'bpchar' },
      { expression: sql`b.id`, type: 'uuid' },
    ],
    descending: false,
  },
  '-createdAt': { keys: [{ expression: sql`b.id`, type: 'uuid' }], descending: true },
  name: {
    keys: [
      { expression: sql`lower(b.name)`, type: 'text' },
      { expression: sql`b.id`, type: 'uuid' },
    ],
    descending: false,
  },
}

/** Lists the balances of a customer, or of all customers of an operator; `forOperator` as the operator sees them. */
export async function listBalances(
  db: ReadDatabase,
  query: BalanceListQuery,
  forOperator: boolean,
): Promise<ListResult<ShownBalance>> {
  const { rows, ...page } = await readPage<object>(db, [balanceBranch(query)], query)
  const shown = (row: BalanceRow): ShownBalance =>
    forOperator ? operatorBalanceJson({ view: balanceJson(row), connectionId: row.connectionId }) : balanceJson(row)
  return { ...page, rows: rows.map((row) => shown(BALANCE.readNamed(row))) }
}

/** The FROM and WHERE of the list of balances; exported so that a test can check its plan. */
export function balanceBranch({ tenant, filters, metadata, sort, q }: BalanceListQuery): Branch {
  const where = new Conditions()
  where.add(
    tenant.kind === 'operator' ? sql`b.operator_id = ${tenant.id}::uuid` : sql`b.customer_id = ${tenant.id}::uuid`,
  )
  where
    .anyOf(sql`b.status`, filters.status, 'text')
    .anyOf(sql`b.currency`, filters.currency, 'bpchar')
    .anyOf(sql`b.type`, filters.type, 'text')
    .anyOf(sql`b.parent_balance_id`, filters.parentBalanceId, 'uuid')
    .anyOf(sql`b.customer_id`, filters.customerId, 'uuid')
    .anyOf(sql`b.id`, filters.id, 'uuid')
    .created('b', filters.createdFrom, filters.createdTo)
    .metadata(sql`b.metadata`, metadata)
  if (q !== null) {
    // Search words of a balance are kept under both its tenants, because either may search.
    where.add(
      sql`(search_words(b.customer_id, b.name) || search_words(b.operator_id, b.name)) @@ search_query(${tenant.id}::uuid, ${q})`,
    )
  }
  return { columns: sql.raw(BALANCE.named), from: sql`balance b`, where: where.list, order: ORDERS[sort] }
}

/**
 * A balance as its customer sees it; its version counts the changes by people. The same object is returned while the
 * row is unchanged, so derived values can be
 * cached with it.
 */
export interface ReadBalance {
  readonly version: number
  readonly view: ReturnType<typeof balanceJson>
  /** For the operator alone. */
  readonly connectionId: string
  /** Number of lines in its journal. */
  readonly sequence: bigint
}

/** A balance as it is listed: the operator's list shows the connections. */
type ShownBalance = ReadBalance['view'] & { readonly connectionId?: string }

/** Reads single balances, many at once. */
export function balanceReader(database: Database): BalanceReader<ReadBalance> {
  return new BalanceReader({
    database,
    columns: BALANCE.sql,
    keep: (columns) => {
      const row = BALANCE.read(columns)
      return {
        version: row.termsVersion,
        view: balanceJson(row),
        connectionId: row.connectionId,
        sequence: row.sequence,
      }
    },
  })
}

/** Reads one balance of a customer within a transaction; null when the balance is not the customer's. */
export async function balanceWithin(
  queries: Queries,
  customerId: string,
  id: string,
): Promise<Pick<ReadBalance, 'version' | 'view'> | null> {
  const [found] = await queries.query({
    name: 'balance_within',
    text: `select ${BALANCE.sql} from balance b where b.id = $1 and b.customer_id = $2`,
    values: [id, customerId],
  })
  if (found === undefined) return null
  const row = BALANCE.read(found)
  return { version: row.termsVersion, view: balanceJson(row) }
}

/** Reads one balance of a customer with its version; null when the balance is not the tenant's. */
export async function getBalance(
  reader: BalanceReader<ReadBalance>,
  tenant: Tenant,
  id: string,
): Promise<ReadBalance | null> {
  if (tenant.kind !== 'customer') return null
  const found = await reader.find(id)
  return found === null || found.view.customerId !== tenant.id ? null : found
}

/**
 * Reads the currency of a customer's balance; null when the balance is not the tenant's. Lists under a balance run this
 * first.
 */
export async function balanceCurrency(database: Database, tenant: Tenant, id: string): Promise<string | null> {
  if (tenant.kind !== 'customer') return null
  const [row] = await database.query<[string]>({
    name: 'balance_currency',
    text: 'select currency from balance where id = $1 and customer_id = $2',
    values: [id, tenant.id],
  })
  return row === undefined ? null : row[0]
}

/** Makes a balance as the API shows it to the operator. */
export const operatorBalanceJson = ({ view, connectionId }: Pick<ReadBalance, 'view' | 'connectionId'>) => ({
  ...view,
  connectionId,
})

/** Makes a balance as the API shows it to its customer. */
function balanceJson(row: BalanceRow) {
  const { currency, posted, held } = row
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency })
  return {
    id: row.id,
    customerId: row.customerId,
    currency: currency as string,
    name: row.name,
    type: row.type,
    parentBalanceId: row.parentBalanceId,
    status: row.status,
    isDefault: row.isDefault,
    bookBalance: money(posted),
    heldBalance: money(held),
    availableBalance: money(posted - held),
    // Money is not announced before it is credited, so this is always zero.
    pendingIncoming: money(0n),
    detailsStatus: row.detailsStatus,
    lowBalanceThreshold: row.lowBalanceThreshold === null ? null : money(row.lowBalanceThreshold),
    metadata: row.metadata,
    createdAt: timestamp(row.createdAt),
    updatedAt: timestamp(row.updatedAt),
    closedAt: row.closedAt === null ? null : timestamp(row.closedAt),
  }
}
