/** Approvals as stored and as the API shows them, and the effect of one decision. */
import { DAY_MS, timestamp } from '../base/clock.ts'
import type { StepUpMethod } from '../identity/step-up.ts'
import type { ApprovalStatus, SubjectSummary, SubjectType, TierSource } from './opening.ts'
import type { PolicyKind, TierJson } from './policy.ts'
import { requestersOf } from './requesters.ts'

/** An approval as storage returns it; times are epoch milliseconds. */
export interface ApprovalRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly subjectType: SubjectType
  readonly subjectId: string
  readonly subject: SubjectSummary
  readonly payload: string | null
  readonly kind: PolicyKind | null
  readonly source: TierSource
  readonly tier: TierJson
  readonly required: number
  readonly received: number
  readonly requestedBy: string
  readonly requestedByName: string
  /** The ids of all people and keys that shaped the terms. */
  readonly requesters: readonly string[]
  /** Increased by one each time the approvals start again. */
  readonly round: number
  readonly subjectChanges: readonly SubjectChange[]
  readonly status: ApprovalStatus
  readonly version: number
  readonly sandboxDecision: 'approved' | 'rejected' | null
  readonly expiresAt: number
  readonly wakeAt: number
  readonly announcedAt: number | null
  readonly warnedAt: number | null
  readonly remindedAt: number | null
  readonly createdAt: number
}

/**
 * Returns an approval as it counts at `now` (epoch milliseconds): from its deadline on a pending one is expired, also
 * before its timer has run. So no decision depends on how late a timer is.
 */
export function approvalAt(approval: ApprovalRecord, now: number): ApprovalRecord {
  return approval.status === 'pending' && approval.expiresAt <= now ? { ...approval, status: 'expired' } : approval
}

/** A change of the approval's subject, made while the approval was pending. */
export interface SubjectChange {
  readonly changedBy: string
  readonly changedByName: string
  /** RFC 3339. */
  readonly changedAt: string
  readonly paymentId: string
  /** The changed members, by their API names. */
  readonly members: readonly string[]
  /** Whether the change made the approvals start again. */
  readonly restarted: boolean
}

/** Most changes that one approval keeps; a new one beyond that displaces the oldest. */
export const SUBJECT_CHANGES_MAX = 100

/** The decision of one person. */
export interface DecisionRecord {
  readonly id: string
  readonly userId: string
  readonly userName: string
  readonly decision: 'approved' | 'rejected'
  readonly comment: string | null
  readonly decidedAt: number
  readonly stepUpMethod: StepUpMethod | null
  /** False for an approval of an earlier round, or of a person who could no longer give it at the last decision. */
  readonly counted: boolean
}

export type ApprovalIssueCode =
  | 'not_enough_approvers'
  | 'requester_only_approver'
  | 'approver_suspended'
  | 'rate_unavailable'
  | 'policy_changed'

const ISSUES: Readonly<Record<ApprovalIssueCode, string>> = {
  not_enough_approvers: 'Fewer people may decide than approvals are needed.',
  requester_only_approver: 'Only the requester could decide, and may not.',
  approver_suspended: 'A named approver is suspended.',
  rate_unavailable: 'The amount could not be converted to the currency of the policy; its highest tier applies.',
  policy_changed: 'The policy has changed since; this approval keeps the tier it opened with.',
}

/** The parts of the view that depend on the viewer and on the current state. */
export interface ApprovalSight {
  readonly canDecide: boolean
  readonly showsComments: boolean
  readonly issues: readonly ApprovalIssueCode[]
}

/** Builds the approval as the API shows it. */
export function approvalJson(
  approval: ApprovalRecord,
  decisions: readonly DecisionRecord[],
  { canDecide, showsComments, issues }: ApprovalSight,
) {
  return {
    id: approval.id,
    subjectType: approval.subjectType,
    subjectId: approval.subjectId,
    subjectSummary: approval.subject,
    tier: approval.tier.tier,
    status: approval.status,
    requiredApprovals: approval.required,
    received: approval.received,
    decisions: decisions.map(({ id, userId, userName, decision, comment, decidedAt, stepUpMethod, counted }) => ({
      id,
      userId,
      userName,
      decision,
      ...(showsComments ? { comment } : {}),
      decidedAt: timestamp(decidedAt),
      stepUpMethod,
      counted,
    })),
    requestedBy: approval.requestedBy,
    requestedByName: approval.requestedByName,
    requesters: [...requestersOf([approval.requestedBy], approval.requesters)],
    subjectChanges: approval.subjectChanges.map((change) => ({ ...change, members: [...change.members] })),
    canDecide,
    expiresAt: timestamp(approval.expiresAt),
    createdAt: timestamp(approval.createdAt),
    policy: {
      kind: approval.kind,
      source: approval.source,
      tier: approval.tier,
      issues: issues.map((code) => ({ code, message: ISSUES[code] })),
    },
  }
}

/**
 * Computes status and count after one more decision: one rejection is final, each approval counts towards `required`.
 */
export function afterDecision(
  { received, required }: Pick<ApprovalRecord, 'received' | 'required'>,
  decision: 'approved' | 'rejected',
): { readonly status: ApprovalStatus; readonly received: number } {
  if (decision === 'rejected') return { status: 'rejected', received }
  return { status: received + 1 === required ? 'approved' : 'pending', received: received + 1 }
}

/** Approvers are warned 24 hours before an approval expires, if its whole lifetime is longer than that. */
const WARNING_MS = DAY_MS

/** Computes the time at which approvers are warned of the expiry, epoch milliseconds; null when no warning is due. */
export function warningAt({
  expiresAt,
  createdAt,
  warnedAt,
}: Pick<ApprovalRecord, 'expiresAt' | 'createdAt' | 'warnedAt'>): number | null {
  return warnedAt === null && expiresAt - createdAt > WARNING_MS ? expiresAt - WARNING_MS : null
}
