/**
 * Reads bulk files as CSV: RFC 4180 with comma, semicolon or tab, with or without a byte order mark, as spreadsheets of
 * all countries write it. Memory is bounded by one record, however long the file.
 */
import { pipeline } from 'node:stream/promises'
import { CsvError, parse } from 'csv-parse'
import { unusable } from '../../lib/bulk-payments/file-error.ts'
import { readHeader } from '../../lib/bulk-payments/header.ts'
import { RowReader, type BulkRow, type DecimalSeparator, type FileFacts } from '../../lib/bulk-payments/instruction.ts'
import { PAYMENT_TABLE, type BulkTable, type CellTarget } from '../../lib/bulk-payments/columns.ts'
import { BULK_ROWS_MAX, CELLS_MAX, RECORD_CHARACTERS_MAX } from '../../lib/bulk-payments/limits.ts'

export const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

const LINE_TOO_LONG = `A line has at most ${RECORD_CHARACTERS_MAX} characters; is a quote left open?`

export interface CsvOptions {
  /** Null: the delimiter that occurs most often in the first line. */
  readonly delimiter: Delimiter | null
  readonly decimalSeparator: DecimalSeparator
}

/** Makes the reader of the tables of one kind. */
export const csvReader =
  (table: BulkTable) =>
  (bytes: AsyncIterable<Uint8Array>, options: CsvOptions): AsyncGenerator<BulkRow, FileFacts> =>
    readCsv(bytes, options, table)

/**
 * Yields the rows of a file.
 *
 * @throws BulkFileError when the file as a whole cannot be used; rows that were yielded before it are void
 */
export async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
  { delimiter, decimalSeparator }: CsvOptions,
  table: BulkTable = PAYMENT_TABLE,
): AsyncGenerator<BulkRow, FileFacts> {
  const texts = measured(decoded(bytes))
  const first = await firstLine(texts)
  if (first.text === '') unusable('empty_file', 'There is nothing in the file.')
  const parser = parse({
    delimiter: delimiter ?? likelyDelimiter(first.text),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: RECORD_CHARACTERS_MAX,
    // Counts the cells here, because the parser emits a record only when it is complete, and a record may span many
    // lines.
    cast: (cell, { index, lines }) =>
      index < CELLS_MAX ? cell : unusable('unknown_column', `There are ${CELLS_MAX} columns at most.`, lines),
  })
  const feeding = pipeline(joined(first.text, texts), parser)
  // Awaited after the last row; until then a failure is thrown by the parser.
  feeding.catch(() => undefined)
  let targets: readonly CellTarget[] | null = null
  let rowNumber = 0
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      readonly record: readonly string[]
      readonly info: { readonly lines: number }
    }>) {
      if (targets === null) {
        targets = readHeader(record, info.lines, table)
        continue
      }
      if (++rowNumber > BULK_ROWS_MAX)
        unusable('too_many_rows', `A file has at most ${BULK_ROWS_MAX} rows.`, info.lines)
      const row = new RowReader(decimalSeparator, table)
      for (const [nth, cell] of record.entries()) {
        const target = targets[nth]
        if (target !== undefined) row.cell(target, cell)
        else if (cell.trim() !== '') {
          row.fault('', 'unknown_field', `The row has ${record.length} cells, the first line only ${targets.length}.`)
          break
        }
      }
      yield row.end(rowNumber, info.lines)
    }
    await feeding
  } catch (error) {
    if (error instanceof CsvError) {
      const line = typeof error['lines'] === 'number' ? error['lines'] : null
      if (error.code === 'CSV_MAX_RECORD_SIZE') unusable('too_large', LINE_TOO_LONG, line)
      unusable('not_well_formed', 'A quoted cell does not end where it should.', line)
    }
    throw error
  } finally {
    parser.destroy()
  }
  if (rowNumber === 0) unusable('empty_file', 'There is no row below the first line.')
  return { messageId: null }
}

async function* joined(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first
  yield* rest
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // Drops the byte order mark of UTF-8. The mark of UTF-16 is not valid UTF-8 and is refused like any other such bytes.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      const text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
      if (text.includes('\0')) unusable('bad_encoding', 'The file is not text.')
      return text
    } catch (error) {
      if (error instanceof TypeError) unusable('bad_encoding', 'The file is not UTF-8; save it as “CSV UTF-8”.')
      throw error
    }
  }
  for await (const chunk of bytes) yield decode(chunk)
  yield decode()
}

/** Refuses a line that is too long before the parser has buffered it; delimiters and blanks count. */
async function* measured(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let length = 0
  for await (const text of texts) {
    const mark = text.includes('\n') ? '\n' : '\r'
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf(mark, at)
      length += (end === -1 ? text.length : end) - at
      if (length > RECORD_CHARACTERS_MAX) unusable('too_large', LINE_TOO_LONG)
      if (end === -1) break
      length = 0
      at = end + 1
    }
    yield text
  }
}

/** Reads text until the first line is complete, or until it is longer than a record may be. */
async function firstLine(texts: AsyncIterator<string>): Promise<{ readonly text: string }> {
  let text = ''
  for (;;) {
    const { done, value } = await texts.next()
    if (done === true) return { text }
    text += value
    if (/[^\r\n]\r?\n/.test(text) || text.length > RECORD_CHARACTERS_MAX) return { text }
  }
}

/** Returns the delimiter that occurs most often in the first line that is not blank, outside quotes. */
function likelyDelimiter(text: string): Delimiter {
  const line = /[^\r\n]*[^\s][^\r\n]*/.exec(text)?.[0].replaceAll(/"(?:[^"]|"")*"/g, '') ?? ''
  const counted = DELIMITERS.map((each) => ({ each, count: line.split(each).length }))
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).each
}
