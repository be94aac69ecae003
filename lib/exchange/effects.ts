/** Rows of foreign exchange that a decision wants written; see effects.ts. Amounts are bigint minor units, rates decimal text, times epoch milliseconds. */
import type { Effects } from '../decisions/effects.ts'

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

/** What the move of an exchange may write of the payment that it buys for. */
export type PaymentOfExchange = Pick<Effects, 'paymentDecisions' | 'holds' | 'holdResolutions' | 'statusUpdates' | 'events' | 'instructions' | 'instructionsDone' | 'outflowReturns'>

/**
 * What a move of an exchange means for its payment. `none`: the exchange was made for itself. `waits`: the payment waits on. Otherwise
 * what is written of the payment in the same commit; empty when the payment does not wait for the exchange any more.
 */
export type PaymentPart = 'none' | 'waits' | PaymentOfExchange

/** A move of an exchange, which has to say what it means for its payment; an exchange that ends leaves no payment waiting. */
export type ExchangeMove = Omit<ExchangeChange, 'status'> & (
  | { readonly status: ExchangeUnderWay; readonly payment: PaymentPart }
  | { readonly status: ExchangeEnd; readonly payment: Exclude<PaymentPart, 'waits'> })

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly quotes?: readonly QuoteRow[]
    /** Each uses its quote; a quote that is used already is a conflict. */
    readonly exchanges?: readonly ExchangeRow[]
    readonly exchangeChanges?: readonly ExchangeMove[]
    readonly fxOrders?: readonly FxOrderRow[]
    /** Exchanges that the partner need not be told or asked about any more. */
    readonly fxOrdersDone?: readonly string[]
  }
}
