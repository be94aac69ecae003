/** From the middle of the market to the rate of a quote. Exact fractions until the rate, which is rounded once. */
import { moveByBps, rateOf, sidesAt, type Fixed, type Fraction, type Rate, type Sides } from './rate.ts'

export interface Priced extends Sides {
  readonly rate: Rate
  /** What the partner gives the operator. */
  readonly partnerRate: Rate
}

/**
 * The middle of the market for a day ahead: the partner adds a hundredth of a per cent a day, against whoever fixes the rate early.
 * `days` from today, 0 or more.
 */
export function forwardOf(mid: Fraction, days: number): Fraction {
  return moveByBps(mid, -BigInt(days))
}

/**
 * Prices one exchange: the customer's rate is worse than the partner's by the operator's margin.
 *
 * @param mid of the day it settles, units bought for one sold
 * @returns the refusal of the derived side where there is none
 */
export function price(fixed: Fixed, mid: Fraction, marginBps: number): Priced | 'amount_too_small' | 'too_large' {
  const rate = rateOf(moveByBps(mid, -BigInt(marginBps)))
  const sides = sidesAt(fixed, rate)
  return typeof sides === 'string' ? sides : { ...sides, rate, partnerRate: rateOf(mid) }
}

/** The two rates around the middle as the customer would be quoted them: to sell the first currency, and to buy it. */
export function bidAndAsk(mid: Fraction, marginBps: number): { readonly bid: Rate; readonly ask: Rate } {
  const away = moveByBps({ numerator: mid.denominator, denominator: mid.numerator }, -BigInt(marginBps))
  return { bid: rateOf(moveByBps(mid, -BigInt(marginBps))), ask: rateOf({ numerator: away.denominator, denominator: away.numerator }) }
}
