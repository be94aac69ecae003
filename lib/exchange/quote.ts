/**
 * Firm quotes as stored and as the API shows them. A quote never changes after it is made; its use is recorded by the
 * exchange that uses it (I3).
 */
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import { formatRate, formatRateInFull, inverseOf, type FixedSide, type Rate } from './rate.ts'

/** The kinds of exchange that can be quoted. A drawdown has the rate of its contract. */
export const QUOTE_KINDS = ['spot', 'forward', 'held_rate'] as const
export type QuoteKind = (typeof QUOTE_KINDS)[number]

/** A quote as storage returns it. Amounts are minor units, times epoch milliseconds. */
export interface QuoteRecord {
  readonly id: string
  readonly customerId: string
  /** The connection whose partner guarantees the rate. */
  readonly connectionId: string
  readonly kind: QuoteKind
  readonly sellCurrency: CurrencyCode
  readonly buyCurrency: CurrencyCode
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  readonly rate: Rate
  /** The partner's rate for the operator; the difference is the operator's margin. */
  readonly partnerRate: Rate
  readonly fixedSide: FixedSide
  /** Minor units of the currency sold, in addition to the amount. */
  readonly fee: bigint
  /** The settlement date; the trade date for a spot, null for a held rate, which is settled by its drawdowns. */
  readonly settlementDate: string | null
  /** The deposit of a forward, in the currency sold; null means none. */
  readonly depositRequired: bigint | null
  /** The minutes that a held rate is held after it is taken; null for other kinds. */
  readonly holdMinutes: number | null
  /** The balances that the request for the quote named. */
  readonly sellBalanceId: string | null
  readonly buyBalanceId: string | null
  readonly expiresAt: number
  readonly createdAt: number
}

/** Builds the quote as the API shows it. */
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
    depositRequired:
      quote.depositRequired === null ? null : moneyJson({ amountMinor: quote.depositRequired, currency: sellCurrency }),
    expiresAt: timestamp(quote.expiresAt),
    used,
    createdAt: timestamp(quote.createdAt),
  }
}

/** Whether the quote's time is over. `now` is epoch milliseconds. */
export const isExpired = ({ expiresAt }: Pick<QuoteRecord, 'expiresAt'>, now: number): boolean => now >= expiresAt
