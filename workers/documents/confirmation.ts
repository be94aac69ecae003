/**
 * Renders a confirmation as a PDF of one or more A4 pages, in a thread, because each takes about 50 ms of CPU.
 */
import type { Confirmation } from '../../lib/documents/confirmation-page.ts'
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
import { ACCENT, INK, SOFT } from './pdf-style.ts'

const LABEL_WIDTH = 150

/** The task of the pool. The same confirmation always gives the same bytes. */
export default async function render(confirmation: Confirmation): Promise<Uint8Array> {
  const doc = openDocument(confirmation)
  return await bytesOf(doc, () => {
    drawLetterhead(doc, confirmation)
    for (const section of confirmation.sections) drawSection(doc, section)
    drawFooters(doc, confirmation.footer)
  })
}

/** Draws the head of the first page: issuer, title, headline and status. */
function drawLetterhead(doc: PdfPages, { issuer, title, headline, status }: Confirmation): void {
  const width = widthOf(doc)
  drawIssuer(doc, issuer, title)
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
function drawSection(doc: PdfPages, { title, lines }: Confirmation['sections'][number]): void {
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
