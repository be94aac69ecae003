/**
 * One row of a bulk file of any format: the payment that it asks for, as far as it can be read without knowing the
 * customer.
 *
 * A fault of a cell is recorded with its column and reading continues, so that the report lists all faults of a file
 * and not only the first. Whether the row can become a payment is decided later, by the rules that hold for every
 * payment.
 */
import { exponentOf, isCurrencyCode } from '../base/currency.ts'
import { REQUEST_AMOUNT_MAX } from '../base/money.ts'
import type { FieldErrorCode } from '../base/problems.ts'
import { columnName, PAYMENT_TABLE, type BulkTable, type CellTarget } from './columns.ts'

/** Faults of a row that do not concern the format of a field. */
export type RowProblemCode =
  | 'recipient_not_found'
  | 'recipient_not_approved'
  | 'duplicate_external_id'
  | 'limit_exceeded'
  | 'rail_unavailable'
  | 'verification_mismatch'
  | 'customer_restricted'
  | 'customer_not_active'
  | 'not_payable'

export interface RowFault {
  /** The column's name in the first line of a file; for other formats, the element. */
  readonly column: string
  /** A code of a field error, or of a problem that the payment would have. */
  readonly code: FieldErrorCode | RowProblemCode
  readonly message: string
}

export interface RowWarning {
  readonly column: string
  readonly code:
    | 'possible_duplicate'
    | 'close_match'
    | 'verification_unavailable'
    | 'name_will_be_cut'
    | 'date_moved'
    | 'ignored_element'
  readonly message: string
}

/** The members that the file gives as text; a member that the file does not give is absent. */
export interface InstructionTexts {
  readonly recipientId?: string
  readonly recipientName?: string
  readonly recipientType?: string
  readonly currency?: string
  readonly reference?: string
  readonly sourceBalanceId?: string
  readonly rail?: string
  readonly executionDate?: string
  readonly chargeBearer?: string
  readonly purposeCode?: string
  readonly purpose?: string
  readonly endToEndId?: string
  readonly externalId?: string
  readonly recipientEmail?: string
  readonly internalNote?: string
  // Of mandates and collections.
  readonly scheme?: string
  readonly direction?: string
  readonly balanceId?: string
  readonly counterpartyName?: string
  readonly counterpartyKind?: string
  readonly creditorId?: string
  readonly sequenceType?: string
  /** Major units of the scheme's currency. */
  readonly amountLimit?: string
  readonly consentType?: string
  readonly authorisationSource?: string
  readonly signedAt?: string
  readonly mandateId?: string
  readonly mandateReference?: string
  readonly dueDate?: string
}

export interface BulkInstruction extends InstructionTexts {
  /** Minor units; absent when the amount cannot be read. */
  readonly amountMinor?: string
  readonly notifyRecipient?: boolean
  readonly bank: Readonly<Record<string, string>>
  readonly address: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, string>>
  /** The account to pay from, where the file names an account instead of a balance. */
  readonly sourceAccount?: string
  /** Scheme codes that request a kind of rail. */
  readonly service?: { readonly level?: string; readonly localInstrument?: string }
  readonly uetr?: string
  /** The sender's id of the block of payments that contains the row. */
  readonly paymentInformationId?: string
}

/** The members that only structured formats such as pain.001 give. */
export type StructuredTexts = Pick<BulkInstruction, 'sourceAccount' | 'service' | 'uetr' | 'paymentInformationId'>

/** A single row as it was read. */
export interface BulkRow {
  /** The number of the row; the first row with data is 1. */
  readonly rowNumber: number
  /** The line of the file, from 1; null where the format has no lines. */
  readonly line: number | null
  readonly instruction: BulkInstruction
  readonly faults: readonly RowFault[]
  readonly warnings: readonly RowWarning[]
}

/** Facts about the file that are known when it has been read to its end. */
export interface FileFacts {
  /** The sender's id of the message; null in formats without one. */
  readonly messageId: string | null
}

export type DecimalSeparator = '.' | ','

/** C0, DEL and C1: no rail carries these characters, and a line break in a cell is one of them. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const METADATA_VALUE_MAX = 500
/** Most faults and most warnings recorded for one row: more than there are columns. */
const FAULTS_MAX = 100
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Collects the cells of one row. */
export class RowReader {
  readonly #decimalSeparator: DecimalSeparator
  readonly #table: BulkTable
  readonly #texts: Record<string, string> = {}
  readonly #bank: Record<string, string> = {}
  readonly #address: Record<string, string> = {}
  readonly #metadata: Record<string, string> = {}
  readonly faults: RowFault[] = []
  readonly warnings: RowWarning[] = []
  #amountText: string | null = null
  #amountColumn = 'amount'
  #notifyRecipient: boolean | undefined
  readonly #more: { -readonly [Name in keyof StructuredTexts]: StructuredTexts[Name] } = {}

  constructor(decimalSeparator: DecimalSeparator = '.', table: BulkTable = PAYMENT_TABLE) {
    this.#decimalSeparator = decimalSeparator
    this.#table = table
  }

  fault(column: string, code: FieldErrorCode, message: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ column, code, message })
  }

  warn(column: string, code: RowWarning['code'], message: string): void {
    if (this.warnings.length < FAULTS_MAX) this.warnings.push({ column, code, message })
  }

  /** Adds the text of one cell; an empty cell is skipped. `where` is the column or element named in messages. */
  cell(target: CellTarget, raw: string, where: string = columnName(target)): void {
    const text = raw.trim().normalize('NFC')
    if (text === '') return
    if (CONTROL.test(text) || !text.isWellFormed()) {
      this.fault(where, 'invalid_characters', 'Control characters, line breaks and broken Unicode are not allowed.')
      return
    }
    const maxLength = 'column' in target ? target.column.maxLength : METADATA_VALUE_MAX
    // A code point is one code unit or two, so code points are counted only between the two bounds; counting allocates
    // a list.
    if (text.length > 2 * maxLength || (text.length > maxLength && [...text].length > maxLength)) {
      this.fault(where, 'too_long', `At most ${maxLength} characters.`)
      return
    }
    if (!('column' in target)) this.#metadata[target.metadataKey] = text
    else if (target.column.target === 'bank') this.#bank[target.column.member] = text
    else if (target.column.target === 'address') this.#address[target.column.member] = text
    else this.#instructionCell(target.column.member, text, where)
  }

  /** Adds the members that only structured formats give. */
  say(more: StructuredTexts): void {
    Object.assign(this.#more, more)
  }

  #instructionCell(member: string, text: string, where: string): void {
    if (member === 'amount') {
      this.#amountText = text
      this.#amountColumn = where
    } else if (member === 'notifyRecipient') {
      const word = text.toLowerCase()
      if (word === 'true' || word === 'false') this.#notifyRecipient = word === 'true'
      else this.fault(where, 'invalid_value', 'Either true or false.')
    } else if (member === 'currency') {
      this.#texts['currency'] = text.toUpperCase()
    } else {
      this.#texts[member] = text
    }
  }

  /** Builds the row. The amount is read last, because its decimals depend on the currency. */
  end(rowNumber: number, line: number | null): BulkRow {
    const { currency, executionDate } = this.#texts
    const { hasAmount } = this.#table
    if (currency === undefined) {
      if (hasAmount) this.fault('currency', 'required', 'The currency is required.')
    } else if (!isCurrencyCode(currency)) this.fault('currency', 'invalid_value', 'No such currency.')
    if (executionDate !== undefined && !isDate(executionDate))
      this.fault('execution_date', 'invalid_format', 'A date is written YYYY-MM-DD.')
    const amountMinor = hasAmount ? this.#amount(currency) : null
    return {
      rowNumber,
      line,
      faults: this.faults,
      warnings: this.warnings,
      instruction: {
        ...this.#texts,
        ...this.#more,
        ...(amountMinor === null ? {} : { amountMinor }),
        ...(this.#notifyRecipient === undefined ? {} : { notifyRecipient: this.#notifyRecipient }),
        bank: this.#bank,
        address: this.#address,
        metadata: this.#metadata,
      },
    }
  }

  #amount(currency: string | undefined): string | null {
    if (this.#amountText === null) {
      this.fault(this.#amountColumn, 'required', 'The amount is required.')
      return null
    }
    if (currency === undefined || !isCurrencyCode(currency)) return null
    const read = minorUnits(this.#amountText, exponentOf(currency), this.#decimalSeparator)
    if (typeof read === 'string') return read
    this.fault(this.#amountColumn, read.code, read.message)
    return null
  }
}

/**
 * Converts an amount in major units to minor units, as text: digits, at most one separator, at most as many decimals as
 * the currency has, no grouping. Exact: the digits are rearranged, and no floating point is used.
 */
export function minorUnits(
  text: string,
  exponent: number,
  separator: DecimalSeparator,
): string | { readonly code: FieldErrorCode; readonly message: string } {
  const match =
    separator === '.' ? /^(\d{1,19})(?:\.(\d{0,19}))?$/.exec(text) : /^(\d{1,19})(?:,(\d{0,19}))?$/.exec(text)
  if (match === null)
    return {
      code: 'invalid_format',
      message: `Digits, and ${separator === '.' ? 'a dot' : 'a comma'} before the decimals; no grouping, no sign, no currency.`,
    }
  const decimals = (match[2] ?? '').replace(/0+$/, '')
  if (decimals.length > exponent)
    return {
      code: 'invalid_value',
      message: exponent === 0 ? 'This currency has no decimals.' : `This currency has ${exponent} decimals.`,
    }
  const amount = BigInt(match[1]! + decimals.padEnd(exponent, '0'))
  if (amount === 0n) return { code: 'too_small', message: 'The amount must be above zero.' }
  if (amount > REQUEST_AMOUNT_MAX) return { code: 'too_large', message: `At most ${REQUEST_AMOUNT_MAX} minor units.` }
  return amount.toString()
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  try {
    Temporal.PlainDate.from(text)
    return true
  } catch {
    return false
  }
}
