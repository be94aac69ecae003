/** An actor in memory: its mailbox, and what Postgres held when it was read. Forgetting it loses nothing (I2). */
import type { ActorKind, Ask } from './actor.ts'

/** The lane that runs an activation's turns. */
export interface TurnRunner {
  enqueue(activation: Activation, ask: Ask<unknown, unknown>): void
}

export class Activation<State = unknown, Command = unknown, Reply = unknown> {
  readonly kind: ActorKind<State, Command, Reply>
  readonly id: string
  readonly lane: TurnRunner
  /** Undefined: not loaded. Null: loaded, and there is no such row. */
  state: State | null | undefined = undefined
  /** In the lane's queue, or in the round that is running. */
  scheduled = false
  /** Somebody else writes here too: load under lock until a turn has gone through (I3). */
  contended = false
  /**
   * A statement failed for a reason of its own: so many commands, those of that turn, go one at a time, so that only the
   * culprit fails. Not only until one succeeds: its neighbours would fail with the culprit again and run out of attempts.
   */
  isolated = 0
  lastAskedAt = 0
  #mailbox: Ask<Command, Reply>[] = []

  constructor(kind: ActorKind<State, Command, Reply>, id: string, lane: TurnRunner) {
    this.kind = kind
    this.id = id
    this.lane = lane
  }

  get waiting(): number { return this.#mailbox.length }

  put(ask: Ask<Command, Reply>): void { this.#mailbox.push(ask) }

  /** Puts asks back before everything that came since. */
  putBack(asks: readonly Ask<Command, Reply>[]): void { this.#mailbox = [...asks, ...this.#mailbox] }

  /** Takes what waits, at most `max`. */
  take(max: number): Ask<Command, Reply>[] {
    if (this.isolated > 0) return this.#mailbox.splice(0, 1)
    if (this.#mailbox.length > max) return this.#mailbox.splice(0, max)
    const all = this.#mailbox
    this.#mailbox = []
    return all
  }
}
