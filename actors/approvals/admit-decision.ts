/** Whether a person may decide an approval now, and the refusals of a decision. */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import { type Problem, ProblemError, refuse, refuseTransition } from '../../lib/base/problems.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import { addRequesters, standingOf } from '../../storage/approvals/approval-standing.ts'
import type { ApprovalTx, NewDecision } from '../../storage/approvals/approvals.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import type { ApprovalSubject } from './approval-subject.ts'

export interface DecideRequest extends NewDecision {
  readonly customerId: string
  readonly approvalId: string
  /** The version of the approval that the approver was shown; null accepts any version. */
  readonly expected?: number | bigint | null
  /** The details that the approver was shown; null for a detail that the approver did not send back. */
  readonly shown: {
    readonly recipientMaskedIdentifier: string | null
    readonly amount: { readonly amountMinor: string; readonly currency: string } | null
  }
  readonly by: AuditBy
}

/** Checks that this person may decide this approval now. @throws ProblemError when the person may not */
export async function admitDecision(
  tx: ApprovalTx,
  asked: ApprovalRecord,
  subject: ApprovalSubject,
  { userId, decision, shown, expected = null }: DecideRequest,
): Promise<ApprovalRecord> {
  checkVersion(asked, expected)
  const approval = await addRequesters(tx.client, asked, (await subject.shapedBy?.(tx, asked)) ?? [])
  const standing = await standingOf(tx.client, approval.id, userId)
  if (standing === null || !standing.inTier || !standing.notOwn) {
    refuse(
      'insufficient-scope',
      standing?.inTier === true
        ? 'Requesters do not decide on their own request.'
        : 'You are not an approver of this tier.',
      { extra: { requiredCapability: 'approvals.decide' } },
    )
  }
  if (approval.status !== 'pending') refuseEnded(approval)
  if (standing.hasDecided) refuseTransition('You have already decided on this approval.', approval.status, ['pending'])
  if (standing.teamUsed && decision === 'approved') {
    refuse('insufficient-scope', 'A person of your team has approved; the next approval must come from another team.', {
      extra: { requiredCapability: 'approvals.decide' },
    })
  }
  const { recipientMaskedIdentifier, amount } = approval.subject
  const isShown =
    (shown.recipientMaskedIdentifier === null || shown.recipientMaskedIdentifier === recipientMaskedIdentifier) &&
    (shown.amount === null ||
      (shown.amount.amountMinor === amount?.amountMinor && shown.amount.currency === amount.currency))
  if (!isShown) refuseChanged(recipientMaskedIdentifier)
  const blocked = (await subject.blocked?.(tx, approval, decision)) ?? null
  if (blocked !== null) throw new ProblemError(blocked)
  return approval
}

/** @throws ProblemError `invalid-transition`: the approval has ended */
export function refuseEnded({ status }: Pick<ApprovalRecord, 'status'>): never {
  refuseTransition(`The approval is ${status}.`, status, ['pending'])
}

/** The problem of an approver who was shown other terms than the subject has. */
export function changedProblem(currentMaskedIdentifier: string | null): Problem {
  return {
    slug: 'approval-subject-changed',
    detail: 'The subject has changed since it was shown.',
    extra: { currentMaskedIdentifier },
  }
}

function refuseChanged(currentMaskedIdentifier: string | null): never {
  throw new ProblemError(changedProblem(currentMaskedIdentifier))
}
