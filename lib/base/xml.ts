/** Text as XML that we write. */

/** What is no character of XML, and what would be markup. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text of at most so many characters, as XML; characters that XML does not know are left out. */
export function xmlText(text: string, max: number): string {
  const clean = text.replace(FORBIDDEN, '')
  const cut = clean.length > max ? Array.from(clean).slice(0, max).join('') : clean
  return cut.replace(/[&<>"]/g, (character) => MARKUP[character] as string)
}

/** An element of text; nothing where nothing is left to say: the schemas of ISO 20022 have no empty texts. */
export function xmlElement(name: string, text: string | null, max: number): string {
  const said = text === null ? '' : xmlText(text, max)
  return said === '' ? '' : `<${name}>${said}</${name}>`
}

/** An id without its dashes: 32 characters, where the schemas of ISO 20022 allow 35. */
export const xmlReference = (id: string): string => id.replaceAll('-', '')
