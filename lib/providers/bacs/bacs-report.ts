/**
 * Reads the reports of Bacs: ARUDD, ADDACS and AUDDIS in a `BACSDocument`, DDICA in a `VocaDocument`. Strict XML without
 * document types, piece by piece; one item at a time is in memory. The totals of a report are compared with its items.
 *
 * The schemas are given to service users only. What public files and programs show leaves these choices:
 * - ADDACS and AUDDIS have the same elements; the record type tells them apart: `A` is ADDACS, the others AUDDIS.
 * - A return code of ARUDD has one character or four (`0128`, `1012`); the first one is the code of the scheme.
 * - An advice without new account details names `payer-new-*` not at all, or as blanks.
 * - A claim of DDICA may be in `NewAdvices` or `CancelledAdvices`; a comma may separate thousands of its amounts.
 * - Reports declare ISO-8859-1. The characters of Bacs are ASCII, so they are read as UTF-8 all the same.
 */
import { XmlReader, type XmlElement, type XmlHandler } from '../../base/xml-reader.ts'
import { BankFileError } from '../iso20022/bank-file-error.ts'
import { AdviceParts } from './bacs-advices.ts'
import { ClaimParts } from './bacs-claims.ts'
import { ReturnParts } from './bacs-returns.ts'
import type { BacsReportItem } from './messages.ts'
import type { EmitReportItem, ReportParts } from './report-values.ts'

/** Items of one report: ten times the records of a file, because a report may cover several. */
export const REPORT_ITEMS_MAX = 1_000_000

/** The roots of the documents, and what is read of each. */
const KINDS: Readonly<Record<string, (emit: EmitReportItem) => ReportParts>> = {
  'BACSDocument/Data/ARUDD': (emit) => new ReturnParts(emit),
  'BACSDocument/Data/MessagingAdvices': (emit) => new AdviceParts(emit),
  'VocaDocument/Data/Document': (emit) => new ClaimParts(emit),
}
const ROOTS: ReadonlySet<string> = new Set(Object.keys(KINDS).map((path) => path.slice(0, path.indexOf('/'))))

/** Tells whether the root element of a document is that of a report of Bacs. */
export const isBacsRoot = (name: string): boolean => ROOTS.has(name)

/** Reads one report: takes its bytes, and gives the items that they complete. */
export class BacsReportReading implements XmlHandler {
  readonly #xml: XmlReader
  readonly #paths: string[] = []
  #items: BacsReportItem[] = []
  #count = 0
  #size = 0
  #parts: { readonly path: string; readonly parts: ReportParts } | null = null

  constructor() {
    this.#xml = new XmlReader(this, (fault, message, line) => {
      throw new BankFileError(fault, message, { line })
    })
  }

  /** Takes bytes and returns the items that have been read since the last call. @throws BankFileError */
  write(bytes: Uint8Array): BacsReportItem[] {
    this.#size += bytes.byteLength
    this.#xml.write(bytes)
    return this.#taken()
  }

  /** Ends the report and returns the last items. @throws BankFileError, also for a report that has ended too early */
  end(): BacsReportItem[] {
    if (this.#size === 0) throw new BankFileError('empty_file', 'There is nothing in the file.')
    this.#xml.end()
    if (this.#parts === null) throw new BankFileError('missing_element', 'The document has no report in it.')
    this.#parts.parts.end()
    return this.#taken()
  }

  open({ name, attribute }: XmlElement): void {
    const place = this.#entered(name)
    const { path } = place
    if (this.#paths.length === 1 && !isBacsRoot(name))
      throw new BankFileError('unsupported_message', `<${name.slice(0, 40)}> is no report of Bacs.`, place)
    const kind = KINDS[path]
    if (kind !== undefined) {
      if (this.#parts !== null) throw new BankFileError('contradiction', 'The document has two reports in it.', place)
      this.#parts = { path, parts: kind((item) => this.#emit(item)) }
    }
    if (this.#parts !== null && path.startsWith(`${this.#parts.path}/`))
      this.#parts.parts.open({ name, path: path.slice(this.#parts.path.length + 1), line: place.line, attribute })
  }

  close(_name: string, text: string): void {
    const path = this.#paths.pop() as string
    if (this.#parts === null || !path.startsWith(`${this.#parts.path}/`)) return
    const below = path.slice(this.#parts.path.length + 1)
    this.#parts.parts.close(below, text.trim(), { path: below, line: this.#xml.line })
  }

  #entered(name: string): { readonly path: string; readonly line: number } {
    const around = this.#paths.at(-1)
    const path = around === undefined ? name : `${around}/${name}`
    this.#paths.push(path)
    return { path, line: this.#xml.line }
  }

  #emit(item: BacsReportItem): void {
    this.#count += 1
    if (this.#count > REPORT_ITEMS_MAX)
      throw new BankFileError('too_large', `A report has at most ${REPORT_ITEMS_MAX} items.`)
    this.#items.push(item)
  }

  #taken(): BacsReportItem[] {
    const items = this.#items
    this.#items = []
    return items
  }
}
