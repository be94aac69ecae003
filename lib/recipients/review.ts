/**
 * The life of a recipient, without the reviews' own: what making, changing and deleting one leads to, and what the end of a
 * review leads to.
 *
 *   none ──create──▶ active                    nobody has to look at it
 *     └────────────▶ pending_approval ──approved──▶ active ──reviewed member changed──▶ pending_approval
 *                        │  ▲ changed again             └──operator blocks──▶ blocked
 *                        └──rejected, expired──▶ rejected ──reviewed member changed──▶ pending_approval
 *   any ──delete──▶ deleted
 */
import type { RecipientMode } from '../approvals/policy.ts'
import { timestamp } from '../base/clock.ts'

export const RECIPIENT_STATUSES = ['pending_approval', 'active', 'rejected', 'blocked', 'deleted'] as const
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number]

export const RECIPIENT_APPROVAL_STATUSES = ['not_required', 'pending', 'approved', 'rejected', 'expired', 'cancelled'] as const

/** The review of a recipient as it is kept and shown. */
export interface RecipientApproval {
  readonly mode: RecipientMode
  readonly status: (typeof RECIPIENT_APPROVAL_STATUSES)[number]
  /** The approval of its customer's people; staff decide on a review of their own. */
  readonly approvalId: string | null
  readonly stage: 'customer' | 'operator' | null
  readonly requestedAt: string
  readonly decidedAt: string | null
  readonly decidedBy: string | null
  readonly reason: string | null
}

/** Who has to look at a recipient first; null: nobody. */
export type FirstStage = 'customer' | 'operator' | null

/**
 * Who looks first. What a key makes is always looked at by a human, so where nobody would it is the customer's people; what
 * was rejected once is not usable again before somebody has looked.
 */
export function firstStage(mode: RecipientMode, { byKey, wasRejected = false }: { readonly byKey: boolean; readonly wasRejected?: boolean }): FirstStage {
  switch (mode) {
    case 'none': return byKey || wasRejected ? 'customer' : null
    case 'customer_tier': return 'customer'
    case 'operator_queue': return 'operator'
    case 'customer_then_operator': return 'customer'
    default: return mode satisfies never
  }
}

/** A review that begins. `now` is epoch milliseconds. */
export function openedReview(mode: RecipientMode, stage: 'customer' | 'operator', approvalId: string | null, now: number): RecipientApproval {
  return { mode, status: 'pending', approvalId, stage, requestedAt: timestamp(now), decidedAt: null, decidedBy: null, reason: null }
}

/** How a stage of a review has ended. */
export interface ReviewEnd {
  readonly status: 'approved' | 'rejected' | 'expired' | 'cancelled'
  /** Who decided, where the customer may know. */
  readonly by: string | null
  readonly reason: string | null
}

/** What the end of a stage makes of the recipient: usable, refused, or on to the operator's people. */
export type AfterStage =
  | { readonly next: 'operator' }
  | { readonly next: null; readonly status: RecipientStatus; readonly approval: RecipientApproval }

/** The end of a stage. A review that was withdrawn leaves the recipient to whoever withdrew it. */
export function afterStage(status: RecipientStatus, approval: RecipientApproval, end: ReviewEnd, now: number): AfterStage {
  if (end.status === 'approved' && approval.stage === 'customer' && approval.mode === 'customer_then_operator') return { next: 'operator' }
  const ended = { ...approval, status: end.status, decidedAt: timestamp(now), decidedBy: end.by, reason: end.reason }
  const becomes = end.status === 'approved' ? 'active' : end.status === 'cancelled' ? status : 'rejected'
  return { next: null, status: becomes, approval: ended }
}

/** Whether a change is allowed: anything while it can be used or waits, the reviewed members also of a rejected one. */
export function canChange(status: RecipientStatus, reviewed: boolean): boolean {
  return status === 'active' || status === 'pending_approval' || (status === 'rejected' && reviewed)
}

export const REVIEW_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const
