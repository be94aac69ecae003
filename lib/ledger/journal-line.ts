/**
 * The customer's view of a posting. A posting is one debit and one credit, so it is one line in the journal of each
 * balance that it touches. The type and the id of a line follow from the posting and are not stored.
 */
import type { SourceObject } from './posting.ts'
import { COUNTERPART_TYPES, RULE_IDS, RULES, type Line, type RuleId, type TransactionType } from './postings.ts'

/** The side of the posting that the balance is on. A debit lowers a balance, a credit raises it. */
export type JournalSide = 'debit' | 'credit'

/**
 * The largest ordinal that fits beside the side into two hex digits; an entry has a few pairs, so it is never reached.
 */
const ORDINAL_MAX = 127

/**
 * Computes the id of a journal line: the entry's id with its last two hex digits XORed with the pair's ordinal and the
 * side. Lines of one entry differ, and the same line always has the same id.
 *
 * @throws RangeError for an ordinal above 127
 */
export function journalLineId(entryId: string, ordinal: number, side: JournalSide): string {
  if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal > ORDINAL_MAX)
    throw new RangeError(`ordinal ${ordinal} does not fit a line id`)
  const tail = Number.parseInt(entryId.slice(-2), 16) ^ ((ordinal << 1) | (side === 'debit' ? 0 : 1))
  return entryId.slice(0, -2) + tail.toString(16).padStart(2, '0')
}

/**
 * The facts of a posting that its journal lines depend on: its rule, the chart's name of the account on the other side
 * (`cust` for a balance), and the kind of object that caused it.
 */
export interface JournalSource {
  readonly rule: RuleId
  readonly side: JournalSide
  readonly counterpart: string
  readonly sourceObject: SourceObject
  /** The cause is a withdrawal of cash with a card. */
  readonly isCash?: boolean
}

/**
 * Makes the key of a line's type: rule, side and counterpart. Payments between customers of the platform use the rule
 * of transfers with other types, and withdrawals with cards that of purchases, so for them the cause is part of the key.
 */
export function journalMark({ rule, side, counterpart, sourceObject, isCash }: JournalSource): string {
  const cause = rule === 'L20' && sourceObject === 'payment' ? '/payment' : rule === 'L71' && isCash ? '/cash' : ''
  return `${rule}/${side}/${counterpart}${cause}`
}

/** The type of every line that the posting rules can make, by its mark. */
export const JOURNAL_TYPES: ReadonlyMap<string, TransactionType> = journalTypes()

function journalTypes(): Map<string, TransactionType> {
  const types = new Map<string, TransactionType>()
  for (const id of RULE_IDS) {
    const rule = RULES[id]
    const variants = Object.entries(rule.variants ?? {})
    for (const [name, { debit, credit }] of [['', rule] as const, ...variants]) {
      const mark =
        id === 'L20' && name === 'payment' ? '/payment' : id === 'L71' && name.endsWith('withdrawal') ? '/cash' : ''
      addLines(types, debit, { id, side: 'debit', mark, others: credit })
      addLines(types, credit, { id, side: 'credit', mark, others: debit })
    }
  }
  return types
}

function addLines(
  types: Map<string, TransactionType>,
  lines: readonly Line[],
  {
    id,
    side,
    mark,
    others,
  }: { readonly id: string; readonly side: JournalSide; readonly mark: string; readonly others: readonly Line[] },
): void {
  for (const { account, type } of lines) {
    if (account !== 'cust' || type === undefined) continue
    for (const { account: counterpart } of others) {
      const key = `${id}/${side}/${counterpart}${mark}`
      // The rule's own lines come first and win over those of its variants.
      if (!types.has(key)) types.set(key, COUNTERPART_TYPES[counterpart]?.[side] ?? type)
    }
  }
}

/**
 * Returns the type of a journal line. A correction that posts a rule with the sides swapped keeps the type of the
 * corrected line.
 *
 * @throws Error for a line that no rule makes; the audit would have reported it
 */
export function journalType(source: JournalSource): TransactionType {
  const type =
    JOURNAL_TYPES.get(journalMark(source)) ?? JOURNAL_TYPES.get(journalMark({ ...source, side: opposite(source.side) }))
  if (type === undefined) throw new Error(`no rule makes the line ${journalMark(source)}`)
  return type
}

const opposite = (side: JournalSide): JournalSide => (side === 'debit' ? 'credit' : 'debit')

/**
 * Returns the marks of all lines of the given types, for a filter. Corrections are found with the lines that they
 * correct.
 */
export function journalMarks(types: readonly string[]): string[] {
  const marks = new Set<string>()
  for (const [mark, type] of JOURNAL_TYPES) {
    if (!types.includes(type)) continue
    marks.add(mark)
    const [rule, side, ...rest] = mark.split('/') as [string, JournalSide, ...string[]]
    const reversed = [rule, opposite(side), ...rest].join('/')
    if (!JOURNAL_TYPES.has(reversed)) marks.add(reversed)
  }
  return [...marks]
}

/** Makes the description of a line that was written without one: its type in words. */
export function journalDescription(type: TransactionType): string {
  const words = type.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
