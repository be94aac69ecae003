/**
 * Parses XML from outside, piece by piece: strict, of bounded depth, and without document types, so that a file has no
 * entities of its own, no external files and no expansion.
 */
import { SaxesParser, type SaxesTagNS } from 'saxes'

/** The formats that are read nest about twelve deep. */
const DEPTH_MAX = 64
/**
 * Characters of one element. References and names have 140 at most; a shared text of a spreadsheet may be longer, in a
 * cell that is not read.
 */
export const TEXT_MAX = 32 * 1024
/** Characters from one tag to the next: attributes, comments, blanks and text. The parser holds them until they end. */
const BETWEEN_TAGS_MAX = 256 * 1024
/** Characters that are parsed at a time, so that BETWEEN_TAGS_MAX is checked before the parser holds much more. */
const PART = 64 * 1024

/** Why text is no XML that can be read. */
export type XmlFault = 'not_well_formed' | 'too_large' | 'bad_encoding'

/** Ends the reading: throws the error of the format that is read. `line` is null for a fault of no single line. */
export type XmlFail = (fault: XmlFault, message: string, line: number | null) => never

export interface XmlElement {
  /** The name without its prefix. */
  readonly name: string
  readonly namespace: string
  /** Reads an attribute by its name, written with its prefix if it has one. */
  attribute(name: string): string | null
}

export interface XmlHandler {
  open?(element: XmlElement): void
  /** `text` is the text directly in the element, without that of its children. */
  close?(name: string, text: string): void
}

/** Calls the handler while bytes are written, and `fail` for text that is not UTF-8, not well-formed, or beyond a limit. */
export class XmlReader {
  readonly #parser = new SaxesParser({ xmlns: true })
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #texts: string[] = []
  readonly #fail: XmlFail
  #sinceTag = 0

  constructor(handler: XmlHandler, fail: XmlFail) {
    const parser = this.#parser
    this.#fail = fail
    parser.on('error', (error) => {
      fail('not_well_formed', `This is no well-formed XML: ${error.message}`, parser.line)
    })
    parser.on('doctype', () => {
      fail('not_well_formed', 'A document type is not accepted.', parser.line)
    })
    parser.on('opentag', (tag: SaxesTagNS) => {
      this.#sinceTag = 0
      if (this.#texts.length >= DEPTH_MAX)
        fail('not_well_formed', `Elements stand at most ${DEPTH_MAX} deep in one another.`, parser.line)
      this.#texts.push('')
      handler.open?.({ name: tag.local, namespace: tag.uri, attribute: (name) => tag.attributes[name]?.value ?? null })
    })
    const text = (part: string): void => {
      const level = this.#texts.length - 1
      if (level < 0) return
      const whole = this.#texts[level]! + part
      if (whole.length > TEXT_MAX) {
        if (whole.trim() !== '')
          fail('too_large', `The text of an element has at most ${TEXT_MAX} characters.`, parser.line)
        // Line ends and indents between the elements of a long list add up.
        this.#texts[level] = ''
        return
      }
      this.#texts[level] = whole
    }
    parser.on('text', text)
    parser.on('cdata', text)
    parser.on('closetag', (tag: SaxesTagNS) => {
      this.#sinceTag = 0
      handler.close?.(tag.local, this.#texts.pop()!)
    })
  }

  get line(): number {
    return this.#parser.line
  }

  write(bytes: Uint8Array): void {
    const text = this.#decoded(bytes)
    for (let at = 0; at < text.length; at += PART) {
      const part = text.slice(at, at + PART)
      this.#sinceTag += part.length
      this.#parser.write(part)
      if (this.#sinceTag > BETWEEN_TAGS_MAX)
        this.#fail('too_large', `From one tag to the next there are at most ${BETWEEN_TAGS_MAX} characters.`, this.line)
    }
  }

  end(): void {
    this.#parser.write(this.#decoded())
    this.#parser.close()
  }

  #decoded(bytes?: Uint8Array): string {
    try {
      return bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true })
    } catch {
      return this.#fail('bad_encoding', 'The file is not UTF-8.', null)
    }
  }
}
