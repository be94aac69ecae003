/**
 * Writes a statement as a PDF for people. All rows of its table have the same height, so the number of pages is known
 * before the first page is drawn, and each page is emitted when it is full: a million lines take no more memory than a
 * hundred.
 */
import { once } from 'node:events'
import type PDFDocument from 'pdfkit'
import { timestamp } from '../../lib/base/clock.ts'
import type { StatementHead, StatementLine } from '../../lib/statements/statement.ts'
import { SOFT } from './pdf-style.ts'
import { drawFooter, drawLetterhead, drawShortHead } from './statement-letterhead.ts'
import {
  BALANCE,
  CREDIT,
  DATE,
  DEBIT,
  DETAILS,
  HEADING,
  openStatement,
  PAGE_BOTTOM,
  StatementSheet,
} from './statement-sheet.ts'
import type { DocumentWriter, Emit } from './writer.ts'

const ROW = 25
/** The top of the table: below the letterhead on the first page, near the page's top on the others. */
const FIRST_TOP = 344
const NEXT_TOP = 96

/**
 * One row at the end of each page is for “Carried forward”, and one at the top of each later page for “Brought
 * forward”.
 */
const FIRST_ROWS = Math.floor((PAGE_BOTTOM - FIRST_TOP - HEADING) / ROW) - 1
const NEXT_ROWS = Math.floor((PAGE_BOTTOM - NEXT_TOP - HEADING) / ROW) - 2
/** Rows beside the lines: the opening balance, the totals, the closing balance. */
const OTHER_ROWS = 3

/** Returns the number of pages of a statement with `lines` lines. */
export function pagesOf(lines: number): number {
  const rows = lines + OTHER_ROWS
  return rows <= FIRST_ROWS ? 1 : 1 + Math.ceil((rows - FIRST_ROWS) / NEXT_ROWS)
}

/** Begins the PDF of a statement, with its first page and opening balance. */
export function statementPdf(emit: Emit, head: StatementHead): DocumentWriter<StatementLine> {
  return new StatementPdf(emit, head)
}

class StatementPdf implements DocumentWriter<StatementLine> {
  readonly #emit: Emit
  readonly #head: StatementHead
  readonly #doc: InstanceType<typeof PDFDocument>
  readonly #sheet: StatementSheet
  readonly #pages: number
  #page = 0
  /** The top of the next row. */
  #y = 0
  /** Rows that are left on the page. */
  #left = 0
  /** Lines shown so far, and the running balance after them. */
  #shown = 0
  #balance: bigint

  constructor(emit: Emit, head: StatementHead) {
    this.#emit = emit
    this.#head = head
    this.#doc = openStatement(head)
    this.#sheet = new StatementSheet(this.#doc, head.currency)
    this.#pages = pagesOf(head.creditCount + head.debitCount)
    this.#balance = head.opening
    this.#nextPage()
    this.#balanceRow('Opening balance', head.from, head.opening)
  }

  async write(lines: readonly StatementLine[]): Promise<void> {
    for (const line of lines) this.#lineRow(line)
    // Reads the bytes actively and does not listen for events: between two steps this thread sleeps, so events of a
    // stream would not arrive.
    const read = () => this.#doc.read() as Uint8Array | null
    for (let bytes = read(); bytes !== null; bytes = read()) this.#emit(bytes)
  }

  async end(): Promise<void> {
    const head = this.#head
    const sheet = this.#sheet
    if (this.#shown !== head.creditCount + head.debitCount)
      throw new Error(`The statement ${head.id} has ${this.#shown} lines and says otherwise.`)
    if (this.#shown === 0)
      this.#row((top) => sheet.cell(DETAILS, 'No bookings in this period', top + 4, { colour: SOFT }))
    this.#row((top) => {
      sheet.cell(DETAILS, 'Total', top + 4, { face: 'bold' })
      sheet.cell(DEBIT, sheet.amount(head.debits), top + 4, { face: 'bold' })
      sheet.cell(CREDIT, sheet.amount(head.credits), top + 4, { face: 'bold' })
    })
    this.#balanceRow('Closing balance', head.to, head.closing)
    drawFooter(sheet, head, this.#page, this.#pages)
    this.#doc.on('data', this.#emit)
    const ended = once(this.#doc, 'end')
    this.#doc.end()
    await ended
  }

  #nextPage(): void {
    if (this.#page > 0) {
      this.#carried('Carried forward')
      drawFooter(this.#sheet, this.#head, this.#page, this.#pages)
    }
    this.#doc.addPage()
    this.#page += 1
    if (this.#page === 1) {
      drawLetterhead(this.#sheet, this.#head)
      this.#y = FIRST_TOP
      this.#left = FIRST_ROWS
    } else {
      drawShortHead(this.#sheet, this.#head)
      this.#y = NEXT_TOP
      this.#left = NEXT_ROWS
    }
    this.#sheet.heading(this.#y)
    this.#y += HEADING
    if (this.#page > 1) this.#carried('Brought forward')
  }

  /** Writes the running balance at a page break. */
  #carried(label: string): void {
    this.#sheet.cell(DETAILS, label, this.#y + 4, { colour: SOFT })
    this.#sheet.cell(BALANCE, this.#sheet.amount(this.#balance), this.#y + 4, { colour: SOFT })
    this.#y += ROW
    this.#sheet.rule(this.#y - 4)
  }

  /** Writes a row of the table; `draw` gets its top. */
  #row(draw: (top: number) => void): void {
    if (this.#left === 0) this.#nextPage()
    draw(this.#y)
    this.#y += ROW
    this.#left -= 1
    this.#sheet.rule(this.#y - 4)
  }

  #balanceRow(label: string, date: string, value: bigint): void {
    this.#row((top) => {
      this.#sheet.cell(DATE, date, top + 4, { colour: SOFT })
      this.#sheet.cell(DETAILS, label, top + 4, { face: 'bold' })
      this.#sheet.cell(BALANCE, this.#sheet.amount(value), top + 4, { face: 'bold' })
    })
  }

  #lineRow(line: StatementLine): void {
    const booked = timestamp(line.bookedAt).slice(0, 10)
    this.#row((top) => {
      this.#sheet.cell(DATE, booked, top)
      if (line.valueDate !== booked)
        this.#sheet.cell(DATE, `value ${line.valueDate.slice(5)}`, top + 10, { size: 6.5, colour: SOFT })
      this.#sheet.cell(
        DETAILS,
        line.counterparty === null || line.counterparty === '' ? line.description : line.counterparty,
        top,
      )
      this.#sheet.cell(
        DETAILS,
        [line.counterparty === null || line.counterparty === '' ? null : line.description, line.reference]
          .filter((part) => part !== null && part !== '')
          .join(' · '),
        top + 10,
        { size: 7, colour: SOFT },
      )
      this.#sheet.cell(line.direction === 'debit' ? DEBIT : CREDIT, this.#sheet.amount(line.amount), top)
      this.#sheet.cell(BALANCE, this.#sheet.amount(line.running), top)
    })
    this.#balance = line.running
    this.#shown += 1
  }
}
