/** The behaviour of the subjects of approvals: payments, recipients, policies and others, when their approval ends. */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import type { Problem } from '../../lib/base/problems.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { ApprovalTx, Ending } from '../../storage/approvals/approvals.ts'

/** The effects to write together with the end of an approval, and a callback to run after the commit. */
export interface SubjectOutcome {
  readonly effects?: Effects
  readonly after?: () => void
}

/**
 * The behaviour of one kind of subject when its approval ends. Each method runs within the transaction of the decision.
 */
export interface ApprovalSubject {
  /** Returns the reason why the approval cannot be decided so now; null when it can. */
  blocked?(tx: ApprovalTx, approval: ApprovalRecord, decision: 'approved' | 'rejected'): Promise<Problem | null>
  /**
   * Checks, before an approval goes through, whether the subject still has the terms that the approvers were shown.
   * Returns null when it does. Otherwise the approval is withdrawn for the returned reason, and the approver is told.
   */
  changed?(
    tx: ApprovalTx,
    approval: ApprovalRecord,
  ): Promise<{ readonly reason: string; readonly currentMaskedIdentifier: string | null } | null>
  /**
   * Returns the ids of the people and keys that have shaped the terms since the approval opened, in addition to those
   * stored with it.
   */
  shapedBy?(tx: ApprovalTx, approval: ApprovalRecord): Promise<readonly string[]>
  /** Applies the end of the approval to the subject. */
  ended(tx: ApprovalTx, approval: ApprovalRecord, ending: Ending): Promise<SubjectOutcome>
}
