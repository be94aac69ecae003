/** KYB cases as the operator's staff see them while they review. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { RiskRating } from '../../lib/customers/customer.ts'
import { shownStatus, type LifeStatus, type MeasureTaken } from '../../lib/customers/status.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
import type { CaseDecision, FirstApproval } from '../../lib/onboarding/case-decision.ts'
import type { KybCaseItem, KybCaseReview } from '../../lib/onboarding/case-review-schema.ts'
import type { KybCaseStatus, KycProviderId } from '../../lib/onboarding/case-words.ts'
import type { InfoRequest } from '../../lib/onboarding/kyb-case.ts'
import { screeningAlertJson } from '../../lib/onboarding/screening-alert.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import { Conditions, EMPTY, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { listAlerts, listNotes } from './case-reviews.ts'

export interface KybCaseFilters {
  readonly status?: readonly string[]
  readonly customerType?: readonly string[]
  readonly assignee?: readonly string[]
  readonly risk?: readonly string[]
  readonly submittedFrom?: string
  readonly submittedTo?: TimeTo
}

export type KybCaseSort = 'submittedAt' | '-updatedAt'
export type KybCaseListQuery = RowQuery<KybCaseFilters, KybCaseSort>

interface Row {
  readonly id: string
  readonly customer_id: string
  readonly customer_name: string
  readonly customer_number: string
  readonly customer_type: CustomerType
  readonly customer_status: LifeStatus
  readonly customer_measure: MeasureTaken | null
  readonly status: KybCaseStatus
  readonly risk: RiskRating | null
  readonly provider: KycProviderId
  readonly assignee_id: string | null
  readonly open_alerts: number
  readonly first_approval: FirstApproval | null
  readonly decision: CaseDecision | null
  readonly info_requested: readonly InfoRequest[]
  readonly next_review_ms: number | null
  readonly submitted_ms: number | null
  readonly reviewed_ms: number | null
  readonly created_ms: number
  readonly updated_ms: number
  readonly version: string
}

const ms = (column: string, name: string) => `(extract(epoch from k.${column}) * 1000)::float8 as ${name}`
const COLUMNS = `k.id, k.customer_id, c.legal_name as customer_name, c.number as customer_number, c.customer_type, c.status as customer_status,
  c.measure as customer_measure, k.status, c.risk, k.provider, k.assignee_id, k.first_approval, k.decision, k.info_requested, k.version,
  (select count(*) from screening_alert a where a.case_id = k.id and a.status = 'open')::int as open_alerts,
  ${ms('next_review_at', 'next_review_ms')}, ${ms('submitted_at', 'submitted_ms')}, ${ms('reviewed_at', 'reviewed_ms')},
  ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`
const FROM = 'kyb_case k join customer c on c.id = k.customer_id'

const ID = { expression: sql`k.id`, type: 'uuid' as const }
/** Cases that were never submitted follow those that were. */
const ORDERS: Readonly<Record<KybCaseSort, Order>> = {
  submittedAt: {
    keys: [{ expression: sql`coalesce(k.submitted_at, 'infinity')`, type: 'timestamptz' }, ID],
    descending: false,
    sorted: ID.expression,
  },
  '-updatedAt': {
    keys: [{ expression: sql`k.updated_at`, type: 'timestamptz' }, ID],
    descending: true,
    sorted: ID.expression,
  },
}

/** The searched text, written as in the index of customers. */
const SEARCHED = sql`c.legal_name || ' ' || coalesce(c.trading_name, '') || ' ' || c.number || ' ' || coalesce(c.registration_number, '')`

/** Lists the cases of an operator, by pages. */
export async function listKybCases(
  db: ReadDatabase,
  { tenant, filters, sort, q, ...query }: KybCaseListQuery,
): Promise<ListResult<KybCaseItem>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`k.operator_id = ${tenant.id}::uuid`)
    .anyOf(sql`k.status`, filters.status, 'text')
    .anyOf(sql`c.customer_type`, filters.customerType, 'text')
    .anyOf(sql`k.assignee_id`, filters.assignee, 'uuid')
    .anyOf(sql`c.risk`, filters.risk, 'text')
    .during(sql`k.submitted_at`, filters.submittedFrom, filters.submittedTo)
  if (q !== null) where.add(sql`search_words(c.operator_id, ${SEARCHED}) @@ search_query(${tenant.id}::uuid, ${q})`)
  const branch = { columns: sql.raw(COLUMNS), from: sql.raw(FROM), where: where.list, order: ORDERS[sort] }
  const { rows, ...page } = await readPage<Row>(db, [branch], query)
  return { ...page, rows: rows.map(itemJson) }
}

/** Reads a case of an operator with its notes and alerts; null when the case is not the operator's. */
export async function readCaseReview(
  client: StatementRunner,
  tenant: Tenant,
  id: string,
): Promise<Versioned<KybCaseReview> | null> {
  if (tenant.kind !== 'operator') return null
  const {
    rows: [row],
  } = await client.query<Row>({
    name: 'get_case_review',
    text: `select ${COLUMNS} from ${FROM} where k.id = $1 and k.operator_id = $2`,
    values: [id, tenant.id],
  })
  if (row === undefined) return null
  const alerts = await listAlerts(client, tenant.id, id)
  const notes = await listNotes(client, tenant.id, id)
  return {
    version: BigInt(row.version),
    view: {
      ...itemJson(row),
      infoRequested: row.info_requested.map(({ requestedAt, resolvedAt, ...request }) => ({
        ...request,
        requestedAt: timestamp(requestedAt),
        resolvedAt: atOrNull(resolvedAt),
      })),
      alerts: alerts.map(screeningAlertJson),
      notes: notes.map((note) => ({
        id: note.id,
        text: note.text,
        by: { id: note.authorId, name: note.authorName },
        at: timestamp(note.createdAt),
      })),
    },
  }
}

const atOrNull = (time: number | null): string | null => (time === null ? null : timestamp(time))

const firstJson = ({ by, byName, at, note }: FirstApproval) => ({
  by: { id: by, name: byName },
  at: timestamp(at),
  note,
})

function itemJson(row: Row): KybCaseItem {
  const { decision, first_approval: first } = row
  return {
    id: row.id,
    customerId: row.customer_id,
    customerName: row.customer_name,
    customerNumber: row.customer_number,
    customerType: row.customer_type,
    customerStatus: shownStatus({ customerStatus: row.customer_status, customerMeasure: row.customer_measure }),
    status: row.status,
    risk: row.risk,
    provider: row.provider,
    assignee: row.assignee_id,
    openAlerts: row.open_alerts,
    firstApproval: first === null ? null : firstJson(first),
    decision:
      decision === null
        ? null
        : {
            decision: decision.decision,
            by: { id: decision.by, name: decision.byName },
            at: timestamp(decision.at),
            reason: decision.reason,
            reasonForCustomer: decision.reasonForCustomer,
            first: decision.first === null ? null : firstJson(decision.first),
          },
    nextReviewAt: atOrNull(row.next_review_ms),
    submittedAt: atOrNull(row.submitted_ms),
    reviewedAt: atOrNull(row.reviewed_ms),
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}
