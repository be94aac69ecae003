/** Writing text into XML. */

/** Characters that XML does not allow, and characters that would be read as markup. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * Escapes text for XML, cut to at most `max` characters before escaping; characters that XML does not allow are left
 * out.
 */
export function xmlText(text: string, max: number): string {
  const clean = text.replace(FORBIDDEN, '')
  const cut = clean.length > max ? Array.from(clean).slice(0, max).join('') : clean
  return cut.replace(/[&<>"]/g, (character) => MARKUP[character] as string)
}

/**
 * Writes an element with text; an empty string when no text is left, because the schemas of ISO 20022 allow no empty
 * text.
 */
export function xmlElement(name: string, text: string | null, max: number): string {
  const content = text === null ? '' : xmlText(text, max)
  return content === '' ? '' : `<${name}>${content}</${name}>`
}

/** Removes the dashes of an id: 32 characters remain, and the schemas of ISO 20022 allow 35. */
export const xmlReference = (id: string): string => id.replaceAll('-', '')
