/**
 * The sheet of a statement: an A4 page with the columns of its table, on which text is put in points from the left
 * margin and the top of the page.
 */
import PDFDocument from 'pdfkit'
import { formatMajor } from '../../lib/base/money.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { StatementHead } from '../../lib/statements/statement.ts'
import { PageText } from './page-text.ts'
import { ACCENT, BAND, BOLD, INK, LINE, REGULAR } from './pdf-style.ts'

const MARGIN = 42
/** The width between the margins. */
export const WIDTH = 595.28 - 2 * MARGIN
/** The end of the table; the footer is below. */
export const PAGE_BOTTOM = 841.89 - 62
/** The height of the table's heading. */
export const HEADING = 20

/** The columns of the table. */
export const COLUMNS = [
  { title: 'Date', x: 0, width: 58, right: false },
  { title: 'Details', x: 62, width: 220, right: false },
  { title: 'Debit', x: 286, width: 70, right: true },
  { title: 'Credit', x: 360, width: 70, right: true },
  { title: 'Balance', x: 434, width: WIDTH - 434, right: true },
] as const
export const [DATE, DETAILS, DEBIT, CREDIT, BALANCE] = COLUMNS
type Column = (typeof COLUMNS)[number]

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

/** Writes a date as it is printed, e.g. `4 May 2026`. */
export function longDay(date: string): string {
  const { day, month, year } = Temporal.PlainDate.from(date)
  return `${day} ${MONTHS[month - 1]} ${year}`
}

/** Groups an IBAN by four characters, as it is printed. */
export const printed = (iban: string): string => iban.replace(/(.{4})(?=.)/g, '$1 ')

/** Opens the document of a statement; its bytes can be read as pages are added. */
export function openStatement(head: StatementHead): InstanceType<typeof PDFDocument> {
  const { operatorName } = head.holder
  const at = new Date(head.createdAt)
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    lang: 'en',
    displayTitle: true,
    font: '',
    fontLayoutCache: false,
    info: {
      Title: `Statement ${head.sequenceNumber}, ${head.from} to ${head.to}`,
      Author: operatorName,
      Creator: operatorName,
      Producer: operatorName,
      CreationDate: at,
      ModDate: at,
    },
  })
  doc.registerFont('regular', REGULAR)
  doc.registerFont('bold', BOLD)
  return doc
}

/** Puts text, amounts and rules on the pages of one statement. */
export class StatementSheet {
  readonly #doc: InstanceType<typeof PDFDocument>
  readonly #letters: PageText
  readonly #currency: CurrencyCode

  constructor(doc: InstanceType<typeof PDFDocument>, currency: CurrencyCode) {
    this.#doc = doc
    this.#letters = new PageText(doc)
    this.#currency = currency
  }

  /** Draws a horizontal line from margin to margin. */
  rule(top: number, colour = LINE, weight = 0.5): void {
    this.#letters.rule(MARGIN, top, WIDTH, { colour, weight })
  }

  /** Fills the background from margin to margin. */
  band(top: number, height: number): void {
    this.#doc.rect(MARGIN, top, WIDTH, height).fill(BAND)
  }

  /** Writes an amount in major units of the statement's currency, its thousands grouped. */
  amount(value: bigint): string {
    const [whole, fraction] = formatMajor(value, this.#currency).split('.') as [string, string?]
    const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',')
    return fraction === undefined ? thousands : `${thousands}.${fraction}`
  }

  /** Writes one line of text; a text wider than its column ends in an ellipsis, or is made smaller with `shrink`. */
  put(
    text: string,
    x: number,
    top: number,
    width: number,
    { face = 'regular', size = 8, colour = INK, right = false, shrink = false } = {},
  ): void {
    if (text === '') return
    let style = { face, size, colour }
    let fitting = text
    let wide = this.#letters.widthOf(fitting, style)
    if (wide > width && shrink) {
      style = { ...style, size: (size * width) / wide }
      wide = width
    } else if (wide > width) {
      let length = Math.max(1, Math.floor((fitting.length * width) / wide))
      const all = Array.from(fitting)
      do fitting = `${all.slice(0, length--).join('').trimEnd()}…`
      while (length > 0 && this.#letters.widthOf(fitting, style) > width)
      wide = this.#letters.widthOf(fitting, style)
    }
    this.#letters.show(fitting, MARGIN + (right ? x + width - wide : x), top, style)
  }

  /** Writes the text of a column; text that is too wide for a column of amounts is made smaller. */
  cell(column: Column, text: string, top: number, style: { face?: string; size?: number; colour?: string } = {}): void {
    this.put(text, column.x, top, column.width, { ...style, right: column.right, shrink: column.right })
  }

  /** Draws the heading of the table. */
  heading(top: number): void {
    this.band(top, HEADING - 4)
    for (const column of COLUMNS)
      this.cell(
        column,
        column === DATE || column === DETAILS ? column.title : `${column.title} ${this.#currency}`,
        top + 3,
        { face: 'bold', size: 7.5, colour: ACCENT },
      )
  }
}
