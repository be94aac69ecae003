/** Approval policies as rows. A policy that was never set has no row, but an id and default terms. */
import { hash } from 'node:crypto'
import {
  NO_POLICY,
  POLICY_KINDS,
  termsJson,
  termsOf,
  type PolicyKind,
  type PolicyTerms,
  type TermsJson,
} from '../../lib/approvals/policy.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { fenceBalances } from '../commit/fences.ts'
import { entitiesOf } from '../db/entities.ts'
import { ApprovalPolicy } from './approval-policy-entity.ts'

/** A policy with its history. Times are epoch milliseconds. */
export interface PolicyRecord {
  readonly id: string
  readonly customerId: string
  readonly kind: PolicyKind
  /** Zero before the policy is first set. */
  readonly version: number
  readonly terms: PolicyTerms
  readonly effectiveFrom: number
  readonly updatedBy: string
  readonly updatedAt: number
  /** A change that waits for approval. */
  readonly pending: { readonly approvalId: string; readonly terms: PolicyTerms } | null
}

/** Derives the id of a customer's policy of a kind: the same before and after it is set. */
export function policyId(customerId: string, kind: PolicyKind): string {
  const hex = hash('sha256', `approval policy ${kind} of ${customerId}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

interface PolicyRow {
  readonly kind: PolicyKind
  readonly version: number | null
  readonly terms: TermsJson | null
  readonly effective_ms: number
  readonly updated_by: string
  readonly updated_ms: number
  readonly approval_id: string | null
  readonly payload: string | null
}

const SELECT = `select k.kind, p.version, p.terms, coalesce(p.updated_by, c.id) as updated_by, a.id as approval_id, a.payload,
    (extract(epoch from coalesce(p.effective_from, c.created_at)) * 1000)::float8 as effective_ms,
    (extract(epoch from coalesce(p.updated_at, c.created_at)) * 1000)::float8 as updated_ms
  from unnest($2::text[], $3::uuid[]) with ordinality k(kind, id, nth) join customer c on c.id = $1
    left join approval_policy p on p.customer_id = $1 and p.kind = k.kind
    left join approval a on a.subject_id = k.id and a.status = 'pending'
  order by k.nth`

/** Reads a customer's policies of these kinds; none when the customer does not exist. */
export async function readPolicies(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
  kinds: readonly PolicyKind[] = POLICY_KINDS,
): Promise<readonly PolicyRecord[]> {
  const { rows } = await client.query<PolicyRow>({
    name: 'read_policies',
    text: SELECT,
    values: [customerId, kinds, kinds.map((kind) => policyId(customerId, kind))],
  })
  return rows.map((row) => ({
    id: policyId(customerId, row.kind),
    customerId,
    kind: row.kind,
    version: row.version ?? 0,
    terms: row.terms === null ? NO_POLICY : termsOf(row.terms),
    effectiveFrom: row.effective_ms,
    updatedBy: row.updated_by,
    updatedAt: row.updated_ms,
    pending:
      row.approval_id === null
        ? null
        : { approvalId: row.approval_id, terms: termsOf(JSON.parse(row.payload as string) as TermsJson) },
  }))
}

/**
 * Serialises changes of a customer's policies until the transaction ends, because each change is compared with all
 * policies.
 */
export async function lockPolicies(client: TransactionClient, customerId: string): Promise<void> {
  await client.query({
    name: 'lock_policies',
    text: `select pg_advisory_xact_lock(hashtextextended('approval policies of ' || $1::text, 0))`,
    values: [customerId],
  })
}

/**
 * Puts policy terms into effect, under the lock of the policies. Actors that decide on payments or exchanges of the
 * customer learn of the terms before their next decision.
 */
export async function writePolicy(
  client: TransactionClient,
  {
    customerId,
    kind,
    terms,
    by,
    now,
  }: {
    readonly customerId: string
    readonly kind: PolicyKind
    readonly terms: PolicyTerms
    readonly by: string
    readonly now: number
  },
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  const change = { terms: termsJson(terms), effectiveFrom: now, updatedBy: by, updatedAt: now }
  const found = await rows.findOne(ApprovalPolicy, { kind })
  if (found === null) await rows.insert(ApprovalPolicy, { id: policyId(customerId, kind), customerId, kind, ...change })
  else {
    Object.assign(found, change)
    await rows.save()
  }
  if (kind === 'payment' || kind === 'exchange') await fenceBalances(client, [customerId])
}
