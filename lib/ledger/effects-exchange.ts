/** Rows of foreign exchange that a decision wants written; see effects.ts. Amounts are bigint minor units, rates decimal text, times epoch milliseconds. */

/** A firm quote. */
export interface QuoteRow {
  readonly id: string
  readonly customerId: string
  readonly connectionId: string
  readonly kind: string
  readonly sellCurrency: string
  readonly buyCurrency: string
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  readonly rate: string
  readonly partnerRate: string
  readonly fixedSide: string
  readonly fee: bigint
  readonly settlementDate: string | null
  readonly depositRequired: bigint | null
  readonly holdMinutes: number | null
  readonly sellBalanceId: string | null
  readonly buyBalanceId: string | null
  readonly expiresAt: number
  readonly createdAt: number
}

/**
 * An exchange as it is first written. Its quote is used by it: of two exchanges from one quote the commit refuses the second
 * (`quote_used`), and its externalId is looked for as that of a payment is.
 */
export interface ExchangeRow {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly kind: string
  readonly status: string
  readonly quoteId: string | null
  readonly parentExchangeId: string | null
  readonly paymentId: string | null
  readonly sellBalanceId: string
  readonly buyBalanceId: string
  readonly sellCurrency: string
  readonly buyCurrency: string
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  readonly rate: string
  readonly partnerRate: string
  readonly fixedSide: string
  readonly fee: bigint
  readonly holdId: string | null
  readonly approvalId: string | null
  readonly tradeDate: string
  readonly settlementDate: string
  readonly reference: string | null
  readonly drawdownCount: number
  readonly remainingSell: bigint | null
  readonly remainingBuy: bigint | null
  readonly forwardType: string | null
  readonly drawdownFrom: string | null
  readonly heldUntil: number | null
  readonly depositStatus: string | null
  readonly depositCurrency: string | null
  readonly depositRequired: bigint | null
  readonly depositReceived: bigint
  readonly depositPlaced: bigint
  readonly depositDueAt: number | null
  readonly dueAt: number | null
  readonly depositUsed: bigint
  readonly depositPlacedUsed: bigint
  readonly createdBy: string
  readonly createdVia: string
  /** JSON text, or null. */
  readonly metadata: string | null
  readonly createdAt: number
}

/** How an exchange ends. */
export type ExchangeEnd = 'completed' | 'failed' | 'rejected' | 'cancelled' | 'expired' | 'closed_out'
/** Statuses from which an exchange goes on. */
export type ExchangeUnderWay = 'pending_approval' | 'processing' | 'awaiting_deposit' | 'active' | 'partially_drawn' | 'overdue' | 'exception'

/** The columns that a move of an exchange writes. An absent member leaves its column as it is; null clears it. */
export interface ExchangeChange {
  readonly id: string
  /** The version the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: ExchangeEnd | ExchangeUnderWay
  readonly updatedAt: number
  /** What it is bought at, where it was quoted anew. */
  readonly sellAmount?: bigint
  readonly buyAmount?: bigint
  readonly rate?: string
  readonly partnerRate?: string
  readonly fee?: bigint
  readonly holdId?: string | null
  readonly approvalId?: string | null
  readonly tradeDate?: string
  readonly settlementDate?: string
  readonly settledAt?: number | null
  readonly drawdownCount?: number
  readonly remainingSell?: bigint | null
  readonly remainingBuy?: bigint | null
  readonly heldUntil?: number | null
  readonly depositStatus?: string | null
  readonly depositCurrency?: string | null
  readonly depositRequired?: bigint | null
  readonly depositReceived?: bigint
  readonly depositPlaced?: bigint
  readonly depositDueAt?: number | null
  readonly dueAt?: number | null
  readonly depositUsed?: bigint
  readonly depositPlacedUsed?: bigint
  /** JSON text. */
  readonly failure?: string | null
  /** JSON text. */
  readonly exception?: string | null
  readonly providerRef?: string | null
  readonly partnerSold?: bigint | null
  readonly partnerBought?: bigint | null
  readonly metadata?: string | null
}

/** What the partner has to be told of an exchange, and asked about until it has come to its end. */
export interface FxOrderRow {
  readonly exchangeId: string
  readonly shard: number
  /** When the partner is told. */
  readonly dueAt: number
}
