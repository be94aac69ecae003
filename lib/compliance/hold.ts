/**
 * Compliance holds: what waits until the operator's people have decided about it, and what they make of it.
 *
 *   open ──release──▶ released
 *    └────block─────▶ blocked
 *
 * A hold has a subject of any kind (a payment, an incoming payment, a transfer). What a decision does to the subject is the
 * subject's own; here is what all of them share. Customers learn nothing of a hold: its events go to operators alone, and
 * the money shows as a payment under review.
 */
import type { Effects, OutboxEvent } from '../decisions/effects.ts'

export const COMPLIANCE_HOLD_KINDS = ['outbound_screening', 'inbound_recall', 'inbound_screening', 'transaction_monitoring', 'legal_order'] as const
export type ComplianceHoldKind = (typeof COMPLIANCE_HOLD_KINDS)[number]

export const COMPLIANCE_HOLD_STATUSES = ['open', 'released', 'blocked'] as const
export type ComplianceHoldStatus = (typeof COMPLIANCE_HOLD_STATUSES)[number]
export type ComplianceDecision = Exclude<ComplianceHoldStatus, 'open'>

export const HELD_SUBJECTS = ['payment', 'incoming_payment', 'transfer'] as const
export type HeldSubject = (typeof HELD_SUBJECTS)[number]

/** What customers read of all this. */
export const UNDER_REVIEW = 'Payment under review'

/** One thing that speaks against somebody. */
export interface Finding {
  /** The list it is from. */
  readonly list: string
  /** As the list has it. */
  readonly name: string
  /** How alike the names are, 0 to 100. */
  readonly score: number
}

/** A hold as it is opened. */
export interface ComplianceHoldRow {
  readonly id: string
  readonly kind: ComplianceHoldKind
  /** Who found something, or asked for it. */
  readonly provider: string
  readonly subjectType: HeldSubject
  readonly subjectId: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  /** Who is at the other end, where that is known. */
  readonly counterparty: string | null
  readonly findings: readonly Finding[]
  /** What the provider decides by itself, and when (epoch milliseconds); null: people do. */
  readonly decides: { readonly decision: ComplianceDecision; readonly at: number } | null
  readonly createdAt: number
}

/** What opening a hold writes: the row, and what operators are told. */
export function opensComplianceHold(hold: ComplianceHoldRow, eventId: string): Pick<Effects, 'complianceHolds' | 'events'> {
  return { complianceHolds: [hold], events: [complianceHoldEvent(hold, { id: eventId, status: 'open', at: hold.createdAt })] }
}

/** `compliance_hold.created`, `.released` or `.blocked`. What it is about is read off the hold when it is sent. */
export function complianceHoldEvent(
  { id, customerId, operatorId, shard }: Pick<ComplianceHoldRow, 'id' | 'customerId' | 'operatorId' | 'shard'>,
  event: { readonly id: string; readonly status: ComplianceHoldStatus; readonly at: number },
): OutboxEvent {
  return {
    id: event.id, createdAt: event.at, customerId, operatorId, shard, type: `compliance_hold.${event.status === 'open' ? 'created' : event.status}`,
    object: 'compliance_hold', objectId: id, status: event.status, previousStatus: event.status === 'open' ? null : 'open', amount: null, currency: null,
  }
}
