/** The input of a commit: turns of decided commands, and a connection. */
import type { Effects } from '../../lib/decisions/effects.ts'

/** A decided command of a turn, with the effects to write. */
export interface CommitCommand {
  readonly effects: Effects
}

/** The balance version that the decisions of a turn were made on. */
export interface TurnFence {
  readonly balanceId: string
  readonly version: bigint
}

/**
 * The decisions of one activation. `fence` is the balance version they were made on; null where payments have fences of
 * their own.
 */
export interface CommitTurn {
  readonly fence: TurnFence | null
  readonly commands: readonly CommitCommand[]
}

/** Runs the statement: a dedicated connection of a commit lane, or an open transaction. */
export interface CommitConnection {
  query(statement: { name: string; text: string; values: unknown[]; rowMode: 'array' }): Promise<{ rows: unknown[][] }>
}
