/** The opening of an approval: the rows and events that are written, the same for every kind of subject. */
import { HOUR_MS } from '../base/clock.ts'
import type { Effects, OutboxEvent } from '../decisions/effects.ts'
import type { Rail } from '../rails/rails.ts'
import type { PolicyKind, Tier } from './policy.ts'
import { tierJson } from './policy.ts'
import { requestersOf } from './requesters.ts'

export const SUBJECT_TYPES = ['payment', 'recipient', 'bulk_payment', 'exchange', 'approval_policy_change'] as const
export type SubjectType = (typeof SUBJECT_TYPES)[number]

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/**
 * The source of the tier: `snapshot` is the policy's tier as it was when the approval opened, `default` the built-in
 * tier of one approval, `recipient` the approval mode of recipients.
 */
export type TierSource = 'snapshot' | 'default' | 'recipient'

/** The summary of the subject that approvers see, as it was when the approval opened. */
export interface SubjectSummary {
  readonly title: string
  readonly amount: { readonly amountMinor: string; readonly currency: string } | null
  readonly recipientName: string | null
  readonly sourceBalanceId: string | null
  readonly sourceBalanceName: string | null
  readonly rail: Rail | null
  readonly itemCount: number | null
  readonly recipientMaskedIdentifier: string | null
}

/** Builds a summary from the known members; all others are null. */
export const summary = (known: Partial<SubjectSummary> & Pick<SubjectSummary, 'title'>): SubjectSummary => ({
  amount: null,
  recipientName: null,
  sourceBalanceId: null,
  sourceBalanceName: null,
  rail: null,
  itemCount: null,
  recipientMaskedIdentifier: null,
  ...known,
})

/** A decision of the sandbox's simulated approver. */
export type SandboxDecision = 'approved' | 'rejected'

export interface OpenApproval {
  /** The new ids of the approval and of its event. */
  readonly id: string
  readonly eventId: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly subjectType: SubjectType
  readonly subjectId: string
  readonly subject: SubjectSummary
  /**
   * Data beyond the summary, as JSON text: the proposed policy, or the state that the subject is compared with later.
   */
  readonly payload?: string | null
  readonly kind: PolicyKind | null
  readonly source: TierSource
  readonly tier: Tier
  /** ISO 4217; the currency of the tier's amounts. */
  readonly tierCurrency: string
  /** False where the amount could not be converted to the policy's currency. */
  readonly converted?: boolean
  /** The id of a person or of a key; a key is its own requester. */
  readonly requestedBy: string
  readonly requestedByName: string
  /** Ids of further people and keys that shaped the terms. */
  readonly shapedBy?: readonly string[]
  /** The decision that the sandbox's simulated approver makes after `SANDBOX_DECISION_MS`; null when members decide. */
  readonly sandboxDecision: SandboxDecision | null
}

/** An approval as it is first inserted. Times are epoch milliseconds. */
export interface ApprovalRow {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly subjectType: SubjectType
  readonly subjectId: string
  readonly subject: string
  readonly payload: string | null
  readonly kind: PolicyKind | null
  readonly source: string
  readonly tier: string
  readonly tierNumber: number
  readonly required: number
  readonly converted: boolean
  readonly requestedBy: string
  readonly requestedByName: string
  /** JSON text of the ids of all people and keys that shaped the terms. */
  readonly requesters: string
  readonly sandboxDecision: string | null
  readonly expiresAt: number
  readonly createdAt: number
}

/** Delay before the sandbox's simulated approver decides, milliseconds. */
export const SANDBOX_DECISION_MS = 5_000

/** Builds the rows of a new approval: the approval itself and the event `approval.requested`. */
export function opening(open: OpenApproval, now: number): Required<Pick<Effects, 'approvals' | 'events'>> {
  return {
    approvals: [
      {
        id: open.id,
        customerId: open.customerId,
        operatorId: open.operatorId,
        shard: open.shard,
        subjectType: open.subjectType,
        subjectId: open.subjectId,
        subject: JSON.stringify(open.subject),
        payload: open.payload ?? null,
        kind: open.kind,
        source: open.source,
        tier: JSON.stringify(tierJson(open.tier, open.tierCurrency)),
        tierNumber: open.tier.tier,
        required: open.tier.requiredApprovals,
        converted: open.converted ?? true,
        requestedBy: open.requestedBy,
        requestedByName: open.requestedByName,
        requesters: JSON.stringify(requestersOf([open.requestedBy], open.shapedBy ?? [])),
        sandboxDecision: open.sandboxDecision,
        expiresAt: now + open.tier.expiresAfterHours * HOUR_MS,
        createdAt: now,
      },
    ],
    events: [approvalEvent({ ...open, status: 'pending', previousStatus: null }, now)],
  }
}

/** Builds the event: `approval.requested` when there was no earlier status, otherwise `approval.decided`. */
export function approvalEvent(
  {
    id,
    eventId,
    customerId,
    operatorId,
    shard,
    status,
    previousStatus,
  }: Pick<OpenApproval, 'id' | 'eventId' | 'customerId' | 'operatorId' | 'shard'> & {
    readonly status: ApprovalStatus
    readonly previousStatus: ApprovalStatus | null
  },
  now: number,
): OutboxEvent {
  return {
    id: eventId,
    createdAt: now,
    customerId,
    operatorId,
    shard,
    type: previousStatus === null ? 'approval.requested' : 'approval.decided',
    object: 'approval',
    objectId: id,
    status,
    previousStatus,
    amount: null,
    currency: null,
  }
}
