/** From the mid-market rate to the rate of a quote. Exact fractions until the rate, which is rounded once. */
import { moveByBps, rateOf, sidesAt, type Fixed, type Fraction, type Rate, type Sides } from './rate.ts'

export interface Priced extends Sides {
  readonly rate: Rate
  /** The partner's rate for the operator. */
  readonly partnerRate: Rate
}

/**
 * Computes the mid-market rate for a later day: the partner adds 0.01 % a day, to the disadvantage of the side that
 * fixes the rate early. `days` from today, 0 or more.
 */
export function forwardOf(mid: Fraction, days: number): Fraction {
  return moveByBps(mid, -BigInt(days))
}

/**
 * Prices one exchange: the customer's rate is worse than the partner's by the operator's margin.
 *
 * @param mid the mid-market rate of the settlement day, units bought for one sold
 * @returns both sides with their rates, or the refusal of the derived side
 */
export function price(fixed: Fixed, mid: Fraction, marginBps: number): Priced | 'amount_too_small' | 'too_large' {
  const rate = rateOf(moveByBps(mid, -BigInt(marginBps)))
  const sides = sidesAt(fixed, rate)
  return typeof sides === 'string' ? sides : { ...sides, rate, partnerRate: rateOf(mid) }
}

/** Computes the two rates that a customer would be quoted: for selling the first currency, and for buying it. */
export function bidAndAsk(mid: Fraction, marginBps: number): { readonly bid: Rate; readonly ask: Rate } {
  const away = moveByBps({ numerator: mid.denominator, denominator: mid.numerator }, -BigInt(marginBps))
  return {
    bid: rateOf(moveByBps(mid, -BigInt(marginBps))),
    ask: rateOf({ numerator: away.denominator, denominator: away.numerator }),
  }
}
