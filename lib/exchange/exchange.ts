/**
 * Exchanges as stored and as the API shows them. All kinds are one resource and one row: spots, the contracts that can
 * be drawn from (forward, held rate), and their drawdowns.
 */
import { timestamp } from '../base/clock.ts'
import type { ExceptionKind } from '../compliance/exception.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import type { FailureReason } from '../rails/failure-codes.ts'
import { transactionId } from '../ledger/transaction-id.ts'
import { formatRate, formatRateInFull, inverseOf, type FixedSide, type Rate } from './rate.ts'

export const EXCHANGE_KINDS = ['spot', 'forward', 'held_rate', 'drawdown'] as const
export type ExchangeKind = (typeof EXCHANGE_KINDS)[number]

export const EXCHANGE_STATUSES = [
  'pending_approval',
  'processing',
  'awaiting_deposit',
  'active',
  'partially_drawn',
  'completed',
  'overdue',
  'failed',
  'rejected',
  'cancelled',
  'expired',
  'closed_out',
  'exception',
] as const
export type ExchangeStatus = (typeof EXCHANGE_STATUSES)[number]

export const DEPOSIT_STATUSES = [
  'not_required',
  'awaiting',
  'received',
  'margin_call',
  'released',
  'applied',
  'forfeited',
] as const
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number]

/** `fixed`: drawn on the settlement date only. `open`: drawn on any business day from `drawdownFrom` on. */
export const FORWARD_TYPES = ['fixed', 'open'] as const
export type ForwardType = (typeof FORWARD_TYPES)[number]

/** The deposit of a forward. Amounts are minor units. */
export interface Deposit {
  readonly status: DepositStatus
  readonly currency: CurrencyCode
  readonly required: bigint
  readonly received: bigint
  /** The part of the received amount that is placed with the partner (L41). */
  readonly placed: bigint
  /** Epoch milliseconds. */
  readonly dueAt: number | null
}

/** An exchange as storage returns it and as its moves read it. Amounts are minor units, times epoch milliseconds. */
export interface ExchangeRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly kind: ExchangeKind
  readonly status: ExchangeStatus
  readonly version: number
  readonly quoteId: string | null
  readonly parentExchangeId: string | null
  /** The payment that is made from the bought amount. */
  readonly paymentId: string | null
  readonly sellBalanceId: string
  readonly buyBalanceId: string
  readonly sellCurrency: CurrencyCode
  readonly buyCurrency: CurrencyCode
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  readonly rate: Rate
  readonly partnerRate: Rate
  readonly fixedSide: FixedSide
  /** Minor units of the currency sold. */
  readonly fee: bigint
  /** The hold that reserves the money while the exchange waits for approval. */
  readonly holdId: string | null
  readonly approvalId: string | null
  readonly tradeDate: string
  readonly settlementDate: string
  readonly settledAt: number | null
  readonly reference: string | null
  /** The members from `drawdownCount` to `dueAt` apply to contracts only. */
  readonly drawdownCount: number
  readonly remainingSell: bigint | null
  readonly remainingBuy: bigint | null
  readonly forwardType: ForwardType | null
  readonly drawdownFrom: string | null
  readonly heldUntil: number | null
  readonly deposit: Deposit | null
  /** The next time at which the contract's timer runs, epoch milliseconds. */
  readonly dueAt: number | null
  /**
   * Of a drawdown: the part that the contract's deposit paid (L43), and how much of that is placed with the partner.
   */
  readonly depositUsed: bigint
  readonly depositPlacedUsed: bigint
  readonly failure: (FailureReason & { readonly at: string }) | null
  /** Shown to staff only. */
  readonly exception: {
    readonly kind: ExceptionKind
    readonly code: string | null
    readonly message: string
    readonly since: string
  } | null
  readonly providerRef: string | null
  /** The amounts that the partner booked at settlement. */
  readonly partnerSold: bigint | null
  readonly partnerBought: bigint | null
  readonly createdBy: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'system' | 'operator' | 'schedule' | 'bulk'
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly updatedAt: number
}

/** The members of a new exchange that nothing has happened to: no hold, no terms of a contract, no settlement. */
export const NEW_EXCHANGE = {
  version: 1,
  parentExchangeId: null,
  paymentId: null,
  holdId: null,
  approvalId: null,
  settledAt: null,
  drawdownCount: 0,
  remainingSell: null,
  remainingBuy: null,
  forwardType: null,
  drawdownFrom: null,
  heldUntil: null,
  deposit: null,
  dueAt: null,
  depositUsed: 0n,
  depositPlacedUsed: 0n,
  failure: null,
  exception: null,
  providerRef: null,
  partnerSold: null,
  partnerBought: null,
} as const satisfies Partial<ExchangeRecord>

/** Returns the ids of the two transactions, one for each balance. Contracts move no money themselves and have none. */
function transactionIdsOf({ id, kind }: Pick<ExchangeRecord, 'id' | 'kind'>): string[] {
  return kind === 'spot' || kind === 'drawdown' ? [transactionId(id), transactionId(id, 'other_side')] : []
}

/** Builds the exchange as the API shows it to its customer. */
export function exchangeJson(exchange: ExchangeRecord) {
  const { sellCurrency, buyCurrency, deposit } = exchange
  const money = (amountMinor: bigint, currency: CurrencyCode) => moneyJson({ amountMinor, currency })
  const remaining = (amount: bigint | null, currency: CurrencyCode) =>
    amount === null ? null : money(amount, currency)
  return {
    id: exchange.id,
    customerId: exchange.customerId,
    number: exchange.number,
    externalId: exchange.externalId,
    kind: exchange.kind,
    status: exchange.status,
    quoteId: exchange.quoteId,
    parentExchangeId: exchange.parentExchangeId,
    sellAmount: money(exchange.sellAmount, sellCurrency),
    buyAmount: money(exchange.buyAmount, buyCurrency),
    rate: formatRate(exchange.rate),
    inverseRate: formatRateInFull(inverseOf(exchange.rate)),
    fixedSide: exchange.fixedSide,
    fee: exchange.fee === 0n ? null : money(exchange.fee, sellCurrency),
    sellBalanceId: exchange.sellBalanceId,
    buyBalanceId: exchange.buyBalanceId,
    tradeDate: exchange.tradeDate,
    settlementDate: exchange.settlementDate,
    settledAt: exchange.settledAt === null ? null : timestamp(exchange.settledAt),
    approvalId: exchange.approvalId,
    failure: exchange.failure,
    exception: null,
    reference: exchange.reference,
    drawdownCount: exchange.drawdownCount,
    remainingSellAmount: remaining(exchange.remainingSell, sellCurrency),
    remainingBuyAmount: remaining(exchange.remainingBuy, buyCurrency),
    forwardType: exchange.forwardType,
    drawdownFrom: exchange.drawdownFrom,
    heldUntil: exchange.heldUntil === null ? null : timestamp(exchange.heldUntil),
    deposit:
      deposit === null
        ? null
        : {
            status: deposit.status,
            required: money(deposit.required, deposit.currency),
            received: money(deposit.received, deposit.currency),
            dueAt: deposit.dueAt === null ? null : timestamp(deposit.dueAt),
          },
    transactionIds: transactionIdsOf(exchange),
    createdBy: exchange.createdBy,
    createdVia: exchange.createdVia,
    metadata: exchange.metadata,
    createdAt: timestamp(exchange.createdAt),
    updatedAt: timestamp(exchange.updatedAt),
  }
}

/** Writes the body of the answer to a command about the exchange. */
export const exchangeBody = (exchange: ExchangeRecord): string => JSON.stringify(exchangeJson(exchange))

/** Converts the exchange of money that a customer adds to a balance from another balance to the answer's JSON. */
export const moneyConverted = (exchange: ExchangeRecord) => ({
  method: 'conversion' as const,
  depositDetails: [],
  exchange: exchangeJson(exchange),
})
