/**
 * Rows of a table as text, for CSV and XLSX of statements and exports. Amounts are digits with a decimal separator,
 * made from minor units; floating-point numbers are never used.
 */
import { DAY_MS, MINUTE_MS } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { exponentOf } from '../base/currency.ts'
import { formatMajor } from '../base/money.ts'

/** One cell. */
export type Cell =
  | null
  | string
  /** A whole number. */
  | { readonly kind: 'integer'; readonly value: number }
  /** Minor units. */
  | { readonly kind: 'amount'; readonly value: bigint; readonly currency: CurrencyCode }
  /** A number with a decimal point, written as it is. */
  | { readonly kind: 'decimal'; readonly value: string }
  /** `YYYY-MM-DD`. */
  | { readonly kind: 'date'; readonly value: string }
  /** Epoch milliseconds, shown in the zone of the table. */
  | { readonly kind: 'time'; readonly value: number }

/** The style of a table. */
export interface TableStyle {
  /** IANA name. */
  readonly timezone: string
  readonly decimalSeparator: '.' | ','
}

/** Characters with which spreadsheets begin a formula. */
const FORMULA = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",;\r\n]/

/** Makes a text that no spreadsheet evaluates: a text that could be a formula gets an apostrophe. */
export function harmless(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Offsets from UTC change only at full quarters of an hour. */
const QUARTER_MS = 15 * MINUTE_MS

/**
 * Makes a formatter of local times in one zone, without their offset. Times in the same quarter of an hour share one
 * lookup of the offset.
 */
export function zonedTimes(timezone: string): (ms: number) => string {
  let last = Number.NaN
  let offsetMs = 0
  return (ms) => {
    const quarter = Math.floor(ms / QUARTER_MS)
    if (quarter !== last) {
      last = quarter
      offsetMs =
        Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(timezone).offsetNanoseconds /
        1_000_000
    }
    return new Date(ms + offsetMs).toISOString().slice(0, 23)
  }
}

/** Makes a writer of CSV rows (RFC 4180). With a decimal comma the fields are separated by semicolons. */
export function csvWriter({ timezone, decimalSeparator }: TableStyle): (row: readonly Cell[]) => string {
  const time = zonedTimes(timezone)
  const separator = decimalSeparator === ',' ? ';' : ','
  const decimal = (text: string): string => (decimalSeparator === ',' ? text.replace('.', ',') : text)
  const field = (cell: Cell): string => {
    if (cell === null) return ''
    if (typeof cell === 'string') {
      const text = harmless(cell)
      return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
    }
    switch (cell.kind) {
      case 'integer':
        return String(cell.value)
      case 'amount':
        return decimal(formatMajor(cell.value, cell.currency))
      case 'decimal':
        return decimal(cell.value)
      case 'date':
        return cell.value
      case 'time':
        return timezone === 'UTC' ? `${time(cell.value)}Z` : time(cell.value)
      default:
        return cell satisfies never
    }
  }
  return (row) => `${row.map(field).join(separator)}\r\n`
}

/** Groups the digits before the decimal point by three. */
function grouped(text: string): string {
  const [whole, fraction] = text.split('.') as [string, string?]
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? thousands : `${thousands}.${fraction}`
}

/** Makes a writer of cells as people read them: amounts have their thousands grouped. */
export function cellText({ timezone }: Pick<TableStyle, 'timezone'>): (cell: Cell) => string {
  const time = zonedTimes(timezone)
  return (cell) => {
    if (cell === null || typeof cell === 'string') return cell ?? ''
    switch (cell.kind) {
      case 'integer':
        return String(cell.value)
      case 'amount':
        return grouped(formatMajor(cell.value, cell.currency))
      case 'decimal':
      case 'date':
        return cell.value
      case 'time':
        return time(cell.value).slice(0, 19).replace('T', ' ')
      default:
        return cell satisfies never
    }
  }
}

/** Spreadsheets calculate with this many digits; a longer number is written as text, in full. */
const DIGITS_MAX = 15
/** Day 0 of spreadsheets, as the number of days before the Unix epoch. */
const EPOCH_DAYS = 25_569

/** The styles of cells, as indexes into the workbook's list of formats. */
export const XLSX_STYLES = {
  plain: 0,
  heading: 1,
  date: 2,
  time: 3,
  integer: 4,
  amount0: 5,
  amount2: 6,
  amount3: 7,
  amount4: 8,
} as const

/** Returns the style of amounts by their number of decimals. */
function amountStyle(exponent: number): number {
  return exponent === 0
    ? XLSX_STYLES.amount0
    : exponent === 3
      ? XLSX_STYLES.amount3
      : exponent === 4
        ? XLSX_STYLES.amount4
        : XLSX_STYLES.amount2
}

const XML_FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const escaped = (text: string): string =>
  text.replace(XML_FORBIDDEN, '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Tells whether a number has more digits than spreadsheets calculate with. */
const isLong = (text: string): boolean => text.replace(/\D/g, '').replace(/^0+/, '').length > DIGITS_MAX
const textCell = (text: string, style: number): string =>
  `<c t="inlineStr" s="${style}"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`

/** Converts a time to days since 1899-12-30, with enough decimals for milliseconds. */
function serial(ms: number): string {
  const days = Math.floor(ms / DAY_MS)
  const rest = BigInt(ms - days * DAY_MS)
  return `${days + EPOCH_DAYS}.${((rest * 10n ** 11n) / BigInt(DAY_MS)).toString().padStart(11, '0')}`
}

/** Makes a writer of worksheet rows. */
export function sheetWriter({
  timezone,
}: Pick<TableStyle, 'timezone'>): (row: readonly Cell[], style?: number) => string {
  const time = zonedTimes(timezone)
  const cellOf = (cell: Cell, style: number): string => {
    if (cell === null) return '<c/>'
    // A worksheet never evaluates this text; the apostrophe protects a sheet that is saved as CSV.
    if (typeof cell === 'string') return textCell(harmless(cell), style)
    switch (cell.kind) {
      case 'integer':
        return `<c s="${XLSX_STYLES.integer}"><v>${cell.value}</v></c>`
      case 'amount': {
        const text = formatMajor(cell.value, cell.currency)
        return isLong(text) ? textCell(text, 0) : `<c s="${amountStyle(exponentOf(cell.currency))}"><v>${text}</v></c>`
      }
      case 'decimal':
        return isLong(cell.value) ? textCell(cell.value, 0) : `<c><v>${cell.value}</v></c>`
      case 'date':
        return `<c s="${XLSX_STYLES.date}"><v>${Date.parse(`${cell.value}T00:00:00Z`) / DAY_MS + EPOCH_DAYS}</v></c>`
      case 'time':
        return `<c s="${XLSX_STYLES.time}"><v>${serial(Date.parse(`${time(cell.value)}Z`))}</v></c>`
      default:
        return cell satisfies never
    }
  }
  return (row, style = 0) => `<row>${row.map((cell) => cellOf(cell, style)).join('')}</row>`
}
