/**
 * Confirmations: documents for people. This file has their texts and amounts, without layout: the parts that all
 * confirmations share.
 */
import { isCurrencyCode, type CurrencyCode } from '../base/currency.ts'
import { formatMajor } from '../base/money.ts'

/** A page to be printed: a headline, and sections of labelled lines. */
export interface Confirmation {
  readonly issuer: string
  readonly title: string
  /** The most important fact, printed in large letters. */
  readonly headline: string
  readonly status: string
  readonly sections: readonly {
    readonly title: string
    readonly lines: readonly (readonly [label: string, value: string])[]
  }[]
  readonly footer: string
  /** The time of the document's data, epoch milliseconds; the same for every rendering of one version. */
  readonly createdAt: number
}

/** The customer that the document belongs to, as registered, and the account as payers see it. */
export interface ConfirmationParty {
  readonly operatorName: string
  readonly customerName: string
  /** IBAN or account number of the balance; null when it has neither. */
  readonly account: string | null
  /** The customer's name for the balance. */
  readonly accountName: string
  /** The time zone in which the customer reads times, an IANA name. */
  readonly timezone: string
}

/**
 * Converts a time to the local time of a time zone, `YYYY-MM-DDTHH:mm:ss`. `time` is epoch milliseconds or text with an
 * offset; null gives null.
 */
export function at(time: number | string | null, timezone: string): string | null {
  if (time === null) return null
  const instant =
    typeof time === 'string' ? Temporal.Instant.from(time) : Temporal.Instant.fromEpochMilliseconds(Math.floor(time))
  return instant.toZonedDateTimeISO(timezone).toPlainDateTime().toString({ smallestUnit: 'second' })
}

/** Returns the sentence that names the time zone, for the foot of a document. */
export const timesNote = (timezone: string): string =>
  timezone === 'UTC' ? 'Times are UTC.' : `Times are those of ${timezone}.`

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const

/** Formats a date, or the date of a moment, for people: 4 May 2026. */
export function day(text: string | null): string | null {
  if (text === null) return null
  const { day: number, month, year } = Temporal.PlainDate.from(text.slice(0, 10))
  return `${number} ${MONTHS[month - 1]} ${year}`
}

/** Formats a moment in the same way, with the time of day. */
export function moment(text: string | null): string | null {
  return text === null ? null : `${day(text)}, ${text.slice(11, 19)}`
}

/** Formats an amount with separated thousands: 1,234,567.89 EUR. */
export function grouped(minor: bigint, currency: string): string {
  const text = isCurrencyCode(currency) ? formatMajor(minor, currency as CurrencyCode) : minor.toString()
  const [whole, fraction] = text.split('.') as [string, string?]
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${fraction === undefined ? thousands : `${thousands}.${fraction}`} ${currency}`
}

/** Selects the lines with a value. */
export function linesOf(
  ...all: readonly (readonly [label: string, value: string | null])[]
): readonly (readonly [string, string])[] {
  return all.filter((line): line is readonly [string, string] => line[1] !== null && line[1] !== '')
}
