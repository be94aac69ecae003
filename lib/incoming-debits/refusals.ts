/** The reasons for which an incoming debit is refused, as data: the code for the bank, and the words for people. */

export interface RefusalTerms {
  /** ISO 20022 external status reason. */
  readonly code: string
  readonly text: string
}

export const REFUSALS = {
  balance_closed: { code: 'AC04', text: 'The balance is closed.' },
  balance_frozen: { code: 'AC06', text: 'The balance is frozen.' },
  customer_restricted: { code: 'AG01', text: 'The account takes no direct debits at present.' },
  currency_differs: { code: 'AM03', text: 'The balance is in another currency.' },
  insufficient_funds: { code: 'AM04', text: 'The balance did not cover the debit.' },
  no_mandate: { code: 'MD01', text: 'The debit names no mandate.' },
  mandate_ended: { code: 'MD01', text: 'The mandate is no longer valid.' },
  mandate_suspended: { code: 'MS02', text: 'The customer has suspended the mandate.' },
  amount_above_mandate: { code: 'SL01', text: 'The amount is above the limit of the mandate.' },
  mandate_unconfirmed: { code: 'MD01', text: 'The mandate was not confirmed in time.' },
  refused_by_customer: { code: 'MS02', text: 'The customer refused the debit.' },
  all_blocked: { code: 'SL01', text: 'All direct debits of the balance are blocked.' },
  creditor_blocked: { code: 'SL01', text: 'The creditor is blocked.' },
  creditor_not_allowed: { code: 'SL01', text: 'The creditor is not among those that are allowed.' },
  amount_above_limit: { code: 'SL01', text: 'The amount is above the limit of the balance.' },
  too_frequent: { code: 'SL01', text: 'The creditor collects more often than is allowed.' },
  withdrawn: { code: 'CUST', text: 'The creditor withdrew the debit.' },
} as const satisfies Readonly<Record<string, RefusalTerms>>

export type RefusalReason = keyof typeof REFUSALS
export const REFUSAL_REASONS = Object.keys(REFUSALS) as readonly RefusalReason[]
