/**
 * Reads bulk files as spreadsheets (ISO/IEC 29500): the first sheet, its values as text or number. Formulas and macros
 * are refused, because the value of a formula depends on the program that opens it.
 *
 * A spreadsheet is a zip archive with its table of contents at the end, so its packed bytes are held in memory
 * (BULK_FILE_BYTES_MAX). Unpacked, it is read in pieces; only the texts that cells share are held, and they are
 * bounded, too. No path that the archive names is ever written to.
 */
import { DAY_MS } from '../../lib/base/clock.ts'
import { crc32 } from 'node:zlib'
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl'
import { columnName, type CellTarget } from '../../lib/bulk-payments/columns.ts'
import { BulkFileError, unusable } from '../../lib/bulk-payments/file-error.ts'
import { readHeader } from '../../lib/bulk-payments/header.ts'
import { RowReader, type BulkRow, type DecimalSeparator, type FileFacts } from '../../lib/bulk-payments/instruction.ts'
import {
  ARCHIVE_ENTRIES_MAX,
  BULK_FILE_BYTES_MAX,
  BULK_ROWS_MAX,
  CELLS_MAX,
  SHARED_CHARACTERS_MAX,
  UNPACKED_BYTES_MAX,
  UNPACKED_TIMES_MAX,
} from '../../lib/bulk-payments/limits.ts'
import { TEXT_MAX, XmlReader, type XmlHandler } from '../../lib/base/xml-reader.ts'

/** The cost of a shared text beside its characters, in characters. */
const SHARED_TEXT_COST = 16
/** Day 0 of the two date systems; the system of 1900 counts a 29 February 1900 that did not exist. */
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const EPOCH_1904 = Date.UTC(1904, 0, 1)

/**
 * Yields the rows of a file.
 *
 * @throws BulkFileError when the file as a whole cannot be used; rows that were yielded before it are void
 */
export async function* readXlsx(
  bytes: AsyncIterable<Uint8Array>,
  { decimalSeparator }: { readonly decimalSeparator: DecimalSeparator },
): AsyncGenerator<BulkRow, FileFacts> {
  await using book = await Book.open(await collected(bytes))
  const { sheet, epoch } = await book.firstSheet()
  const shared = await book.sharedTexts()
  const rows = new SheetRows({ shared, epoch, decimalSeparator })
  for await (const ready of book.parse(sheet, rows, () => rows.take())) yield* ready
  if (rows.count === 0) unusable('empty_file', 'There is no row below the first line of the first sheet.')
  return { messageId: null }
}

async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > BULK_FILE_BYTES_MAX) unusable('too_large', `A file has at most ${BULK_FILE_BYTES_MAX} bytes.`)
    pieces.push(piece)
  }
  if (size === 0) unusable('empty_file', 'There is nothing in the file.')
  return Buffer.concat(pieces)
}

/** The archive. Each of its failures becomes an error of the file. */
class Book implements AsyncDisposable {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip
    this.#entries = entries
  }

  static async open(bytes: Buffer): Promise<Book> {
    return await archived(async () => {
      // The library refuses names that lead out of the archive, and wrong sizes.
      const zip = await fromBufferPromise(bytes, { lazyEntries: true, autoClose: false })
      const entries = new Map<string, Entry>()
      let unpacked = 0
      for await (const entry of zip.eachEntry()) {
        unpacked += entry.uncompressedSize
        if (entries.size >= ARCHIVE_ENTRIES_MAX)
          unusable('too_large', `A spreadsheet has at most ${ARCHIVE_ENTRIES_MAX} parts.`)
        if (unpacked > UNPACKED_BYTES_MAX || unpacked > bytes.length * UNPACKED_TIMES_MAX) {
          unusable(
            'too_large',
            `Unpacked, a spreadsheet has at most ${UNPACKED_BYTES_MAX} bytes and at most ${UNPACKED_TIMES_MAX} times its packed size.`,
          )
        }
        if (entry.isEncrypted()) unusable('not_well_formed', 'The spreadsheet is protected by a password.')
        // When two parts have the same name, readers disagree about which one counts.
        if (entries.has(entry.fileName)) unusable('not_well_formed', 'The archive has two parts of one name.')
        if (/vbaproject/i.test(entry.fileName)) unusable('formula_not_allowed', 'The spreadsheet has macros.')
        entries.set(entry.fileName, entry)
      }
      if (!entries.has('xl/workbook.xml')) unusable('not_well_formed', 'This is no spreadsheet of the XLSX format.')
      return new Book(zip, entries)
    })
  }

  async firstSheet(): Promise<{ readonly sheet: string; readonly epoch: number }> {
    let relation: string | null = null
    let epoch = EPOCH_1900
    await this.#read('xl/workbook.xml', {
      open(element) {
        const { name } = element
        if (name === 'sheet') relation ??= element.attribute('r:id') ?? element.attribute('id')
        if (name === 'workbookPr' && ['1', 'true'].includes(element.attribute('date1904') ?? '')) epoch = EPOCH_1904
      },
    })
    let sheet: string | null = null
    await this.#read('xl/_rels/workbook.xml.rels', {
      open(element) {
        if (
          element.name === 'Relationship' &&
          element.attribute('Id') === relation &&
          element.attribute('TargetMode') !== 'External'
        )
          sheet = element.attribute('Target')
      },
    })
    const path = sheet === null ? null : partName(sheet)
    if (path === null || !this.#entries.has(path)) unusable('not_well_formed', `The spreadsheet has no first sheet.`)
    return { sheet: path, epoch }
  }

  async sharedTexts(): Promise<readonly string[]> {
    const texts: string[] = []
    if (!this.#entries.has('xl/sharedStrings.xml')) return texts
    let text = ''
    let size = 0
    let phonetic = false
    const add = (part: string): void => {
      text += part
      size += part.length + SHARED_TEXT_COST
      if (size > SHARED_CHARACTERS_MAX) unusable('too_large', 'The spreadsheet has too much text.')
      checkLength(text)
    }
    await this.#read('xl/sharedStrings.xml', {
      open({ name }) {
        if (name === 'rPh') phonetic = true
      },
      close(name, part) {
        if (name === 'rPh') phonetic = false
        // Formatted text is split into runs, which are joined here.
        else if (name === 't' && !phonetic) add(part)
        else if (name === 'si') {
          texts.push(text)
          text = ''
          add('')
        }
      },
    })
    return texts
  }

  /** Parses one part; yields the result of `take` after each piece of it. */
  async *parse<Ready>(part: string, handler: XmlHandler, take: () => Ready): AsyncGenerator<Ready> {
    const entry = this.#entries.get(part)
    if (entry === undefined) unusable('not_well_formed', `The spreadsheet lacks ${part}.`)
    const stream = await archived(() => this.#zip.openReadStreamPromise(entry))
    const xml = new XmlReader(handler, unusable)
    const pieces = stream[Symbol.asyncIterator]()
    let checksum = 0
    try {
      for (;;) {
        const { done, value } = await archived(() => pieces.next() as Promise<IteratorResult<Uint8Array, undefined>>)
        if (done === true) break
        checksum = crc32(value, checksum)
        xml.write(value)
        yield take()
      }
      if (checksum !== entry.crc32) unusable('not_well_formed', 'The spreadsheet is damaged: its checksum is another.')
      xml.end()
      yield take()
    } finally {
      stream.destroy()
    }
  }

  async #read(part: string, handler: XmlHandler): Promise<void> {
    for await (const _ of this.parse(part, handler, () => null)) {
      /* the handler has it */
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#zip.close()
  }
}

/** Refuses a cell whose text is too long. A text arrives in runs, and each of them may be short. */
function checkLength(text: string, line: number | null = null): void {
  if (text.length > TEXT_MAX) unusable('too_large', `A cell has at most ${TEXT_MAX} characters.`, line)
}

async function archived<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BulkFileError) throw error
    return unusable('not_well_formed', 'The file is no archive that can be read, as spreadsheets are.')
  }
}

/** Resolves the path of a part: targets are relative to `xl/`, or start at the root of the archive. */
function partName(target: string): string | null {
  const path = new URL(target, 'zip:///xl/').pathname.slice(1)
  return path === '' ? null : decodeURIComponent(path)
}

interface SheetOptions {
  readonly shared: readonly string[]
  readonly epoch: number
  readonly decimalSeparator: DecimalSeparator
}

/** Makes rows from the elements of a sheet. */
class SheetRows implements XmlHandler {
  readonly #options: SheetOptions
  #targets: readonly CellTarget[] | null = null
  #ready: BulkRow[] = []
  #line = 0
  #cells: Cell[] = []
  #column = -1
  #cell: { readonly column: number; readonly type: string } | null = null
  #value = ''
  #phonetic = false
  count = 0

  constructor(options: SheetOptions) {
    this.#options = options
  }

  take(): BulkRow[] {
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  open(element: Parameters<NonNullable<XmlHandler['open']>>[0]): void {
    switch (element.name) {
      case 'row': {
        const said = Number(element.attribute('r'))
        this.#line = Number.isSafeInteger(said) && said > this.#line ? said : this.#line + 1
        this.#cells = []
        this.#column = -1
        break
      }
      case 'c': {
        // A cell without a reference stands to the right of the previous cell, even of an empty one.
        const column = columnNumber(element.attribute('r')) ?? this.#column + 1
        this.#column = column
        this.#cell = { column, type: element.attribute('t') ?? 'n' }
        this.#value = ''
        break
      }
      case 'f':
        if (this.#cell !== null)
          unusable('formula_not_allowed', 'A cell has a formula; save the sheet with its values alone.', this.#line)
        break
      case 'rPh':
        this.#phonetic = true
        break
    }
  }

  close(name: string, text: string): void {
    if (name === 'rPh') this.#phonetic = false
    else if (name === 'v' || (name === 't' && !this.#phonetic)) {
      this.#value += text
      checkLength(this.#value, this.#line)
    } else if (name === 'c') this.#endCell()
    else if (name === 'row') this.#endRow()
  }

  #endCell(): void {
    const { column, type } = this.#cell!
    this.#cell = null
    if (this.#value === '') return
    if (this.#cells.some((cell) => cell.column === column))
      unusable('not_well_formed', 'A cell is there twice.', this.#line)
    if (column >= CELLS_MAX) unusable('unknown_column', `There are ${CELLS_MAX} columns at most.`, this.#line)
    const value = type === 's' ? (this.#options.shared[Number(this.#value)] ?? '') : this.#value
    this.#cells.push({ column, type, value })
  }

  #endRow(): void {
    if (this.#cells.every(({ value }) => value.trim() === '')) return
    if (this.#targets === null) {
      const width = Math.max(...this.#cells.map(({ column }) => column)) + 1
      const names = Array<string>(width).fill('')
      for (const { column, value } of this.#cells) names[column] = value
      this.#targets = readHeader(names, this.#line)
      return
    }
    this.count += 1
    if (this.count > BULK_ROWS_MAX) unusable('too_many_rows', `A file has at most ${BULK_ROWS_MAX} rows.`, this.#line)
    const row = new RowReader(this.#options.decimalSeparator)
    for (const cell of this.#cells) {
      const target = this.#targets[cell.column]
      if (target === undefined) {
        row.fault('', 'unknown_field', 'A cell stands to the right of the last column.')
        break
      }
      if (cell.type === 'e') row.fault(columnName(target), 'invalid_value', 'The cell shows an error.')
      else row.cell(target, this.#textOf(cell, target))
    }
    this.#ready.push(row.end(this.count, this.#line))
  }

  #textOf({ type, value }: Cell, target: CellTarget): string {
    if (type === 'b') return value === '1' ? 'true' : 'false'
    if (type !== 'n') return value
    const member = 'column' in target ? target.column.member : null
    if (member === 'executionDate') return dateOf(value, this.#options.epoch)
    const plain = shortest(value)
    return member === 'amount' && this.#options.decimalSeparator === ',' ? plain.replace('.', ',') : plain
  }
}

interface Cell {
  readonly column: number
  readonly type: string
  readonly value: string
}

/** Reads the column of a reference: `C7` is column 2; null when the text is no reference. */
function columnNumber(reference: string | null): number | null {
  const letters = /^([A-Z]{1,3})\d+$/.exec(reference ?? '')?.[1]
  if (letters === undefined) return null
  let number = 0
  for (const letter of letters) number = number * 26 + letter.charCodeAt(0) - 64
  return number - 1
}

/**
 * Restores the number that was typed into a cell. Spreadsheets store numbers as doubles, and some write 17 digits of
 * them: 1234.56 is stored as 1234.5599999999999. The shortest text of the same double is the typed number. It is used
 * as text, never calculated with.
 */
function shortest(value: string): string {
  return /^-?\d+$/.test(value) && value.length <= 15 ? value : String(Number(value))
}

/** Converts days since the book's day 0 to a date. Any other value stays as it is, and is refused later as a date. */
function dateOf(value: string, epoch: number): string {
  const days = Number(value)
  if (!Number.isInteger(days) || days < 1 || days > 2_958_465) return value
  return new Date(epoch + days * DAY_MS).toISOString().slice(0, 10)
}
