/** A firm quote: as it is kept and as it is shown. It never changes once it is made; that it was used is what uses it (I3). */
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import { formatRate, formatRateInFull, inverseOf, type FixedSide, type Rate } from './rate.ts'

/** What can be quoted. A drawdown has the rate of its contract. */
export const QUOTE_KINDS = ['spot', 'forward', 'held_rate'] as const
export type QuoteKind = (typeof QUOTE_KINDS)[number]

/** A quote as storage gives it back. Amounts are minor units, times epoch milliseconds. */
export interface QuoteRecord {
  readonly id: string
  readonly customerId: string
  /** The connection whose partner stands behind it. */
  readonly connectionId: string
  readonly kind: QuoteKind
  readonly sellCurrency: CurrencyCode
  readonly buyCurrency: CurrencyCode
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  readonly rate: Rate
  /** What the partner gives the operator; the difference is its margin. */
  readonly partnerRate: Rate
  readonly fixedSide: FixedSide
  /** In the currency sold, beside the amount. */
  readonly fee: bigint
  /** Spot: the day of the trade. Null for a held rate, which is settled by its drawdowns. */
  readonly settlementDate: string | null
  /** Of a forward, in the currency sold; null: none. */
  readonly depositRequired: bigint | null
  /** Of a held rate: how long it is held from when it is taken. */
  readonly holdMinutes: number | null
  /** What was named when it was asked for. */
  readonly sellBalanceId: string | null
  readonly buyBalanceId: string | null
  readonly expiresAt: number
  readonly createdAt: number
}

/** The quote as the API shows it. */
export function quoteJson(quote: QuoteRecord, used: boolean) {
  const { sellCurrency, buyCurrency } = quote
  return {
    id: quote.id,
    sellAmount: moneyJson({ amountMinor: quote.sellAmount, currency: sellCurrency }),
    buyAmount: moneyJson({ amountMinor: quote.buyAmount, currency: buyCurrency }),
    rate: formatRate(quote.rate),
    inverseRate: formatRateInFull(inverseOf(quote.rate)),
    fixedSide: quote.fixedSide,
    kind: quote.kind,
    fee: quote.fee === 0n ? null : moneyJson({ amountMinor: quote.fee, currency: sellCurrency }),
    settlementDate: quote.settlementDate,
    depositRequired: quote.depositRequired === null ? null : moneyJson({ amountMinor: quote.depositRequired, currency: sellCurrency }),
    expiresAt: timestamp(quote.expiresAt),
    used,
    createdAt: timestamp(quote.createdAt),
  }
}

/** Whether it can still be used, as far as time goes. `now` is epoch milliseconds. */
export const isExpired = ({ expiresAt }: Pick<QuoteRecord, 'expiresAt'>, now: number): boolean => now >= expiresAt
