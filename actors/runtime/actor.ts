/**
 * What a kind of actor is, and the words of the runtime.
 *
 *  * actor: the kind (balance, payment). activation: one of them, in memory. ask: one command on its way.
 *  * turn: all asks that wait for one activation, decided one after the other. commit: the turns that are ready together.
 *
 * `decide` is pure: the same state, command and time give the same decision. Only `load` reads the world, and only the
 * lane's commit writes it.
 */
import type { Conflict } from '../../storage/commit/commit.ts'
import type { BalanceAfter } from '../../storage/commit/commit.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { Statement } from '../../storage/db/connection.ts'

export interface Decision<State, Reply> {
  /** The state the next command of the turn is decided on. */
  readonly state: State
  readonly reply: Reply
  /** What must be written for the reply to be true; null when nothing is. */
  readonly effects: Effects | null
  /**
   * A no that fresher state could turn into a yes. Credits do not ask, so remembered state can be low: such a no from
   * memory is not given, the state is loaded and the turn decided again (I4).
   */
  readonly refused?: boolean
}

/** Where a kind reads its state from: the lane's own connection. */
export interface Reader {
  query(statement: Statement): Promise<{ rows: unknown[][] }>
}

/** In the order in which their rows are locked. */
export const ACTOR_NAMES = ['balance', 'payment', 'exchange', 'quote'] as const
export type ActorName = (typeof ACTOR_NAMES)[number]

export interface ActorKind<State, Command, Reply> {
  readonly name: ActorName
  /**
   * Reads many at once; an id without a row is absent from the map. `lock` keeps the rows for the rest of the
   * transaction, in the order of their ids.
   */
  load(reader: Reader, ids: readonly string[], lock: boolean): Promise<ReadonlyMap<string, State>>
  /** Null state: no such row. */
  decide(state: State | null, command: Command, now: number): Decision<State | null, Reply>
  /**
   * Commands of one turn, at most; without it as many as a commit takes. For kinds whose commands each write the same row:
   * one statement writes a row once, and would silently leave out the second.
   */
  readonly turnMax?: number
  /** The conflicts that say that what such an actor remembers has moved on: the turn is decided again on what is there now. */
  readonly staleAs?: readonly Conflict['kind'][]
  /** The balance version the decisions of a turn rest on; null for kinds whose effects carry their own fences. */
  fence(state: State | null): { readonly balanceId: string; readonly version: bigint } | null
  /** Balances that the command credits: under lock they are locked with its own, in one order, or two nodes deadlock (I3). */
  credits?(command: Command): readonly string[]
  /** The state as Postgres holds it after a commit that touched this balance. */
  committed?(state: State, after: BalanceAfter): State
}

/** What comes back from an ask: the reply, committed, or what stood in the way of this one command. */
export type Outcome<Reply> =
  | { readonly kind: 'decided'; readonly reply: Reply }
  | Exclude<Conflict, { readonly kind: 'balance_stale' }>

/** One command on its way, and who waits for it. */
export interface Ask<Command, Reply> {
  readonly command: Command
  readonly deadline: number
  attempts: number
  resolve(outcome: Outcome<Reply>): void
  reject(error: Error): void
}
