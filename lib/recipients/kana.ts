/** Names as Japanese clearing prints them: half-width katakana, capitals and digits. */

const FULL =
  'ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン'
const HALF_START = 0xff66
/** Clearing prints small letters as large ones. */
const SMALL = 'ァィゥェォャュョッヮ'
const LARGE = 'アイウエオヤユヨツワ'
const MARKS: Readonly<Record<string, string>> = {
  '\u3099': '\uff9e',
  '\u309a': '\uff9f',
  '、': ',',
  '。': '.',
  '・': '.',
  '「': '(',
  '」': ')',
}
const PLAIN = /^[A-Z0-9 ()\-./,]$/

const HIRAGANA_FROM = 0x3041
const HIRAGANA_TO = 0x3096
const HIRAGANA_TO_KATAKANA = 0x60

/** Converts a name to half-width letters; null when it has letters that clearing does not know, such as kanji. */
export function halfWidthName(name: string): string | null {
  let result = ''
  for (const letter of name.normalize('NFKC').normalize('NFD').toUpperCase()) {
    const half = halfWidth(letter)
    if (half === null) return null
    result += half
  }
  return result
}

function halfWidth(letter: string): string | null {
  if (PLAIN.test(letter)) return letter
  const code = letter.charCodeAt(0)
  const katakana =
    code >= HIRAGANA_FROM && code <= HIRAGANA_TO ? String.fromCharCode(code + HIRAGANA_TO_KATAKANA) : letter
  const small = SMALL.indexOf(katakana)
  const at = FULL.indexOf(small < 0 ? katakana : (LARGE[small] as string))
  return at < 0 ? (MARKS[letter] ?? null) : String.fromCharCode(HALF_START + at)
}
