/** Walks a state table: each state and each trigger through the pure function that decides the move. */
import type { Test } from 'tap'
import type { Effects } from '../../lib/decisions/effects.ts'
import { OBJECTS_WITH_AMOUNT } from './data/event-types.ts'
import type { ContractMove } from './data/money-moves.ts'

/** What the function decides: a state with what it books and sends, or a refusal. */
export type Outcome =
  | {
      readonly to: string
      readonly ledger?: readonly string[]
      readonly events?: readonly string[]
      readonly hold?: string
      /** The statuses in its events of a change, `before to after`. */
      readonly changes?: readonly string[]
    }
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
  const { postings = [], events = [] } = effects ?? {}
  for (const { type, object, amount } of events) {
    const has = amount !== null && amount !== undefined
    if (has !== OBJECTS_WITH_AMOUNT.includes(object)) throw new Error(`${type} has ${has ? 'an' : 'no'} amount.`)
  }
  return {
    to,
    ledger: [...new Set(postings.map(({ rule }) => rule))].sort(),
    events: events.map(({ type }) => type).sort(),
    hold: holdOf(effects),
    changes: events
      .filter(({ type }) => type.endsWith('.status_changed'))
      .map(({ previousStatus, status }) => `${previousStatus} to ${status}`),
  }
}

function holdOf(effects: Effects | null | undefined): string {
  const { holds = [], holdResolutions = [] } = effects ?? {}
  const [ended] = holdResolutions
  if (ended === undefined) return holds.length > 0 ? 'placed' : ''
  return holds.length > 0 ? 'replaced' : ended.status
}

/** The status of a state, as the API shows it. */
const STATUS_OF: Readonly<Record<string, string>> = {
  none: 'null',
  queued: 'processing',
  submitted: 'processing',
  called: 'awaiting_deposit',
  called_drawn: 'awaiting_deposit',
}
const statusOf = (state: string): string => STATUS_OF[state] ?? state

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
      if (outcome.hold !== undefined) t.equal(outcome.hold, row.hold, `${label}: its hold`)
      for (const change of outcome.changes ?? [])
        t.equal(change, `${statusOf(state)} to ${statusOf(row.to)}`, `${label}: the statuses in its event`)
    }
  }
  for (const { from, id } of moves)
    for (const state of from) t.ok(states.includes(state), `${name} ${id}: ${state} is a state`)
  return { cells, elsewhere: [...elsewhere], beyond }
}
