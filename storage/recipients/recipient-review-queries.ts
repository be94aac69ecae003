/** Reviews of recipients as the API shows them to the operator's staff. */
import { sql } from 'kysely'
import { HOUR_MS, timestamp } from '../../lib/base/clock.ts'
import type { ReviewKind, ReviewStatus } from '../../lib/recipients/review.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { recipientColumns, recipientRecord, type RecipientColumns } from './recipient-queries.ts'

export interface RecipientReviewFilters {
  readonly status?: readonly string[]
  readonly kind?: readonly string[]
  readonly customerId?: readonly string[]
  readonly assignee?: readonly string[]
  readonly olderThanHours?: number
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type RecipientReviewListQuery = RowQuery<RecipientReviewFilters, 'createdAt' | '-createdAt'>

interface ReviewRow extends RecipientColumns {
  readonly review_id: string
  readonly customer_name: string
  readonly review_kind: ReviewKind
  readonly review_status: ReviewStatus
  readonly review_version: string
  readonly requested_by: string
  readonly requested_by_name: string
  readonly decided_by: string | null
  readonly reason: string | null
  readonly decided_ms: number | null
  readonly expires_ms: number
  readonly opened_ms: number
}

const ms = (column: string, name: string) => `(extract(epoch from v.${column}) * 1000)::float8 as ${name}`
const COLUMNS = `v.id as review_id, c.legal_name as customer_name, v.kind as review_kind, v.status as review_status, v.version as review_version, v.requested_by, v.requested_by_name,
  v.decided_by, v.reason, ${ms('decided_at', 'decided_ms')}, ${ms('expires_at', 'expires_ms')}, ${ms('created_at', 'opened_ms')}, ${recipientColumns}`
const FROM = 'recipient_review v join recipient r on r.id = v.recipient_id join customer c on c.id = v.customer_id'

const order = (descending: boolean): Order => ({ keys: [{ expression: sql`v.id`, type: 'uuid' }], descending })

/** Lists the reviews of an operator at `now`, epoch milliseconds. Customers see none. */
export async function listRecipientReviews(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RecipientReviewListQuery,
  now: number,
): Promise<ListResult<ReturnType<typeof reviewJson>>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`v.operator_id = ${tenant.id}::uuid`)
    .anyOf(sql`v.status`, filters.status, 'text')
    .anyOf(sql`v.kind`, filters.kind, 'text')
    .anyOf(sql`v.customer_id`, filters.customerId, 'uuid')
    // Staff act on a review by deciding it, so its assignee is the person who decided.
    .anyOf(sql`v.decided_by`, filters.assignee, 'uuid')
    .created('v', filters.createdFrom, filters.createdTo)
  const { olderThanHours } = filters
  if (olderThanHours !== undefined)
    where.add(sql`v.created_at < ${timestamp(now - olderThanHours * HOUR_MS)}::timestamptz`)
  const branch = {
    columns: sql.raw(COLUMNS),
    from: sql.raw(FROM),
    where: where.list,
    order: order(sort === '-createdAt'),
  }
  const { rows, ...page } = await readPage<ReviewRow>(db, [branch], query)
  return { ...page, rows: rows.map(reviewJson) }
}

/** Reads one review of an operator with its version; null when the review is not the operator's. */
export async function getRecipientReview(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'operator') return null
  const {
    rows: [row],
  } = await database.pool.query<ReviewRow>({
    name: 'get_recipient_review',
    text: `select ${COLUMNS} from ${FROM} where v.id = $1 and v.operator_id = $2`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : { version: BigInt(row.review_version), view: reviewJson(row) }
}

function reviewJson(row: ReviewRow) {
  return {
    id: row.review_id,
    kind: row.review_kind,
    customerId: row.customer_id,
    customerName: row.customer_name,
    status: row.review_status,
    recipient: recipientRecord(row).view,
    requestedBy: row.requested_by,
    requestedByName: row.requested_by_name,
    assignee: row.decided_by,
    decidedBy: row.decided_by,
    decidedAt: row.decided_ms === null ? null : timestamp(row.decided_ms),
    reason: row.reason,
    expiresAt: timestamp(row.expires_ms),
    createdAt: timestamp(row.opened_ms),
  }
}
