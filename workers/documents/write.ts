/**
 * Writes documents in a thread, step by step: each step brings a batch of rows, or null for the end, and answers with
 * the new bytes of the documents, so the sender never runs ahead. The state of a document stays in the thread between
 * its steps.
 */
import { pain002End, pain002Head, pain002Rows, type StatusReportHead } from '../../lib/bulk-payments/pain002.ts'
import type { ReportRow } from '../../lib/bulk-payments/report.ts'
import { CAMT053_END, camt053Head, camt053Lines } from '../../lib/statements/camt053.ts'
import { mt940End, mt940Head, mt940Lines } from '../../lib/statements/mt940.ts'
import { closingRow, lineRow, openingRow, STATEMENT_COLUMNS } from '../../lib/statements/statement-table.ts'
import type { StatementFormat, StatementHead, StatementLine } from '../../lib/statements/statement.ts'
import { csvWriter, type Cell, type TableStyle } from '../../lib/statements/table.ts'
import { collectionFileWriter, type CollectionFileTask } from './collection-file.ts'
import { textWriter, type DocumentWriter, type Emit } from './writer.ts'
import { workbookWriter } from './xlsx.ts'

/** A statement in several formats; the rows are its lines. */
export interface StatementTask {
  readonly kind: 'statement'
  readonly head: StatementHead
  readonly formats: readonly StatementFormat[]
  readonly style: TableStyle
}

/** A table in one format; the rows are lists of cells. */
export interface TableTask {
  readonly kind: 'table'
  readonly format: 'csv' | 'xlsx' | 'pdf'
  readonly sheetName: string
  /** A line below the name of the sheet, in a PDF. */
  readonly caption?: string
  readonly columns: readonly string[]
  readonly style: TableStyle
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** A list of JSON objects; the rows are their texts. */
export interface JsonTask {
  readonly kind: 'json'
}

/** A status report on a file of payments, from its rows. */
export interface StatusReportTask {
  readonly kind: 'pain002'
  readonly head: StatusReportHead
}

export type DocumentTask = StatementTask | TableTask | JsonTask | StatusReportTask | CollectionFileTask

/** The new bytes of each document. */
export type Gained = readonly Uint8Array[]

const UTF8_MARK = '\ufeff'

/** Writes CSV; the byte order mark tells spreadsheets that the text is UTF-8. */
function csv(emit: Emit, { columns, style }: Pick<TableTask, 'columns' | 'style'>): DocumentWriter<readonly Cell[]> {
  const rowOf = csvWriter(style)
  return textWriter(emit, { head: UTF8_MARK + rowOf(columns), rows: (rows) => rows.map(rowOf).join(''), end: () => '' })
}

/** Writes a table that begins with the opening balance and ends with the closing balance. */
function statementTable(table: DocumentWriter<readonly Cell[]>, head: StatementHead): DocumentWriter<StatementLine> {
  let begun = false
  const opening = (): readonly (readonly Cell[])[] => {
    if (begun) return []
    begun = true
    return [openingRow(head)]
  }
  return {
    write: (lines) => table.write([...opening(), ...lines.map((line) => lineRow(line, head))]),
    async end() {
      await table.write([...opening(), closingRow(head)])
      await table.end()
    },
  }
}

async function statementWriter(
  emit: Emit,
  format: StatementFormat,
  { head, style }: StatementTask,
): Promise<DocumentWriter<StatementLine>> {
  switch (format) {
    // Loaded only for a PDF: the fonts and pdfkit are most of what a thread loads.
    case 'pdf':
      return (await import('./statement-pdf.ts')).statementPdf(emit, head)
    case 'csv':
      return statementTable(csv(emit, { columns: STATEMENT_COLUMNS, style }), head)
    case 'xlsx':
      return statementTable(
        workbookWriter(emit, { sheetName: 'Statement', columns: STATEMENT_COLUMNS, style, createdAt: head.createdAt }),
        head,
      )
    case 'camt053':
      return textWriter(emit, {
        head: camt053Head(head),
        rows: (lines) => camt053Lines(head, lines),
        end: () => CAMT053_END,
      })
    case 'mt940':
      return textWriter(emit, {
        head: mt940Head(head),
        rows: (lines) => mt940Lines(head, lines),
        end: () => mt940End(head),
      })
    default:
      return format satisfies never
  }
}

async function tableWriter(emit: Emit, task: TableTask): Promise<DocumentWriter<readonly Cell[]>> {
  switch (task.format) {
    // Loaded only for a PDF, as above.
    case 'pdf':
      return (await import('./table-pdf.ts')).tablePdf(emit, task)
    case 'csv':
      return csv(emit, task)
    case 'xlsx':
      return workbookWriter(emit, task)
    default:
      return task.format satisfies never
  }
}

async function writersOf(
  task: DocumentTask,
  emitterOf: (index: number) => Emit,
): Promise<readonly DocumentWriter<never>[]> {
  switch (task.kind) {
    case 'statement':
      return await Promise.all(task.formats.map((format, index) => statementWriter(emitterOf(index), format, task)))
    case 'table':
      return [await tableWriter(emitterOf(0), task)]
    case 'json': {
      let first = true
      return [
        textWriter<string>(emitterOf(0), {
          head: '[\n',
          rows: (rows) => {
            const text = rows.length === 0 ? '' : `${first ? '' : ',\n'}${rows.join(',\n')}`
            first &&= rows.length === 0
            return text
          },
          end: () => '\n]\n',
        }),
      ]
    }
    case 'pain002':
      return [statusReport(emitterOf(0), task.head)]
    case 'collection_file':
      return [collectionFileWriter(emitterOf(0), task)]
    default:
      return task satisfies never
  }
}

/** Writes a status report; a block of it ends where the next begins. */
function statusReport(emit: Emit, head: StatusReportHead): DocumentWriter<ReportRow> {
  let block: string | null = null
  return textWriter<ReportRow>(emit, {
    head: pain002Head(head),
    rows: (rows) => {
      const { text, last } = pain002Rows(head, rows, block)
      block = last
      return text
    },
    end: () => pain002End(block),
  })
}

/** Joins the chunks in a buffer of their own: a view of a pooled buffer would transfer the whole pooled buffer. */
function joined(chunks: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((bytes, chunk) => bytes + chunk.byteLength, 0))
  let at = 0
  for (const chunk of chunks.splice(0)) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

/** A step of a document: the first step brings the task, the last has null as rows. */
export interface DocumentStep {
  readonly id: string
  readonly task: DocumentTask | null
  readonly rows: readonly never[] | null
  /** The rest of the document is not needed any more. */
  readonly isGivenUp: boolean
}

interface OpenDocument {
  readonly writers: readonly DocumentWriter<never>[]
  readonly emitted: Uint8Array[][]
}

/** The documents that this thread is writing. */
const open = new Map<string, OpenDocument>()

async function begin(task: DocumentTask): Promise<OpenDocument> {
  const emitted: Uint8Array[][] = Array.from({ length: task.kind === 'statement' ? task.formats.length : 1 }, () => [])
  return {
    emitted,
    writers: await writersOf(task, (index) => (bytes) => {
      emitted[index]?.push(bytes)
    }),
  }
}

/**
 * The task of the pool: one step of one document after the other.
 * @throws Error for a document that this thread does not know
 */
export default async function step({ id, task, rows, isGivenUp }: DocumentStep): Promise<Gained> {
  if (task !== null) open.set(id, await begin(task))
  const document = open.get(id)
  if (isGivenUp || rows === null) open.delete(id)
  if (isGivenUp) return []
  if (document === undefined) throw new Error(`The document ${id} is not being written here.`)
  const { writers, emitted } = document
  await Promise.all(writers.map((writer) => (rows === null ? writer.end() : writer.write(rows))))
  return emitted.map(joined)
}
