/**
 * Checks logos before they are stored. A logo is shown in mails and on pages to people who trust the operator, so a
 * picture is all that it may be: an SVG has drawing elements alone, no scripts, no links and nothing that is fetched.
 */
import { SaxesParser, type SaxesTagNS } from 'saxes'

export const LOGO_TYPES = ['image/png', 'image/svg+xml'] as const

export interface Logo {
  readonly contentType: (typeof LOGO_TYPES)[number]
  /** Base64. */
  readonly data: string
}

/** The largest logo, bytes: every mail of the operator carries it. */
export const LOGO_BYTES_MAX = 64 * 1024
/** The greatest width and height of a PNG: a small file may unpack to a picture that fills the memory of a phone. */
export const LOGO_PIXELS_MAX = 2_048
/** Elements of a drawing stand at most this deep in one another. */
const DEPTH_MAX = 32

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg'
/**
 * The elements of a drawing. Without `use` and `pattern`: a few of them that name each other draw for hours. Without
 * `image`, `a`, `foreignObject`, `script` and animations: they fetch, lead elsewhere, or run.
 */
const SVG_ELEMENTS: ReadonlySet<string> = new Set([
  'circle',
  'clipPath',
  'defs',
  'desc',
  'ellipse',
  'g',
  'line',
  'linearGradient',
  'mask',
  'path',
  'polygon',
  'polyline',
  'radialGradient',
  'rect',
  'stop',
  'style',
  'svg',
  'text',
  'title',
  'tspan',
])
/** Texts that no style or attribute may hold: addresses but of parts of the drawing, imports, and CSS escapes. */
const FETCHES = /url\s*\(\s*(?!["']?#)|@|\\|javascript:|expression\s*\(/i

/** Returns why a file is no logo of its type, as a sentence; null when it is one. */
export function logoFault({ contentType, data }: Logo): string | null {
  const bytes = Buffer.from(data, 'base64')
  if (bytes.toString('base64') !== data) return 'This is not base64.'
  if (bytes.length > LOGO_BYTES_MAX) return `A logo has at most ${LOGO_BYTES_MAX / 1024} KiB.`
  return contentType === 'image/png' ? pngFault(bytes) : svgFault(bytes)
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** A chunk is its length, its type, its data and a checksum. */
const CHUNK_OVERHEAD = 12

/** Checks the chunks from the header to the end; the pixels stay packed. */
function pngFault(bytes: Buffer): string | null {
  const broken = 'This is not a complete PNG picture.'
  if (!bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return broken
  const types: string[] = []
  for (let at = PNG_SIGNATURE.length; at < bytes.length; ) {
    if (at + CHUNK_OVERHEAD > bytes.length) return broken
    types.push(bytes.toString('latin1', at + 4, at + 8))
    at += CHUNK_OVERHEAD + bytes.readUInt32BE(at)
    if (at > bytes.length) return broken
  }
  if (types[0] !== 'IHDR' || !types.includes('IDAT') || types.indexOf('IEND') !== types.length - 1) return broken
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  if (width < 1 || height < 1) return broken
  if (width > LOGO_PIXELS_MAX || height > LOGO_PIXELS_MAX)
    return `A logo is at most ${LOGO_PIXELS_MAX} pixels wide and high; this one has ${width} × ${height}.`
  return null
}

function svgFault(bytes: Buffer): string | null {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return 'An SVG is text in UTF-8.'
  }
  let fault: string | null = null
  let depth = 0
  const refuse = (sentence: string) => {
    fault ??= sentence
  }
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', (error) => refuse(`This is no well-formed SVG: ${error.message}`))
  parser.on('doctype', () => refuse('An SVG with a document type is not accepted.'))
  parser.on('processinginstruction', () => refuse('An SVG with processing instructions is not accepted.'))
  parser.on('opentag', (tag: SaxesTagNS) => {
    depth += 1
    if (depth === 1 && tag.local !== 'svg') refuse('The outermost element of an SVG is svg.')
    if (depth > DEPTH_MAX) refuse(`Elements stand at most ${DEPTH_MAX} deep in one another.`)
    const elementFault = svgElementFault(tag)
    if (elementFault !== null) refuse(elementFault)
  })
  parser.on('closetag', () => {
    depth -= 1
  })
  // Style sheets are text; what is drawn as text holds no address of a browser's.
  const checkText = (content: string) => {
    if (FETCHES.test(content)) refuse('An SVG may not refer to anything outside itself.')
  }
  parser.on('text', checkText)
  parser.on('cdata', checkText)
  try {
    parser.write(text).close()
  } catch (error) {
    refuse(`This is no well-formed SVG: ${(error as Error).message}`)
  }
  return fault
}

function svgElementFault({ uri, local, attributes }: SaxesTagNS): string | null {
  if (uri !== SVG_NAMESPACE || !SVG_ELEMENTS.has(local))
    return `The element ${local} is not accepted in a logo; drawing elements alone are.`
  for (const { local: name, prefix, value } of Object.values(attributes)) {
    if (/^on/i.test(name)) return `The attribute ${name} is not accepted: a logo has no scripts.`
    if (name === 'base') return 'The attribute base is not accepted in a logo.'
    const isName = prefix === 'xmlns' || name === 'xmlns'
    if (name === 'href' ? !value.startsWith('#') : !isName && FETCHES.test(value))
      return 'An SVG may not refer to anything outside itself.'
  }
  return null
}
