/**
 * Renders the form of a mandate as a PDF, in a thread, because each takes about 50 ms of CPU. It is a form for people
 * and for their bank: account numbers stand in cells, the kind of payment is ticked, and there is room to sign.
 */
import type { MandatePage, MandateParty } from '../../lib/direct-debits/mandate-page.ts'
import {
  BOTTOM,
  bytesOf,
  drawFooters,
  drawIssuer,
  MARGIN,
  openDocument,
  rule,
  widthOf,
  type PdfPages,
} from './page-frame.ts'
import { ACCENT, BAND, INK, LINE, SOFT } from './pdf-style.ts'

const GUTTER = 20
const LABEL_SIZE = 8
const TEXT_SIZE = 9.5
const CELL_WIDTH = 13.5
const CELL_HEIGHT = 19
/** Letters of an IBAN and other long numbers stand in groups of four. */
const GROUP = 4
const GROUP_GAP = 5
const TICK_SIZE = 9
const SIGNATURE_HEIGHT = 64

/** The task of the pool. The same form always gives the same bytes. */
export default async function render(page: MandatePage): Promise<Uint8Array> {
  const doc = openDocument({ ...page, title: `${page.title} ${page.reference}` })
  return await bytesOf(doc, () => {
    drawHead(doc, page)
    drawNumbers(doc, page)
    drawParagraphs(doc, page.authorisation)
    drawParties(doc, page)
    drawAccounts(doc, page)
    drawKinds(doc, page)
    drawSignature(doc, page)
    if (page.rights !== null) drawRights(doc, page.rights)
    drawFooters(doc, page.footer)
  })
}

/** Begins a new page where less than `height` points are left. */
function ensureRoom(doc: PdfPages, height: number): void {
  if (doc.y + height <= doc.page.height - BOTTOM) return
  doc.addPage()
  doc.y = MARGIN
}

function drawHead(doc: PdfPages, { issuer, title, creditor }: MandatePage): void {
  drawIssuer(doc, creditor.name, issuer === creditor.name ? '' : `Direct debit through ${issuer}`)
  rule(doc, doc.y + 6, ACCENT, 1.5)
  doc
    .font('bold')
    .fontSize(title.length > 50 ? 15 : 19)
    .fillColor(INK)
    .text(title, MARGIN, doc.y + 20, { width: widthOf(doc) })
  doc.y += 8
}

/** Draws a band with the mandate reference and the identifier of the creditor, which identify every collection. */
function drawNumbers(doc: PdfPages, { reference, identifier }: MandatePage): void {
  const width = widthOf(doc)
  const top = doc.y
  const numbers = [
    ['Mandate reference', reference],
    [identifier.label, identifier.value ?? 'Told with the first collection'],
  ] as const
  doc.rect(MARGIN, top, width, 42).fill(BAND)
  const column = (width - GUTTER) / 2
  numbers.forEach(([label, value], nth) => {
    const x = MARGIN + 12 + nth * (column + GUTTER)
    labelAt(doc, label, x, top + 8, column)
    doc
      .font('bold')
      .fontSize(reference.length > 25 ? 9 : 11)
      .fillColor(INK)
      .text(value, x, top + 20, { width: column - 12, lineBreak: false })
  })
  doc.y = top + 42 + 14
}

function labelAt(doc: PdfPages, label: string, x: number, y: number, width: number): void {
  doc.font('regular').fontSize(LABEL_SIZE).fillColor(SOFT).text(label, x, y, { width, lineBreak: false })
}

function drawParagraphs(doc: PdfPages, paragraphs: readonly string[]): void {
  for (const paragraph of paragraphs) {
    doc.font('regular').fontSize(TEXT_SIZE)
    ensureRoom(doc, doc.heightOfString(paragraph, { width: widthOf(doc), lineGap: 1.5 }) + 7)
    doc.fillColor(INK).text(paragraph, MARGIN, doc.y, { width: widthOf(doc), lineGap: 1.5 })
    doc.y += 7
  }
}

function drawParties(doc: PdfPages, { creditor, debtor, labels }: MandatePage): void {
  const column = (widthOf(doc) - GUTTER) / 2
  ensureRoom(doc, 100)
  const top = doc.y + 8
  const party = (title: string, { name, address }: MandateParty, x: number): number => {
    doc.font('bold').fontSize(11).fillColor(ACCENT).text(title, x, top, { width: column })
    doc
      .moveTo(x, doc.y + 3)
      .lineTo(x + column, doc.y + 3)
      .lineWidth(0.5)
      .strokeColor(LINE)
      .stroke()
    doc
      .font('bold')
      .fontSize(10.5)
      .fillColor(INK)
      .text(name, x, doc.y + 9, { width: column })
    doc.font('regular').fontSize(TEXT_SIZE)
    for (const line of address) doc.text(line, x, doc.y + 1, { width: column })
    // A form without an address has room to write it by hand.
    if (address.length > 0) return doc.y
    labelAt(doc, 'Address', x, doc.y + 6, column)
    for (const y of [doc.y + 14, doc.y + 32]) {
      doc
        .moveTo(x, y)
        .lineTo(x + column, y)
        .lineWidth(0.5)
        .strokeColor(LINE)
        .stroke()
    }
    return doc.y + 34
  }
  const left = party(labels.creditor, creditor, MARGIN)
  const right = party(labels.debtor, debtor, MARGIN + column + GUTTER)
  doc.y = Math.max(left, right) + 12
}

/** Draws the numbers of the account, each letter in a cell of its own; two short numbers share a line. */
function drawAccounts(doc: PdfPages, { accounts }: MandatePage): void {
  let x = MARGIN
  let top = doc.y
  const right = MARGIN + widthOf(doc)
  for (const [label, value] of accounts) {
    const width = cellsWidth(value)
    if (x > MARGIN && x + width > right) {
      x = MARGIN
      top += CELL_HEIGHT + 24
    }
    if (x === MARGIN) {
      doc.y = top
      ensureRoom(doc, CELL_HEIGHT + 24)
      top = doc.y
    }
    labelAt(doc, label, x, top, 200)
    drawCells(doc, value, x, top + 13)
    x += Math.max(width, 70) + 24
  }
  doc.y = top + CELL_HEIGHT + 26
}

/** Numbers of up to nine letters are not divided. */
const isGrouped = (value: string): boolean => value.length > 11
const gapsBefore = (value: string, nth: number): number =>
  isGrouped(value) && nth > 0 ? Math.floor(nth / GROUP) * GROUP_GAP : 0
const cellsWidth = (value: string): number => value.length * CELL_WIDTH + gapsBefore(value, value.length - 1)

function drawCells(doc: PdfPages, value: string, x: number, y: number): void {
  doc.font('bold').fontSize(10)
  for (let nth = 0; nth < value.length; nth++) {
    const left = x + nth * CELL_WIDTH + gapsBefore(value, nth)
    doc.rect(left, y, CELL_WIDTH, CELL_HEIGHT).lineWidth(0.6).strokeColor(SOFT).stroke()
    doc
      .fillColor(INK)
      .text(value[nth] as string, left, y + 2.5, { width: CELL_WIDTH, align: 'center', lineBreak: false })
  }
}

/** Draws the kinds of payment with their boxes, and the agreed limit. */
function drawKinds(doc: PdfPages, { kinds, limit }: MandatePage): void {
  ensureRoom(doc, 24)
  const top = doc.y
  let x = MARGIN
  for (const { label, ticked } of kinds) {
    doc
      .rect(x, top + 2, TICK_SIZE, TICK_SIZE)
      .lineWidth(0.8)
      .strokeColor(INK)
      .stroke()
    if (ticked)
      doc
        .moveTo(x + 1.5, top + 6.5)
        .lineTo(x + 4, top + 9.5)
        .lineTo(x + 8, top + 3.5)
        .lineWidth(1.5)
        .strokeColor(ACCENT)
        .stroke()
    doc
      .font('regular')
      .fontSize(TEXT_SIZE)
      .fillColor(INK)
      .text(label, x + TICK_SIZE + 6, top, { lineBreak: false })
    x += TICK_SIZE + 6 + doc.widthOfString(label) + 22
  }
  if (limit !== null) doc.text(limit, x, top, { width: MARGIN + widthOf(doc) - x, align: 'right', lineBreak: false })
  doc.y = top + 26
}

/** Draws the date and the signature, or the room for them. */
function drawSignature(doc: PdfPages, { signed, debtor }: MandatePage): void {
  ensureRoom(doc, SIGNATURE_HEIGHT + 8)
  const column = (widthOf(doc) - GUTTER) / 2
  const top = doc.y
  const fields = [
    ['Place and date', signed === null ? '' : signed],
    ['Signature', signed === null ? '' : `Signed by ${debtor.name}`],
  ] as const
  fields.forEach(([label, value], nth) => {
    const x = MARGIN + nth * (column + GUTTER)
    doc.rect(x, top, column, SIGNATURE_HEIGHT).lineWidth(0.6).strokeColor(SOFT).stroke()
    labelAt(doc, label, x + 8, top + 5, column - 16)
    doc
      .font('regular')
      .fontSize(TEXT_SIZE)
      .fillColor(INK)
      .text(value, x + 8, top + SIGNATURE_HEIGHT - 22, { width: column - 16, lineBreak: false, ellipsis: true })
  })
  doc.y = top + SIGNATURE_HEIGHT + 14
}

function drawRights(doc: PdfPages, { title, items }: NonNullable<MandatePage['rights']>): void {
  const width = widthOf(doc) - 24
  doc.font('regular').fontSize(8.5)
  const height = 34 + items.reduce((sum, item) => sum + doc.heightOfString(item, { width: width - 12 }) + 3, 0)
  ensureRoom(doc, height)
  const top = doc.y
  doc.rect(MARGIN, top, widthOf(doc), height).lineWidth(0.8).strokeColor(INK).stroke()
  doc
    .font('bold')
    .fontSize(11)
    .fillColor(INK)
    .text(title, MARGIN + 12, top + 9, { width })
  doc.y += 4
  for (const item of items) {
    const { y } = doc
    doc
      .font('regular')
      .fontSize(8.5)
      .text('•', MARGIN + 12, y, { lineBreak: false })
    doc.text(item, MARGIN + 24, y, { width: width - 12 })
    doc.y += 3
  }
}
