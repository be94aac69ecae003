/**
 * The rate of an exchange whose quote has run out while it waited for people: taken anew, and good only while it is near enough to
 * the one that they were shown.
 */
import { forwardOf, price, type Priced } from './pricing.ts'
import type { Fraction, Rate } from './rate.ts'
import type { ExchangeRecord } from './exchange.ts'
import type { ExchangeTerms } from '../operators/exchange-terms.ts'

/** `moved`: the rate is further away than the operator allows. */
export type Requoted = Priced | 'moved' | 'amount_too_small' | 'too_large'

/**
 * Prices an exchange once more; what was fixed stays fixed.
 *
 * @param mid the middle of the market now, units bought for one sold
 * @param daysAhead of a forward, from now until it settles
 */
export function requote(
  { fixedSide, sellAmount, buyAmount, sellCurrency, buyCurrency, rate }: Pick<ExchangeRecord, 'fixedSide' | 'sellAmount' | 'buyAmount' | 'sellCurrency' | 'buyCurrency' | 'rate'>,
  { mid, daysAhead, terms }: { readonly mid: Fraction; readonly daysAhead: number; readonly terms: Pick<ExchangeTerms, 'marginBps' | 'approvalToleranceBps'> },
): Requoted {
  const priced = price({ fixedSide, amount: fixedSide === 'sell' ? sellAmount : buyAmount, sellCurrency, buyCurrency }, forwardOf(mid, daysAhead), terms.marginBps)
  return typeof priced !== 'string' && !isWithin(rate, priced.rate, terms.approvalToleranceBps) ? 'moved' : priced
}

/** Whether a rate is at most so many hundredths of a per cent from the one that was approved, in either direction: people approve amounts, not bargains. */
export function isWithin(approved: Rate, found: Rate, toleranceBps: number): boolean {
  const away = found > approved ? found - approved : approved - found
  return away * 10_000n <= approved * BigInt(toleranceBps)
}
