/**
 * Reads an answer of a bank about direct debits, whichever it is: a message of ISO 20022 or a report of Bacs. The root
 * element tells; a file that is neither is refused as the message of ISO 20022 that it is not.
 */
import { BacsReportReading, isBacsRoot } from '../../providers/bacs/bacs-report.ts'
import type { BacsReportItem } from '../../providers/bacs/messages.ts'
import { BankFileError } from '../../providers/iso20022/bank-file-error.ts'
import { BankFileReading } from '../../providers/iso20022/bank-file.ts'
import type { BankFileItem } from '../../providers/iso20022/reports.ts'

/** The formats of answers. */
export const RESPONSE_FORMATS = ['pain.002', 'camt.053', 'camt.054', 'AUDDIS', 'ADDACS', 'ARUDD', 'DDICA'] as const
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number]

export type ResponseItem = BankFileItem | BacsReportItem

/** The bytes before the root element that are looked at. */
const BEGINNING_MAX = 64 * 1024
/** The first element, behind a byte order mark, the declaration and comments. */
const ROOT = /^\uFEFF?\s*(?:<[?!][^>]*>\s*)*<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]/

/** Reads one file: takes its bytes, and gives the items that they complete. */
export class ResponseReading {
  #beginning: Uint8Array[] = []
  #held = 0
  #reading: BankFileReading | BacsReportReading | null = null
  #format: ResponseFormat | null = null

  /** The format; null before the file has told. */
  get format(): ResponseFormat | null {
    return this.#reading instanceof BankFileReading ? this.#reading.message : this.#format
  }

  /** Takes bytes and returns the items that have been read since the last call. @throws BankFileError */
  write(bytes: Uint8Array): ResponseItem[] {
    if (this.#reading !== null) return this.#noted(this.#reading.write(bytes))
    this.#beginning.push(bytes)
    this.#held += bytes.byteLength
    const beginning = Buffer.concat(this.#beginning)
    const root = ROOT.exec(
      beginning
        .subarray(0, BEGINNING_MAX)
        .toString('latin1')
        .replace(/^\u00EF\u00BB\u00BF/, ''),
    )
    if (root === null && this.#held < BEGINNING_MAX) return []
    return this.#begin(beginning, root?.[1] ?? '')
  }

  /** Ends the file and returns the last items. @throws BankFileError, also for a file that has ended too early */
  end(): ResponseItem[] {
    if (this.#reading === null) {
      if (this.#held === 0) throw new BankFileError('empty_file', 'There is nothing in the file.')
      const items = this.#begin(Buffer.concat(this.#beginning), '')
      return [...items, ...this.end()]
    }
    return this.#noted(this.#reading.end())
  }

  #begin(beginning: Uint8Array, root: string): ResponseItem[] {
    this.#reading = isBacsRoot(root) ? new BacsReportReading() : new BankFileReading()
    this.#beginning = []
    return this.#noted(this.#reading.write(beginning))
  }

  #noted(items: ResponseItem[]): ResponseItem[] {
    for (const item of items) if (item.kind === 'head') this.#format = item.report
    return items
  }
}
