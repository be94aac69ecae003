/**
 * Writes a workbook of one sheet as a stream. The package around the sheet is a ZIP (yazl, which compresses with zlib
 * while it writes); lib/statements/table.ts writes the rows of the sheet. No spreadsheet library is used: the
 * maintained ones hold a whole sheet in memory, and take amounts as floating-point numbers, where the file format
 * itself has digits.
 */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { ZipFile } from 'yazl'
import { sheetWriter, XLSX_STYLES, type Cell, type TableStyle } from '../../lib/statements/table.ts'
import type { DocumentWriter, Emit } from './writer.ts'

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const SHEET_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** The parts of the package that differ between workbooks only by the sheet's name. */
const parts = (sheetName: string): Readonly<Record<string, string>> => ({
  '[Content_Types].xml':
    `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${SHEET_TYPE}.sheet.main+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET_TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${SHEET_TYPE}.styles+xml"/></Types>`,
  '_rels/.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="${sheetName}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels':
    `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': styles(),
})

/** Writes the cell formats, in the order of XLSX_STYLES. */
function styles(): string {
  const formats = ['yyyy\\-mm\\-dd', 'yyyy\\-mm\\-dd\\ hh:mm:ss', '#,##0', '#,##0.00', '#,##0.000', '#,##0.0000']
  const numbers = formats.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code}"/>`).join('')
  const used: readonly [number: number, font: number][] = [
    [0, 0],
    [0, 1],
    [164, 0],
    [165, 0],
    [1, 0],
    [166, 0],
    [167, 0],
    [168, 0],
    [169, 0],
  ]
  const cells = used
    .map(
      ([number, font]) =>
        `<xf numFmtId="${number}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`,
    )
    .join('')
  return (
    `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="${formats.length}">${numbers}</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>` +
    `<font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
    `<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
    `<cellXfs count="${used.length}">${cells}</cellXfs></styleSheet>`
  )
}

export interface WorkbookOptions {
  /** Letters and spaces, at most 31. */
  readonly sheetName: string
  readonly columns: readonly string[]
  readonly style: Pick<TableStyle, 'timezone'>
  /** Epoch milliseconds, written into the package, so that the same rows give the same bytes. */
  readonly createdAt: number
}

/** Writes a workbook whose first row has the column names. A sheet holds at most 1 048 576 rows. */
export function workbookWriter(
  emit: Emit,
  { sheetName, columns, style, createdAt }: WorkbookOptions,
): DocumentWriter<readonly Cell[]> {
  const mtime = new Date(createdAt)
  const zip = new ZipFile()
  for (const [name, text] of Object.entries(parts(sheetName))) zip.addBuffer(Buffer.from(text), name, { mtime })
  const sheet = new PassThrough()
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', { mtime })
  zip.end()
  zip.outputStream.on('data', (bytes: Uint8Array) => emit(bytes))
  const ended = once(zip.outputStream, 'end')
  // `end` awaits this promise and reports its error.
  ended.catch(() => undefined)
  const rowOf = sheetWriter(style)
  const put = async (text: string): Promise<void> => {
    if (!sheet.write(text)) await once(sheet, 'drain')
  }
  let head =
    `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
    `<cols><col min="1" max="${columns.length}" width="20" customWidth="1"/></cols><sheetData>${rowOf(columns, XLSX_STYLES.heading)}`
  return {
    async write(rows) {
      const text = head + rows.map((row) => rowOf(row)).join('')
      head = ''
      if (text !== '') await put(text)
    },
    async end() {
      sheet.end(`${head}</sheetData></worksheet>`)
      await ended
    },
  }
}
