/** Reads ARUDD: the debits that payers' banks returned. Every value is an attribute. */
import { BankFileError, type ElementPlace } from '../iso20022/bank-file-error.ts'
import type { ReturnedDebit } from './messages.ts'
import {
  accountOf,
  codeOf,
  countOf,
  dayOf,
  optional,
  penceOf,
  required,
  userNumberOf,
  type EmitReportItem,
  type ReportElement,
  type ReportParts,
} from './report-values.ts'

const RECORD = 'Advice/OriginatingAccountRecords/OriginatingAccountRecord'
const ITEM = `${RECORD}/ReturnedDebitItem`

export class ReturnParts implements ReportParts {
  readonly #emit: EmitReportItem
  #processedOn: string | null = null
  #user: string | null = null
  #item: Omit<ReturnedDebit, 'payer'> | null = null
  #payer: ReturnedDebit['payer'] = null
  #record: { count: number; sum: bigint; hasTotals: boolean } | null = null

  constructor(emit: EmitReportItem) {
    this.#emit = emit
  }

  open(element: ReportElement): void {
    switch (element.path) {
      case 'Header':
        this.#processedOn = dayOf(required(element, 'currentProcessingDate'), element)
        break
      case 'ServiceLicenseInformation':
        this.#begin(element)
        break
      case RECORD:
        this.#record = { count: 0, sum: 0n, hasTotals: false }
        break
      case ITEM:
        this.#item = this.#returned(element)
        this.#payer = null
        break
      case `${ITEM}/PayerAccount`:
        this.#payer = accountOf(optional(element, 'sortCode'), optional(element, 'number'), element)
        break
      case `${RECORD}/Totals`:
        this.#compare(element)
        break
    }
  }

  close(path: string, _text: string, place: ElementPlace): void {
    if (path === ITEM && this.#item !== null) {
      this.#emit({ ...this.#item, payer: this.#payer })
      this.#item = null
    } else if (path === RECORD && this.#record?.hasTotals === false)
      throw new BankFileError('missing_element', 'The returned debits have no Totals.', place)
  }

  end(): void {
    if (this.#user === null) throw new BankFileError('missing_element', 'The report has no ServiceLicenseInformation.')
    if (this.#processedOn === null) throw new BankFileError('missing_element', 'The report has no Header.')
  }

  #begin(element: ReportElement): void {
    const isFirst = this.#user === null
    this.#user = userNumberOf(required(element, 'userNumber'), this.#user, element)
    if (isFirst) this.#emit({ kind: 'head', report: 'ARUDD', serviceUserNumber: this.#user })
  }

  #returned(element: ReportElement): Omit<ReturnedDebit, 'payer'> {
    if (this.#processedOn === null || this.#user === null || this.#record === null)
      throw new BankFileError('missing_element', 'A returned debit stands before the head of the report.', element)
    if (this.#record.hasTotals)
      throw new BankFileError('contradiction', 'A returned debit stands behind the Totals.', element)
    const currency = optional(element, 'currency') ?? 'GBP'
    if (currency !== 'GBP')
      throw new BankFileError('invalid_value', `A debit is in ${currency.slice(0, 10)}, and Bacs knows GBP.`, element)
    const amount = penceOf(required(element, 'valueOf'), element)
    this.#record.count += 1
    this.#record.sum += amount
    return {
      kind: 'returned_debit',
      reference: required(element, 'ref'),
      code: codeOf(required(element, 'returnCode'), element),
      text: optional(element, 'returnDescription'),
      amount,
      originalDay: dayOf(required(element, 'originalProcessingDate'), element),
      processedOn: this.#processedOn,
    }
  }

  #compare(element: ReportElement): void {
    const record = this.#record
    if (record === null) return
    const count = countOf(required(element, 'numberOf'), element)
    const sum = penceOf(required(element, 'valueOf'), element)
    if (count !== record.count || sum !== record.sum)
      throw new BankFileError(
        'sum_mismatch',
        `The Totals say ${count} debits of ${sum} pence, the report lists ${record.count} of ${record.sum}.`,
        element,
      )
    record.hasTotals = true
  }
}
