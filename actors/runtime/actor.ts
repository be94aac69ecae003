/**
 * The interface of a kind of actor, and the terms of the runtime.
 *
 *  * actor: the kind (balance, payment). activation: one actor in memory. ask: one command that waits for its decision.
 *  * turn: all asks that wait for one activation, decided one after the other. commit: the turns that are ready
 *    together.
 *
 * A command is data, without functions. `decide` is pure: the same state, command and time give the same decision, the
 * ids of its rows included, which derive from the command's seed (lib/base/ids.ts). Only `load` reads from the
 * database, and only the lane's commit writes to it.
 */
import type { LIMITS } from '../../lib/base/limits.ts'
import type { BalanceAfter } from '../../storage/balances/balance-section.ts'
import type { Conflict } from '../../storage/sections/commit.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { Reader } from '../../storage/db/connection.ts'

export interface Decision<State, Reply> {
  /** The state on which the next command of the turn is decided. */
  readonly state: State
  readonly reply: Reply
  /** The writes that make the reply true; null when there are none. */
  readonly effects: Effects | null
  /**
   * True for a refusal that fresher state could turn into a success. Credits raise a balance without passing through
   * its actor, so state in memory can be too low: such a refusal from memory is not sent; the state is loaded and the
   * turn decided again (I4).
   */
  readonly refused?: boolean
}

export type ActorName = keyof typeof LIMITS.activationsMax

export interface ActorKind<State, Command, Reply> {
  readonly name: ActorName
  /** Rows of kinds with a lower rank are locked first: the order in which the commit locks rows. */
  readonly lockRank: number
  /**
   * Reads many states at once; an id without a row is absent from the map. `lock` locks the rows until the transaction
   * ends, in the order of their ids.
   */
  load(reader: Reader, ids: readonly string[], lock: boolean): Promise<ReadonlyMap<string, State>>
  /** Decides a command. A null state means that there is no such row. */
  decide(state: State | null, command: Command, now: number): Decision<State | null, Reply>
  /**
   * The maximum number of commands per turn; without it, as many as fit into a commit. For kinds whose commands all
   * write the same row: one statement writes a row once, and would silently leave out the second write.
   */
  readonly turnMax?: number
  /** The conflicts which show that the state in memory is stale: the turn is decided again on the current row. */
  readonly staleAs?: readonly Conflict['kind'][]
  /**
   * How a stale turn is decided again.
   *
   *  * `reload`: on the current row. For rows with so few writers that a turn which lost a race soon wins one.
   *  * `lock`: on the current row, under its lock. For rows that may have any number of writers.
   *  * `isolate`: on the current row, in a commit of its own. For decisions that rest on a row which other decisions of
   *    the same commit may change.
   */
  readonly onStale: 'reload' | 'lock' | 'isolate'
  /** The balance version on which the decisions of a turn rest; null for kinds whose effects carry their own fences. */
  fence(state: State | null): { readonly balanceId: string; readonly version: bigint } | null
  /**
   * The balances that the command credits. Under lock they are locked with the actor's own balance, in one order;
   * otherwise two nodes could deadlock (I3).
   */
  credits?(command: Command): readonly string[]
  /**
   * The state as Postgres has it after a commit that changed this balance; undefined when another writer has changed
   * more of it than the commit tells, so that it must be read again. `decided`: the commit compared the version of this
   * state, and did not only credit the balance.
   */
  committed?(state: State, after: BalanceAfter, decided: boolean): State | undefined
}

/** The result of an ask: the committed reply, or the conflict that stopped this command. */
export type Outcome<Reply> =
  | { readonly kind: 'decided'; readonly reply: Reply }
  | Exclude<Conflict, { readonly turn: number }>

/** A command that waits for its decision, and the promise of its caller. */
export interface Ask<Command, Reply> {
  readonly command: Command
  readonly deadline: number
  attempts: number
  resolve(outcome: Outcome<Reply>): void
  reject(error: Error): void
}
