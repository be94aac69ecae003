/** Balances as the API shows them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { BalanceReader } from './balance-reader.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, epochMs, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

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

type BalanceStatus = 'active' | 'frozen' | 'closing' | 'closed'
type DetailsStatus = 'pending' | 'active' | 'replaced' | 'closing' | 'closed' | 'failed'

interface BalanceRow {
  readonly id: string
  readonly customer_id: string
  readonly connection_id: string
  readonly currency: string
  readonly name: string
  readonly type: 'main' | 'sub'
  readonly parent_balance_id: string | null
  readonly status: BalanceStatus
  readonly is_default: boolean
  readonly details_status: DetailsStatus | null
  readonly posted: string
  readonly held: string
  readonly low_balance_threshold: string | null
  readonly metadata: Record<string, string>
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
  readonly closed_ms: number | null
}

const COLUMNS = sql`b.id, b.customer_id, b.connection_id, b.currency, b.name, b.type, b.parent_balance_id, b.status, b.is_default,
  b.details_status, b.posted, b.held, b.low_balance_threshold, b.metadata, b.version, ${epochMs('b.created_at')} as created_ms,
  ${epochMs('b.updated_at')} as updated_ms, ${epochMs('b.closed_at')} as closed_ms`

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

/** Lists the balances of a customer, or of all customers of an operator. */
export async function listBalances(
  db: ReadDatabase,
  query: BalanceListQuery,
): Promise<ListResult<ReturnType<typeof balanceJson>>> {
  const { rows, ...page } = await readPage<BalanceRow>(db, [balanceBranch(query)], query)
  return { ...page, rows: rows.map((row) => balanceJson(row, query.tenant)) }
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
  return { columns: COLUMNS, from: sql`balance b`, where: where.list, order: ORDERS[sort] }
}

const COLUMNS_OF_ONE = `b.id, b.customer_id, b.connection_id, b.currency, b.name, b.type, b.parent_balance_id, b.status, b.is_default, b.details_status,
    b.posted, b.held, b.low_balance_threshold, b.metadata, b.version, (extract(epoch from b.created_at) * 1000)::float8,
    (extract(epoch from b.updated_at) * 1000)::float8, (extract(epoch from b.closed_at) * 1000)::float8, b.sequence`

type OneRow = [
  string,
  string,
  string,
  string,
  string,
  'main' | 'sub',
  string | null,
  BalanceStatus,
  boolean,
  DetailsStatus | null,
  string,
  string,
  string | null,
  Record<string, string>,
  string,
  number,
  number,
  number | null,
  string,
]

/**
 * A balance as its customer sees it. The same object is returned while the row is unchanged, so derived values can be
 * cached with it.
 */
export interface ReadBalance {
  readonly version: bigint
  readonly view: ReturnType<typeof balanceJson>
  /** Number of lines in its journal. */
  readonly sequence: string
}

/** Reads single balances, many at once. */
export function balanceReader(database: Database): BalanceReader<ReadBalance> {
  return new BalanceReader({
    database,
    columns: COLUMNS_OF_ONE,
    keep: (columns) => {
      const [
        id,
        customer_id,
        connection_id,
        currency,
        name,
        type,
        parent_balance_id,
        status,
        is_default,
        details_status,
        posted,
        held,
        low_balance_threshold,
        metadata,
        version,
        created_ms,
        updated_ms,
        closed_ms,
        sequence,
      ] = columns as OneRow
      const view = balanceJson(
        {
          id,
          customer_id,
          connection_id,
          currency,
          name,
          type,
          parent_balance_id,
          status,
          is_default,
          details_status,
          posted,
          held,
          low_balance_threshold,
          metadata,
          version,
          created_ms,
          updated_ms,
          closed_ms,
        },
        { id: customer_id, kind: 'customer' },
      )
      return { version: BigInt(version), view, sequence }
    },
  })
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

function balanceJson(row: BalanceRow, tenant: Tenant) {
  const money = (amount: bigint) => moneyJson({ amountMinor: amount, currency: row.currency as CurrencyCode })
  const posted = BigInt(row.posted)
  const held = BigInt(row.held)
  return {
    id: row.id,
    customerId: row.customer_id,
    currency: row.currency,
    name: row.name,
    type: row.type,
    parentBalanceId: row.parent_balance_id,
    status: row.status,
    isDefault: row.is_default,
    bookBalance: money(posted),
    heldBalance: money(held),
    availableBalance: money(posted - held),
    // Money is not announced before it is credited, so this is always zero.
    pendingIncoming: money(0n),
    detailsStatus: row.details_status,
    lowBalanceThreshold: row.low_balance_threshold === null ? null : money(BigInt(row.low_balance_threshold)),
    ...(tenant.kind === 'operator' ? { connectionId: row.connection_id } : {}),
    metadata: row.metadata,
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
    closedAt: row.closed_ms === null ? null : timestamp(row.closed_ms),
  }
}
