/**
 * ClearBank's words, translated. A code that is in no list here is passed on as it is: the service keeps it, and shows
 * the reason as unknown.
 */

/** Codes of our own list of reasons for what the bank says with a word of its own. */
const CANCELLATIONS: Readonly<Record<string, string>> = {
  CB_AccountNameAndNumberMismatch: 'NAME_AND_NUMBER_MISMATCH',
  CB_AccountNameInvalid: 'NAME_AND_NUMBER_MISMATCH',
  CB_PaymentBeneficiaryNameMissing: 'NAME_MISSING',
  CB_PaymentReferenceIncorrect: 'REFERENCE_INCORRECT_OR_MISSING',
  CB_PaymentReferenceMissing: 'REFERENCE_INCORRECT_OR_MISSING',
  CB_AccountSwitched: 'AC04',
  CB_AccountHoldersBankrupt: 'AG01',
  CB_CancelledCreditAccountDisabled: 'AC06',
  CB_FailedModulusCheck: 'AC01',
  // The bank's own checks refused the payment; customers are not told more than that it was declined.
  HOPRJ: 'RR04',
}

/** The reason of a cancellation or of a return, by its code. */
export const reasonOf = (code: string): string => CANCELLATIONS[code] ?? code

/**
 * The answers to a single payment of a request. `doubtful`: the answer may mean that the bank has the same payment
 * already, so only a question tells.
 */
const RESPONSES: Readonly<Record<string, string>> = {
  InsufficientFunds: 'AM04',
  InvalidAccount: 'AC01',
  InvalidCurrency: 'AM03',
  DebitPaymentDisabled: 'AG01',
  Rejected: 'Rejected',
}

export const ACCEPTED = 'Accepted'

/** The reason of a refusal; null for a word that does not say for certain that the payment was not taken. */
export const refusalOf = (response: string): string | null => RESPONSES[response] ?? null

/** The sentences of a failed assessment or validation, in the order in which they are looked for. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/insufficient ?funds/i, 'AM04'],
  [/amount limit exceeded/i, 'AM02'],
  [/modulus check/i, 'AC01'],
  [/InboundSchemeNotAccepted|Inbound scheme not accepted/i, 'CNOR'],
  [/InboundPaymentDisabled|Inbound payments disabled/i, 'AC06'],
  [/OutboundPaymentDisabled|Outbound payments disabled/i, 'AG01'],
  [/No internal account located for Creditor/i, 'AC03'],
  [/account closed/i, 'AC04'],
  [/reference/i, 'REFERENCE_INCORRECT_OR_MISSING'],
  [/IBAN|BBAN/, 'AC01'],
]

/** The longest code that is passed on: a sentence that is in no list is cut. */
const CODE_MAX = 35

const DUPLICATE = /duplicate/i

/** Whether the sentences say that the bank has a payment of the same end-to-end id already. */
export const isDuplicate = (reasons: readonly string[]): boolean => reasons.some((reason) => DUPLICATE.test(reason))

/** The reason of a failed assessment or validation, by the bank's sentences. */
export function sentenceReason(reasons: readonly string[]): string {
  for (const [sentence, code] of SENTENCES) if (reasons.some((reason) => sentence.test(reason))) return code
  return (reasons[0] ?? 'Failed').slice(0, CODE_MAX)
}

/** The meaning of a transaction's status for the payment: the codes of ISO 20022, of which only two are final. */
export function stateOf(status: string): 'settled' | 'rejected' | 'pending' {
  return status === 'ACSC' ? 'settled' : status === 'RJCT' ? 'rejected' : 'pending'
}

/** The bank's words for why a credit goes back, by ISO 20022 code. */
const RETURNS: Readonly<Record<string, string>> = {
  AC01: 'BeneficiarySortCodeOrAccountUnknown',
  AC03: 'BeneficiarySortCodeOrAccountUnknown',
  AC04: 'BeneficiaryAccountClosed',
  AC06: 'BeneficiaryAccountStopped',
  AC09: 'AccountIsNotInCurrencyQuoted',
  AG01: 'TermsAndConditionsOfAccountDoNotPermitCreditingOfFunds',
  BE01: 'BeneficiaryAccountNameDoesNotMatchBeneficiaryAccountNumber',
  CUST: 'ReturnRequestedBySenderOfOriginalPayment',
  DUPL: 'ReturnRequestedBySenderOfOriginalPayment',
  FOCR: 'ReturnRequestedBySenderOfOriginalPayment',
  MD07: 'BeneficiaryDeceased',
  MS02: 'BeneficiaryNotExpectingFundsOrInstructedReturn',
}

export const returnReasonOf = (reasonCode: string): string => RETURNS[reasonCode] ?? 'Other'
