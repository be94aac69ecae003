/**
 * Writes a table as a PDF for people: landscape pages with a heading, a row of column titles and rows of one height. A
 * page is emitted when it is full, so that a long table takes no more memory than a short one.
 */
import { once } from 'node:events'
import PDFDocument from 'pdfkit'
import { cellText, type Cell, type TableStyle } from '../../lib/statements/table.ts'
import { ACCENT, BAND, BOLD, INK, LINE, REGULAR, SOFT } from './pdf-style.ts'
import { PageText } from './page-text.ts'
import type { DocumentWriter, Emit } from './writer.ts'

const MARGIN = 28
/** A3 on its side, in points: the widest report has two dozen columns. */
const PAGE = { width: 1190.55, height: 841.89 } as const
const WIDTH = PAGE.width - 2 * MARGIN
const TABLE_TOP = 76
const HEADING = 18
const ROW = 13
const ROWS = Math.floor((PAGE.height - MARGIN - 20 - TABLE_TOP - HEADING) / ROW)
const SIZE = 6.5
/** The space between two columns. */
const GAP = 6
/** Columns of names and texts are this many times as wide as the others. */
const TEXT_SHARE = 2
const TEXTS: ReadonlySet<string> = new Set(['connection', 'customer', 'event'])

/** A table as the pages show it. */
export interface TablePdfTask {
  /** The heading of each page. */
  readonly sheetName: string
  /** A line below the heading. */
  readonly caption?: string
  readonly columns: readonly string[]
  readonly style: TableStyle
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Begins the PDF of a table. */
export function tablePdf(emit: Emit, task: TablePdfTask): DocumentWriter<readonly Cell[]> {
  return new TablePdf(emit, task)
}

/** Makes the title of a column from its name: `bankPerBooks` is `Bank per books`. */
const titleOf = (name: string): string => {
  const words = name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

class TablePdf implements DocumentWriter<readonly Cell[]> {
  readonly #emit: Emit
  readonly #task: TablePdfTask
  readonly #doc: InstanceType<typeof PDFDocument>
  readonly #letters: PageText
  readonly #text: (cell: Cell) => string
  readonly #columns: readonly { readonly title: string; readonly x: number; readonly width: number }[]
  #page = 0
  #row = 0

  constructor(emit: Emit, task: TablePdfTask) {
    this.#emit = emit
    this.#task = task
    const at = new Date(task.createdAt)
    this.#doc = new PDFDocument({
      size: [PAGE.width, PAGE.height],
      margin: 0,
      autoFirstPage: false,
      lang: 'en',
      displayTitle: true,
      font: '',
      fontLayoutCache: false,
      info: { Title: `${task.sheetName}, ${task.caption ?? ''}`, CreationDate: at, ModDate: at },
    })
    this.#doc.registerFont('regular', REGULAR)
    this.#doc.registerFont('bold', BOLD)
    this.#letters = new PageText(this.#doc)
    this.#text = cellText(task.style)
    const shares = task.columns.map((name) => (TEXTS.has(name) ? TEXT_SHARE : 1))
    const unit = WIDTH / shares.reduce((sum, share) => sum + share, 0)
    let x = MARGIN
    this.#columns = task.columns.map((name, index) => {
      const width = unit * (shares[index] as number)
      const column = { title: titleOf(name), x, width: width - GAP }
      x += width
      return column
    })
    this.#nextPage()
  }

  async write(rows: readonly (readonly Cell[])[]): Promise<void> {
    for (const row of rows) this.#put(row)
    // Reads the bytes actively and does not listen for events: between two steps this thread sleeps.
    const read = () => this.#doc.read() as Uint8Array | null
    for (let bytes = read(); bytes !== null; bytes = read()) this.#emit(bytes)
  }

  async end(): Promise<void> {
    if (this.#page === 1 && this.#row === 0)
      this.#letters.show('Nothing in this period', MARGIN, TABLE_TOP + HEADING + 3, this.#style(SOFT))
    this.#doc.on('data', this.#emit)
    const ended = once(this.#doc, 'end')
    this.#doc.end()
    await ended
  }

  #style(colour: string, face = 'regular', size = SIZE) {
    return { face, size, colour }
  }

  #nextPage(): void {
    const { sheetName, caption = '' } = this.#task
    this.#doc.addPage()
    this.#page += 1
    this.#row = 0
    this.#letters.show(sheetName, MARGIN, MARGIN, this.#style(INK, 'bold', 14))
    this.#letters.show(caption, MARGIN, MARGIN + 20, this.#style(SOFT, 'regular', 9))
    this.#letters.show(`Page ${this.#page}`, MARGIN, PAGE.height - MARGIN - 8, this.#style(SOFT))
    this.#doc.rect(MARGIN, TABLE_TOP, WIDTH, HEADING - 4).fill(BAND)
    for (const { title, x, width } of this.#columns)
      this.#fit(title, x, TABLE_TOP + 3, width, this.#style(ACCENT, 'bold'))
  }

  #put(row: readonly Cell[]): void {
    if (this.#row === ROWS) this.#nextPage()
    const top = TABLE_TOP + HEADING + this.#row * ROW
    row.forEach((cell, index) => {
      const { x, width } = this.#columns[index] as { x: number; width: number }
      const isNumber = cell !== null && typeof cell !== 'string' && (cell.kind === 'amount' || cell.kind === 'integer')
      this.#fit(this.#text(cell), x, top, width, this.#style(INK), isNumber)
    })
    this.#letters.rule(MARGIN, top + ROW - 3, WIDTH, { colour: LINE, weight: 0.4 })
    this.#row += 1
  }

  /** Shows a text within a width; a text that is too wide is made smaller, so that no digit and no id is cut off. */
  #fit(
    text: string,
    x: number,
    top: number,
    width: number,
    style: { readonly face: string; readonly size: number; readonly colour: string },
    isRight = false,
  ): void {
    if (text === '') return
    const wide = this.#letters.widthOf(text, style)
    const size = wide > width ? (style.size * width) / wide : style.size
    this.#letters.show(text, isRight ? x + width - Math.min(wide, width) : x, top, { ...style, size })
  }
}
