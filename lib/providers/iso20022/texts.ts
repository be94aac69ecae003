/**
 * The characters that files carry. A bank refuses a whole file for one character outside the set of its scheme, so
 * names, addresses and texts are written with the nearest characters of the set: letters without their marks, Greek and
 * Cyrillic in Latin letters, signs in words or similar signs, and a dot for what has no such form.
 */
import type { CharacterSet } from '../../rails/rails.ts'
import { CHARACTERS } from '../../rails/reference.ts'

/** Signs and letters that Unicode does not take apart. */
// biome-ignore format: many to a line
const LATIN: Readonly<Record<string, string>> = {
  ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D', ð: 'd', Ð: 'D', þ: 'th',
  Þ: 'TH', ł: 'l', Ł: 'L', ı: 'i', ħ: 'h', Ħ: 'H', ŧ: 't', Ŧ: 'T', ŋ: 'n', Ŋ: 'N', ĸ: 'k', '€': 'EUR', '£': 'GBP',
  $: 'USD', '¥': 'JPY', '&': '+', '@': '(at)', _: '-', '–': '-', '—': '-', '‑': '-', '~': '-', '‘': "'", '’': "'",
  '´': "'", '`': "'", '"': "'", '“': "'", '”': "'", '„': "'", '«': "'", '»': "'", ';': ',', '[': '(', '{': '(',
  '<': '(', ']': ')', '}': ')', '>': ')', '|': '/', '\\': '/', '#': '.', '%': '.', '*': '.', '=': '.', '!': '.',
}

/** Pairs of a letter and its Latin form; capitals follow from them. */
const pairs = (text: string): readonly (readonly [string, string])[] =>
  text.split(' ').map((pair) => [pair.slice(0, 1), pair.slice(1)] as const)

const GREEK = pairs('αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo')
const CYRILLIC = pairs(
  'аa бb вv гg дd еe жzh зz иi йy кk лl мm нn оo пp рr сs тt уu фf хh цts чch шsh щsht ъa ьy юyu яya ' +
    'ёe ыy эe іi їyi єye ґg јj љlj њnj ћc ђdj џdz ѓgj ќkj ѕdz',
)

const FOLDED: ReadonlyMap<string, string> = new Map([
  ...Object.entries(LATIN),
  ...[...GREEK, ...CYRILLIC].flatMap(([letter, latin]): [string, string][] => [
    [letter, latin],
    [letter.toUpperCase(), latin.slice(0, 1).toUpperCase() + latin.slice(1)],
  ]),
])

/** Written for a character that has no form in the set. */
const UNKNOWN = '.'

/**
 * Returns a text as a set of characters carries it, at most `max` characters long; an empty string where no letter or
 * digit is left.
 */
export function carriedText(text: string, characters: CharacterSet, max: number): string {
  const allowed = CHARACTERS[characters]
  const plain = text.normalize('NFC').replace(/\s+/g, ' ').trim()
  let carried = ''
  if (allowed.test(plain)) carried = plain
  else for (const character of plain) carried += inSet(character, allowed)
  // Two slashes in a row separate fields in clearing files.
  const whole = carried.replace(/\/{2,}/g, '/')
  const cut = (whole.length > max ? Array.from(whole).slice(0, max).join('') : whole).trim()
  return /[\p{L}\p{N}]/u.test(cut) ? cut : ''
}

function inSet(character: string, allowed: RegExp): string {
  const forms = [character, ...foldedForms(character)]
  return [...forms, ...forms.map((form) => form.toUpperCase())].find((form) => allowed.test(form)) ?? UNKNOWN
}

/** Lists the forms of a character, the nearest one first. */
function foldedForms(character: string): string[] {
  const parts = character.normalize('NFKD').replace(/\p{M}/gu, '')
  const letters = Array.from(parts, (part) => FOLDED.get(part) ?? part).join('')
  return [parts, letters].filter((form) => form !== '')
}

/** Returns whether a set carries a reference unchanged; a reference neither begins nor ends with a slash. */
export const carriesReference = (text: string, characters: CharacterSet): boolean =>
  CHARACTERS[characters].test(text) && !text.startsWith('/') && !text.endsWith('/') && text.trim() === text
