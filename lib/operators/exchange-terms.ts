/** What an operator sets for the exchanges of its customers. */

/** Basis points are hundredths of a per cent. */
export interface ExchangeTerms {
  /** How long a quote holds. */
  readonly quoteSeconds: number
  /** What the customer's rate is worse than the partner's. */
  readonly marginBps: number
  /** How far the rate that is found at the approval may be from the one that was approved, either way. */
  readonly approvalToleranceBps: number
  readonly heldRateDefaultMinutes: number
  readonly heldRateMaxMinutes: number
  readonly forwardDepositBps: number
  readonly marginCallBps: number
  readonly maxTenorMonths: number
  /** The least a forward sells, in euro cents. */
  readonly minSellEur: bigint
}
