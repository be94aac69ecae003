/**
 * Reads any file of a bank: the namespace of its document says which message it is. Strict XML without document types
 * and without entities of its own, so a file can neither name other files nor grow while it is read.
 */
import { XmlReader, type XmlElement, type XmlHandler } from '../../base/xml-reader.ts'
import { BankFileError } from './bank-file-error.ts'
import { CamtReader } from './camt-reader.ts'
import { PartsReader, type MessageParts } from './element.ts'
import { Pain002Reader } from './pain002-reader.ts'
import type { AccountReport, BankFileItem } from './reports.ts'

/** The messages that are read. */
export type BankMessageName = 'pain.002' | AccountReport['message']

export interface BankFileReadingOptions {
  /** False where the caller compares balances, summaries and entries itself; batches are compared all the same. */
  readonly areSumsChecked: boolean
}

interface Readable {
  readonly versions: readonly string[]
  readonly create: (
    version: string,
    emit: (item: BankFileItem) => void,
    options: BankFileReadingOptions,
  ) => MessageParts
}

const MESSAGES: { readonly [name in BankMessageName]: Readable } = {
  'pain.002': { versions: ['03', '10'], create: (version, emit) => new Pain002Reader(version, emit) },
  'camt.053': { versions: ['02', '04', '08'], create: (...rest) => new CamtReader('camt.053', ...rest) },
  'camt.054': { versions: ['02', '04', '08'], create: (...rest) => new CamtReader('camt.054', ...rest) },
}

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:([a-z]{4}\.\d{3})\.001\.(\d{2})$/

/** Reads one file: takes its bytes, and gives the items that they complete. */
export class BankFileReading implements XmlHandler {
  readonly #xml: XmlReader
  readonly #options: BankFileReadingOptions
  #items: BankFileItem[] = []
  #parts: PartsReader | null = null
  #depth = 0
  #size = 0
  #message: BankMessageName | null = null
  #isRoot: (name: string) => boolean = () => false
  #hasRoot = false

  constructor(options: BankFileReadingOptions = { areSumsChecked: true }) {
    this.#options = options
    this.#xml = new XmlReader(this, (fault, message, line) => {
      throw new BankFileError(fault, message, { line })
    })
  }

  /** The message of the file; null before its document has begun. */
  get message(): BankMessageName | null {
    return this.#message
  }

  /** Takes bytes and returns the items that have been read since the last call. @throws BankFileError */
  write(bytes: Uint8Array): BankFileItem[] {
    this.#size += bytes.byteLength
    this.#xml.write(bytes)
    return this.#taken()
  }

  /** Ends the file and returns the last items. @throws BankFileError, also for a file that has ended too early */
  end(): BankFileItem[] {
    if (this.#size === 0) throw new BankFileError('empty_file', 'There is nothing in the file.')
    this.#xml.end()
    if (!this.#hasRoot) throw new BankFileError('missing_element', 'The document has no message in it.')
    return this.#taken()
  }

  open(element: XmlElement): void {
    this.#depth += 1
    if (this.#depth === 1) this.#begin(element)
    else {
      if (this.#depth === 2) this.#root(element)
      this.#parts!.open(element)
    }
  }

  close(name: string, text: string): void {
    this.#depth -= 1
    if (this.#depth > 0) this.#parts!.close(name, text)
  }

  #begin({ name, namespace }: XmlElement): void {
    const place = { line: this.#xml.line }
    const [, message = '', version = ''] = NAMESPACE.exec(namespace) ?? []
    if (name !== 'Document' || message === '')
      throw new BankFileError(
        'unsupported_message',
        `<${name.slice(0, 40)}> in "${namespace.slice(0, 80)}" is no message of ISO 20022.`,
        place,
      )
    const known = Object.keys(MESSAGES).find((each): each is BankMessageName => each === message)
    if (known === undefined || !MESSAGES[known].versions.includes(version))
      throw new BankFileError(
        'unsupported_message',
        `${message}.001.${version} is not read. ${Object.entries(MESSAGES)
          .map(([each, { versions }]) => `${each}.001.${versions.join('/')}`)
          .join(', ')} are.`,
        place,
      )
    this.#message = known
    const emit = (item: BankFileItem): void => void this.#items.push(item)
    const parts = MESSAGES[known].create(version, emit, this.#options)
    this.#parts = new PartsReader(parts, () => this.#xml.line)
    this.#isRoot = (each) => parts.containers.has(each)
  }

  /** The element below the document is that of the message. */
  #root({ name }: XmlElement): void {
    const place = { path: name, line: this.#xml.line }
    if (this.#hasRoot) throw new BankFileError('contradiction', 'The document has two messages in it.', place)
    if (!this.#isRoot(name))
      throw new BankFileError(
        'unsupported_message',
        `<${name.slice(0, 40)}> is not the element of ${this.#message}.`,
        place,
      )
    this.#hasRoot = true
  }

  #taken(): BankFileItem[] {
    const items = this.#items
    this.#items = []
    return items
  }
}
