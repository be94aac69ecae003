/** The parts of a report of Bacs and the forms of their values. Every function throws BankFileError, with the place. */
import { minorUnitsOf } from '../iso20022/amounts.ts'
import { BankFileError, type ElementPlace } from '../iso20022/bank-file-error.ts'
import type { BacsReportItem, ReportedBacsAccount } from './messages.ts'

/** An element of a report with its attributes. */
export interface ReportElement extends ElementPlace {
  readonly name: string
  attribute(name: string): string | null
}

/** Reads the elements of one kind of report. Paths are those below the root, joined by slashes. */
export interface ReportParts {
  open(element: ReportElement): void
  close(path: string, text: string, place: ElementPlace): void
  /** Called at the end of the document. @throws BankFileError for a report that is not whole */
  end(): void
}

export type EmitReportItem = (item: BacsReportItem) => void

/** Characters of a reference, a name or a text that a report may carry. */
const VALUE_MAX = 140

/** Returns an attribute without the blanks around it; null where it has no text. @throws BankFileError when too long */
export function optional(element: ReportElement, name: string): string | null {
  const value = element.attribute(name)?.trim() ?? ''
  if (value.length > VALUE_MAX)
    throw new BankFileError('too_large', `${name} has at most ${VALUE_MAX} characters.`, element)
  return value === '' ? null : value
}

/** Returns an attribute. @throws BankFileError where there is none */
export function required(element: ReportElement, name: string): string {
  const value = optional(element, name)
  if (value !== null) return value
  throw new BankFileError('missing_element', `${element.path} has no ${name}.`, element)
}

/** Returns a day. @throws BankFileError for a text that is none */
export function dayOf(value: string, place: ElementPlace): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(value) && new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value) === true)
    return value
  throw new BankFileError('invalid_value', `"${value.slice(0, 40)}" is no date.`, place)
}

/** Returns an amount of pounds in pence. @throws BankFileError for a text that is none */
export function penceOf(value: string, place: ElementPlace): bigint {
  const pence = minorUnitsOf(value.replace(/,(?=\d{3}(\D|$))/g, ''), 'GBP')
  if (pence !== null) return pence
  throw new BankFileError('invalid_value', `"${value.slice(0, 40)}" is no amount of pounds.`, place)
}

/** Returns a number of items. @throws BankFileError for a text that is none */
export function countOf(value: string, place: ElementPlace): number {
  if (/^\d{1,9}$/.test(value)) return Number(value)
  throw new BankFileError('invalid_value', `"${value.slice(0, 40)}" is no number of items.`, place)
}

/** Returns a code of the scheme: one capital letter or digit, the first of a longer return code. @throws BankFileError */
export function codeOf(value: string, place: ElementPlace): string {
  const [code = ''] = value.toUpperCase()
  if (/^[0-9A-Z]$/.test(code) && value.length <= 4) return code
  throw new BankFileError('invalid_value', `"${value.slice(0, 40)}" is no code of the scheme.`, place)
}

/** Returns an account; null where it is not named. @throws BankFileError for half an account, or other forms */
export function accountOf(
  sortCode: string | null,
  accountNumber: string | null,
  place: ElementPlace,
): ReportedBacsAccount {
  if (sortCode === null && accountNumber === null) return null
  const bare = sortCode?.replaceAll('-', '').replaceAll(' ', '') ?? ''
  if (/^\d{6}$/.test(bare) && accountNumber !== null && /^\d{8}$/.test(accountNumber))
    return { sortCode: bare, accountNumber }
  throw new BankFileError('invalid_value', 'An account has a sort code of six digits and a number of eight.', place)
}

/** Returns a service user number. @throws BankFileError for a text that is none, or another than before */
export function userNumberOf(value: string, before: string | null, place: ElementPlace): string {
  if (!/^[0-9B]\d{5}$/.test(value))
    throw new BankFileError('invalid_value', `"${value.slice(0, 40)}" is no service user number.`, place)
  if (before !== null && before !== value)
    throw new BankFileError('contradiction', `The report is about ${before} and ${value}.`, place)
  return value
}
