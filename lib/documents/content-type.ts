/**
 * Detects the type of a file from its first bytes, because name and declared type prove nothing. Only types that may be
 * uploaded are detected.
 */
import type { ContentType } from './document.ts'

/** Bytes needed for detection: the names of the first entries of an office document are within them. */
export const HEAD_BYTES = 4096

const PDF = Buffer.from('%PDF-')
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const JPEG = Buffer.from([0xff, 0xd8, 0xff])
const ZIP = Buffer.from([0x50, 0x4b, 0x03, 0x04])
const HEIC_BRANDS: ReadonlySet<string> = new Set(['heic', 'heix', 'heim', 'heis', 'mif1'])
const BOM = '\ufeff'

/** The file name extensions of each type; JPEG and HEIC have two. */
const ENDINGS: Readonly<Record<ContentType, RegExp>> = {
  'application/pdf': /\.pdf$/i,
  'image/jpeg': /\.jpe?g$/i,
  'image/png': /\.png$/i,
  'image/heic': /\.hei[cf]$/i,
  'text/csv': /\.(?:csv|txt)$/i,
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': /\.xlsx$/i,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': /\.docx$/i,
}

/**
 * Detects the type of a file from its first bytes; null for any type that may not be uploaded. `whole`: the file has no
 * more bytes.
 */
export function contentTypeOf(head: Uint8Array, whole: boolean): ContentType | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (startsWith(bytes, PDF)) return 'application/pdf'
  if (startsWith(bytes, PNG)) return 'image/png'
  if (startsWith(bytes, JPEG)) return 'image/jpeg'
  if (
    bytes.length >= 12 &&
    bytes.toString('latin1', 4, 8) === 'ftyp' &&
    HEIC_BRANDS.has(bytes.toString('latin1', 8, 12))
  )
    return 'image/heic'
  if (startsWith(bytes, ZIP)) return officeType(bytes)
  return isTable(bytes, whole) ? 'text/csv' : null
}

/**
 * Whether the extension of the name matches the detected type. `statement.pdf` that contains a picture is refused, and
 * so is `invoice.pdf.exe`.
 */
export function fitsName(type: ContentType, fileName: string): boolean {
  return ENDINGS[type].test(fileName)
}

function startsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.length >= mark.length && bytes.subarray(0, mark.length).equals(mark)
}

/** Detects the kind of an office document: an archive whose first entries show the kind. */
function officeType(bytes: Buffer): ContentType | null {
  const text = bytes.toString('latin1')
  if (!text.includes('[Content_Types].xml') && !text.includes('_rels/.rels')) return null
  // Office documents with macros are a different type, which is not accepted.
  if (text.includes('vbaProject')) return null
  if (text.includes('xl/')) return 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  if (text.includes('word/')) return 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  return null
}

/** Whether the bytes are lines of text with column separators; scripts and web pages are not tables. */
function isTable(bytes: Buffer, whole: boolean): boolean {
  if (bytes.length === 0 || bytes.includes(0)) return false
  let text: string
  try {
    // The head of a longer file may end within a character.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !whole })
  } catch {
    // Bytes that are not UTF-8 are not an accepted table.
    return false
  }
  const [first = ''] = text.replace(BOM, '').split(/\r?\n/)
  return /[,;\t|]/.test(first) && !/^\s*<|^#!/.test(first)
}
