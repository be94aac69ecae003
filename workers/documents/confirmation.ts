/**
 * Renders a confirmation as a PDF of one or more A4 pages, in a thread, because each takes about 50 ms of CPU.
 */
import PDFDocument from 'pdfkit'
import type { Confirmation } from '../../lib/documents/confirmation-page.ts'
import { ACCENT, BOLD, INK, LINE, REGULAR, SOFT } from './pdf-style.ts'

const MARGIN = 56
/** Space for the footer on each page. */
const BOTTOM = 84
const LABEL_WIDTH = 150

type Document = InstanceType<typeof PDFDocument>

/** The task of the pool. The same confirmation always gives the same bytes. */
export default async function render(confirmation: Confirmation): Promise<Uint8Array> {
  const doc = openDocument(confirmation)
  const chunks: Uint8Array[] = []
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  doc.on('end', resolve)
  doc.on('error', reject)
  drawLetterhead(doc, confirmation)
  for (const section of confirmation.sections) drawSection(doc, section)
  drawFooters(doc, confirmation.footer)
  doc.end()
  await promise
  return Buffer.concat(chunks)
}

function openDocument({ issuer, title, createdAt }: Confirmation): Document {
  const at = new Date(createdAt)
  const doc = new PDFDocument({
    size: 'A4',
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: BOTTOM },
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    font: '',
    info: { Title: title, Author: issuer, Creator: issuer, Producer: issuer, CreationDate: at, ModDate: at },
  })
  doc.registerFont('regular', REGULAR)
  doc.registerFont('bold', BOLD)
  return doc
}

/** The width of the page between its margins, in points. */
const widthOf = (doc: Document): number => doc.page.width - 2 * MARGIN

/** Draws a horizontal line from margin to margin. */
function rule(doc: Document, y: number, colour = LINE, weight = 0.5): void {
  doc
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + widthOf(doc), y)
    .lineWidth(weight)
    .strokeColor(colour)
    .stroke()
}

/** Draws the head of the first page: issuer, title, headline and status. */
function drawLetterhead(doc: Document, { issuer, title, headline, status }: Confirmation): void {
  const width = widthOf(doc)
  doc
    .font('bold')
    .fontSize(15)
    .fillColor(INK)
    .text(issuer, MARGIN, MARGIN, { width: width * 0.6 })
  doc
    .font('regular')
    .fontSize(10)
    .fillColor(SOFT)
    .text(title, MARGIN + width * 0.6, MARGIN + 5, { width: width * 0.4, align: 'right' })
  doc.y = Math.max(doc.y, MARGIN + 24)
  rule(doc, doc.y + 6, ACCENT, 1.5)
  doc
    .font('bold')
    .fontSize(26)
    .fillColor(INK)
    .text(headline, MARGIN, doc.y + 28, { width })
  doc
    .font('regular')
    .fontSize(11)
    .fillColor(ACCENT)
    .text(status, MARGIN, doc.y + 2, { width })
  doc.y += 14
}

/** Draws a section; a line that does not fit begins the next page. */
function drawSection(doc: Document, { title, lines }: Confirmation['sections'][number]): void {
  const width = widthOf(doc)
  const bottom = doc.page.height - BOTTOM
  if (doc.y + 60 > bottom) doc.addPage()
  doc
    .font('bold')
    .fontSize(11)
    .fillColor(INK)
    .text(title, MARGIN, doc.y + 12, { width })
  rule(doc, doc.y + 3)
  doc.y += 7
  for (const [label, value] of lines) {
    doc.font('regular').fontSize(9.5)
    const height = Math.max(
      doc.heightOfString(value, { width: width - LABEL_WIDTH }),
      doc.heightOfString(label, { width: LABEL_WIDTH }),
    )
    if (doc.y + height > bottom) doc.addPage()
    const { y } = doc
    doc.fillColor(SOFT).text(label, MARGIN, y, { width: LABEL_WIDTH - 8 })
    doc.fillColor(INK).text(value, MARGIN + LABEL_WIDTH, y, { width: width - LABEL_WIDTH })
    doc.y = y + height + 3
  }
}

/** Draws the footer and the page number on each page; the number of pages is known at the end. */
function drawFooters(doc: Document, footer: string): void {
  const width = widthOf(doc)
  const { start, count } = doc.bufferedPageRange()
  for (let page = start; page < start + count; page++) {
    doc.switchToPage(page)
    // The footer is in the bottom margin; with a margin set, text there would begin a new page.
    doc.page.margins.bottom = 0
    const y = doc.page.height - BOTTOM + 24
    rule(doc, y - 8)
    doc
      .font('regular')
      .fontSize(7.5)
      .fillColor(SOFT)
      .text(footer, MARGIN, y, { width: width - 60 })
    doc.text(`Page ${page - start + 1} of ${count}`, MARGIN + width - 60, y, { width: 60, align: 'right' })
  }
}
