/**
 * Compares the name of a payee with the name of the account holder, for accounts on this platform. Case, accents,
 * punctuation and the order of words do not matter.
 */
/** Legal forms of companies; names that differ only in these are a close match. */
const LEGAL_FORMS: ReadonlySet<string> = new Set(
  'ab ag aps as asa bv co company corp corporation eood gmbh inc incorporated kft kg limited llc llp ltd nv oy oyj plc pte pty sa sarl sas se sia sl sp spa srl sro ug zoo'.split(
    ' ',
  ),
)
/** A close match allows one different letter per so many letters. */
const LETTERS_PER_SLIP = 6

/**
 * Compares `asked` with the name `holder`: `match`, `close_match` (a legal form, a word or a few letters differ) or
 * `no_match`.
 */
export function compareNames(asked: string, holder: string): 'match' | 'close_match' | 'no_match' {
  const [left, right] = [wordsOf(asked), wordsOf(holder)] as const
  if (left.length === 0 || right.length === 0) return 'no_match'
  if (left.join(' ') === right.join(' ')) return 'match'
  const [core, kept] = [coreOf(left), coreOf(right)] as const
  if (contains(core, kept) || contains(kept, core)) return 'close_match'
  const [one, other] = [core.join(' '), kept.join(' ')] as const
  return distance(one, other) <= Math.floor(Math.max(one.length, other.length) / LETTERS_PER_SLIP)
    ? 'close_match'
    : 'no_match'
}

function wordsOf(name: string): readonly string[] {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[.'’]/gu, '').toLowerCase()
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).sort()
}

/** Drops legal forms from the words, unless there are no other words. */
function coreOf(words: readonly string[]): readonly string[] {
  const core = words.filter((word) => !LEGAL_FORMS.has(word))
  return core.length === 0 ? words : core
}

const contains = (whole: readonly string[], part: readonly string[]): boolean =>
  part.every((word) => whole.includes(word))

/** Counts the letters to insert, remove or replace to turn one text into the other (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++)
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (one[i] === other[j] ? 0 : 1)))
    row = next
  }
  return row[other.length]!
}
