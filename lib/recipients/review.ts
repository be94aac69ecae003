/**
 * The statuses of a recipient: the effects of its creation, change and deletion, and of the end of a review. The stages
 * of the review itself are elsewhere.
 *
 *   none ──create──▶ active                    no review needed
 *     └────────────▶ pending_approval ──approved──▶ active ──reviewed member changed──▶ pending_approval
 *                        │  ▲ changed again             └──operator blocks──▶ blocked
 *                        └──rejected, expired──▶ rejected ──reviewed member changed──▶ pending_approval
 *   any ──delete──▶ deleted
 */
import type { RecipientMode } from '../approvals/policy.ts'
import { timestamp } from '../base/clock.ts'

export const RECIPIENT_STATUSES = ['pending_approval', 'active', 'rejected', 'blocked', 'deleted'] as const
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number]

export const RECIPIENT_APPROVAL_STATUSES = [
  'not_required',
  'pending',
  'approved',
  'rejected',
  'expired',
  'cancelled',
] as const

/** The review of a recipient as it is stored and shown. */
export interface RecipientApproval {
  readonly mode: RecipientMode
  readonly status: (typeof RECIPIENT_APPROVAL_STATUSES)[number]
  /** The approval by the customer's approvers; a review by staff has none. */
  readonly approvalId: string | null
  readonly stage: 'customer' | 'operator' | null
  readonly requestedAt: string
  readonly decidedAt: string | null
  readonly decidedBy: string | null
  readonly reason: string | null
}

/** The first stage of a review; null: no review. */
export type FirstStage = 'customer' | 'operator' | null

/**
 * Returns the first stage of a review. A change by an API key is always reviewed by a person: by the customer's
 * approvers where the mode asks for no review. A rejected recipient cannot be used again without a new review.
 */
export function firstStage(
  mode: RecipientMode,
  { byKey, wasRejected = false }: { readonly byKey: boolean; readonly wasRejected?: boolean },
): FirstStage {
  switch (mode) {
    case 'none':
      return byKey || wasRejected ? 'customer' : null
    case 'customer_tier':
      return 'customer'
    case 'operator_queue':
      return 'operator'
    case 'customer_then_operator':
      return 'customer'
    default:
      return mode satisfies never
  }
}

/** Opens a review. `now` is epoch milliseconds. */
export function openedReview(
  mode: RecipientMode,
  stage: 'customer' | 'operator',
  approvalId: string | null,
  now: number,
): RecipientApproval {
  return {
    mode,
    status: 'pending',
    approvalId,
    stage,
    requestedAt: timestamp(now),
    decidedAt: null,
    decidedBy: null,
    reason: null,
  }
}

/** The end of a stage of a review. */
export interface ReviewEnd {
  readonly status: 'approved' | 'rejected' | 'expired' | 'cancelled'
  /** The person who decided, where the customer may know. */
  readonly by: string | null
  readonly reason: string | null
}

/** The next step after a stage: the operator's stage, or the final status. */
export type AfterStage =
  | { readonly next: 'operator' }
  | { readonly next: null; readonly status: RecipientStatus; readonly approval: RecipientApproval }

/** Ends a stage. After a cancelled review the recipient keeps its status, which the cancelling operation decides. */
export function afterStage(
  status: RecipientStatus,
  approval: RecipientApproval,
  end: ReviewEnd,
  now: number,
): AfterStage {
  if (end.status === 'approved' && approval.stage === 'customer' && approval.mode === 'customer_then_operator')
    return { next: 'operator' }
  const ended = { ...approval, status: end.status, decidedAt: timestamp(now), decidedBy: end.by, reason: end.reason }
  const becomes = end.status === 'approved' ? 'active' : end.status === 'cancelled' ? status : 'rejected'
  return { next: null, status: becomes, approval: ended }
}

/**
 * Tells whether a change is allowed: any change of an active or pending recipient, and a change of reviewed members of
 * a rejected one.
 */
export function canChange(status: RecipientStatus, reviewed: boolean): boolean {
  return changeableIn(reviewed).includes(status)
}

/** Lists the statuses in which a change of reviewed members, or of other members, is allowed. */
export function changeableIn(reviewed: boolean): readonly RecipientStatus[] {
  return reviewed ? ['active', 'pending_approval', 'rejected'] : ['active', 'pending_approval']
}

/** The occasion of a review by staff: the recipient is new, or its reviewed members were changed. */
export const REVIEW_KINDS = ['new_recipient', 'changed_recipient'] as const
export type ReviewKind = (typeof REVIEW_KINDS)[number]

export const REVIEW_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const
export type ReviewStatus = (typeof REVIEW_STATUSES)[number]

/**
 * Returns the status of a review by staff as it counts at `now` (epoch milliseconds): from its deadline on a pending
 * one is expired, also before its timer has run.
 */
export function reviewStatusAt(
  { status, expiresAt }: { readonly status: ReviewStatus; readonly expiresAt: number },
  now: number,
): ReviewStatus {
  return status === 'pending' && expiresAt <= now ? 'expired' : status
}
