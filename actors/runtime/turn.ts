/** A turn in a commit round: the asks that one activation decides together. */
import { LIMITS } from '../../lib/base/limits.ts'
import type { CommitCommand, CommitTurn } from '../../storage/commit/turn.ts'
import type { Conflict } from '../../storage/sections/commit.ts'
import type { Activation } from './activation.ts'
import type { ActorKind, Ask, Decision } from './actor.ts'

export interface Decided {
  readonly ask: Ask<unknown, unknown>
  readonly decision: Decision<unknown, unknown>
}

/** The part of a round that belongs to one activation. */
export interface Turn {
  readonly activation: Activation
  asks: Ask<unknown, unknown>[]
  decided: Decided[]
  fence: CommitTurn['fence']
  /** True once the activation is released, to be scheduled again or removed from memory. */
  released: boolean
}

/**
 * Takes turns up to the size of one commit. Contended activations get rounds of their own, under lock, and so do
 * isolated ones, command by command.
 *
 * @returns the turns, and the activations that are left for later rounds, in their order
 */
export function takeTurns(ready: readonly Activation[]): {
  readonly turns: readonly Turn[]
  readonly later: Activation[]
} {
  const turns: Turn[] = []
  const later: Activation[] = []
  const contended = ready[0]?.contended ?? false
  const isolated = (ready[0]?.isolated ?? 0) > 0
  let room: number = LIMITS.commitCommandsMax
  let next = 0
  for (; next < ready.length && room > 0; next++) {
    const activation = ready[next] as Activation
    if (activation.contended !== contended || activation.isolated > 0 !== isolated) {
      later.push(activation)
      continue
    }
    const asks = activation.take(Math.min(room, activation.kind.turnMax ?? room))
    room = isolated ? 0 : room - asks.length
    turns.push({ activation, asks, decided: [], fence: null, released: false })
  }
  return { turns, later: [...later, ...ready.slice(next)] }
}

/** Returns the kinds of the turns in the order in which a commit locks their rows. */
export const kindsInLockOrder = (turns: readonly Turn[]): ActorKind<unknown, unknown, unknown>[] =>
  [...new Map(turns.map(({ activation: { kind } }) => [kind.name, kind])).values()].sort(
    (a, b) => a.lockRank - b.lockRank,
  )

/** A conflict of one command, not of a whole turn. */
export type ConflictOutcome = Exclude<Conflict, { readonly turn: number }>

/** An ask that was left out of a commit, because an earlier command of that commit changes the same row. */
export interface LateAsk {
  readonly turn: Turn
  readonly ask: Ask<unknown, unknown>
  readonly conflict: ConflictOutcome
}

/** Returns what a turn has to write. */
export const commitTurnOf = ({ fence, decided }: Turn): CommitTurn => ({
  fence,
  commands: decided.flatMap(({ decision }) => (decision.effects === null ? [] : [decision as CommitCommand])),
})

/** Finds the asks of the commands that turns have decided on. */
function asksByCommand(turns: readonly Turn[]): (command: CommitCommand) => Pick<LateAsk, 'turn' | 'ask'> {
  const asks = new Map<CommitCommand, Pick<LateAsk, 'turn' | 'ask'>>()
  for (const turn of turns)
    for (const { ask, decision } of turn.decided) asks.set(decision as CommitCommand, { turn, ask })
  return (command) => asks.get(command) as Pick<LateAsk, 'turn' | 'ask'>
}

/**
 * Whether the actor of a turn resolves a conflict itself, by deciding again on the current row. A flow that brings a
 * payment to its balance has to read the payment again instead.
 */
export const isDecidedAgain = ({ activation }: Turn, { kind }: ConflictOutcome): boolean =>
  activation.kind.staleAs?.includes(kind) === true

/** Takes asks that come too late for this commit out of their turns, which have to be decided again without them. */
export function leaveOut(turns: readonly Turn[], conflicts: readonly Conflict[]): readonly LateAsk[] {
  const askOf = asksByCommand(turns)
  const late = new Map<Ask<unknown, unknown>, LateAsk>()
  for (const conflict of conflicts as readonly ConflictOutcome[]) {
    const { turn, ask } = askOf(conflict.command)
    late.set(ask, { turn, ask, conflict })
  }
  for (const { turn } of late.values()) turn.asks = turn.asks.filter((ask) => !late.has(ask))
  return [...late.values()]
}

/**
 * Sorts the conflicts of a commit.
 *
 * @returns the turns that were decided on stale state, and the first conflict of each other ask that met one
 */
export function sortConflicts(
  turns: readonly Turn[],
  conflicts: readonly Conflict[],
): { readonly stale: ReadonlySet<Turn>; readonly answers: ReadonlyMap<Ask<unknown, unknown>, ConflictOutcome> } {
  const askOf = asksByCommand(turns)
  const stale = new Set<Turn>()
  const answers = new Map<Ask<unknown, unknown>, ConflictOutcome>()
  for (const conflict of conflicts) {
    if ('turn' in conflict) {
      stale.add(turns[conflict.turn] as Turn)
      continue
    }
    const { turn, ask } = askOf(conflict.command)
    if (isDecidedAgain(turn, conflict)) stale.add(turn)
    else if (!answers.has(ask)) answers.set(ask, conflict)
  }
  return { stale, answers }
}
