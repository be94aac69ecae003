/**
 * The worth of an amount in another currency at the mid-market rate: for thresholds and comparisons, never for money
 * that moves.
 */
import type { Convert } from '../approvals/policy.ts'
import { exponentOf, isCurrencyCode, type CurrencyCode } from '../base/currency.ts'
import { midRate, type MarketRates } from './market.ts'
import { divideHalfEven, type Fraction } from './rate.ts'

/**
 * Converts an amount in minor units of `from` to minor units of `to`, rounded half to even. `mid` is units of `to` for
 * one of `from`.
 */
export function worthOf(
  amount: bigint,
  { from, to }: { readonly from: CurrencyCode; readonly to: CurrencyCode },
  { numerator, denominator }: Fraction,
): bigint {
  return divideHalfEven(
    amount * numerator * 10n ** BigInt(exponentOf(to)),
    denominator * 10n ** BigInt(exponentOf(from)),
  )
}

/** Creates a converter at the mid-market rates of a connection at `now`, epoch milliseconds. */
export function converterAt(rates: MarketRates, connectionId: string, now: number): Convert {
  return converterOf((sell, buy) => midRate(rates, { connectionId, sell, buy }, now))
}

/** Creates a converter at the rates of a market; a currency that the market does not quote cannot be converted. */
export function converterOf(mid: (from: CurrencyCode, to: CurrencyCode) => Fraction | null): Convert {
  return (amount, from, to) => {
    if (from === to) return amount
    if (!isCurrencyCode(from) || !isCurrencyCode(to)) return null
    const rate = mid(from, to)
    return rate === null ? null : worthOf(amount, { from, to }, rate)
  }
}
