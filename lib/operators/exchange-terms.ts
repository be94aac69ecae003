/** An operator's terms for the exchanges of its customers. */

/** Basis points are hundredths of a per cent. */
export interface ExchangeTerms {
  /** Validity of a quote. */
  readonly quoteSeconds: number
  /** Margin: the customer's rate is worse than the partner's by this much. */
  readonly marginBps: number
  /** The largest difference, up or down, between the rate at the approval and the rate that was approved. */
  readonly approvalToleranceBps: number
  readonly heldRateDefaultMinutes: number
  readonly heldRateMaxMinutes: number
  readonly forwardDepositBps: number
  readonly marginCallBps: number
  readonly maxTenorMonths: number
  /** The smallest amount that a forward sells, in euro cents. */
  readonly minSellEur: bigint
}
