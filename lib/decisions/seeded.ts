/**
 * Moves as data. The rules of a move draw the ids of new rows from a source in its context. A command that an actor
 * receives carries a seed in place of the source, and its decision derives the ids from the seed: the same command
 * makes the same rows.
 */
import { idsFrom } from '../base/ids.ts'

/** A move without the source of its ids; without a context where the source was all that the context had. */
export type Described<Move> = Move extends { readonly context: infer Context }
  ? Exclude<keyof Context, 'ids'> extends never
    ? Omit<Move, 'context'>
    : Omit<Move, 'context'> & { readonly context: Omit<Context, 'ids'> }
  : Move

/** A move as a command. `seed` is drawn for this one command (`idsFrom`). */
export type Seeded<Move> = Described<Move> & { readonly seed: string }

/** Gives a move the source of its ids. The caller names the type of the move that it has described. */
export function withIds<Move>(command: Seeded<Move>): Move {
  const { context } = command as { readonly context?: object }
  return { ...command, context: { ...context, ids: idsFrom(command.seed) } } as unknown as Move
}
