/**
 * Rows of foreign exchange that a decision writes; see lib/decisions/effects.ts. Amounts are bigint minor units, rates
 * decimal text, times epoch milliseconds.
 */
import type { CurrencyCode } from '../base/currency.ts'
import type { Effects } from '../decisions/effects.ts'
import type { DepositStatus, ExchangeRecord, ExchangeStatus } from './exchange.ts'
import type { QuoteKind } from './quote.ts'
import type { FixedSide } from './rate.ts'

/** A firm quote. */
export interface QuoteRow {
  readonly id: string
  readonly customerId: string
  readonly connectionId: string
  readonly kind: QuoteKind
  readonly sellCurrency: string
  readonly buyCurrency: string
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  readonly rate: string
  readonly partnerRate: string
  readonly fixedSide: FixedSide
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
 * An exchange as it is first written. It uses its quote: when two exchanges name one quote, the commit refuses the
 * second with `quote_used`. Its externalId is checked in the same manner as that of a payment.
 */
export interface ExchangeRow
  extends Omit<
    ExchangeRecord,
    | 'version'
    | 'rate'
    | 'partnerRate'
    | 'deposit'
    | 'metadata'
    | 'settledAt'
    | 'failure'
    | 'exception'
    | 'providerRef'
    | 'partnerSold'
    | 'partnerBought'
    | 'updatedAt'
  > {
  readonly rate: string
  readonly partnerRate: string
  /** The deposit of a forward; null, and 0, for any other exchange. */
  readonly depositStatus: DepositStatus | null
  readonly depositCurrency: CurrencyCode | null
  readonly depositRequired: bigint | null
  readonly depositReceived: bigint
  readonly depositPlaced: bigint
  readonly depositDueAt: number | null
  /** JSON text, or null. */
  readonly metadata: string | null
}

/** The final statuses of an exchange. */
export type ExchangeEnd = 'completed' | 'failed' | 'rejected' | 'cancelled' | 'expired' | 'closed_out'
/** The statuses from which an exchange can still move. */
export type ExchangeUnderWay =
  | 'pending_approval'
  | 'processing'
  | 'awaiting_deposit'
  | 'active'
  | 'partially_drawn'
  | 'overdue'
  | 'exception'

/** The columns that a move of an exchange writes. An absent member leaves its column as it is; null clears it. */
export interface ExchangeChange {
  readonly id: string
  /** The version that the decision was based on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: ExchangeEnd | ExchangeUnderWay
  readonly updatedAt: number
  /** The amounts and the rate, where the exchange was priced again. */
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
  readonly depositStatus?: DepositStatus | null
  readonly depositCurrency?: CurrencyCode | null
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

/** An order to the partner: it is sent, and its status is asked for until the exchange is final. */
export interface FxOrderRow {
  readonly exchangeId: string
  readonly shard: number
  /** The time at which the order is sent. */
  readonly dueAt: number
}

/** The rows that a move of an exchange may write for the payment that it buys for. */
export type PaymentOfExchange = Pick<
  Effects,
  | 'paymentDecisions'
  | 'holds'
  | 'holdResolutions'
  | 'statusUpdates'
  | 'events'
  | 'instructions'
  | 'instructionsDone'
  | 'outflowReturns'
>

/**
 * The consequence of a move for the exchange's payment. `none`: the exchange buys for no payment. `waits`: the payment
 * goes on waiting. Otherwise the rows that the same commit writes for the payment; empty when the payment does not wait
 * for the exchange any more.
 */
export type PaymentPart = 'none' | 'waits' | PaymentOfExchange

/**
 * A move of an exchange. Its type requires the consequence for the payment, and an exchange that ends cannot leave its
 * payment waiting.
 */
export type ExchangeMove = Omit<ExchangeChange, 'status'> &
  (
    | { readonly status: ExchangeUnderWay; readonly payment: PaymentPart }
    | { readonly status: ExchangeEnd; readonly payment: Exclude<PaymentPart, 'waits'> }
  )

declare module '../decisions/effects.ts' {
  interface ObjectStatuses {
    readonly exchange: ExchangeStatus
  }
  interface Effects {
    readonly quotes?: readonly QuoteRow[]
    /** Each exchange uses its quote; a quote that is already used is a conflict. */
    readonly exchanges?: readonly ExchangeRow[]
    readonly exchangeChanges?: readonly ExchangeMove[]
    readonly fxOrders?: readonly FxOrderRow[]
    /** Exchanges about which the partner need not be told or asked any more. */
    readonly fxOrdersDone?: readonly string[]
  }
}
