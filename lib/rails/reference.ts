/** Payment references: the characters and the length that each rail carries. */
import { RAILS, type CharacterSet, type Rail, type RailTable } from './rails.ts'

/**
 * The characters of each set. `epc` is the Latin set of the European Payments Council, `swift_x` the X set of SWIFT
 * (with line breaks), `bacs` that of Bacs, `half_width` the characters that Japanese clearing prints, `latin` printable
 * letters and signs of the Latin script. The European sets allow no double slash, which separates fields in the
 * clearing files.
 */
export const CHARACTERS: { readonly [set in CharacterSet]: RegExp } = {
  epc: /^(?!.*\/\/)[A-Za-z0-9/\-?:().,'+ ]*$/,
  epc_polish: /^(?!.*\/\/)[A-Za-z0-9/\-?:().,'+ ĄąĆćĘęŁłŃńÓóŚśŹźŻż]*$/,
  swift_x: /^[A-Za-z0-9/\-?:().,'+ \r\n]*$/,
  bacs: /^[A-Z0-9.&/\- ]*$/,
  bacs_mixed: /^[A-Za-z0-9.&/\- ]*$/,
  ascii: /^[\x20-\x7e]*$/,
  half_width: /^[\x20-\x7e\uff61-\uff9f]*$/,
  latin: /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u024f\u1e00-\u1eff\u2010-\u2027\u20ac]*$/,
}

/** The character sets, described for people. */
export const CHARACTERS_IN_WORDS: { readonly [set in CharacterSet]: string } = {
  epc: "plain letters, digits, spaces and / - ? : ( ) . , ' +, and no two slashes in a row",
  epc_polish: "plain and Polish letters, digits, spaces and / - ? : ( ) . , ' +, and no two slashes in a row",
  swift_x: "plain letters, digits, spaces and / - ? : ( ) . , ' +",
  bacs: 'plain letters, digits, spaces and . & / -',
  bacs_mixed: 'plain letters, digits, spaces and . & / -',
  ascii: 'plain letters, digits, spaces and the signs of a keyboard',
  half_width: 'plain letters, digits, signs and half-width katakana',
  latin: 'Latin letters, digits, spaces and signs',
}

/** The reason why a rail cannot carry a reference. `max` counts code points. */
export type ReferenceFault =
  | { readonly code: 'too_long'; readonly params: { readonly max: number } }
  | { readonly code: 'invalid_characters'; readonly params: { readonly characters: CharacterSet } }

/** Makes the message about a reference that a rail cannot carry. */
export function referenceMessage(rail: Rail, fault: ReferenceFault): string {
  return fault.code === 'too_long'
    ? `A reference may have at most ${fault.params.max} characters on ${rail}.`
    : `A reference consists of ${CHARACTERS_IN_WORDS[fault.params.characters]} on ${rail}.`
}

/** Returns a reference as the rail carries it: in capitals on Bacs, which prints nothing else; unchanged elsewhere. */
export function railReference(rail: Rail, text: string, rails: RailTable = RAILS): string {
  return rails.get(rail)?.reference.characters === 'bacs' ? text.toUpperCase() : text
}

/**
 * Checks a payment reference against the rail's length and characters. Null when it fits. For a rail without terms
 * nothing is checked.
 */
export function checkReference(rail: Rail, text: string, rails: RailTable = RAILS): ReferenceFault | null {
  const row = rails.get(rail)
  if (row === undefined) return null
  const { max, characters } = row.reference
  const carried = railReference(rail, text, rails)
  // Counts code points, not UTF-16 units; only a text that is too long in units can be too long in code points.
  if (carried.length > max && [...carried].length > max) return { code: 'too_long', params: { max } }
  if (!CHARACTERS[characters].test(carried)) return { code: 'invalid_characters', params: { characters } }
  return null
}
