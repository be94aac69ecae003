/**
 * What a file is, by its first bytes: what it is called and what its sender says of it proves nothing. Only the types that
 * may come in are known.
 */
import type { ContentType } from './document.ts'

/** How many bytes are enough to tell: the names of the first entries of an office document are within them. */
export const HEAD_BYTES = 4096

const PDF = Buffer.from('%PDF-')
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const JPEG = Buffer.from([0xff, 0xd8, 0xff])
const ZIP = Buffer.from([0x50, 0x4b, 0x03, 0x04])
const HEIC_BRANDS: ReadonlySet<string> = new Set(['heic', 'heix', 'heim', 'heis', 'mif1'])
const BOM = '\ufeff'

/** The ending that goes with each type; JPEG and HEIC have two. */
const ENDINGS: Readonly<Record<ContentType, RegExp>> = {
  'application/pdf': /\.pdf$/i,
  'image/jpeg': /\.jpe?g$/i,
  'image/png': /\.png$/i,
  'image/heic': /\.hei[cf]$/i,
  'text/csv': /\.(?:csv|txt)$/i,
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': /\.xlsx$/i,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': /\.docx$/i,
}

/** The type of a file that begins with these bytes; null for every other. `whole`: there are no more bytes. */
export function contentTypeOf(head: Uint8Array, whole: boolean): ContentType | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (startsWith(bytes, PDF)) return 'application/pdf'
  if (startsWith(bytes, PNG)) return 'image/png'
  if (startsWith(bytes, JPEG)) return 'image/jpeg'
  if (bytes.length >= 12 && bytes.toString('latin1', 4, 8) === 'ftyp' && HEIC_BRANDS.has(bytes.toString('latin1', 8, 12))) return 'image/heic'
  if (startsWith(bytes, ZIP)) return officeType(bytes)
  return isTable(bytes, whole) ? 'text/csv' : null
}

/** Whether the name promises what the bytes are: `statement.pdf` that is a picture is refused, and so is `invoice.pdf.exe`. */
export function fitsName(type: ContentType, fileName: string): boolean {
  return ENDINGS[type].test(fileName)
}

function startsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.length >= mark.length && bytes.subarray(0, mark.length).equals(mark)
}

/** Office documents are archives, whose first entries say of which kind. */
function officeType(bytes: Buffer): ContentType | null {
  const text = bytes.toString('latin1')
  if (!text.includes('[Content_Types].xml') && !text.includes('_rels/.rels')) return null
  // With macros they are another type, and may not come in.
  if (text.includes('vbaProject')) return null
  if (text.includes('xl/')) return 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  if (text.includes('word/')) return 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  return null
}

/** Lines of text with something between the columns; never a program or a page for browsers. */
function isTable(bytes: Buffer, whole: boolean): boolean {
  if (bytes.length === 0 || bytes.includes(0)) return false
  let text: string
  try {
    // What is cut off may end within a character.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !whole })
  } catch {
    // Not UTF-8: no table that we take.
    return false
  }
  const [first = ''] = text.replace(BOM, '').split(/\r?\n/)
  return /[,;\t|]/.test(first) && !/^\s*<|^#!/.test(first)
}
