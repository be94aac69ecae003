/** The reader of each format of bulk files. */
import { BULK_FILE_FORMATS, type BulkFileFormat, type BulkFormat } from '../../lib/bulk-payments/formats.ts'
import type { BulkRow, DecimalSeparator, FileFacts } from '../../lib/bulk-payments/instruction.ts'
import { COLLECTION_TABLE, MANDATE_TABLE } from '../../lib/bulk-payments/debit-columns.ts'
import { csvReader, readCsv, type Delimiter } from './csv.ts'
import { messageIdOf, messageNameOf } from './pain001-beginning.ts'
import { readPain001 } from './pain001.ts'
import { readXlsx } from './xlsx.ts'

export interface BulkReadingOptions {
  readonly delimiter: Delimiter | null
  readonly decimalSeparator: DecimalSeparator
}

/** The head of a file whose format is a message: its id and its totals, as the sender states them. */
interface MessageHead {
  /** Returns the sender's id of the message; null when the beginning does not contain it. */
  idOf(beginning: Uint8Array): string | null
  /** Returns the type of the message with its version. */
  nameOf(beginning: Uint8Array): string
}

interface BulkFileReader {
  /** Recognises a file by its first bytes. The format without a mark of its own is `UNMARKED`. */
  recognises(beginning: Uint8Array): boolean
  /** @throws BulkFileError; rows that were read before are void */
  read(pieces: AsyncIterable<Uint8Array>, options: BulkReadingOptions): AsyncGenerator<BulkRow, FileFacts>
  /** Null for a table, which has no id of its sender. */
  readonly message: MessageHead | null
}

/** The format of a file that no reader recognises. */
const UNMARKED = 'csv' satisfies BulkFileFormat

const READERS: Readonly<Record<BulkFileFormat, BulkFileReader>> = {
  csv: { recognises: () => false, read: readCsv, message: null },
  // A spreadsheet is a zip archive.
  xlsx: { recognises: ([first, second]) => first === 0x50 && second === 0x4b, read: readXlsx, message: null },
  pain001: {
    recognises: (beginning) => textOf(beginning).trimStart().startsWith('<'),
    read: readPain001,
    message: { idOf: messageIdOf, nameOf: messageNameOf },
  },
  // Their format is named with the file: as CSV they look like payments.
  mandates_csv: { recognises: () => false, read: csvReader(MANDATE_TABLE), message: null },
  collections_csv: { recognises: () => false, read: csvReader(COLLECTION_TABLE), message: null },
}

/** Returns the reader of a format. */
export const readerOf = (format: BulkFileFormat): BulkFileReader => READERS[format]

/** Returns the reader of message heads; null for a format that is no message. */
export const messageHeadOf = (format: BulkFormat): MessageHead | null =>
  format === 'json' ? null : READERS[format].message

/** Recognises the format of a file by its first bytes; a file without the mark of a format is CSV. */
export const formatOf = (beginning: Uint8Array): BulkFileFormat =>
  BULK_FILE_FORMATS.find((format) => READERS[format].recognises(beginning)) ?? UNMARKED

const BYTE_ORDER_MARK = 0xfe_ff

/** Decodes UTF-8, without the byte order mark. */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes)
  return text.codePointAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}
