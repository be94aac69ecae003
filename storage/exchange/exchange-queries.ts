/** Exchanges as the customer sees them. */
import { sql } from 'kysely'
import { exchangeJson } from '../../lib/exchange/exchange.ts'
import type { Database } from '../db/database.ts'
import { EXCHANGE, exchangeRecord, findExchange } from './exchanges.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface ExchangeFilters {
  readonly kind?: readonly string[]
  readonly status?: readonly string[]
  readonly sellCurrency?: readonly string[]
  readonly buyCurrency?: readonly string[]
  readonly parentExchangeId?: readonly string[]
  readonly settlementFrom?: string
  readonly settlementTo?: string
  readonly externalId?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type ExchangeListQuery = RowQuery<ExchangeFilters, '-createdAt' | 'createdAt' | 'settlementDate'>

/** Reads one exchange of a customer with its version; null when the exchange is not the tenant's. */
export async function getExchange(database: Pick<Database, 'query'>, tenant: Tenant, id: string) {
  if (tenant.kind !== 'customer') return null
  const record = await findExchange(database, id)
  return record === null || record.customerId !== tenant.id
    ? null
    : { version: record.version, view: exchangeJson(record) }
}

/** Fixed conditions of a list, whatever the client filters by. */
export interface ExchangesWithin {
  readonly kind?: string
  readonly parentExchangeId?: string
}

/** Lists the exchanges of a customer. Operators have none of their own. */
export async function listExchanges(
  db: ReadDatabase,
  query: ExchangeListQuery,
  within: ExchangesWithin = {},
): Promise<ListResult<ReturnType<typeof exchangeJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<object>(db, [exchangeBranch(query, within)], query)
  return { ...page, rows: rows.map((row) => exchangeJson(exchangeRecord(EXCHANGE.readNamed(row)))) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function exchangeBranch(
  { tenant, filters, sort, q }: ExchangeListQuery,
  { kind, parentExchangeId }: ExchangesWithin = {},
): Branch {
  const where = new Conditions()
    .add(sql`e.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`e.kind`, filters.kind, 'text')
    .anyOf(sql`e.status`, filters.status, 'text')
    .anyOf(sql`e.sell_currency`, filters.sellCurrency, 'bpchar')
    .anyOf(sql`e.buy_currency`, filters.buyCurrency, 'bpchar')
    .anyOf(sql`e.parent_exchange_id`, filters.parentExchangeId, 'uuid')
    .anyOf(sql`e.external_id`, filters.externalId, 'text')
    .created('e', filters.createdFrom, filters.createdTo)
  const { settlementFrom, settlementTo } = filters
  if (settlementFrom !== undefined) where.add(sql`e.settlement_date >= ${settlementFrom}::date`)
  if (settlementTo !== undefined) where.add(sql`e.settlement_date <= ${settlementTo}::date`)
  if (kind !== undefined) where.add(sql`e.kind = ${kind}`)
  if (parentExchangeId !== undefined) where.add(sql`e.parent_exchange_id = ${parentExchangeId}::uuid`)
  if (q !== null)
    where.add(
      sql`search_words(e.customer_id, e.number || ' ' || coalesce(e.reference, '')) @@ search_query(${tenant.id}::uuid, ${q})`,
    )
  const id = { expression: sql`e.id`, type: 'uuid' } as const
  return {
    columns: sql.raw(EXCHANGE.named),
    from: sql`exchange e`,
    where: where.list,
    order:
      sort === 'settlementDate'
        ? { keys: [{ expression: sql`e.settlement_date`, type: 'date' }, id], descending: false }
        : { keys: [id], descending: sort === '-createdAt' },
  }
}
