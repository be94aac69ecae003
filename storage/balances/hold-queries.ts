/** Holds on a balance as the customer sees them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { Database } from '../db/database.ts'
import { balanceCurrency } from './balance-queries.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import {
  Conditions,
  epochMs,
  NEVER,
  readPage,
  type Branch,
  type Order,
  type ReadDatabase,
  type TimeTo,
} from '../db/page.ts'

type HoldStatus = 'active' | 'captured' | 'released' | 'expired'
type SubjectType =
  | 'payment'
  | 'payment_review'
  | 'exchange'
  | 'forward_deposit'
  | 'card_authorisation'
  | 'collection_reserve'
  | 'recall'
  | 'legal_order'
  | 'manual'

export interface HoldFilters {
  readonly status?: readonly string[]
  readonly subjectType?: readonly string[]
  readonly subjectId?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type HoldListQuery = RowQuery<HoldFilters, '-createdAt' | '-amount'> & { readonly balanceId: string }

interface HoldRow {
  readonly id: string
  readonly balance_id: string
  readonly amount: string
  readonly status: HoldStatus
  readonly subject_type: SubjectType
  readonly subject_id: string
  readonly description: string
  readonly captured_amount: string | null
  readonly created_ms: number
  readonly expires_ms: number | null
  readonly resolved_ms: number | null
}

/**
 * Subject types shown to the customer with a neutral description and without a subject, so that a review or an order of
 * an authority does not tip the customer off.
 */
const VEILED: readonly string[] = ['payment_review', 'legal_order']
const VEILED_DESCRIPTION = 'Payment under review'

/** SQL of the expiry of a card authorisation, of which only the transaction knows. */
const CARD_EXPIRY = `(select k.expires_at from card_transaction k
  where h.subject_type = 'card_authorisation' and k.id = h.subject_id and k.hold_id = h.id)`

const COLUMNS = sql`h.id, h.balance_id, h.amount, h.status, h.subject_type, h.subject_id, h.description, h.captured_amount,
  ${epochMs('h.created_at')} as created_ms, (extract(epoch from coalesce(h.expires_at, ${sql.raw(CARD_EXPIRY)})) * 1000)::float8 as expires_ms, ${epochMs('h.resolved_at')} as resolved_ms`

const ORDERS: Readonly<Record<HoldListQuery['sort'], Order>> = {
  '-createdAt': { keys: [{ expression: sql`h.id`, type: 'uuid' }], descending: true },
  '-amount': {
    keys: [
      { expression: sql`h.amount`, type: 'bigint' },
      { expression: sql`h.id`, type: 'uuid' },
    ],
    descending: true,
    sorted: sql`h.id`,
  },
}

/** Lists active holds unless the filter names other statuses. Null when the balance is not the tenant's. */
export async function listHolds(
  database: Database,
  db: ReadDatabase,
  query: HoldListQuery,
): Promise<ListResult<ReturnType<typeof holdJson>> | null> {
  const currency = await balanceCurrency(database, query.tenant, query.balanceId)
  if (currency === null) return null
  const { rows, ...page } = await readPage<HoldRow>(db, holdBranches(query), query)
  return { ...page, rows: rows.map((row) => holdJson(row, currency)) }
}

/** Active and finished holds have an index each; a query for both merges two branches. */
export function holdBranches({ balanceId, filters, sort }: HoldListQuery): readonly Branch[] {
  const statuses = filters.status ?? ['active']
  const finished = statuses.filter((status) => status !== 'active')
  const branches: Branch[] = []
  const branch = () => new Conditions().add(sql`h.balance_id = ${balanceId}::uuid`)
  const finish = (where: Conditions) => {
    filterSubject(where, filters)
    where.created('h', filters.createdFrom, filters.createdTo)
    branches.push({ columns: COLUMNS, from: sql`hold h`, where: where.list, order: ORDERS[sort] })
  }
  // Written exactly as in the conditions of the indexes; otherwise the planner cannot use them.
  if (statuses.includes('active')) finish(branch().add(sql`h.status = 'active'`))
  if (finished.length > 0) finish(branch().add(sql`h.status <> 'active'`).anyOf(sql`h.status`, finished, 'text'))
  return branches
}

function filterSubject(where: Conditions, { subjectType, subjectId }: HoldFilters): void {
  const veiled = sql`h.subject_type = any(${VEILED}::text[])`
  if (subjectType !== undefined) {
    // A hold of a legal order is found only under the type it is shown as (`payment_review`).
    const types = subjectType
      .filter((type) => type !== 'legal_order')
      .flatMap((type) => (type === 'payment_review' ? VEILED : [type]))
    where.add(types.length === 0 ? NEVER : sql`h.subject_type = any(${types}::text[])`)
  }
  if (subjectId !== undefined) {
    where.add(sql`case when ${veiled} then h.id else h.subject_id end = any(${subjectId}::uuid[])`)
  }
}

/** Finds holds by their ids, oldest first. */
export async function findHolds(db: ReadDatabase, ids: readonly string[], currency: string) {
  if (ids.length === 0) return []
  const { rows } =
    await sql<HoldRow>`select ${COLUMNS} from hold h where h.id = any(${ids}::uuid[]) order by h.id`.execute(db.kysely)
  return rows.map((row) => holdJson(row, currency))
}

function holdJson(row: HoldRow, currency: string) {
  const money = (amount: string) => moneyJson({ amountMinor: BigInt(amount), currency: currency as CurrencyCode })
  const veiled = VEILED.includes(row.subject_type)
  return {
    id: row.id,
    balanceId: row.balance_id,
    amount: money(row.amount),
    status: row.status,
    subjectType: veiled ? ('payment_review' as const) : row.subject_type,
    subjectId: veiled ? row.id : row.subject_id,
    description: veiled ? VEILED_DESCRIPTION : row.description,
    createdAt: timestamp(row.created_ms),
    expiresAt: row.expires_ms === null ? null : timestamp(row.expires_ms),
    resolvedAt: row.resolved_ms === null ? null : timestamp(row.resolved_ms),
    capturedAmount: row.captured_amount === null ? null : money(row.captured_amount),
  }
}
