/**
 * Changes an approval policy. A change that loosens none of the rules in effect, of any kind, is effective at once. A
 * change that loosens a rule needs an approval itself: by the rule in effect for policy changes, which always exists,
 * and never by the person who requested the change.
 */
import {
  loosens,
  ruleInEffect,
  rulesInEffect,
  tierInEffect,
  type StoredPolicies,
} from '../../lib/approvals/in-effect.ts'
import { summary } from '../../lib/approvals/opening.ts'
import {
  DEFAULT_TIER,
  termsJson,
  termsOf,
  type PolicyKind,
  type PolicyTerms,
  type TermsJson,
} from '../../lib/approvals/policy.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import {
  openApproval,
  readStoredPolicies,
  withdrawApproval,
  type ApprovalTx,
} from '../../storage/approvals/approvals.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import { lockPolicies, policyId, readPolicies, writePolicy } from '../../storage/approvals/policies.ts'
import { recipientCustomer } from '../../storage/recipients/recipients.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { ApprovalSubject } from './approval-subject.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

export interface PolicyChange {
  readonly customerId: string
  readonly kind: PolicyKind
  readonly terms: PolicyTerms
  /** The version that the caller has read; null accepts any version. */
  readonly expected: number | bigint | null
  readonly by: AuditBy
}

const TITLES: Readonly<Record<PolicyKind, string>> = {
  payment: 'Approval policy for payments',
  bulk_payment: 'Approval policy for bulk payments',
  exchange: 'Approval policy for exchanges',
  recipient: 'Approval policy for recipients',
  policy_change: 'Approval policy for policy changes',
}

/**
 * Changes a policy, or requests the change. An earlier request that still waits is withdrawn, because it was made on
 * other terms.
 *
 * @returns the approval that the change waits for; null when it is effective
 * @throws ProblemError `precondition-failed` when the policy has changed since it was read
 */
export async function changePolicy(
  deps: { readonly database: Database; readonly ids: IdSource; readonly clock: { now(): number } },
  change: PolicyChange,
): Promise<string | null> {
  const { customerId, kind, terms, by } = change
  return await inTransaction(deps.database, async (client) => {
    const tx: ApprovalTx = { client, ids: deps.ids, now: deps.clock.now() }
    await lockPolicies(client, customerId)
    // Before any read, so that a decision on the waiting change ends first.
    const withdrawn = await withdrawApproval(tx, policyId(customerId, kind), 'policy_changed', by)
    if (withdrawn !== null) await writeEffects(tx, withdrawn)
    const [policy] = await readPolicies(client, customerId, [kind])
    if (policy === undefined) refuseNotFound()
    checkVersion({ version: policy.version }, change.expected)
    const stored = await readStoredPolicies(client, customerId)
    const { approvalMode } = await recipientCustomer(client, customerId)
    if (loosens(rulesInEffect(stored, approvalMode), rulesInEffect({ ...stored, [kind]: terms }, approvalMode)))
      return await ask(tx, change, stored)
    await writePolicy(client, { customerId, kind, terms, by: by.actor.id, now: tx.now })
    await trail(tx, change, policy.terms)
    return null
  })
}

async function ask(
  tx: ApprovalTx,
  { customerId, kind, terms, by }: PolicyChange,
  stored: StoredPolicies,
): Promise<string> {
  const rule = ruleInEffect('policy_change', stored)
  const { tier, fromPolicy } = tierInEffect(rule, { amount: null, currency: null }) ?? {
    tier: DEFAULT_TIER,
    fromPolicy: false,
  }
  const { id, effects } = await openApproval(tx, {
    customerId,
    subjectType: 'approval_policy_change',
    subjectId: policyId(customerId, kind),
    subject: summary({ title: TITLES[kind] }),
    payload: JSON.stringify(termsJson(terms)),
    kind: fromPolicy ? 'policy_change' : null,
    source: fromPolicy ? 'snapshot' : 'default',
    // The requester of a change never decides on it, even when the policy would allow it.
    tier: { ...tier, allowSelfApproval: false },
    tierCurrency: rule.terms?.currency ?? terms.currency,
    requestedBy: by.actor.id,
    requestedByName: by.actor.name,
    sandboxDecision: null,
  })
  await writeEffects(tx, effects)
  return id
}

async function trail(
  { client, ids, now }: ApprovalTx,
  { customerId, kind, terms, by }: Omit<PolicyChange, 'expected'>,
  before: PolicyTerms,
): Promise<void> {
  await writeAudit(client, {
    ...by,
    id: ids.next(),
    tenantId: customerId,
    at: now,
    action: 'approval_policy.updated',
    object: { type: 'approval_policy', id: policyId(customerId, kind) },
    before: { kind, ...termsJson(before) },
    after: { kind, ...termsJson(terms) },
  })
}

/** Policies as subjects of approvals: the new version becomes effective with its approval. */
export function policySubject(): ApprovalSubject {
  return {
    async ended(tx, approval, { status }) {
      if (status !== 'approved') return {}
      const policy = (await readPolicies(tx.client, approval.customerId)).find(({ id }) => id === approval.subjectId)
      if (policy === undefined) throw new Error(`The policy ${approval.subjectId} does not exist.`)
      const terms = termsOf(JSON.parse(approval.payload as string) as TermsJson)
      const { customerId, kind } = policy
      await writePolicy(tx.client, { customerId, kind, terms, by: approval.requestedBy, now: tx.now })
      const by: AuditBy = {
        actor: { type: 'member', id: approval.requestedBy, name: approval.requestedByName },
        address: null,
        requestId: null,
      }
      await trail(tx, { customerId, kind, terms, by }, policy.terms)
      return {}
    },
  }
}
