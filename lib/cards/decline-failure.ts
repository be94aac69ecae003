/** A declined card transaction as a failure, in the words of payments that failed. */
import { failureOf, type FailureCode, type FailureReason } from '../rails/failure-codes.ts'
import type { CardDeclineReason } from './card-transaction.ts'

const ROWS: Readonly<Record<CardDeclineReason, readonly [code: FailureCode, message: string]>> = {
  insufficient_funds: ['insufficient_funds', 'There was not enough money available.'],
  limit_exceeded: ['amount_limit_exceeded', 'A limit of the card would have been exceeded.'],
  card_frozen: ['declined', 'The card is frozen.'],
  card_expired: ['declined', 'The card has expired.'],
  invalid_cvc: ['declined', 'The security code was wrong.'],
  invalid_pin: ['declined', 'The PIN was wrong.'],
  pin_tries_exceeded: ['declined', 'The PIN was wrong too often.'],
  merchant_blocked: ['declined', 'The controls of the card do not allow the merchant.'],
  country_blocked: ['declined', 'The controls of the card do not allow the country.'],
  channel_disabled: ['declined', 'The controls of the card do not allow this use.'],
  suspected_fraud: ['declined', 'The purchase was declined.'],
  authentication_required: ['declined', 'The holder has to confirm the purchase.'],
  do_not_honour: ['declined', 'The purchase was declined.'],
  system_error: ['technical_error', 'The purchase could not be decided in time.'],
}

/** Returns the failure of a decline, with its reason as the code of the scheme; without its time. */
export function declineFailure(reason: CardDeclineReason): FailureReason {
  const [code, message] = ROWS[reason]
  return { ...failureOf(code), message, schemeCode: reason }
}
