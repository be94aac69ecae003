/**
 * The accounts of an operator's chart with their balances: internal accounts, and the balances of customers (`cust`). A
 * balance has its amount in its row; the amount of an internal account is the sum of its days (ledger-days.ts) and of the
 * postings since then.
 */
import { sql } from 'kysely'
import { accountOf, type AccountKey } from '../../lib/ledger/chart.ts'
import type { LedgerAccount } from '../../lib/ledger/ledger-schema.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { OpenAccount } from '../../lib/providers/connection.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Queries } from '../db/transaction.ts'
import type { Database } from '../db/database.ts'
import { Conditions, EMPTY, readPage, type Branch, type ReadDatabase } from '../db/page.ts'
import { SINCE_DAYS } from './ledger-days.ts'

export interface LedgerAccountFilters {
  readonly id?: readonly string[]
  readonly key?: readonly string[]
  readonly currency?: readonly string[]
  readonly connectionId?: readonly string[]
  readonly customerId?: readonly string[]
}
export type LedgerAccountQuery = RowQuery<LedgerAccountFilters, 'createdAt' | '-createdAt'>

interface AccountRow {
  readonly id: string
  readonly key: AccountKey
  readonly currency: CurrencyCode
  readonly connection_id: string | null
  readonly customer_id: string | null
  readonly name: string | null
  /** Of a customer's balance; null for an internal account. */
  readonly posted: string | null
}

/** Lists the accounts of an operator, by pages. @throws DatabaseUnavailable */
export async function listLedgerAccounts(
  db: ReadDatabase,
  database: Database,
  query: LedgerAccountQuery,
): Promise<ListResult<LedgerAccount>> {
  if (query.tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<AccountRow>(db, accountBranches(query), query)
  const totals = await totalsOf(
    database,
    rows.filter(({ posted }) => posted === null).map(({ id }) => id),
  )
  return { ...page, rows: rows.map((row) => accountJson(row, totals)) }
}

/** The sources of the list. */
function accountBranches({ tenant, filters, sort }: Omit<LedgerAccountQuery, 'limit' | 'position'>): Branch[] {
  const { key: keys } = filters
  const descending = sort === '-createdAt'
  const where = (alias: string) =>
    new Conditions()
      .add(sql`${sql.ref(`${alias}.operator_id`)} = ${tenant.id}::uuid`)
      .anyOf(sql.ref(`${alias}.id`), filters.id, 'uuid')
      .anyOf(sql.ref(`${alias}.currency`), filters.currency, 'bpchar')
      .anyOf(sql.ref(`${alias}.connection_id`), filters.connectionId, 'uuid')
      .anyOf(sql.ref(`${alias}.customer_id`), filters.customerId, 'uuid')
  const internal: Branch = {
    columns: sql`a.id, a.key, a.currency, a.connection_id, a.customer_id, null::text as name, null::bigint as posted`,
    from: sql`account a`,
    where: where('a').anyOf(sql`a.key`, keys, 'text').list,
    order: { keys: [{ expression: sql`a.id`, type: 'uuid' }], descending },
  }
  const balances: Branch = {
    columns: sql`b.id, 'cust' as key, b.currency, b.connection_id, b.customer_id, b.name, b.posted`,
    from: sql`balance b`,
    where: where('b').list,
    order: { keys: [{ expression: sql`b.id`, type: 'uuid' }], descending },
  }
  return [
    ...(keys === undefined || keys.some((key) => key !== 'cust') ? [internal] : []),
    ...(keys === undefined || keys.includes('cust') ? [balances] : []),
  ]
}

/** The debits and credits of an account since its first posting, minor units. */
export interface AccountTotals {
  readonly debits: bigint
  readonly credits: bigint
}
const NOTHING: AccountTotals = { debits: 0n, credits: 0n }

/** Sums up internal accounts; accounts without a posting are absent. @throws DatabaseUnavailable */
export async function totalsOf(
  database: Queries,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, AccountTotals>> {
  if (accountIds.length === 0) return new Map()
  const rows = await database.query<[string, string, string]>({
    name: 'ledger_totals',
    values: [accountIds],
    // The last added day is read in the same snapshot as the postings after it.
    text: `select id, sum(debits), sum(credits) from (
        select account_id as id, debits, credits from ledger_day where account_id = any($1::uuid[])
        union all
        select debit_account, amount, 0 from posting where booked_at >= ${SINCE_DAYS} and debit_account = any($1::uuid[])
        union all
        select credit_account, 0, amount from posting where booked_at >= ${SINCE_DAYS} and credit_account = any($1::uuid[])) s group by id`,
  })
  return new Map(rows.map(([id, debits, credits]) => [id, { debits: BigInt(debits), credits: BigInt(credits) }]))
}

/** The accounts of a connection that are not zero, by key and currency. @throws DatabaseUnavailable */
export async function openAccountsAt(queries: Queries, connectionId: string): Promise<readonly OpenAccount[]> {
  const accounts = await queries.query<[string, AccountKey, string]>({
    name: 'accounts_at_connection',
    values: [connectionId],
    text: 'select id, key, currency from account where connection_id = $1 order by key, currency',
  })
  const totals = await totalsOf(
    queries,
    accounts.map(([id]) => id),
  )
  return accounts.flatMap(([id, key, currency]) => {
    const { debits, credits } = totals.get(id) ?? NOTHING
    const amount = accountOf(key).normalSide === 'debit' ? debits - credits : credits - debits
    return amount === 0n ? [] : [{ key, currency, amount }]
  })
}

function accountJson(row: AccountRow, totals: ReadonlyMap<string, AccountTotals>): LedgerAccount {
  const { code, class: group, purpose, normalSide } = accountOf(row.key)
  const { debits, credits } = totals.get(row.id) ?? NOTHING
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: row.currency })
  const balance =
    row.posted === null ? (normalSide === 'debit' ? debits - credits : credits - debits) : BigInt(row.posted)
  return {
    id: row.id,
    code,
    key: row.key,
    class: group,
    purpose,
    currency: row.currency,
    connectionId: row.connection_id,
    customerId: row.customer_id,
    name: row.name,
    debits: row.posted === null ? money(debits) : null,
    credits: row.posted === null ? money(credits) : null,
    balance: money(balance),
  }
}
