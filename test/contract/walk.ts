/** Walks a state table: each state and each trigger through the pure function that decides the move. */
import type { Test } from 'tap'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { ContractMove } from './data/money-moves.ts'

/** What the function decides: a state with what it books and sends, or a refusal. */
export type Outcome =
  | { readonly to: string; readonly ledger?: readonly string[]; readonly events?: readonly string[] }
  | 'refused'

/** One state table with the functions that decide its triggers. */
export interface Machine {
  readonly name: string
  readonly moves: readonly ContractMove[]
  /** Every state, final ones included. */
  readonly states: readonly string[]
  /**
   * Decides a trigger in a state; null: this function is not asked in that state. Triggers that are missing are decided
   * elsewhere, not by a pure function.
   */
  readonly decide: Readonly<Record<string, (state: string) => Outcome | null>>
}

/** Describes the outcome of a move by its effects. */
export function moved(to: string, effects: Effects | null | undefined): Outcome {
  return {
    to,
    ledger: [...new Set((effects?.postings ?? []).map(({ rule }) => rule))].sort(),
    events: (effects?.events ?? []).map(({ type }) => type).sort(),
  }
}

/** The result of a walk: how many cells were compared, and the rows that no pure function decides. */
export interface Walked {
  readonly cells: number
  readonly elsewhere: readonly string[]
  /** Moves that the function makes and the table does not have. */
  readonly beyond: readonly string[]
}

/** Compares each state and trigger of a machine with its table, in both directions. */
export function walk(t: Test, { name, moves, states, decide }: Machine): Walked {
  let cells = 0
  const elsewhere = new Set<string>()
  const beyond: string[] = []
  const triggers = new Set(moves.map(({ trigger }) => trigger))
  for (const trigger of Object.keys(decide))
    t.ok(triggers.has(trigger), `${name}: the table has the trigger ${trigger}`)
  for (const trigger of triggers) {
    for (const state of states) {
      const rows = moves.filter((move) => move.trigger === trigger && move.from.includes(state))
      const label = `${name}: ${state}, ${trigger}${rows.length === 0 ? '' : ` (${rows[0]!.id})`}`
      t.ok(rows.length <= 1, `${label}: one row`)
      const [row] = rows
      const outcome = decide[trigger]?.(state) ?? null
      if (outcome === null) {
        if (row !== undefined) elsewhere.add(`${name} ${row.id}`)
        continue
      }
      cells += 1
      if (row === undefined || row.to === '-') {
        if (outcome !== 'refused') beyond.push(`${name}: ${state}, ${trigger} leads to ${outcome.to}`)
        continue
      }
      if (outcome === 'refused') {
        t.fail(`${label}: is refused`)
        continue
      }
      t.equal(outcome.to, row.to, label)
      if (outcome.ledger !== undefined) t.strictSame(outcome.ledger, [...row.ledger].sort(), `${label}: its postings`)
      if (outcome.events !== undefined) t.strictSame(outcome.events, [...row.events].sort(), `${label}: its events`)
    }
  }
  for (const { from, id } of moves)
    for (const state of from) t.ok(states.includes(state), `${name} ${id}: ${state} is a state`)
  return { cells, elsewhere: [...elsewhere], beyond }
}
