/** Reads ADDACS and AUDDIS: what payers' banks and Bacs say about instructions. Every value is an attribute. */
import { BankFileError, type ElementPlace } from '../iso20022/bank-file-error.ts'
import type { InstructionAdvice } from './messages.ts'
import {
  accountOf,
  codeOf,
  countOf,
  dayOf,
  optional,
  required,
  userNumberOf,
  type EmitReportItem,
  type ReportElement,
  type ReportParts,
} from './report-values.ts'

/** The record types: those about a file that was sent, and those about one instruction. */
const FILE_TYPES: ReadonlySet<string> = new Set(['V', 'R', 'N'])
const REPORT_OF: Readonly<Record<string, InstructionAdvice['report']>> = {
  A: 'ADDACS',
  D: 'AUDDIS',
  N: 'AUDDIS',
  R: 'AUDDIS',
  V: 'AUDDIS',
}

export class AdviceParts implements ReportParts {
  readonly #emit: EmitReportItem
  #user: string | null = null
  #report: InstructionAdvice['report'] | null = null

  constructor(emit: EmitReportItem) {
    this.#emit = emit
  }

  open(element: ReportElement): void {
    if (element.path === 'MessagingHeader')
      this.#user = userNumberOf(required(element, 'user-number'), this.#user, element)
    else if (element.path === 'MessagingAdvice') this.#advice(element)
  }

  close(_path: string, _text: string, _place: ElementPlace): void {
    // Every value is an attribute.
  }

  end(): void {
    if (this.#report === null) throw new BankFileError('missing_element', 'The report has no MessagingAdvice.')
  }

  #advice(element: ReportElement): void {
    const type = required(element, 'record-type').toUpperCase()
    const report = REPORT_OF[type]
    if (report === undefined)
      throw new BankFileError('invalid_value', `The record type "${type.slice(0, 10)}" is not known.`, element)
    this.#user = userNumberOf(required(element, 'user-number'), this.#user, element)
    if (this.#report === null) this.#emit({ kind: 'head', report, serviceUserNumber: this.#user })
    else if (this.#report !== report)
      throw new BankFileError('contradiction', `The report is ${this.#report} and ${report}.`, element)
    this.#report = report
    // A record N about a file has no reference; with one it is about an instruction of that file.
    if (FILE_TYPES.has(type) && optional(element, 'reference') === null) this.#file(element, type)
    else this.#instruction(element, report)
  }

  #file(element: ReportElement, type: string): void {
    const count = (name: string): number => countOf(optional(element, name) ?? '0', element)
    const rejected = count('rejected-ddi')
    this.#emit({
      kind: 'instruction_file',
      serialNumber: required(element, 'vol-serial-number'),
      fileNumber: optional(element, 'originator-file-number'),
      accepted: count('accepted-ddi'),
      rejected,
      isRejected: type === 'R',
    })
  }

  #instruction(element: ReportElement, report: InstructionAdvice['report']): void {
    const account = (prefix: string): InstructionAdvice['payer'] =>
      accountOf(optional(element, `${prefix}sort-code`), optional(element, `${prefix}account-number`), element)
    const effective = optional(element, 'effective-date')
    this.#emit({
      kind: 'instruction_advice',
      report,
      reference: required(element, 'reference'),
      code: codeOf(required(element, 'reason-code'), element),
      effectiveOn: effective === null ? null : dayOf(effective, element),
      payer: account('payer-'),
      newPayer: account('payer-new-'),
    })
  }
}
