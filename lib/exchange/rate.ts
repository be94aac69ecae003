/**
 * Rates of exchange, and amounts converted at a rate: exact, in bigint, without floating point.
 *
 * A rate is a decimal with at most ten places: units of the bought currency for one unit of the sold one. The code
 * holds that decimal times 10^10, as a whole number. Intermediate results between base rates and a rate (crosses,
 * margins) are exact fractions, rounded once. One side of an exchange is fixed and never changes; the other is computed
 * exactly from the rate as it is shown, and rounded half to even to the minor unit of its currency.
 */
import type { CurrencyCode } from '../base/currency.ts'
import { exponentOf } from '../base/currency.ts'
import { INT64_MAX } from '../base/money.ts'

/** The side whose amount the customer gave; the other follows from the rate. */
export type FixedSide = 'sell' | 'buy'

/** A rate times 10^10, above zero. */
export type Rate = bigint

/** An exact fraction; both parts are above zero. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Decimal places of a rate. */
export const RATE_PLACES = 10
export const RATE_ONE: Rate = 10n ** BigInt(RATE_PLACES)
/** The largest rate: ten digits before the point. */
const RATE_MAX: Rate = 10n ** 20n - 1n

const RATE_TEXT = /^(?:0|[1-9][0-9]{0,9})(?:\.([0-9]{1,10}))?$/

/** Reads a rate from its wire text; null when the text is no rate or zero. */
export function parseRate(text: string): Rate | null {
  const match = RATE_TEXT.exec(text)
  if (match === null) return null
  const places = match[1] ?? ''
  const rate = BigInt(text.replace('.', '') + '0'.repeat(RATE_PLACES - places.length))
  return rate === 0n ? null : rate
}

/** Formats a rate without trailing zeros: 1.08, 160, 0.0062187500 as 0.00621875. */
export function formatRate(rate: Rate): string {
  const [whole, places] = parts(rate)
  const shown = places.replace(/0+$/, '')
  return shown === '' ? whole : `${whole}.${shown}`
}

/** Formats a rate with all ten places. */
export function formatRateInFull(rate: Rate): string {
  return parts(rate).join('.')
}

function parts(rate: Rate): [whole: string, places: string] {
  const digits = rate.toString().padStart(RATE_PLACES + 1, '0')
  return [digits.slice(0, -RATE_PLACES), digits.slice(-RATE_PLACES)]
}

/** Divides two numbers that are not negative, and rounds half to even. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const twice = (numerator - quotient * denominator) * 2n
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) return quotient + 1n
  return quotient
}

/** Rounds a fraction to a rate, half to even. @throws RangeError when it is too large or too small for a rate */
export function rateOf({ numerator, denominator }: Fraction): Rate {
  const rate = divideHalfEven(numerator * RATE_ONE, denominator)
  if (rate === 0n || rate > RATE_MAX) throw new RangeError(`${numerator}/${denominator} is not a rate`)
  return rate
}

/** Converts a rate to an exact fraction. */
export const fractionOf = (rate: Rate): Fraction => ({ numerator: rate, denominator: RATE_ONE })

/**
 * Computes 1/rate, for information only: no amount is computed with it. @throws RangeError when it is too large to be
 * shown
 */
export const inverseOf = (rate: Rate): Rate => rateOf({ numerator: RATE_ONE, denominator: rate })

/** Multiplies two fractions, exactly and without reducing the result. */
export const multiply = (one: Fraction, other: Fraction): Fraction => ({
  numerator: one.numerator * other.numerator,
  denominator: one.denominator * other.denominator,
})

/** Returns the inverse of a fraction. */
export const invert = ({ numerator, denominator }: Fraction): Fraction => ({
  numerator: denominator,
  denominator: numerator,
})

/**
 * Moves a fraction up or down by basis points, hundredths of a per cent. @throws RangeError when the result would not
 * be positive
 */
export function moveByBps({ numerator, denominator }: Fraction, bps: bigint): Fraction {
  if (bps <= -10_000n) throw new RangeError(`${bps} basis points leave nothing`)
  return { numerator: numerator * (10_000n + bps), denominator: denominator * 10_000n }
}

/** Both sides of an exchange, minor units. */
export interface Sides {
  readonly sell: bigint
  readonly buy: bigint
}

/** The exchange to compute: the pair, and the amount of the fixed side in minor units, above zero. */
export interface Fixed {
  readonly fixedSide: FixedSide
  readonly amount: bigint
  readonly sellCurrency: CurrencyCode
  readonly buyCurrency: CurrencyCode
}

/**
 * Computes both sides at a rate. `amount_too_small`: the derived side would be less than half a minor unit.
 * `too_large`: it does not fit 64 bits.
 */
export function sidesAt(fixed: Fixed, rate: Rate): Sides | 'amount_too_small' | 'too_large' {
  const { fixedSide, amount } = fixed
  const derived = fixedSide === 'sell' ? boughtFor(fixed, amount, rate) : soldFor(fixed, amount, rate)
  if (derived === 0n) return 'amount_too_small'
  if (derived > INT64_MAX) return 'too_large'
  return fixedSide === 'sell' ? { sell: amount, buy: derived } : { sell: derived, buy: amount }
}

type Pair = Pick<Fixed, 'sellCurrency' | 'buyCurrency'>

/** Computes the amount bought for an amount sold, in minor units of the bought currency, rounded half to even. */
export function boughtFor({ sellCurrency, buyCurrency }: Pair, sell: bigint, rate: Rate): bigint {
  return divideHalfEven(sell * rate * minorUnits(buyCurrency), RATE_ONE * minorUnits(sellCurrency))
}

/** Computes the amount to sell for an amount bought, in minor units of the sold currency, rounded half to even. */
export function soldFor({ sellCurrency, buyCurrency }: Pair, buy: bigint, rate: Rate): bigint {
  return divideHalfEven(buy * RATE_ONE * minorUnits(sellCurrency), rate * minorUnits(buyCurrency))
}

/** Returns the number of minor units in one major unit. */
const minorUnits = (currency: CurrencyCode): bigint => 10n ** BigInt(exponentOf(currency))
