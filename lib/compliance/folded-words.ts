/**
 * The words of a text as a reader sees them: without case, accents and invisible signs, and with letters that only look
 * like Latin ones replaced. Two texts that look alike have the same words.
 */

/** Letters of other scripts, and symbols, by the Latin letter that they look like. Decomposition finds the others. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  // Cyrillic
  ...{ а: 'a', в: 'b', е: 'e', ё: 'e', һ: 'h', н: 'h', і: 'i', ї: 'i', ј: 'j', к: 'k', м: 'm', о: 'o', п: 'n' },
  ...{ р: 'p', ԛ: 'q', с: 'c', ѕ: 's', т: 't', и: 'u', у: 'y', ѵ: 'v', ԝ: 'w', х: 'x', ԁ: 'd', ӏ: 'l', г: 'r', є: 'e' },
  // Greek
  ...{ α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', μ: 'm', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x', ω: 'w' },
  ...{ σ: 'o', ς: 's', ζ: 'z', γ: 'y', ϲ: 'c' },
  // Armenian, Cherokee in lower case
  ...{ օ: 'o', ս: 'u', ո: 'n', հ: 'h', գ: 'q', զ: 'q', ց: 'g', ꭺ: 'a', ꭼ: 'e', ꮪ: 's', ꭲ: 'i', ꮮ: 'l', ꮯ: 'c', ꭰ: 'd' },
  // Latin letters that do not decompose
  ...{ ı: 'i', ł: 'l', ø: 'o', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ƀ: 'b', ɑ: 'a', ɡ: 'g', ɩ: 'i', ɪ: 'i', ʋ: 'u', ƒ: 'f' },
  ...{
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    þ: 'p',
    ɛ: 'e',
    ɔ: 'o',
    ŋ: 'n',
    ɴ: 'n',
    ʀ: 'r',
    ʟ: 'l',
    ʏ: 'y',
    ɢ: 'g',
    ʜ: 'h',
    ʙ: 'b',
  },
  ...{ ᴀ: 'a', ᴄ: 'c', ᴅ: 'd', ᴇ: 'e', ꜰ: 'f', ᴊ: 'j', ᴋ: 'k', ᴍ: 'm', ᴏ: 'o', ᴘ: 'p', ꜱ: 's', ᴛ: 't', ᴜ: 'u', ᴠ: 'v' },
  ...{ ᴡ: 'w', ᴢ: 'z' },
}

/** Digits that stand for letters within a word. */
const DIGIT_LETTERS: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'l',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  9: 'g',
}

/** Alphabets of symbols that do not decompose, by the code of their letter A; each has 26 letters. */
const SYMBOL_ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6]

/** A word in two forms. */
export interface FoldedWord {
  /** Lower-case Latin letters and digits. */
  readonly letters: string
  /** The letters with `i` and `l`, which look alike in capitals, as one letter. */
  readonly skeleton: string
}

/** Returns the words of a text in their order. */
export function foldedWords(text: string): readonly FoldedWord[] {
  const visible = Array.from(text.normalize('NFKD'), letterOfSymbol)
    .join('')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
  const latin = Array.from(visible, (sign) => LOOK_ALIKES[sign] ?? sign).join('')
  const worded = latin
    .replace(/(?<=[a-z])[!|¡](?=[a-z])/g, 'l')
    .replace(/@(?=[a-z])/g, 'a')
    .replace(/\$(?=[a-z])|(?<=[a-z])\$/g, 's')
    .replace(/(?<=[a-z])€(?=[a-z])/g, 'e')
  return (worded.match(/[a-z0-9]+/g) ?? []).map(foldedWord)
}

/** Joins words that a writer may have torn apart. */
export function joined(first: FoldedWord, second: FoldedWord): FoldedWord {
  return {
    letters: withoutDoubles(first.letters + second.letters),
    skeleton: withoutDoubles(first.skeleton + second.skeleton),
  }
}

function foldedWord(word: string): FoldedWord {
  const spelt = /[a-z]/.test(word) ? word.replace(/[0-9]/g, (digit) => DIGIT_LETTERS[digit] ?? digit) : word
  const letters = withoutDoubles(spelt)
  return { letters, skeleton: withoutDoubles(letters.replaceAll('i', 'l')) }
}

const withoutDoubles = (word: string): string => word.replace(/([a-z])\1+/g, '$1')

function letterOfSymbol(sign: string): string {
  const code = sign.codePointAt(0) as number
  const alphabet = SYMBOL_ALPHABETS.find((first) => code >= first && code < first + 26)
  return alphabet === undefined ? sign : String.fromCharCode('a'.charCodeAt(0) + code - alphabet)
}
