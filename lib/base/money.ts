/**
 * Amounts of money: whole minor units in a bigint, in the code and in the database; a string of digits on the wire.
 * There is no floating point: a JSON number is never an amount, because a double is inexact above 2^53.
 */
import type { CurrencyCode } from './currency.ts'
import { exponentOf } from './currency.ts'

/** An amount in the minor unit of its currency (cents, pence, yen). A negative amount is owed. */
export type AmountMinor = bigint

/** An amount with its currency, as the code holds it. */
interface CurrencyAmount {
  readonly amountMinor: AmountMinor
  readonly currency: CurrencyCode
}

/** An amount with its currency, as JSON carries it. */
export interface MoneyJson {
  readonly amountMinor: string
  readonly currency: CurrencyCode
}

/** The largest amount a balance, a posting or a wire field can hold: a signed 64-bit integer, in minor units. */
export const INT64_MAX: AmountMinor = 2n ** 63n - 1n

/** The smallest amount that such a field can hold. */
export const INT64_MIN: AmountMinor = -(2n ** 63n)

/**
 * The largest amount one request may move, in minor units, unless the operator sets a lower one.
 * Nine thousand such requests still fit one 64-bit balance, so no single request can bring a balance near overflow.
 */
export const REQUEST_AMOUNT_MAX: AmountMinor = 10n ** 15n

const SIGNED = /^(?:0|-?[1-9][0-9]{0,18})$/
const POSITIVE = /^[1-9][0-9]{0,18}$/

// Eighteen digits always fit 64 bits, so only longer texts need the comparison of bigints.
const DIGITS_SAFE = 18

/**
 * Reads an amount in minor units from its wire text. Null when the text is not a plain whole number
 * (no plus sign, leading zero, exponent, space or `-0`) or does not fit a signed 64-bit integer.
 */
export function parseAmountMinor(text: string): AmountMinor | null {
  if (!SIGNED.test(text)) return null
  const amount = BigInt(text)
  if (text.length > DIGITS_SAFE && (amount > INT64_MAX || amount < INT64_MIN)) return null
  return amount
}

/** Reads an amount in minor units that must be above zero; otherwise as `parseAmountMinor`. */
export function parsePositiveAmountMinor(text: string): AmountMinor | null {
  if (!POSITIVE.test(text)) return null
  const amount = BigInt(text)
  return text.length > DIGITS_SAFE && amount > INT64_MAX ? null : amount
}

/** The JSON form of an amount: minor units as a string, so that no reader rounds it. */
export function moneyJson(money: CurrencyAmount): MoneyJson {
  return { amountMinor: money.amountMinor.toString(), currency: money.currency }
}

/**
 * Formats an amount in major units with all its decimals, for messages and documents: 9000n EUR is "90.00", 9000n JPY
 * is "9000".
 */
export function formatMajor(amount: AmountMinor, currency: CurrencyCode): string {
  const exponent = exponentOf(currency)
  if (exponent === 0) return amount.toString()
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(exponent + 1, '0')
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
}
