/**
 * The new rate of an exchange whose quote expired while it waited for approval: valid only if it is close enough to the
 * rate that the approvers saw.
 */
import { forwardOf, price, type Priced } from './pricing.ts'
import type { Fraction, Rate } from './rate.ts'
import type { ExchangeRecord } from './exchange.ts'
import type { ExchangeTerms } from '../operators/exchange-terms.ts'

/** `moved`: the rate is further away than the operator allows. */
export type Requoted = Priced | 'moved' | 'amount_too_small' | 'too_large'

/**
 * Prices an exchange again; the fixed side keeps its amount.
 *
 * @param mid the mid-market rate now, units bought for one sold
 * @param daysAhead days from now to the settlement of a forward
 */
export function requote(
  {
    fixedSide,
    sellAmount,
    buyAmount,
    sellCurrency,
    buyCurrency,
    rate,
  }: Pick<ExchangeRecord, 'fixedSide' | 'sellAmount' | 'buyAmount' | 'sellCurrency' | 'buyCurrency' | 'rate'>,
  {
    mid,
    daysAhead,
    terms,
  }: {
    readonly mid: Fraction
    readonly daysAhead: number
    readonly terms: Pick<ExchangeTerms, 'marginBps' | 'approvalToleranceBps'>
  },
): Requoted {
  const priced = price(
    { fixedSide, amount: fixedSide === 'sell' ? sellAmount : buyAmount, sellCurrency, buyCurrency },
    forwardOf(mid, daysAhead),
    terms.marginBps,
  )
  return typeof priced !== 'string' && !isWithin(rate, priced.rate, terms.approvalToleranceBps) ? 'moved' : priced
}

/**
 * Whether a rate differs from the approved one by at most `toleranceBps`, in either direction: even a better rate
 * changes the amounts that were approved.
 */
export function isWithin(approved: Rate, found: Rate, toleranceBps: number): boolean {
  const away = found > approved ? found - approved : approved - found
  return away * 10_000n <= approved * BigInt(toleranceBps)
}
