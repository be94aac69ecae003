/** Exceptions as the API shows them to the operator's staff. Customers see none. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { ExceptionKind, ExceptionOutcome } from '../../lib/compliance/exception.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { ResolutionProposal } from './exceptions.ts'
import type { Database } from '../db/database.ts'
import { caseConditions, type CaseListQuery } from './compliance-hold-queries.ts'
import type { ListResult } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { EMPTY, readPage, type ReadDatabase } from '../db/page.ts'

interface ExceptionRow {
  readonly id: string
  readonly kind: ExceptionKind
  readonly code: string | null
  readonly message: string
  readonly status: 'open' | 'resolved'
  readonly subject_type: 'payment' | 'transfer'
  readonly subject_id: string
  readonly customer_id: string
  readonly customer_name: string
  readonly currency: string
  readonly amount: string
  readonly assignee: string | null
  readonly proposal: string | null
  readonly resubmit_forbidden: boolean
  readonly outcome: ExceptionOutcome | null
  readonly outcome_amount: string | null
  readonly evidence: string | null
  readonly resolved_by: string | null
  readonly resolved_by_name: string | null
  readonly resolved_ms: number | null
  readonly version: number
  readonly created_ms: number
  readonly updated_ms: number
}

const ms = (column: string, name: string) => `(extract(epoch from c.${column}) * 1000)::float8 as ${name}`
const COLUMNS = `c.id, c.kind, c.code, c.message, c.status, c.subject_type, c.subject_id, c.customer_id, u.legal_name as customer_name, c.currency, c.amount,
  c.assignee, c.proposal, c.resubmit_forbidden, c.outcome, c.outcome_amount, c.evidence, c.resolved_by, c.resolved_by_name, ${ms('resolved_at', 'resolved_ms')},
  c.version, ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`
const FROM = 'exception_case c join customer u on u.id = c.customer_id'

/** Lists an operator's exceptions, by pages. */
export async function listExceptions(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: CaseListQuery,
  now: number,
): Promise<ListResult<ReturnType<typeof exceptionJson>>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const branch = {
    columns: sql.raw(COLUMNS),
    from: sql.raw(FROM),
    where: caseConditions(tenant.id, filters, now).list,
    order: { keys: [{ expression: sql`c.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<ExceptionRow>(db, [branch], query)
  return { ...page, rows: rows.map(exceptionJson) }
}

/** Reads one exception of an operator with its version; null when the exception is not the operator's. */
export async function getException(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'operator') return null
  const {
    rows: [row],
  } = await database.pool.query<ExceptionRow>({
    name: 'get_exception',
    text: `select ${COLUMNS} from ${FROM} where c.id = $1 and c.operator_id = $2`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : { version: row.version, view: exceptionJson(row) }
}

function exceptionJson(row: ExceptionRow) {
  const money = (amount: string) => moneyJson({ amountMinor: BigInt(amount), currency: row.currency as CurrencyCode })
  const proposal = row.proposal === null ? null : (JSON.parse(row.proposal) as ResolutionProposal)
  return {
    id: row.id,
    kind: row.kind,
    code: row.code,
    message: row.message,
    status: row.status,
    customerId: row.customer_id,
    customerName: row.customer_name,
    related: { object: row.subject_type, id: row.subject_id },
    amount: money(row.amount),
    assignee: row.assignee,
    proposal:
      proposal === null
        ? null
        : {
            outcome: proposal.outcome,
            evidence: proposal.evidence,
            amount: proposal.amountMinor === null ? null : money(proposal.amountMinor),
            by: proposal.by,
            byName: proposal.byName,
            at: proposal.at,
          },
    resubmitForbidden: row.resubmit_forbidden,
    outcome: row.outcome,
    outcomeAmount: row.outcome_amount === null ? null : money(row.outcome_amount),
    evidence: row.evidence,
    resolvedBy: row.resolved_by,
    resolvedByName: row.resolved_by_name,
    resolvedAt: row.resolved_ms === null ? null : timestamp(row.resolved_ms),
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}
