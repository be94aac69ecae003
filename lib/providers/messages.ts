/**
 * The types of the messages that partners send, by port. Each message is recorded once, under the partner's id, with
 * its type; the adapters translate a partner's own words to these.
 */

/**
 * A bank about a payment. `pending`: the bank has the payment after its outcome was unknown. `unclear`: the bank cannot
 * tell the outcome.
 */
export const BANK_MESSAGE_TYPES = ['settled', 'rejected', 'returned', 'pending', 'unclear', 'recall_rejected'] as const
export type BankMessageType = (typeof BANK_MESSAGE_TYPES)[number]

/** A partner that exchanges currencies, about an exchange. `unclear`: the partner cannot tell the outcome. */
export const FX_MESSAGE_TYPES = ['settled', 'refused', 'unclear'] as const
export type FxMessageType = (typeof FX_MESSAGE_TYPES)[number]

/** A bank about money that arrived on an account. */
export const CREDIT_MESSAGE_TYPES = ['account.credited', 'account.credit_returned'] as const
export type CreditMessageType = (typeof CREDIT_MESSAGE_TYPES)[number]

/**
 * A bank about a direct debit of a balance. `booked`: the bank has taken the money already. `withdrawn`: the creditor
 * collects it no longer. `given_back`: the bank has given the money of a debit back.
 */
export const DEBIT_MESSAGE_TYPES = ['debit.announced', 'debit.booked', 'debit.withdrawn', 'debit.given_back'] as const
export type DebitMessageType = (typeof DEBIT_MESSAGE_TYPES)[number]

/**
 * A bank about a mandate or a collection of direct debits. `unclear`: the bank cannot tell the outcome. `reinstated` of a
 * collection: returned money came again. `reversed`: the bank has sent collected money back, as its creditor asked.
 */
export const DIRECT_DEBIT_MESSAGE_TYPES = [
  'mandate.submitted',
  'mandate.active',
  'mandate.failed',
  'mandate.cancelled',
  'mandate.suspended',
  'mandate.reinstated',
  'mandate.amended',
  'mandate.expired',
  'collection.submitted',
  'collection.rejected',
  'collection.collected',
  'collection.returned',
  'collection.reinstated',
  'collection.unclear',
  'collection.reversed',
  'collection.reversal_refused',
] as const
export type DirectDebitMessageType = (typeof DIRECT_DEBIT_MESSAGE_TYPES)[number]

/**
 * Every type that is recorded: also a recall of money that arrived, and a credit that was found in a statement and came
 * without a message.
 */
export type PartnerMessageType =
  | BankMessageType
  | FxMessageType
  | CreditMessageType
  | DebitMessageType
  | DirectDebitMessageType
  | 'account.credit_recalled'
  | 'statement.credit'
