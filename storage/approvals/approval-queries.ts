/** Approvals and policies as users and API keys see them. */
import { sql } from 'kysely'
import { approvalJson, type ApprovalIssueCode, type DecisionRecord } from '../../lib/approvals/approval.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { tierJson, type PolicyKind } from '../../lib/approvals/policy.ts'
import { APPROVAL_COLUMNS, approvalRecord, type ApprovalColumns } from './approvals.ts'
import { IN_TIER, MAY_DECIDE, NOT_OWN } from './approval-standing.ts'
import { ApprovalDecision } from './approval-decision-entity.ts'
import { pick } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { from, select } from '../db/select.ts'
import { readPolicies, type PolicyRecord } from './policies.ts'
import { through, type Queries, type TransactionClient } from '../db/transaction.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, NEVER, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface ApprovalFilters {
  readonly status?: readonly string[]
  readonly subjectType?: readonly string[]
  readonly subjectId?: readonly string[]
  readonly mine?: boolean
  readonly requestedByMe?: boolean
  readonly customerId?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type ApprovalListQuery = RowQuery<ApprovalFilters, '-createdAt' | 'createdAt'>

/** The user or API key that reads. */
export interface Viewer {
  /** Id of the user or of the API key. */
  readonly id: string
  readonly showsComments: boolean
}

interface ApprovalRow extends ApprovalColumns {
  readonly can_decide: boolean
  readonly approvers: number
  readonly requester_could: boolean
  readonly approver_suspended: boolean
  readonly policy_changed: boolean
}

const ID = { expression: sql`a.id`, type: 'uuid' } as const
const ORDERS: Readonly<Record<ApprovalListQuery['sort'], Order>> = {
  '-createdAt': { keys: [ID], descending: true },
  createdAt: { keys: [ID], descending: false },
}

/** SQL condition: the viewer may decide. Only members of the customer may, so staff and keys never match. */
const mayDecide = (viewer: Viewer) =>
  sql`exists (select from membership m where m.tenant_id = a.customer_id and m.user_id = ${viewer.id}::uuid and ${sql.raw(MAY_DECIDE)})`

const SIGHT = `
  (select count(*)::int from membership m where m.tenant_id = a.customer_id and m.status = 'active' and ${IN_TIER} and ${NOT_OWN}) as approvers,
  exists (select from membership m where m.tenant_id = a.customer_id and m.status = 'active' and ${IN_TIER} and not ${NOT_OWN}) as requester_could,
  exists (select from membership m where m.tenant_id = a.customer_id and m.status <> 'active' and (a.tier->'approverUserIds') ? m.user_id::text) as approver_suspended,
  (a.source = 'snapshot' and a.tier is distinct from (select p.terms->'tiers'->(a.tier_number - 1) from approval_policy p
    where p.customer_id = a.customer_id and p.kind = a.kind and (p.terms->>'enabled')::boolean)) as policy_changed`

const columns = (viewer: Viewer) =>
  sql`${sql.raw(APPROVAL_COLUMNS)}, ${mayDecide(viewer)} as can_decide, ${sql.raw(SIGHT)}`

/** Lists the approvals of a customer, or of all customers of an operator. */
export async function listApprovals(
  database: Database,
  db: ReadDatabase,
  { tenant, filters, sort, ...page }: ApprovalListQuery,
  viewer: Viewer,
) {
  const where = scope(tenant)
    .anyOf(sql`a.status`, filters.status, 'text')
    .anyOf(sql`a.subject_type`, filters.subjectType, 'text')
    .anyOf(sql`a.subject_id`, filters.subjectId, 'uuid')
    .anyOf(sql`a.customer_id`, filters.customerId, 'uuid')
    .created('a', filters.createdFrom, filters.createdTo)
  // An operator's staff decide on no approval, whatever memberships they have elsewhere.
  if (filters.mine !== undefined)
    where.add(
      tenant.kind === 'operator'
        ? filters.mine
          ? NEVER
          : sql`true`
        : filters.mine
          ? mayDecide(viewer)
          : sql`not ${mayDecide(viewer)}`,
    )
  if (filters.requestedByMe !== undefined)
    where.add(sql`(a.requested_by = ${viewer.id}::uuid) = ${filters.requestedByMe}::boolean`)
  const { rows, ...rest } = await readPage<ApprovalRow>(
    db,
    [{ columns: columns(viewer), from: sql`approval a`, where: where.list, order: ORDERS[sort] }],
    page,
  )
  const decisions = await decisionsOf(
    database,
    rows.map(({ id }) => id),
  )
  return { ...rest, rows: rows.map((row) => view(row, decisions.get(row.id) ?? [], viewer, tenant)) }
}

/** Reads one approval with its version; null when the approval is not the tenant's. */
export async function getApproval(database: Database, db: ReadDatabase, tenant: Tenant, id: string, viewer: Viewer) {
  const where = scope(tenant).add(sql`a.id = ${id}::uuid`)
  const {
    rows: [row],
  } = await readPage<ApprovalRow>(
    db,
    [{ columns: columns(viewer), from: sql`approval a`, where: where.list, order: ORDERS.createdAt }],
    { limit: 1, position: null, withTotal: false },
  )
  if (row === undefined) return null
  const decisions = await decisionsOf(database, [row.id])
  return { version: row.version, view: view(row, decisions.get(row.id) ?? [], viewer, tenant) }
}

/** Reads an approval with its version within the transaction that opens or changes it. */
export async function showApproval(client: TransactionClient, tenant: Tenant, id: string, viewer: Viewer) {
  const {
    rows: [row],
  } = await client.query<ApprovalRow>({
    name: 'show_approval',
    values: [id, viewer.id],
    text: `select ${APPROVAL_COLUMNS}, exists (select from membership m where m.tenant_id = a.customer_id and m.user_id = $2 and ${MAY_DECIDE}) as can_decide, ${SIGHT} from approval a where a.id = $1`,
  })
  if (row === undefined) throw new Error(`The approval ${id} has vanished.`)
  const decisions = await decisionsOf(through(client), [id])
  return { version: row.version, view: view(row, decisions.get(id) ?? [], viewer, tenant) }
}

function scope(tenant: Tenant): Conditions {
  return new Conditions().add(
    tenant.kind === 'operator' ? sql`a.operator_id = ${tenant.id}::uuid` : sql`a.customer_id = ${tenant.id}::uuid`,
  )
}

function view(row: ApprovalRow, decisions: readonly DecisionRecord[], { showsComments }: Viewer, tenant: Tenant) {
  const issues: ApprovalIssueCode[] = []
  if (row.status === 'pending') {
    if (row.approvers === 0 && row.requester_could) issues.push('requester_only_approver')
    else if (row.approvers < row.required) issues.push('not_enough_approvers')
    if (row.approver_suspended) issues.push('approver_suspended')
    if (row.policy_changed) issues.push('policy_changed')
  }
  if (!row.converted) issues.push('rate_unavailable')
  return approvalJson(approvalRecord(row), decisions, {
    canDecide: tenant.kind === 'customer' && row.can_decide,
    showsComments,
    issues,
  })
}

const DECISION = select(
  pick(from(ApprovalDecision, ''), [
    'id',
    'userId',
    'userName',
    'decision',
    'comment',
    'decidedAt',
    'stepUpMethod',
    'counted',
  ]),
)
const DECISIONS = `select ${DECISION.sql}, approval_id from approval_decision where approval_id = any($1::uuid[]) order by id`

async function decisionsOf(
  database: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly DecisionRecord[]>> {
  const found = new Map<string, DecisionRecord[]>()
  if (ids.length === 0) return found
  for (const row of await database.query({ name: 'approval_decisions', text: DECISIONS, values: [ids] })) {
    const approvalId = row[DECISION.width] as string
    const record = DECISION.read(row)
    const decisions = found.get(approvalId)
    if (decisions === undefined) found.set(approvalId, [record])
    else decisions.push(record)
  }
  return found
}

// ── Policies
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Reads all policies of a customer, including kinds that were never set. */
export async function listApprovalPolicies(database: Database, customerId: string) {
  return (await readPolicies(database.pool, customerId)).map(policyJson)
}

/** Reads one policy with its version; null when the customer does not exist. */
export async function getApprovalPolicy(database: Database, customerId: string, kind: PolicyKind) {
  const [policy] = await readPolicies(database.pool, customerId, [kind])
  return policy === undefined ? null : { version: policy.version, view: policyJson(policy) }
}

function policyJson({
  id,
  customerId,
  kind,
  version,
  terms,
  pending,
  effectiveFrom,
  updatedBy,
  updatedAt,
}: PolicyRecord) {
  const tiers = (of: PolicyRecord['terms']) => of.tiers.map((tier) => tierJson(tier, of.currency))
  return {
    id,
    customerId,
    kind,
    version,
    enabled: terms.enabled,
    currency: terms.currency,
    tiers: tiers(terms),
    appliesTo: terms.appliesTo,
    exemptOwnAccounts: terms.exemptOwnAccounts,
    recipientMode: terms.recipientMode,
    pendingChange: pending === null ? null : { approvalId: pending.approvalId, tiers: tiers(pending.terms) },
    effectiveFrom: timestamp(effectiveFrom),
    updatedBy,
    updatedAt: timestamp(updatedAt),
  }
}
