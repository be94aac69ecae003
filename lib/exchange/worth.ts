/** What an amount is worth in another currency, in the middle of the market: for thresholds and comparisons, never for money that moves. */
import type { Convert } from '../approvals/policy.ts'
import { exponentOf, isCurrencyCode, type CurrencyCode } from '../base/currency.ts'
import { divideHalfEven, type Fraction } from './rate.ts'

/** An amount in minor units of `from` as minor units of `to`, rounded half to even. `mid` is units of `to` for one of `from`. */
export function worthOf(amount: bigint, { from, to }: { readonly from: CurrencyCode; readonly to: CurrencyCode }, { numerator, denominator }: Fraction): bigint {
  return divideHalfEven(amount * numerator * 10n ** BigInt(exponentOf(to)), denominator * 10n ** BigInt(exponentOf(from)))
}

/** Converts by a market; what it does not quote cannot be converted. */
export function converterOf(mid: (from: CurrencyCode, to: CurrencyCode) => Fraction | null): Convert {
  return (amount, from, to) => {
    if (from === to) return amount
    if (!isCurrencyCode(from) || !isCurrencyCode(to)) return null
    const rate = mid(from, to)
    return rate === null ? null : worthOf(amount, { from, to }, rate)
  }
}
