/** A turn in a commit round: the asks that one activation decides together. */
import type { CommitTurn } from '../../storage/commit/turn.ts'
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

/** Returns the kinds of the turns in the order in which a commit locks their rows. */
export const kindsInLockOrder = (turns: readonly Turn[]): ActorKind<unknown, unknown, unknown>[] =>
  [...new Map(turns.map(({ activation: { kind } }) => [kind.name, kind])).values()].sort(
    (a, b) => a.lockRank - b.lockRank,
  )
