/**
 * Compliance holds: money that waits until the operator's staff have decided, and the two possible decisions.
 *
 *   open ──release──▶ released
 *    └────block─────▶ blocked
 *
 * A hold has a subject: a payment, an incoming payment or a transfer. Each subject's own code applies a decision; this
 * file has the part that all subjects share. Customers do not learn of a hold: its events go to operators only, and the
 * money shows as a payment under review.
 */
import type { Effects, OutboxEvent } from '../decisions/effects.ts'

export const COMPLIANCE_HOLD_KINDS = [
  'outbound_screening',
  'inbound_recall',
  'inbound_screening',
  'transaction_monitoring',
  'legal_order',
] as const
export type ComplianceHoldKind = (typeof COMPLIANCE_HOLD_KINDS)[number]

export const COMPLIANCE_HOLD_STATUSES = ['open', 'released', 'blocked'] as const
export type ComplianceHoldStatus = (typeof COMPLIANCE_HOLD_STATUSES)[number]
export type ComplianceDecision = Exclude<ComplianceHoldStatus, 'open'>

export const HELD_SUBJECTS = ['payment', 'incoming_payment', 'transfer'] as const
export type HeldSubject = (typeof HELD_SUBJECTS)[number]

/** The text that customers see while a hold is open. */
export const UNDER_REVIEW = 'Payment under review'

/** A match between a screened name and a list. */
export interface Finding {
  /** The list that contains the match. */
  readonly list: string
  /** The name as the list writes it. */
  readonly name: string
  /** Similarity of the names, 0 to 100. */
  readonly score: number
}

/** A compliance hold as it is opened. */
export interface ComplianceHoldRow {
  readonly id: string
  readonly kind: ComplianceHoldKind
  /** The provider that reported the finding, or the party that requested the hold. */
  readonly provider: string
  readonly subjectType: HeldSubject
  readonly subjectId: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  /** The other party of the payment, where it is known. */
  readonly counterparty: string | null
  readonly findings: readonly Finding[]
  /** The decision that the provider will make by itself, and its time (epoch milliseconds); null when staff decide. */
  readonly decides: { readonly decision: ComplianceDecision; readonly at: number } | null
  readonly createdAt: number
}

/** Builds the rows that open a hold: the hold and the event for operators. */
export function opensComplianceHold(
  hold: ComplianceHoldRow,
  eventId: string,
): Pick<Effects, 'complianceHolds' | 'events'> {
  return {
    complianceHolds: [hold],
    events: [complianceHoldEvent(hold, { id: eventId, status: 'open', at: hold.createdAt })],
  }
}

/**
 * Builds `compliance_hold.created`, `.released` or `.blocked`. The payload is read from the hold when the event is
 * sent.
 */
export function complianceHoldEvent(
  { id, customerId, operatorId, shard }: Pick<ComplianceHoldRow, 'id' | 'customerId' | 'operatorId' | 'shard'>,
  event: { readonly id: string; readonly status: ComplianceHoldStatus; readonly at: number },
): OutboxEvent {
  return {
    id: event.id,
    createdAt: event.at,
    customerId,
    operatorId,
    shard,
    type: `compliance_hold.${event.status === 'open' ? 'created' : event.status}`,
    object: 'compliance_hold',
    objectId: id,
    status: event.status,
    previousStatus: event.status === 'open' ? null : 'open',
    amount: null,
    currency: null,
  }
}
