/** The parts of a page that all documents of one rendering share: the document, its rules and its footers. */
import PDFDocument from 'pdfkit'
import { BOLD, INK, LINE, REGULAR, SOFT } from './pdf-style.ts'

export const MARGIN = 56
/** Space for the footer on each page. */
export const BOTTOM = 84

export type PdfPages = InstanceType<typeof PDFDocument>

/** Opens a document of A4 pages. The same facts always give the same bytes. */
export function openDocument({
  issuer,
  title,
  createdAt,
}: {
  readonly issuer: string
  readonly title: string
  readonly createdAt: number
}): PdfPages {
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

/** Draws a document to its end, and returns its bytes. */
export async function bytesOf(doc: PdfPages, draw: () => void): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  doc.on('end', resolve)
  doc.on('error', reject)
  draw()
  doc.end()
  await promise
  return Buffer.concat(chunks)
}

/** The width of the page between its margins, in points. */
export const widthOf = (doc: PdfPages): number => doc.page.width - 2 * MARGIN

/** Draws a horizontal line from margin to margin. */
export function rule(doc: PdfPages, y: number, colour = LINE, weight = 0.5): void {
  doc
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + widthOf(doc), y)
    .lineWidth(weight)
    .strokeColor(colour)
    .stroke()
}

/** Draws the head of the first page: the issuer on the left, the title on the right. `doc.y` is below both. */
export function drawIssuer(doc: PdfPages, issuer: string, title: string): void {
  const width = widthOf(doc)
  doc
    .font('bold')
    .fontSize(15)
    .fillColor(INK)
    .text(issuer, MARGIN, MARGIN, { width: width * 0.6 })
  const bottom = doc.y
  doc
    .font('regular')
    .fontSize(10)
    .fillColor(SOFT)
    .text(title, MARGIN + width * 0.6, MARGIN + 5, { width: width * 0.4, align: 'right' })
  // A name on several lines is higher than the head.
  doc.y = Math.max(doc.y, bottom, MARGIN + 24)
}

/** Draws the footer and the page number on each page; the number of pages is known at the end. */
export function drawFooters(doc: PdfPages, footer: string): void {
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
