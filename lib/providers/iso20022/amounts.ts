/** Amounts of ISO 20022: decimals of at most 18 digits, exact in both directions. */
import { exponentOf, isCurrencyCode, type CurrencyCode } from '../../base/currency.ts'

/** Digits of an amount and of a control sum. */
export const AMOUNT_DIGITS_MAX = 18

const DECIMAL = /^(\d{1,18})(?:\.(\d{1,17}))?$/

/** Tells whether a text is a decimal without a sign. */
export const isDecimal = (text: string): boolean => DECIMAL.test(text)

/**
 * Converts a decimal amount to minor units, exactly; null for a text that is no amount, an unknown currency, or decimals
 * that the currency does not have. Zeros behind them are allowed.
 */
export function minorUnitsOf(text: string, currency: string): bigint | null {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole === undefined || !isCurrencyCode(currency)) return null
  const exponent = exponentOf(currency)
  if (/[1-9]/.test(fraction.slice(exponent))) return null
  return BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
}

/** A sum of amounts of any currencies in major units, as files say it. */
export class DecimalSum {
  /** Enough for every currency of ISO 4217; a multiple of the sum, so that it is a whole number. */
  static readonly #SCALE = 5
  #scaled = 0n
  #decimals = 0

  add(amount: bigint, currency: CurrencyCode): void {
    const exponent = exponentOf(currency)
    this.#decimals = Math.max(this.#decimals, exponent)
    this.#scaled += amount * 10n ** BigInt(DecimalSum.#SCALE - exponent)
  }

  /** Returns the sum with the decimals of the currency that has most of them. */
  toString(): string {
    const digits = this.#scaled.toString().padStart(DecimalSum.#SCALE + 1, '0')
    const whole = digits.slice(0, -DecimalSum.#SCALE)
    const fraction = digits.slice(-DecimalSum.#SCALE).slice(0, this.#decimals)
    return fraction === '' ? whole : `${whole}.${fraction}`
  }
}

/** Tells whether a decimal has at most the digits that the schemas of ISO 20022 allow. */
export const hasAmountDigits = (text: string): boolean =>
  text.replace('.', '').replace(/^0+/, '').length <= AMOUNT_DIGITS_MAX
