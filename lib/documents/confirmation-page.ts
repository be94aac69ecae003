/** Confirmations: documents for people. Words and amounts, no layout; what is common to all of them. */
import { isCurrencyCode, type CurrencyCode } from '../base/currency.ts'
import { formatMajor } from '../base/money.ts'

/** A page to be printed: a headline, and sections of labelled lines. */
export interface Confirmation {
  readonly issuer: string
  readonly title: string
  /** What matters most, in large letters. */
  readonly headline: string
  readonly status: string
  readonly sections: readonly { readonly title: string; readonly lines: readonly (readonly [label: string, value: string])[] }[]
  readonly footer: string
  /** Of the document's own data; the same for every rendering of one version, epoch milliseconds. */
  readonly createdAt: number
}

/** Whose document it is: as its customer is registered, and the account as payers would see it. */
export interface ConfirmationParty {
  readonly operatorName: string
  readonly customerName: string
  /** IBAN or account number of the balance; null where it has none. */
  readonly account: string | null
  /** What the customer calls the balance. */
  readonly accountName: string
  /** The time zone that the customer reads times in, an IANA name. */
  readonly timezone: string
}

/** A time as a clock in a time zone shows it, `YYYY-MM-DDTHH:mm:ss`, of epoch milliseconds or of text that says its offset; null is none. */
export function at(time: number | string | null, timezone: string): string | null {
  if (time === null) return null
  const instant = typeof time === 'string' ? Temporal.Instant.from(time) : Temporal.Instant.fromEpochMilliseconds(Math.floor(time))
  return instant.toZonedDateTimeISO(timezone).toPlainDateTime().toString({ smallestUnit: 'second' })
}

/** In which time zone the times of a document are, for its foot. */
export const timesNote = (timezone: string): string => (timezone === 'UTC' ? 'Times are UTC.' : `Times are those of ${timezone}.`)

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] as const

/** A date or the date of a moment, as people write it. */
export function day(text: string | null): string | null {
  if (text === null) return null
  const { day: number, month, year } = Temporal.PlainDate.from(text.slice(0, 10))
  return `${number} ${MONTHS[month - 1]} ${year}`
}

/** The same with the time of day. */
export function moment(text: string | null): string | null {
  return text === null ? null : `${day(text)}, ${text.slice(11, 19)}`
}

/** An amount with its thousands apart: 1,234,567.89 EUR. */
export function grouped(minor: bigint, currency: string): string {
  const text = isCurrencyCode(currency) ? formatMajor(minor, currency as CurrencyCode) : minor.toString()
  const [whole, fraction] = text.split('.') as [string, string?]
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${fraction === undefined ? thousands : `${thousands}.${fraction}`} ${currency}`
}

/** The lines that have something to say. */
export function linesOf(...all: readonly (readonly [label: string, value: string | null])[]): readonly (readonly [string, string])[] {
  return all.filter((line): line is readonly [string, string] => line[1] !== null && line[1] !== '')
}
