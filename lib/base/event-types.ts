/** The types of events that endpoints can subscribe to, and the level that may. */

/** Types for customers and operators. */
export const CUSTOMER_EVENT_TYPES = [
  'payment.created',
  'payment.status_changed',
  'payment.completed',
  'payment.failed',
  'payment.returned',
  'payment.recall_updated',
  'payment_question.asked',
  'payment_question.answered',
  'transfer.completed',
  'transfer.status_changed',
  'incoming_payment.received',
  'incoming_payment.returned',
  'incoming_debit.received',
  'incoming_debit.status_changed',
  'exchange.completed',
  'exchange.status_changed',
  'recipient.status_changed',
  'recipient.verification_completed',
  'approval.requested',
  'approval.decided',
  'funds_request.status_changed',
  'collection.status_changed',
  'mandate.status_changed',
  'scheduled_payment.status_changed',
  'bulk_payment.status_changed',
  'job.completed',
  'statement.available',
  'balance.low',
  'balance.details_changed',
  'card_transaction.created',
  'card_transaction.updated',
  'onboarding.requirements_changed',
  'webhook.test',
] as const

/** Types for operators only: their own affairs, and holds that a customer must not learn of. */
export const OPERATOR_EVENT_TYPES = [
  'customer.created',
  'customer.status_changed',
  'kyb_case.status_changed',
  'provider_connection.status_changed',
  'provider_event.failed',
  'deprecated_operation.used',
  'compliance_hold.created',
  'compliance_hold.released',
  'compliance_hold.blocked',
] as const

export const EVENT_TYPES = [...CUSTOMER_EVENT_TYPES, ...OPERATOR_EVENT_TYPES] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The event of `POST …/test`: it goes only to the tested endpoint, whatever that subscribes to. */
export const TEST_EVENT_TYPE = 'webhook.test' satisfies EventType

const CUSTOMER_TYPES: ReadonlySet<string> = new Set(CUSTOMER_EVENT_TYPES)

/** Tells whether endpoints of a level may subscribe to a type. */
export function maySubscribe(level: 'customer' | 'operator', type: string): boolean {
  return level === 'operator' || CUSTOMER_TYPES.has(type)
}

/** The `data.object` of an event: the name before the dot of its type, or `api_key` for a deprecated operation. */
export type EventObject =
  | (Exclude<EventType, 'deprecated_operation.used'> extends `${infer Name}.${string}` ? Name : never)
  | 'api_key'

/** Returns the `data.object` of a type. */
export function objectOf(type: EventType): EventObject {
  return (type === 'deprecated_operation.used' ? 'api_key' : type.slice(0, type.indexOf('.'))) as EventObject
}
