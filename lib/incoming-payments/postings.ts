/** What the entries and events of incoming payments have in common. */
import type { IncomingPaymentRow, OutboxEvent } from '../ledger/effects.ts'

/** What entries name as their cause. What has no owner yet belongs to the operator, and is told apart. */
export const INCOMING_SOURCE = 'incoming_payment'
export const SUSPENSE_SOURCE = 'incoming_suspense'

/** What the customer reads in the journal. */
export function incomingText({ payerName }: { readonly payerName: string | null }): string {
  return payerName === null ? 'Incoming payment' : `Payment from ${payerName}`
}

interface IncomingEvent extends Pick<OutboxEvent, 'id' | 'status' | 'previousStatus'> {
  readonly type: 'incoming_payment.received' | 'incoming_payment.returned'
  readonly at: number
}

/** An event about an incoming payment, for its customer. */
export function incomingEvent(
  { id: objectId, customerId, operatorId, shard, amount, currency }: Pick<IncomingPaymentRow, 'id' | 'customerId' | 'operatorId' | 'shard' | 'amount' | 'currency'>,
  { id, type, status, previousStatus, at }: IncomingEvent,
): OutboxEvent {
  if (customerId === null) throw new Error(`The incoming payment ${objectId} has no customer to tell.`)
  return { id, createdAt: at, customerId, operatorId, shard, type, object: 'incoming_payment', objectId, status, previousStatus, amount, currency }
}
