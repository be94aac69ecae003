/**
 * Extracts the text of a PDF that pdfkit has written with embedded fonts, one string for each piece that was drawn. It
 * reads no other producer's files: pages are streams that draw glyphs by number, and each font has a table from number
 * to text.
 */
import { inflateSync } from 'node:zlib'

interface Part {
  readonly head: string
  readonly stream: string
}

function partsOf(pdf: Uint8Array): Map<string, Part> {
  const text = Buffer.from(pdf).toString('latin1')
  const parts = new Map<string, Part>()
  for (const [whole, id] of text.matchAll(/(\d+) 0 obj\n[\s\S]*?\nendobj/g)) {
    const at = whole.indexOf('\nstream\n')
    const head = at < 0 ? whole : whole.slice(0, at)
    const raw = at < 0 ? '' : whole.slice(at + 8, whole.lastIndexOf('\nendstream'))
    const stream =
      raw !== '' && head.includes('/FlateDecode') ? inflateSync(Buffer.from(raw, 'latin1')).toString('latin1') : raw
    parts.set(id as string, { head, stream })
  }
  return parts
}

const utf16 = (hex: string): string => Buffer.from(hex, 'hex').swap16().toString('utf16le')

/** Reads the text of each glyph number from a font's table. */
function meaningsOf(cmap: string): Map<number, string> {
  const meanings = new Map<number, string>()
  for (const [, from, list] of cmap.matchAll(/<([0-9a-f]+)> <[0-9a-f]+> \[([^\]]*)\]/gi)) {
    let number = Number.parseInt(from as string, 16)
    // The letters of a glyph with several letters are separated by spaces.
    for (const [, hex] of (list as string).matchAll(/<([0-9a-f ]+)>/gi))
      meanings.set(number++, utf16((hex as string).replaceAll(' ', '')))
  }
  return meanings
}

/** Lists the pieces of text in the order in which they were drawn. @throws Error when a glyph has no text */
export function pdfText(pdf: Uint8Array): string[] {
  const parts = partsOf(pdf)
  const fonts = new Map<string, Map<number, string>>()
  for (const { head } of parts.values()) {
    for (const [, name, id] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const cmap = /\/ToUnicode (\d+) 0 R/.exec(parts.get(id as string)?.head ?? '')?.[1]
      if (cmap !== undefined) fonts.set(name as string, meaningsOf(parts.get(cmap)?.stream ?? ''))
    }
  }
  const shown: string[] = []
  for (const { stream } of parts.values()) {
    let font: Map<number, string> | undefined
    for (const [, name, glyphs] of stream.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
      if (name !== undefined) font = fonts.get(name)
      if (glyphs === undefined) continue
      const numbers =
        Array.from(glyphs.matchAll(/<([0-9a-f]*)>/gi), ([, hex]) => hex)
          .join('')
          .match(/.{4}/g) ?? []
      shown.push(
        numbers
          .map((hex) => {
            const meaning = font?.get(Number.parseInt(hex, 16))
            if (meaning === undefined) throw new Error(`The glyph ${hex} has no meaning.`)
            return meaning
          })
          .join(''),
      )
    }
  }
  return shown
}
