/**
 * Renders a confirmation as a PDF of one or more A4 pages, in a thread, because each takes about 50 ms of CPU. The
 * fonts are embedded, because names have letters that the standard fonts of PDF lack.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import PDFDocument from 'pdfkit'
import type { Confirmation } from '../../lib/documents/confirmation-page.ts'

const font = (file: string): Buffer =>
  readFileSync(createRequire(import.meta.url).resolve(`@expo-google-fonts/noto-sans/${file}`))
/** Read once per thread. */
const REGULAR = font('400Regular/NotoSans_400Regular.ttf')
const BOLD = font('700Bold/NotoSans_700Bold.ttf')

const MARGIN = 56
/** Space for the footer on each page. */
const BOTTOM = 84
const LABEL_WIDTH = 150
const INK = '#1b2430'
const SOFT = '#5b6675'
const LINE = '#d5dae1'
const ACCENT = '#0b5c5e'

/** The task of the pool. The same confirmation always gives the same bytes. */
export default async function render({
  issuer,
  title,
  headline,
  status,
  sections,
  footer,
  createdAt,
}: Confirmation): Promise<Uint8Array> {
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
  const chunks: Uint8Array[] = []
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  doc.on('end', resolve)
  doc.on('error', reject)
  doc.registerFont('regular', REGULAR)
  doc.registerFont('bold', BOLD)

  const width = doc.page.width - 2 * MARGIN
  const bottom = doc.page.height - BOTTOM
  const line = (y: number, colour = LINE, weight = 0.5): void => {
    doc
      .moveTo(MARGIN, y)
      .lineTo(MARGIN + width, y)
      .lineWidth(weight)
      .strokeColor(colour)
      .stroke()
  }

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
  line(doc.y + 6, ACCENT, 1.5)
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

  for (const section of sections) {
    if (doc.y + 60 > bottom) doc.addPage()
    doc
      .font('bold')
      .fontSize(11)
      .fillColor(INK)
      .text(section.title, MARGIN, doc.y + 12, { width })
    line(doc.y + 3)
    doc.y += 7
    for (const [label, value] of section.lines) {
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

  const { start, count } = doc.bufferedPageRange()
  for (let page = start; page < start + count; page++) {
    doc.switchToPage(page)
    // The footer is in the bottom margin; with a margin set, text there would begin a new page.
    doc.page.margins.bottom = 0
    const y = doc.page.height - BOTTOM + 24
    line(y - 8)
    doc
      .font('regular')
      .fontSize(7.5)
      .fillColor(SOFT)
      .text(footer, MARGIN, y, { width: width - 60 })
    doc.text(`Page ${page - start + 1} of ${count}`, MARGIN + width - 60, y, { width: 60, align: 'right' })
  }
  doc.end()
  await promise
  return Buffer.concat(chunks)
}
