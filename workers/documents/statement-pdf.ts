/**
 * Writes a statement as a PDF for people. All rows of its table have the same height, so the number of pages is known
 * before the first page is drawn, and each page is emitted when it is full: a million lines take no more memory than a
 * hundred.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import PDFDocument from 'pdfkit'
import { timestamp } from '../../lib/base/clock.ts'
import { formatMajor } from '../../lib/base/money.ts'
import type { StatementHead, StatementLine } from '../../lib/statements/statement.ts'
import { PageText } from './page-text.ts'
import type { DocumentWriter, Emit } from './writer.ts'

const font = (file: string): Buffer =>
  readFileSync(createRequire(import.meta.url).resolve(`@expo-google-fonts/noto-sans/${file}`))
/** Read once per thread. */
const REGULAR = font('400Regular/NotoSans_400Regular.ttf')
const BOLD = font('700Bold/NotoSans_700Bold.ttf')

const MARGIN = 42
const WIDTH = 595.28 - 2 * MARGIN
const PAGE_BOTTOM = 841.89 - 62
const ROW = 25
/** The top of the table: below the letterhead on the first page, near the page's top on the others. */
const FIRST_TOP = 344
const NEXT_TOP = 96
const HEADING = 20
const INK = '#1b2430'
const SOFT = '#5b6675'
const LINE = '#d5dae1'
const ACCENT = '#0b5c5e'
const BAND = '#f2f6f6'

/**
 * One row at the end of each page is for “Carried forward”, and one at the top of each later page for “Brought
 * forward”.
 */
const FIRST_ROWS = Math.floor((PAGE_BOTTOM - FIRST_TOP - HEADING) / ROW) - 1
const NEXT_ROWS = Math.floor((PAGE_BOTTOM - NEXT_TOP - HEADING) / ROW) - 2
/** Rows beside the lines: the opening balance, the totals, the closing balance. */
const OTHER_ROWS = 3

const COLUMNS = [
  { title: 'Date', x: 0, width: 58, right: false },
  { title: 'Details', x: 62, width: 220, right: false },
  { title: 'Debit', x: 286, width: 70, right: true },
  { title: 'Credit', x: 360, width: 70, right: true },
  { title: 'Balance', x: 434, width: WIDTH - 434, right: true },
] as const
const [DATE, DETAILS, DEBIT, CREDIT, BALANCE] = COLUMNS
type Column = (typeof COLUMNS)[number]

/** Returns the number of pages of a statement with `lines` lines. */
export function pagesOf(lines: number): number {
  const rows = lines + OTHER_ROWS
  return rows <= FIRST_ROWS ? 1 : 1 + Math.ceil((rows - FIRST_ROWS) / NEXT_ROWS)
}

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
function longDay(date: string): string {
  const { day, month, year } = Temporal.PlainDate.from(date)
  return `${day} ${MONTHS[month - 1]} ${year}`
}

/** Groups an IBAN by four characters, as it is printed. */
const printed = (iban: string): string => iban.replace(/(.{4})(?=.)/g, '$1 ')

export function statementPdf(emit: Emit, head: StatementHead): DocumentWriter<StatementLine> {
  const { holder, currency } = head
  const at = new Date(head.createdAt)
  const title = `Statement ${head.sequenceNumber}, ${head.from} to ${head.to}`
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    lang: 'en',
    displayTitle: true,
    font: '',
    fontLayoutCache: false,
    info: {
      Title: title,
      Author: holder.operatorName,
      Creator: holder.operatorName,
      Producer: holder.operatorName,
      CreationDate: at,
      ModDate: at,
    },
  })
  doc.registerFont('regular', REGULAR)
  doc.registerFont('bold', BOLD)
  const letters = new PageText(doc)

  const pages = pagesOf(head.creditCount + head.debitCount)
  let page = 0
  let y = 0
  let left = 0
  let shown = 0
  let balance = head.opening

  const rule = (at: number, colour = LINE, weight = 0.5): void => letters.rule(MARGIN, at, WIDTH, { colour, weight })

  function amount(value: bigint): string {
    const [whole, fraction] = formatMajor(value, currency).split('.') as [string, string?]
    const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',')
    return fraction === undefined ? thousands : `${thousands}.${fraction}`
  }

  /** Writes one line of text; a text wider than its column ends in an ellipsis, or is made smaller with `shrink`. */
  function put(
    text: string,
    x: number,
    top: number,
    width: number,
    { face = 'regular', size = 8, colour = INK, right = false, shrink = false } = {},
  ): void {
    if (text === '') return
    let style = { face, size, colour }
    let fitting = text
    let wide = letters.widthOf(fitting, style)
    if (wide > width && shrink) {
      style = { ...style, size: (size * width) / wide }
      wide = width
    } else if (wide > width) {
      let length = Math.max(1, Math.floor((fitting.length * width) / wide))
      const all = Array.from(fitting)
      do fitting = `${all.slice(0, length--).join('').trimEnd()}…`
      while (length > 0 && letters.widthOf(fitting, style) > width)
      wide = letters.widthOf(fitting, style)
    }
    letters.show(fitting, MARGIN + (right ? x + width - wide : x), top, style)
  }
  const cell = (
    column: Column,
    text: string,
    top: number,
    style: { face?: string; size?: number; colour?: string } = {},
  ): void => put(text, column.x, top, column.width, { ...style, right: column.right, shrink: column.right })

  function footer(): void {
    rule(PAGE_BOTTOM + 14)
    put(
      `Issued electronically by ${holder.operatorName}; valid without a signature. Statement ${head.id}.`,
      0,
      PAGE_BOTTOM + 20,
      WIDTH - 80,
      { size: 7, colour: SOFT },
    )
    put(`Page ${page} of ${pages}`, WIDTH - 76, PAGE_BOTTOM + 20, 76, { size: 7, colour: SOFT, right: true })
  }

  function heading(): void {
    doc.rect(MARGIN, y, WIDTH, HEADING - 4).fill(BAND)
    for (const column of COLUMNS)
      cell(column, column === DATE || column === DETAILS ? column.title : `${column.title} ${currency}`, y + 3, {
        face: 'bold',
        size: 7.5,
        colour: ACCENT,
      })
    y += HEADING
  }

  function letterhead(): void {
    put(holder.operatorName, 0, 42, WIDTH * 0.6, { face: 'bold', size: 16 })
    put('Account statement', WIDTH * 0.6, 47, WIDTH * 0.4, { size: 10, colour: SOFT, right: true })
    rule(70, ACCENT, 1.5)
    put(holder.name, 0, 92, WIDTH * 0.46, { face: 'bold', size: 10 })
    holder.address.slice(0, 5).forEach((line, index) => put(line, 0, 107 + 13 * index, WIDTH * 0.46, { size: 9 }))
    const facts: readonly (readonly [string, string | null])[] = [
      ['Account', holder.balanceName],
      ['IBAN', holder.iban === null ? null : printed(holder.iban)],
      ['Account number', holder.iban === null ? holder.accountNumber : null],
      ['BIC', holder.bic],
      ['Bank', holder.bankName],
      ['Currency', currency],
      ['Period', `${longDay(head.from)} – ${longDay(head.to)}`],
      ['Statement no.', String(head.sequenceNumber)],
      ['Made', `${timestamp(head.createdAt).slice(0, 16).replace('T', ' ')} UTC`],
    ]
    facts
      .filter(([, value]) => value !== null && value !== '')
      .forEach(([label, value], index) => {
        put(label, WIDTH * 0.5, 92 + 13.5 * index, 76, { size: 8.5, colour: SOFT })
        put(value as string, WIDTH * 0.5 + 80, 92 + 13.5 * index, WIDTH * 0.5 - 80, { size: 8.5 })
      })
    const box = 232
    doc.rect(MARGIN, box, WIDTH, 84).fill(BAND)
    const sums: readonly (readonly [string, string, boolean])[] = [
      [`Opening balance on ${longDay(head.from)}`, amount(head.opening), false],
      [`Credits (${head.creditCount})`, amount(head.credits), false],
      [`Debits (${head.debitCount})`, head.debits === 0n ? amount(0n) : `-${amount(head.debits)}`, false],
      [`Closing balance on ${longDay(head.to)}`, amount(head.closing), true],
    ]
    sums.forEach(([label, value, last], index) => {
      const top = box + 9 + index * 18
      const face = last ? 'bold' : 'regular'
      put(label, 12, top, WIDTH * 0.55, { face, size: 9.5 })
      put(`${value} ${currency}`, WIDTH * 0.5, top, WIDTH * 0.5 - 12, { face, size: 9.5, right: true, shrink: true })
    })
  }

  function nextPage(): void {
    if (page > 0) {
      carried('Carried forward')
      footer()
    }
    doc.addPage()
    page += 1
    if (page === 1) {
      letterhead()
      y = FIRST_TOP
      left = FIRST_ROWS
    } else {
      put(holder.operatorName, 0, 46, WIDTH * 0.4, { face: 'bold', size: 10 })
      put(
        `${holder.iban === null ? (holder.accountNumber ?? holder.balanceName) : printed(holder.iban)} · ${longDay(head.from)} – ${longDay(head.to)} · Statement no. ${head.sequenceNumber}`,
        WIDTH * 0.3,
        48,
        WIDTH * 0.7,
        { size: 8, colour: SOFT, right: true },
      )
      rule(66, ACCENT, 1)
      y = NEXT_TOP
      left = NEXT_ROWS
    }
    heading()
    if (page > 1) carried('Brought forward')
  }

  /** Writes the running balance at a page break. */
  function carried(label: string): void {
    cell(DETAILS, label, y + 4, { colour: SOFT })
    cell(BALANCE, amount(balance), y + 4, { colour: SOFT })
    y += ROW
    rule(y - 4)
  }

  /** Writes a row of the table; `draw` gets its top. */
  function row(draw: (top: number) => void): void {
    if (left === 0) nextPage()
    draw(y)
    y += ROW
    left -= 1
    rule(y - 4)
  }

  function balanceRow(label: string, date: string, value: bigint): void {
    row((top) => {
      cell(DATE, date, top + 4, { colour: SOFT })
      cell(DETAILS, label, top + 4, { face: 'bold' })
      cell(BALANCE, amount(value), top + 4, { face: 'bold' })
    })
  }

  function lineRow(line: StatementLine): void {
    const booked = timestamp(line.bookedAt).slice(0, 10)
    row((top) => {
      cell(DATE, booked, top)
      if (line.valueDate !== booked)
        cell(DATE, `value ${line.valueDate.slice(5)}`, top + 10, { size: 6.5, colour: SOFT })
      cell(DETAILS, line.counterparty === null || line.counterparty === '' ? line.description : line.counterparty, top)
      cell(
        DETAILS,
        [line.counterparty === null || line.counterparty === '' ? null : line.description, line.reference]
          .filter((part) => part !== null && part !== '')
          .join(' · '),
        top + 10,
        { size: 7, colour: SOFT },
      )
      cell(line.direction === 'debit' ? DEBIT : CREDIT, amount(line.amount), top)
      cell(BALANCE, amount(line.running), top)
    })
    balance = line.running
    shown += 1
  }

  nextPage()
  balanceRow('Opening balance', head.from, head.opening)
  return {
    async write(lines) {
      for (const line of lines) lineRow(line)
      // Reads the bytes actively and does not listen for events: between two steps this thread sleeps, so events of a
      // stream would not arrive.
      for (let bytes = doc.read() as Uint8Array | null; bytes !== null; bytes = doc.read() as Uint8Array | null)
        emit(bytes)
    },
    async end() {
      if (shown !== head.creditCount + head.debitCount)
        throw new Error(`The statement ${head.id} has ${shown} lines and says otherwise.`)
      if (shown === 0) row((top) => cell(DETAILS, 'No bookings in this period', top + 4, { colour: SOFT }))
      row((top) => {
        cell(DETAILS, 'Total', top + 4, { face: 'bold' })
        cell(DEBIT, amount(head.debits), top + 4, { face: 'bold' })
        cell(CREDIT, amount(head.credits), top + 4, { face: 'bold' })
      })
      balanceRow('Closing balance', head.to, head.closing)
      footer()
      doc.on('data', emit)
      const ended = once(doc, 'end')
      doc.end()
      await ended
    },
  }
}
