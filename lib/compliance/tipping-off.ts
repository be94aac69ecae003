/**
 * Examines the texts that staff write to customers: none may tell of a suspicion, a sanction, a report to an authority
 * or an investigation. Notes and reasons that only staff read are not examined.
 *
 * The check finds words, not intentions. Its lists are meant to stop a slip, and the tricks with which a person in a
 * hurry would get round them; ordinary letters pass.
 */
import { refuse } from '../base/problems.ts'
import { foldedWords, joined, type FoldedWord } from './folded-words.ts'
import { ORDINARY_PHRASES, TELLING_WORDS, type TellingPair } from './telling-words.ts'

/** The words of a pair are at most this far apart. */
const PAIR_WORDS_MAX = 6
/** Shorter words are compared letter by letter, and not put together from pieces of words: `ami` is not `aml`. */
const LONG_WORD = 6

/** A word of a phrase. */
interface Pattern {
  readonly word: FoldedWord
  /** Whether the word may go on after these letters. */
  readonly open: boolean
  /** Whether the word may begin before them. */
  readonly inside: boolean
}

/** A phrase, and all of its words written as one. */
interface Phrase {
  readonly words: readonly Pattern[]
  readonly glued: Pattern
}

/** Phrases by the first letter of their skeleton; those whose first word may begin earlier under `*`. */
type Phrases = ReadonlyMap<string, readonly Phrase[]>

function phraseOf(text: string): Phrase {
  const words = text.split(' ').map((word) => ({
    word: foldedWords(word)[0] as FoldedWord,
    open: word.endsWith('*'),
    inside: word.startsWith('*'),
  }))
  const word = words.map((pattern) => pattern.word).reduce(joined)
  return { words, glued: { word, open: text.endsWith('*'), inside: false } }
}

const phrasesOf = (texts: readonly string[]): Phrases =>
  Map.groupBy(texts.map(phraseOf), ({ words: [first] }) => (first!.inside ? '*' : first!.word.skeleton.charAt(0)))

const ORDINARY = phrasesOf(ORDINARY_PHRASES)
const PHRASES = phrasesOf(TELLING_WORDS.flatMap(({ phrases }) => phrases))
const PAIRS = TELLING_WORDS.flatMap(({ pairs }) =>
  pairs.map((pair: TellingPair) => [phrasesOf(pair.any), phrasesOf(pair.with)] as const),
)

/** A place of a text: the words from `start`, before `end`. */
interface Place {
  readonly start: number
  readonly end: number
}

/** Whether a text would tell a customer what the customer must not learn. */
export function tellsTooMuch(text: string): boolean {
  // In print `rn` looks like `m`, and `vv` like `w`.
  return [text, text.replace(/rn/gi, 'm').replace(/vv/gi, 'w')].some((reading) => tells(foldedWords(reading)))
}

/**
 * Refuses texts for customers that tell too much, by the JSON Pointers of their fields. Null and absent texts pass.
 *
 * @throws ProblemError `tipping_off` with the first such field
 */
export function refuseTippingOff(texts: Readonly<Record<string, string | null | undefined>>): void {
  for (const [field, text] of Object.entries(texts))
    if (text != null && tellsTooMuch(text))
      refuse('tipping_off', 'Customers read this text. Write it without what may reveal a confidential review.', {
        extra: { field },
      })
}

function tells(words: readonly FoldedWord[]): boolean {
  const left = withoutOrdinary(words)
  if (placesOf(left, PHRASES).length > 0) return true
  return PAIRS.some(([any, others]) => {
    const places = placesOf(left, any)
    return places.length > 0 && placesOf(left, others).some((place) => places.some((other) => areNear(place, other)))
  })
}

const areNear = (a: Place, b: Place): boolean =>
  a.start >= b.end ? a.start - b.end <= PAIR_WORDS_MAX : b.start >= a.end && b.start - a.end <= PAIR_WORDS_MAX

/** Takes ordinary phrases out; a gap stays, so that the words around it make no phrase. */
function withoutOrdinary(words: readonly FoldedWord[]): readonly FoldedWord[] {
  const left = [...words]
  for (const { start, end } of placesOf(words, ORDINARY)) left.fill({ letters: '', skeleton: '' }, start, end)
  return left
}

function placesOf(words: readonly FoldedWord[], phrases: Phrases): Place[] {
  return words.flatMap(({ skeleton }, start) =>
    [...(phrases.get(skeleton.charAt(0)) ?? []), ...(phrases.get('*') ?? [])].flatMap((phrase) => {
      const end = endOfPhrase(words, start, phrase)
      return end === null ? [] : [{ start, end }]
    }),
  )
}

/** Returns where a phrase that begins at a word ends; null when it is not there. */
function endOfPhrase(texts: readonly FoldedWord[], start: number, { words, glued }: Phrase): number | null {
  let end: number | null = start
  for (const pattern of words) {
    end = endOfWord(texts, end, pattern)
    if (end === null) return words.length === 1 ? null : endOfWord(texts, start, glued)
  }
  return end
}

/** The same for one word, which may be torn into several. */
function endOfWord(texts: readonly FoldedWord[], start: number, { word, open, inside }: Pattern): number | null {
  const isLong = word.letters.length >= LONG_WORD
  const form = isLong ? 'skeleton' : 'letters'
  const wanted = word[form]
  if (inside && texts[start]?.[form].includes(wanted)) return start + 1
  let read = ''
  // A letter that is repeated adds nothing, so pieces may be more than the letters of the word.
  const last = Math.min(texts.length, start + 2 * wanted.length)
  for (let end = start; end < last; end++) {
    const next = (texts[end] as FoldedWord)[form]
    if (next === '' || (!isLong && end > start && (next.length > 1 || read.length > end - start))) return null
    read = read.endsWith(next.charAt(0)) ? read + next.slice(1) : read + next
    if (open ? read.startsWith(wanted) : read === wanted) return end + 1
    if (!wanted.startsWith(read)) return null
  }
  return null
}
