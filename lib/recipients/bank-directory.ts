/**
 * A directory of banks that the operator has bought or made: the codes that exist, the bank of each, and the rails that
 * reach it. Central banks publish or sell directories in formats of their own; here each line covers a range of codes
 * by their first characters.
 *
 * A list of national codes counts as complete: if a country has a list, a code that is not in it does not exist. For
 * IBANs and BICs the directory only adds names.
 */
import { RAILS, type Rail } from '../rails/rails.ts'
import type { BankMember } from './bank-checks.ts'

/** The kind of code in a line: a bank detail by its first characters; for an IBAN the bank code inside. */
export const DIRECTORY_KINDS = [
  'iban',
  'bic',
  'sortCode',
  'routingNumber',
  'bsb',
  'ifsc',
  'institutionNumber',
  'bankCode',
  'branchCode',
  'clearingNumber',
  'accountNumber',
] as const satisfies readonly BankMember[]
export type DirectoryKind = (typeof DIRECTORY_KINDS)[number]

export interface DirectoryEntry {
  /** First and last of the range of beginnings, of the same length, both included. */
  readonly from: string
  readonly to: string
  readonly name: string
  readonly bic: string | null
  /** The rails that reach the bank; null: all that reach its country. */
  readonly rails: ReadonlySet<Rail> | null
}

/** Columns of a line, in any order. */
export const DIRECTORY_COLUMNS = ['country', 'kind', 'from', 'to', 'name', 'bic', 'rails'] as const
export type DirectoryLine = Readonly<Record<(typeof DIRECTORY_COLUMNS)[number], string>>

/** A kind whose lists are complete. */
export type ListedKind = Exclude<DirectoryKind, 'iban' | 'bic'>
export const LISTED_KINDS: readonly ListedKind[] = DIRECTORY_KINDS.filter((kind) => kind !== 'iban' && kind !== 'bic')

export class BankDirectory {
  /**
   * By country and kind, then by the number of compared characters, the longest first; each list is ordered by its
   * beginnings.
   */
  readonly #lists = new Map<string, Map<number, DirectoryEntry[]>>()

  /** @throws SyntaxError for an invalid line, or two lines that cover the same code */
  constructor(lines: Iterable<DirectoryLine>) {
    for (const line of lines) {
      const entry = entryOf(line)
      const key = `${line.country} ${line.kind}`
      const lengths = this.#lists.get(key) ?? new Map<number, DirectoryEntry[]>()
      this.#lists.set(key, lengths)
      const list = lengths.get(entry.from.length)
      if (list === undefined) lengths.set(entry.from.length, [entry])
      else list.push(entry)
    }
    for (const [key, lengths] of this.#lists) {
      for (const list of lengths.values()) order(key, list)
      this.#lists.set(key, new Map([...lengths].sort(([left], [right]) => right - left)))
    }
  }

  /** Tells whether a country has a list of this kind. */
  has(country: string, kind: DirectoryKind): boolean {
    return this.#lists.has(`${country} ${kind}`)
  }

  /** Finds the bank of a code, which may be longer than the beginning in the line; null when no line covers it. */
  find(country: string, kind: DirectoryKind, code: string): DirectoryEntry | null {
    for (const [length, list] of this.#lists.get(`${country} ${kind}`) ?? []) {
      const beginning = code.slice(0, length)
      if (beginning.length < length) continue
      const entry = lastUpTo(list, beginning)
      if (entry !== null && beginning <= entry.to) return entry
    }
    return null
  }
}

/** Returns the last entry that begins at or before a code. */
function lastUpTo(list: readonly DirectoryEntry[], code: string): DirectoryEntry | null {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] as DirectoryEntry).from <= code) low = middle + 1
    else high = middle
  }
  return list[low - 1] ?? null
}

function order(key: string, list: DirectoryEntry[]): void {
  list.sort((left, right) => (left.from < right.from ? -1 : left.from > right.from ? 1 : 0))
  const overlap = list.find((entry, index) => index > 0 && entry.from <= (list[index - 1] as DirectoryEntry).to)
  if (overlap !== undefined) throw new SyntaxError(`${key} ${overlap.from} is listed twice`)
}

function entryOf({ country, kind, from, to, name, bic, rails }: DirectoryLine): DirectoryEntry {
  const last = to === '' ? from : to
  const entry = `${country} ${kind} ${from}`
  if (!/^[A-Z]{2}$/.test(country)) throw new SyntaxError(`${entry}: no country`)
  if (!DIRECTORY_KINDS.includes(kind as DirectoryKind)) throw new SyntaxError(`${entry}: no such kind`)
  if (!/^[A-Z0-9]{1,34}$/.test(from) || last.length !== from.length || last < from || !/^[A-Z0-9]+$/.test(last))
    throw new SyntaxError(`${entry}: no code`)
  if (name === '') throw new SyntaxError(`${entry}: no name`)
  const by = rails === '' ? null : rails.split(' ')
  const unknown = by?.find((rail) => !RAILS.has(rail as Rail))
  if (unknown !== undefined) throw new SyntaxError(`${entry}: no rail ${unknown}`)
  return { from, to: last, name, bic: bic === '' ? null : bic, rails: by === null ? null : new Set(by as Rail[]) }
}
