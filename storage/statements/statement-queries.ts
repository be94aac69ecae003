/** Statements as the customer sees them. */
import { sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { STATEMENT_COLUMNS, statementRecord, type StatementColumns, type StatementRecord } from './statements.ts'
import { balanceCurrency } from '../balances/balance-queries.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface StatementFilters {
  readonly kind?: readonly string[]
  /** Statements that begin on this day or later. */
  readonly from?: string
  /** Statements that end on this day or earlier. */
  readonly to?: string
  readonly status?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type StatementListQuery = RowQuery<StatementFilters, '-to' | 'to'> & { readonly balanceId: string }

/** Finds one statement of a customer's balance; null when it is not the customer's. */
export async function findStatement(
  database: Database,
  tenant: Tenant,
  balanceId: string,
  id: string,
): Promise<StatementRecord | null> {
  const {
    rows: [row],
  } = await database.pool.query<StatementColumns>({
    name: 'statement_find',
    text: `select ${STATEMENT_COLUMNS} from statement s where s.id = $1 and s.balance_id = $2 and s.customer_id = $3`,
    values: [id, balanceId, tenant.id],
  })
  return row === undefined ? null : statementRecord(row)
}

/** Lists the statements of a balance; null when the balance is not the tenant's. */
export async function listStatements(
  database: Database,
  db: ReadDatabase,
  query: StatementListQuery,
): Promise<ListResult<StatementRecord> | null> {
  if ((await balanceCurrency(database, query.tenant, query.balanceId)) === null) return null
  const { rows, ...page } = await readPage<StatementColumns>(db, [statementBranch(query)], query)
  return { ...page, rows: rows.map(statementRecord) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function statementBranch({ balanceId, filters, sort }: StatementListQuery): Branch {
  const where = new Conditions()
    .add(sql`s.balance_id = ${balanceId}::uuid`)
    .anyOf(sql`s.kind`, filters.kind, 'text')
    .anyOf(sql`s.status`, filters.status, 'text')
    .days(sql`s.period_from`, filters.from, undefined)
    .days(sql`s.period_to`, undefined, filters.to)
    .created('s', filters.createdFrom, filters.createdTo)
  return {
    columns: sql.raw(STATEMENT_COLUMNS),
    from: sql`statement s`,
    where: where.list,
    order: {
      keys: [
        { expression: sql`s.period_to`, type: 'date' },
        { expression: sql`s.id`, type: 'uuid' },
      ],
      descending: sort === '-to',
    },
  }
}
