/** Bulk files, written by hand and by other software, and the results of reading them. */
import { buffer } from 'node:stream/consumers'
import yazl from 'yazl'
import type { FileError } from '../../lib/bulk-payments/file-error.ts'
import type { BulkRow, FileFacts } from '../../lib/bulk-payments/instruction.ts'
import { createBulkFiles } from '../../workers/bulk-payments/bulk-files.ts'
import { formatOf } from '../../workers/bulk-payments/readers.ts'
import type { BulkFileTask } from '../../workers/bulk-payments/read-bulk-file.ts'

export interface Read {
  readonly rows: readonly BulkRow[]
  readonly facts: FileFacts | null
  readonly errors: readonly FileError[]
}

/** Splits bytes into chunks of one size, so that characters and rows are split too. */
export async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from(bytes.subarray(at, at + size))
}

/** Makes a reader of bulk files that works in one thread until it is disposed. */
export function bulkReader() {
  const files = createBulkFiles()
  return {
    async read(
      content: string | Uint8Array,
      options: Partial<BulkFileTask> & { readonly pieceSize?: number } = {},
    ): Promise<Read> {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      const { pieceSize = 64 * 1024, ...task } = options
      const rows: BulkRow[] = []
      const result = await files.read({
        bytes: pieces(bytes, pieceSize),
        task: { format: formatOf(bytes), delimiter: null, decimalSeparator: '.', ...task },
        onRows: async (more) => {
          rows.push(...more)
        },
      })
      return 'facts' in result
        ? { rows, facts: result.facts, errors: [] }
        : { rows: [], facts: null, errors: result.errors }
    },
    files,
    [Symbol.asyncDispose]: () => files.close(),
  }
}

/** Makes a zip archive with these parts. */
export async function archive(parts: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(parts)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return await buffer(zip.outputStream as NodeJS.ReadableStream)
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

/** Makes a spreadsheet whose first sheet has these rows, given as XML. */
export async function spreadsheet(
  rows: string,
  more: {
    readonly shared?: string
    readonly workbook?: string
    readonly parts?: Readonly<Record<string, string>>
  } = {},
): Promise<Buffer> {
  return await archive({
    '[Content_Types].xml':
      '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    'xl/workbook.xml': `<?xml version="1.0" encoding="UTF-8"?><workbook xmlns="${MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">${more.workbook ?? ''}<sheets><sheet name="A" sheetId="1" r:id="rId7"/><sheet name="B" sheetId="2" r:id="rId8"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId8" Target="worksheets/other.xml"/><Relationship Id="rId7" Target="worksheets/first.xml"/></Relationships>',
    'xl/worksheets/first.xml': `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`,
    ...(more.shared === undefined ? {} : { 'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${more.shared}</sst>` }),
    ...more.parts,
  })
}

/** Makes one row with texts in its cells. */
export const sheetRow = (...cells: readonly string[]): string =>
  `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`

/** Makes a credit transfer initiation (pain.001) with these blocks. */
export function pain001(
  blocks: string,
  { version = '03', count = '1', sum = null as string | null, id = 'MSG-1' } = {},
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.${version}"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>${id}</MsgId><CreDtTm>2026-11-20T09:30:00</CreDtTm><NbOfTxs>${count}</NbOfTxs>${sum === null ? '' : `<CtrlSum>${sum}</CtrlSum>`}<InitgPty><Nm>Lumen GmbH</Nm></InitgPty></GrpHdr>
${blocks}</CstmrCdtTrfInitn></Document>`
}
