/**
 * Elements of a message that is read: small parts of it are held as trees, and the elements around them are only gone
 * through, so a file of any length needs little memory.
 */
import type { XmlElement, XmlHandler } from '../../base/xml-reader.ts'
import { isCurrencyCode, type CurrencyCode } from '../../base/currency.ts'
import { isDecimal, minorUnitsOf } from './amounts.ts'
import { BankFileError, type ElementPlace } from './bank-file-error.ts'

/** Elements of one tree. A transaction has some hundred at most. */
const TREE_MAX = 5_000
/** Characters of one text; the longest of the formats has 2 048. */
const TEXT_MAX = 4_096

/** The names of the paths that the readers use, each taken apart once. */
const NAMES = new Map<string, readonly string[]>()

function namesOf(path: string): readonly string[] {
  let names = NAMES.get(path)
  if (names === undefined) NAMES.set(path, (names = path.split('/')))
  return names
}

/** An element with its text and the elements in it. Paths are relative to it, first match first (`Refs/EndToEndId`). */
export class MessageElement implements ElementPlace {
  readonly name: string
  readonly path: string
  readonly line: number
  readonly children: MessageElement[] = []
  readonly #currency: string | null
  #text = ''

  constructor(name: string, place: { readonly path: string; readonly line: number }, currency: string | null) {
    this.name = name
    this.path = place.path
    this.line = place.line
    this.#currency = currency
  }

  /** Called by the reader at the end of the element. @throws BankFileError for a text that no format has */
  end(text: string): void {
    this.#text = text.trim()
    if (this.#text.length > TEXT_MAX)
      throw new BankFileError('too_large', `A text is too long: it has at most ${TEXT_MAX} characters.`, this)
  }

  /** Its text without the blanks around it; null where there is none. */
  get ownText(): string | null {
    return this.#text === '' ? null : this.#text
  }

  /** Returns every element at a path. */
  all(path: string): MessageElement[] {
    let found: readonly MessageElement[] = [this]
    for (const name of namesOf(path)) {
      found = found.flatMap(({ children }) => children.filter((child) => child.name === name))
      if (found.length === 0) return []
    }
    return [...found]
  }

  /** Returns the first element at a path; null where there is none. */
  get(path: string): MessageElement | null {
    let found: MessageElement | null = this
    for (const name of namesOf(path)) {
      found = found.#child(name)
      if (found === null) return null
    }
    return found
  }

  #child(name: string): MessageElement | null {
    for (const child of this.children) if (child.name === name) return child
    return null
  }

  /** Returns the first text at the first of these paths that has one; null where none has. */
  text(...paths: readonly string[]): string | null {
    for (const path of paths) {
      const text = this.get(path)?.ownText ?? null
      if (text !== null) return text
    }
    return null
  }

  /** Returns the text at a path. @throws BankFileError where there is none */
  required(path: string): string {
    const text = this.text(path)
    if (text !== null) return text
    throw new BankFileError('missing_element', `${this.path} has no ${path}.`, this)
  }

  /** Returns the amount at a path, in the currency of its attribute; null where there is none. @throws BankFileError */
  amount(path: string): { readonly amount: bigint; readonly currency: CurrencyCode } | null {
    return this.get(path)?.ownAmount() ?? null
  }

  /** Returns the element as an amount. @throws BankFileError */
  ownAmount(): { readonly amount: bigint; readonly currency: CurrencyCode } {
    const currency = this.#currency ?? ''
    const amount = minorUnitsOf(this.#text, currency)
    if (amount === null) {
      const shown = `"${this.#text.slice(0, 40)}" ${currency.slice(0, 10)}`
      const why =
        isDecimal(this.#text) && isCurrencyCode(currency) ? 'has more decimals than the currency' : 'is no amount'
      throw new BankFileError('invalid_value', `${shown} ${why}.`, this)
    }
    return { amount, currency: currency as CurrencyCode }
  }

  /** Returns one of these codes; @throws BankFileError for any other text */
  oneOf<Code extends string>(path: string, codes: readonly Code[]): Code {
    const text = this.required(path)
    const code = codes.find((each) => each === text)
    if (code !== undefined) return code
    throw new BankFileError('invalid_value', `"${text.slice(0, 40)}" is none of ${codes.join(', ')}.`, this.get(path)!)
  }

  /** Returns whether the text at a path is true; false where there is none. */
  isTrue(path: string): boolean {
    const text = this.text(path)
    return text === 'true' || text === '1'
  }

  /** Returns the day of a date or time at a path (`BookgDt` with `Dt` or `DtTm` in it). @throws BankFileError */
  day(path: string): string | null {
    const text = this.text(`${path}/Dt`, `${path}/DtTm`, path)
    if (text === null) return null
    const day = text.slice(0, 10)
    if (/^\d{4}-\d{2}-\d{2}$/.test(day)) return day
    throw new BankFileError('invalid_value', `"${text.slice(0, 40)}" is no date.`, this.get(path)!)
  }
}

/** The handling of a message. Paths are from the element below the document. */
export interface MessageParts {
  /** The elements that are gone through; any other element in one of them is a tree. */
  readonly containers: ReadonlySet<string>
  opened?(path: string, place: ElementPlace): void
  /** Called with each tree, at its end. */
  child(container: string, element: MessageElement): void
  closed?(path: string, place: ElementPlace): void
}

/** Splits a message into its containers and trees. */
export class PartsReader implements XmlHandler {
  readonly #parts: MessageParts
  readonly #lineNow: () => number
  /** The paths of the open elements, from the one below the document. */
  readonly #paths: string[] = []
  /** The open elements of a tree. */
  readonly #open: MessageElement[] = []
  #treeSize = 0

  constructor(parts: MessageParts, lineNow: () => number) {
    this.#parts = parts
    this.#lineNow = lineNow
  }

  open({ name, attribute }: XmlElement): void {
    const around = this.#paths.at(-1)
    const place = { path: around === undefined ? name : `${around}/${name}`, line: this.#lineNow() }
    this.#paths.push(place.path)
    if (this.#open.length === 0 && this.#parts.containers.has(place.path)) {
      this.#parts.opened?.(place.path, place)
      return
    }
    this.#treeSize += 1
    if (this.#treeSize > TREE_MAX)
      throw new BankFileError('too_large', `An element has at most ${TREE_MAX} others in it.`, place)
    const element = new MessageElement(name, place, attribute('Ccy'))
    this.#open.at(-1)?.children.push(element)
    this.#open.push(element)
  }

  close(_name: string, text: string): void {
    const element = this.#open.pop()
    const path = this.#paths.pop()!
    if (element === undefined) {
      const place = { path, line: this.#lineNow() }
      if (text.trim() !== '') throw new BankFileError('not_well_formed', `${path} has text.`, place)
      this.#parts.closed?.(path, place)
      return
    }
    element.end(text)
    if (this.#open.length > 0) return
    this.#treeSize = 0
    this.#parts.child(this.#paths.at(-1) ?? '', element)
  }
}
