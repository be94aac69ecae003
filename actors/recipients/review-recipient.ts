/**
 * The reviews of a recipient: the first stage, and the result of each stage. The customer's members decide through an
 * approval, the operator's staff through a review of their own; both end in `applyRecipientApproval`.
 */
import { DAY_MS } from '../../lib/base/clock.ts'
import { sandboxDecisionIn } from '../../lib/sandbox/approvals.ts'
import { rulesInEffect, tierInEffect, type RulesInEffect } from '../../lib/approvals/in-effect.ts'
import { DEFAULT_TIER } from '../../lib/approvals/policy.ts'
import { SANDBOX_DECISION_MS, summary } from '../../lib/approvals/opening.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import {
  afterStage,
  firstStage,
  openedReview,
  type RecipientApproval,
  type RecipientStatus,
  type ReviewEnd,
  type ReviewKind,
} from '../../lib/recipients/review.ts'
import { sandboxTokens } from '../../lib/sandbox/triggers.ts'
import {
  endApproval,
  lastDeciderOf,
  lockPendingApproval,
  openApproval,
  readStoredPolicies,
  type ApprovalTx,
} from '../../storage/approvals/approvals.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import { writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import { endReview, insertReview, lockPendingReview } from '../../storage/recipients/recipient-reviews.ts'
import {
  lockRecipient,
  recipientCustomer,
  setRecipientState,
  type RecipientCustomer,
} from '../../storage/recipients/recipients.ts'
import type { ApprovalSubject } from '../approvals/approval-subject.ts'

/** The operator's staff have two weeks to decide a review. */
const REVIEW_EXPIRES_MS = 14 * DAY_MS

/** The recipient that a review decides on. */
export interface Reviewed {
  readonly id: string
  readonly customerId: string
  readonly name: string
  readonly maskedIdentifier: string
}

/** The user or API key that requests the recipient. */
export interface Requester {
  readonly id: string
  readonly name: string
  readonly byKey: boolean
}

/** The customer and the requester for whom a recipient is made, and the actor of the trail. */
export interface RecipientMaker {
  readonly customerId: string
  readonly requester: Requester
  readonly trail: AuditBy
}

export interface ReviewDeps {
  /** Whether there is a sandbox, in which tokens in a recipient's name may decide the review. */
  readonly sandbox: boolean
}

/** Reads the approval rules in effect for a customer's recipients, with the mode. */
export async function recipientRulesOf(
  { client }: Pick<ApprovalTx, 'client'>,
  customerId: string,
  { approvalMode }: RecipientCustomer,
): Promise<RulesInEffect> {
  return rulesInEffect(await readStoredPolicies(client, customerId), approvalMode)
}

/**
 * Begins the review that a new or changed recipient needs; null when it needs none. Withdraw an earlier pending review
 * first. `shapedBy` holds the other users that made or changed the recipient.
 */
export async function beginReview(
  tx: ApprovalTx,
  deps: ReviewDeps,
  recipient: Reviewed,
  {
    customer,
    requester,
    shapedBy = [],
    wasRejected,
    kind,
  }: {
    readonly customer: RecipientCustomer
    readonly requester: Requester
    readonly shapedBy?: readonly string[]
    readonly wasRejected: boolean
    readonly kind: ReviewKind
  },
): Promise<RecipientApproval | null> {
  const { rules, recipientMode: mode } = await recipientRulesOf(tx, recipient.customerId, customer)
  const stage = firstStage(mode, { byKey: requester.byKey, wasRejected })
  if (stage === null) return null
  if (stage === 'operator') {
    await openOperatorReview(tx, deps, recipient, { kind, customer, requester })
    return openedReview(mode, stage, null, tx.now)
  }
  const { tier, fromPolicy } = tierInEffect(rules.recipient, {
    amount: null,
    currency: null,
    recipientId: recipient.id,
  }) ?? { tier: DEFAULT_TIER, fromPolicy: false }
  const { id: approvalId, effects } = await openApproval(tx, {
    customerId: recipient.customerId,
    subjectType: 'recipient',
    subjectId: recipient.id,
    subject: summary({
      title: `Recipient ${recipient.name}`,
      recipientName: recipient.name,
      recipientMaskedIdentifier: recipient.maskedIdentifier,
    }),
    kind: 'recipient',
    source: fromPolicy ? 'snapshot' : mode === 'none' ? 'default' : 'recipient',
    tier,
    tierCurrency: rules.recipient.terms?.currency ?? 'EUR',
    requestedBy: requester.id,
    requestedByName: requester.name,
    shapedBy,
    sandboxDecision: deps.sandbox ? sandboxDecisionIn([recipient.name]) : null,
  })
  await writeEffects(tx, effects)
  return openedReview(mode, stage, approvalId, tx.now)
}

async function openOperatorReview(
  { client, ids, now }: ApprovalTx,
  { sandbox }: ReviewDeps,
  recipient: Reviewed,
  {
    kind,
    customer,
    requester,
  }: {
    readonly kind: ReviewKind
    readonly customer: RecipientCustomer
    readonly requester: Pick<Requester, 'id' | 'name'>
  },
): Promise<void> {
  const token = sandbox
    ? sandboxTokens(recipient.name).find((code) => code === 'APPROVE' || code === 'REJECT')
    : undefined
  const expiresAt = now + REVIEW_EXPIRES_MS
  await insertReview(client, {
    id: ids.next(),
    recipientId: recipient.id,
    customerId: recipient.customerId,
    operatorId: customer.operatorId,
    shard: customer.shard,
    kind,
    requestedBy: requester.id,
    requestedByName: requester.name,
    sandboxDecision: token === undefined ? null : token === 'APPROVE' ? 'approved' : 'rejected',
    wakeAt: token === undefined ? expiresAt : now + SANDBOX_DECISION_MS,
    expiresAt,
    now,
  })
}

/** Withdraws the pending approval and review of a recipient that was changed or deleted in this transaction. */
export async function withdrawReviews(
  tx: ApprovalTx,
  recipientId: string,
  pending: PendingReviews,
  reason: string,
  by: AuditBy,
): Promise<void> {
  const { approval, review } = pending
  if (approval !== null)
    await writeEffects(
      tx,
      await endApproval(tx, approval, { status: 'cancelled', received: approval.received, reason }, by),
    )
  if (review !== null) {
    await endReview(tx.client, review.id, { status: 'cancelled', by: null, reason, now: tx.now })
    await writeAudit(tx.client, {
      ...by,
      id: tx.ids.next(),
      tenantId: review.customerId,
      at: tx.now,
      action: 'recipient_review.cancelled',
      object: { type: 'recipient', id: recipientId },
      before: { status: 'pending' },
      after: { status: 'cancelled', reason },
    })
  }
}

export type PendingReviews = Awaited<ReturnType<typeof lockPendingReviews>>

/** Locks the pending approval and review of a recipient. Call it before the recipient itself is locked. */
export async function lockPendingReviews({ client }: Pick<ApprovalTx, 'client'>, recipientId: string) {
  return {
    approval: await lockPendingApproval(client, recipientId),
    review: await lockPendingReview(client, recipientId),
  }
}

/** Returns the event of a change of a recipient's status, to be written with the row. */
export function statusEvent(
  tx: ApprovalTx,
  customer: Pick<RecipientCustomer, 'operatorId' | 'shard'>,
  recipient: {
    readonly id: string
    readonly customerId: string
    readonly status: RecipientStatus
    readonly previousStatus: RecipientStatus | null
  },
): NonNullable<Effects['events']>[number] {
  return {
    id: tx.ids.next(),
    createdAt: tx.now,
    customerId: recipient.customerId,
    operatorId: customer.operatorId,
    shard: customer.shard,
    type: 'recipient.status_changed',
    object: 'recipient',
    objectId: recipient.id,
    status: recipient.status,
    previousStatus: recipient.previousStatus,
    amount: null,
    currency: null,
  }
}

/**
 * Applies the end of a stage to its recipient, within the transaction of the decision: the recipient becomes usable, is
 * refused, or goes on to the review by the operator's staff. A recipient that no longer waits stays as it is.
 *
 * @returns the events to be written with it
 */
export async function applyRecipientApproval(
  tx: ApprovalTx,
  deps: ReviewDeps,
  {
    recipientId,
    customerId,
    requester,
    end,
  }: {
    readonly recipientId: string
    readonly customerId: string
    readonly requester: Pick<Requester, 'id' | 'name'>
    readonly end: ReviewEnd
  },
): Promise<Pick<Effects, 'events'>> {
  const recipient = await lockRecipient(tx.client, customerId, recipientId)
  if (recipient === null || recipient.view.status !== 'pending_approval' || recipient.view.approval === null) return {}
  const { view } = recipient
  const customer = await recipientCustomer(tx.client, customerId)
  const approval = view.approval as RecipientApproval
  const after = afterStage(view.status, approval, end, tx.now)
  if (after.next === 'operator') {
    // The first stage of a new recipient began with the recipient itself.
    const kind = approval.requestedAt === view.createdAt ? 'new_recipient' : 'changed_recipient'
    await openOperatorReview(tx, deps, view, { kind, customer, requester })
    await setRecipientState(tx.client, recipientId, {
      status: view.status,
      approval: { ...approval, stage: 'operator' },
      now: tx.now,
    })
    return {}
  }
  await setRecipientState(tx.client, recipientId, { status: after.status, approval: after.approval, now: tx.now })
  return after.status === view.status
    ? {}
    : {
        events: [
          statusEvent(tx, customer, { id: recipientId, customerId, status: after.status, previousStatus: view.status }),
        ],
      }
}

/**
 * Recipients as the subjects of approvals. `changed` is called after the commit for each recipient that was decided.
 */
export function recipientSubject({
  sandbox,
  changed,
}: ReviewDeps & { readonly changed: (recipientId: string) => void }): ApprovalSubject {
  return {
    async ended(tx, { id, customerId, subjectId, requestedBy, requestedByName }, { status, reason }) {
      const decider = await lastDeciderOf(tx.client, id)
      const decided = status === 'approved' || status === 'rejected'
      const effects = await applyRecipientApproval(
        tx,
        { sandbox },
        {
          recipientId: subjectId,
          customerId,
          requester: { id: requestedBy, name: requestedByName },
          end: { status: status as ReviewEnd['status'], by: decided ? decider : null, reason },
        },
      )
      return { effects, after: () => changed(subjectId) }
    },
  }
}
