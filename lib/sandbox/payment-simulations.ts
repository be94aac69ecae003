/**
 * What the sandbox bank can be made to say of a payment, and when that makes no sense. A simulation replaces what the bank
 * would have said; what it makes of the payment is decided by the payment's own moves, as ever.
 */
import type { PaymentRecord, PaymentStatus } from '../payments/payment.ts'
import type { BankEvent } from './triggers.ts'

/** What the bank will say. `amount` is minor units that come back; null unless money does. */
export interface SimulatedEvent {
  readonly event: BankEvent
  readonly schemeCode: string | null
  readonly amount: bigint | null
}

/** With what the recipient's bank declines a recall. */
export const RECALL_REJECTIONS = ['ADAC', 'AGNT', 'AM04', 'ARDT', 'CUST', 'LEGL', 'NOAS', 'NOOR', 'PTNA', 'RQDA'] as const
export type RecallRejection = (typeof RECALL_REJECTIONS)[number]

export const SIMULATED_STATUSES = ['completed', 'failed', 'processing', 'exception'] as const
export type SimulatedStatus = (typeof SIMULATED_STATUSES)[number]

const FAILS_WITH = 'AC01'
const RETURNS_WITH = 'AC04'
const RECALL_ACCEPTED = 'FOCR'

const EVENTS: Readonly<Record<SimulatedStatus, BankEvent>> = { completed: 'settled', failed: 'rejected', processing: 'pending', exception: 'unclear' }

type Known = Pick<PaymentRecord, 'status' | 'sentAt' | 'amount'>

/** The statuses that the bank can bring a payment to; none before it has it, nor once it has ended. */
export function simulableStatuses({ status, sentAt }: Known): readonly PaymentStatus[] {
  if (sentAt === null) return []
  if (status === 'processing') return ['completed', 'failed', 'exception']
  return status === 'exception' ? ['completed', 'failed', 'processing'] : []
}

/** Null: not in its state. */
export function simulatedStatus(payment: Known, status: SimulatedStatus, reasonCode: string = FAILS_WITH): SimulatedEvent | null {
  if (!simulableStatuses(payment).includes(status)) return null
  return { event: EVENTS[status], schemeCode: status === 'failed' ? reasonCode : null, amount: null }
}

/** Null: not in its state. */
export function simulatedReturn(payment: Known, amount: bigint = payment.amount, reasonCode: string = RETURNS_WITH): SimulatedEvent | null {
  return canComeBack(payment) ? { event: 'returned', schemeCode: reasonCode, amount } : null
}

/** Null: not in its state. Nobody need have asked for it. */
export function simulatedRecall(payment: Known, outcome: 'accepted' | 'rejected', amount: bigint = payment.amount, rejectionCode: RecallRejection = 'CUST'): SimulatedEvent | null {
  if (!canComeBack(payment)) return null
  return outcome === 'accepted' ? { event: 'returned', schemeCode: RECALL_ACCEPTED, amount } : { event: 'recall_rejected', schemeCode: rejectionCode, amount: null }
}

const canComeBack = ({ status, sentAt }: Known): boolean => status === 'completed' || (status === 'processing' && sentAt !== null)
