/** An actor in memory: its mailbox, and its state as it was last read from Postgres. Dropping it loses nothing (I2). */
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
  /** True while the activation is in the lane's queue or in the running round. */
  scheduled = false
  /** True when another writer changes the same row: load under lock until a turn has succeeded (I3). */
  contended = false
  /**
   * The number of commands that must run one at a time, because a statement with them failed for a reason of its own.
   * So only the faulty command fails. All commands of that turn are isolated, because otherwise the others would fail
   * together with the faulty one again and run out of attempts.
   */
  isolated = 0
  lastAskedAt = 0
  #mailbox: Ask<Command, Reply>[] = []

  constructor(kind: ActorKind<State, Command, Reply>, id: string, lane: TurnRunner) {
    this.kind = kind
    this.id = id
    this.lane = lane
  }

  get waiting(): number {
    return this.#mailbox.length
  }

  put(ask: Ask<Command, Reply>): void {
    this.#mailbox.push(ask)
  }

  /** Puts asks back in front of all later ones. */
  putBack(asks: readonly Ask<Command, Reply>[]): void {
    this.#mailbox = [...asks, ...this.#mailbox]
  }

  /** Takes at most `max` waiting asks. */
  take(max: number): Ask<Command, Reply>[] {
    if (this.isolated > 0) return this.#mailbox.splice(0, 1)
    if (this.#mailbox.length > max) return this.#mailbox.splice(0, max)
    const all = this.#mailbox
    this.#mailbox = []
    return all
  }
}
