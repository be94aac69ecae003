/** The event types of the contract. */
import { table, words } from './table.ts'

/**
 * Endpoints of customers may subscribe to the types of `customer`, those of operators to all. `object` is the kind of
 * the thing that the event is about. `simulations`: sent by nothing else in this version of the contract.
 */
export const CONTRACT_EVENTS = table(
  ['type', 'level', 'object', 'sentBy'],
  `
  payment.created | customer | payment
  payment.status_changed | customer | payment
  payment.completed | customer | payment
  payment.failed | customer | payment
  payment.returned | customer | payment
  payment.recall_updated | customer | payment
  transfer.completed | customer | transfer
  transfer.status_changed | customer | transfer
  incoming_payment.received | customer | incoming_payment
  incoming_payment.returned | customer | incoming_payment
  exchange.completed | customer | exchange
  exchange.status_changed | customer | exchange
  recipient.status_changed | customer | recipient
  recipient.verification_completed | customer | recipient | simulations
  approval.requested | customer | approval
  approval.decided | customer | approval
  funds_request.status_changed | customer | funds_request
  scheduled_payment.status_changed | customer | scheduled_payment
  bulk_payment.status_changed | customer | bulk_payment
  collection.status_changed | customer | collection
  mandate.status_changed | customer | mandate
  incoming_debit.received | customer | incoming_debit
  incoming_debit.status_changed | customer | incoming_debit
  card_transaction.created | customer | card_transaction
  card_transaction.updated | customer | card_transaction
  onboarding.requirements_changed | customer | onboarding
  job.completed | customer | job
  statement.available | customer | statement | simulations
  balance.low | customer | balance | simulations
  balance.details_changed | customer | balance
  webhook.test | customer | webhook

  customer.created | operator | customer
  customer.status_changed | operator | customer
  kyb_case.status_changed | operator | kyb_case
  provider_connection.status_changed | operator | provider_connection
  provider_event.failed | operator | provider_event
  deprecated_operation.used | operator | api_key
  compliance_hold.created | operator | compliance_hold
  compliance_hold.released | operator | compliance_hold
  compliance_hold.blocked | operator | compliance_hold
`,
)

/** The objects whose events have an amount; of an exchange the amount sold, of a balance the available one. */
export const OBJECTS_WITH_AMOUNT = words('payment transfer incoming_payment collection funds_request exchange balance')
