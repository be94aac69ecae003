/**
 * The reports of the sandbox bank that can be simulated for a payment, and the statuses in which they are possible. A
 * simulation replaces the bank's planned report; the payment's own moves decide its effect, as for every report.
 */
import type { PaymentRecord, PaymentStatus } from '../payments/payment.ts'
import type { BankEvent } from './plan-steps.ts'

/** The simulated report of the bank. `amount` is the minor units that come back; null unless the event is a return. */
export interface SimulatedEvent {
  readonly event: BankEvent
  readonly schemeCode: string | null
  readonly amount: bigint | null
}

/** The codes with which the recipient's bank declines a recall. */
export const RECALL_REJECTIONS = [
  'ADAC',
  'AGNT',
  'AM04',
  'ARDT',
  'CUST',
  'LEGL',
  'NOAS',
  'NOOR',
  'PTNA',
  'RQDA',
] as const
export type RecallRejection = (typeof RECALL_REJECTIONS)[number]

export const SIMULATED_STATUSES = ['completed', 'failed', 'processing', 'exception'] as const
export type SimulatedStatus = (typeof SIMULATED_STATUSES)[number]

const FAILS_WITH = 'AC01'
const RETURNS_WITH = 'AC04'
const RECALL_ACCEPTED = 'FOCR'

const EVENTS: Readonly<Record<SimulatedStatus, BankEvent>> = {
  completed: 'settled',
  failed: 'rejected',
  processing: 'pending',
  exception: 'unclear',
}

type Known = Pick<PaymentRecord, 'status' | 'sentAt' | 'amount'>

/** Returns the statuses to which the bank can bring a payment; none before the hand-over, nor after the end. */
export function simulableStatuses({ status, sentAt }: Known): readonly PaymentStatus[] {
  if (sentAt === null) return []
  if (status === 'processing') return ['completed', 'failed', 'exception']
  return status === 'exception' ? ['completed', 'failed', 'processing'] : []
}

/** Makes the report of a status; null when the payment's status does not allow it. */
export function simulatedStatus(
  payment: Known,
  status: SimulatedStatus,
  reasonCode: string = FAILS_WITH,
): SimulatedEvent | null {
  if (!simulableStatuses(payment).includes(status)) return null
  return { event: EVENTS[status], schemeCode: status === 'failed' ? reasonCode : null, amount: null }
}

/** Makes the report of a return; null when the payment's status does not allow it. */
export function simulatedReturn(
  payment: Known,
  amount: bigint = payment.amount,
  reasonCode: string = RETURNS_WITH,
): SimulatedEvent | null {
  return canComeBack(payment) ? { event: 'returned', schemeCode: reasonCode, amount } : null
}

/**
 * Makes the answer to a recall; null when the payment's status does not allow it. No recall need have been requested.
 */
export function simulatedRecall(
  payment: Known,
  outcome: 'accepted' | 'rejected',
  amount: bigint = payment.amount,
  rejectionCode: RecallRejection = 'CUST',
): SimulatedEvent | null {
  if (!canComeBack(payment)) return null
  return outcome === 'accepted'
    ? { event: 'returned', schemeCode: RECALL_ACCEPTED, amount }
    : { event: 'recall_rejected', schemeCode: rejectionCode, amount: null }
}

const canComeBack = ({ status, sentAt }: Known): boolean =>
  status === 'completed' || (status === 'processing' && sentAt !== null)
