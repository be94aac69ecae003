/** Compliance holds as the API shows them to the operator's staff. Customers see none. */
import { sql } from 'kysely'
import { HOUR_MS, timestamp } from '../../lib/base/clock.ts'
import type { ComplianceHoldKind, ComplianceHoldStatus, Finding, HeldSubject } from '../../lib/compliance/hold.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { HoldProposal } from './compliance-holds.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../db/page.ts'

/** Filters of a queue of cases that wait for the operator's staff. */
export interface CaseFilters {
  readonly status?: readonly string[]
  readonly kind?: readonly string[]
  readonly customerId?: readonly string[]
  readonly assignee?: readonly string[]
  readonly olderThanHours?: number
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type CaseListQuery = RowQuery<CaseFilters, 'createdAt' | '-createdAt'>

interface HoldRow {
  readonly id: string
  readonly kind: ComplianceHoldKind
  readonly provider: string
  readonly status: ComplianceHoldStatus
  readonly subject_type: HeldSubject
  readonly subject_id: string
  readonly customer_id: string
  readonly customer_name: string
  readonly currency: string
  readonly amount: string
  readonly counterparty: string | null
  readonly findings: string
  readonly proposal: string | null
  readonly assignee: string | null
  readonly decided_by: string | null
  readonly decided_by_name: string | null
  readonly decided_ms: number | null
  readonly reason: string | null
  readonly freeze_funds: boolean | null
  readonly version: number
  readonly created_ms: number
  readonly updated_ms: number
}

const ms = (column: string, name: string) => `(extract(epoch from c.${column}) * 1000)::float8 as ${name}`
const COLUMNS = `c.id, c.kind, c.provider, c.status, c.subject_type, c.subject_id, c.customer_id, u.legal_name as customer_name, c.currency, c.amount,
  c.counterparty, c.findings, c.proposal, c.assignee, c.decided_by, c.decided_by_name, ${ms('decided_at', 'decided_ms')}, c.reason, c.freeze_funds, c.version,
  ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`
const FROM = 'compliance_hold c join customer u on u.id = c.customer_id'

/** The conditions of a queue of cases `c`, shared by holds and exceptions. `now` is epoch milliseconds. */
export function caseConditions(operatorId: string, filters: CaseFilters, now: number): Conditions {
  const where = new Conditions()
    .add(sql`c.operator_id = ${operatorId}::uuid`)
    .anyOf(sql`c.status`, filters.status, 'text')
    .anyOf(sql`c.kind`, filters.kind, 'text')
    .anyOf(sql`c.customer_id`, filters.customerId, 'uuid')
    .anyOf(sql`c.assignee`, filters.assignee, 'uuid')
    .created('c', filters.createdFrom, filters.createdTo)
  const { olderThanHours } = filters
  return olderThanHours === undefined
    ? where
    : where.add(sql`c.created_at < ${timestamp(now - olderThanHours * HOUR_MS)}::timestamptz`)
}

/** Lists an operator's holds, by pages. */
export async function listComplianceHolds(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: CaseListQuery,
  now: number,
): Promise<ListResult<ReturnType<typeof holdJson>>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const branch = {
    columns: sql.raw(COLUMNS),
    from: sql.raw(FROM),
    where: caseConditions(tenant.id, filters, now).list,
    order: { keys: [{ expression: sql`c.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<HoldRow>(db, [branch], query)
  return { ...page, rows: rows.map(holdJson) }
}

/** Reads one hold of an operator with its notes and its version; null when the hold is not the operator's. */
export async function getComplianceHold(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'operator') return null
  const {
    rows: [row],
  } = await database.pool.query<HoldRow>({
    name: 'get_compliance_hold',
    text: `select ${COLUMNS} from ${FROM} where c.id = $1 and c.operator_id = $2`,
    values: [id, tenant.id],
  })
  if (row === undefined) return null
  const { rows: notes } = await database.pool.query<{
    id: string
    author_id: string
    author_name: string
    text: string
    created_ms: number
  }>({
    name: 'get_compliance_notes',
    values: [id],
    text: `select c.id, c.author_id, c.author_name, c.text, ${ms('created_at', 'created_ms')} from compliance_note c where c.hold_id = $1 order by c.id`,
  })
  return {
    version: row.version,
    view: {
      ...holdJson(row),
      notes: notes.map((note) => ({
        id: note.id,
        text: note.text,
        by: note.author_id,
        byName: note.author_name,
        at: timestamp(note.created_ms),
      })),
    },
  }
}

function holdJson(row: HoldRow) {
  return {
    id: row.id,
    kind: row.kind,
    provider: row.provider,
    status: row.status,
    customerId: row.customer_id,
    customerName: row.customer_name,
    related: { object: row.subject_type, id: row.subject_id },
    amount: moneyJson({ amountMinor: BigInt(row.amount), currency: row.currency as CurrencyCode }),
    counterpartyName: row.counterparty,
    findings: JSON.parse(row.findings) as Finding[],
    proposal: row.proposal === null ? null : (JSON.parse(row.proposal) as HoldProposal),
    assignee: row.assignee,
    decidedBy: row.decided_by,
    decidedByName: row.decided_by_name,
    decidedAt: row.decided_ms === null ? null : timestamp(row.decided_ms),
    reason: row.reason,
    freezeFunds: row.freeze_funds,
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}
