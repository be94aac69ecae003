/**
 * Writes text on the pages of a PDF letter by letter: the glyph of each letter is looked up once, and a text is the
 * sequence of its letters. The full layout of pdfkit (scripts, ligatures, kerning) takes 0.1 ms per text and caches
 * each result, and a statement of a million lines has six million texts. Scripts whose letters change with their
 * neighbours are left to pdfkit.
 *
 * Figures (two cores, with other load): a thousand lines of a statement take 70 ms; with pdfkit they took 780 ms and
 * left 2 MB behind.
 */
import type PDFDocument from 'pdfkit'

/** Letters whose glyphs do not depend on their neighbours: Latin, Greek, Cyrillic, punctuation, currency signs. */
const PLAIN =
  /^[\u0020-\u007e\u00a0-\u024f\u0370-\u03ff\u0400-\u04ff\u1e00-\u1eff\u2010-\u2027\u2030-\u203a\u20a0-\u20bf\u2116\u2122]*$/

/** The part of pdfkit's font object that is used here. */
interface EmbeddedFont {
  readonly id: string
  /** In thousandths of the font size. */
  readonly ascender: number
  /** Returns the glyph numbers in hexadecimal, and the width of each glyph in thousandths of the font size. */
  encode(text: string): [glyphs: string[], positions: { readonly xAdvance: number }[]]
  ref(): unknown
}

type Document = InstanceType<typeof PDFDocument> & {
  readonly _font: EmbeddedFont
  readonly page: { readonly fonts: Record<string, unknown>; readonly height: number }
}

interface Letter {
  readonly glyphs: string
  /** In thousandths of the font size. */
  readonly advance: number
}

interface Face {
  readonly font: EmbeddedFont
  readonly letters: Map<string, Letter>
}

export interface TextStyle {
  readonly face: string
  readonly size: number
  /** `#rrggbb`. */
  readonly colour: string
}

/** Formats a number for PDF. */
const number = (value: number): string => String(Math.round(value * 100) / 100)

/** Formats a colour for PDF. */
function colourOf(hex: string): string {
  return [1, 3, 5]
    .map((at) => String(Math.round((Number.parseInt(hex.slice(at, at + 2), 16) / 255) * 1000) / 1000))
    .join(' ')
}

export class PageText {
  readonly #doc: Document
  readonly #faces = new Map<string, Face>()
  readonly #colours = new Map<string, string>()

  /** `doc` must have the faces registered by their names. */
  constructor(doc: InstanceType<typeof PDFDocument>) {
    this.#doc = doc as Document
  }

  /** Measures a text, in points. */
  widthOf(text: string, { face, size }: Pick<TextStyle, 'face' | 'size'>): number {
    if (!PLAIN.test(text)) return this.#doc.font(face).fontSize(size).widthOfString(text)
    const { letters } = this.#faceOf(face)
    let advance = 0
    for (let at = 0; at < text.length; at++)
      advance += (letters.get(text[at] as string) ?? this.#learn(face, text[at] as string)).advance
    return (advance * size) / 1000
  }

  /** Shows a text with its upper left corner at (`x`, `top`), in points from the upper left corner of the page. */
  show(text: string, x: number, top: number, { face, size, colour }: TextStyle): void {
    const doc = this.#doc
    if (!PLAIN.test(text)) {
      doc.font(face).fontSize(size).fillColor(colour).text(text, x, top, { lineBreak: false })
      return
    }
    const { font, letters } = this.#faceOf(face)
    let glyphs = ''
    for (let at = 0; at < text.length; at++)
      glyphs += (letters.get(text[at] as string) ?? this.#learn(face, text[at] as string)).glyphs
    const { page } = doc
    page.fonts[font.id] ??= font.ref()
    // `top` is counted from above; the baseline of the text is counted from below.
    const y = page.height - top - (font.ascender * size) / 1000
    doc.addContent(
      `q 1 0 0 -1 0 ${number(page.height)} cm ${this.#colour(colour)} rg BT /${font.id} ${number(size)} Tf ${number(x)} ${number(y)} Td [<${glyphs}>] TJ ET Q`,
    )
  }

  /** Draws a horizontal line. */
  rule(
    x: number,
    y: number,
    width: number,
    { colour, weight }: { readonly colour: string; readonly weight: number },
  ): void {
    this.#doc.addContent(
      `q ${this.#colour(colour)} RG ${number(weight)} w ${number(x)} ${number(y)} m ${number(x + width)} ${number(y)} l S Q`,
    )
  }

  #faceOf(name: string): Face {
    let face = this.#faces.get(name)
    if (face === undefined) {
      this.#doc.font(name)
      this.#faces.set(name, (face = { font: this.#doc._font, letters: new Map() }))
    }
    return face
  }

  #learn(name: string, text: string): Letter {
    const { font, letters } = this.#faceOf(name)
    const [glyphs, positions] = font.encode(text)
    const letter = { glyphs: glyphs.join(''), advance: positions.reduce((sum, { xAdvance }) => sum + xAdvance, 0) }
    letters.set(text, letter)
    return letter
  }

  #colour(hex: string): string {
    let colour = this.#colours.get(hex)
    if (colour === undefined) this.#colours.set(hex, (colour = colourOf(hex)))
    return colour
  }
}
