/**
 * Routes an ask to its actor: one activation per id in this process, on the lane that owns its customer's shard.
 *
 * Passivation: an activation without recent asks, or the least recently asked one when there are too many, is dropped
 * from memory. The next ask loads it again (I2).
 */
import type { Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { Activation } from './activation.ts'
import { Activations } from './activations.ts'
import type { ActorKind, ActorName, Ask, Outcome } from './actor.ts'
import { Lane } from './lane.ts'

export interface SystemOptions {
  readonly databaseUrl: string
  readonly lanes: number
  readonly clock: Clock
  /** A monotonic clock, milliseconds; absent: the machine's. */
  readonly monotonic?: () => number
  readonly onBug: (error: unknown, what: string) => void
}

export class ActorSystem {
  readonly lanes: readonly Lane[]
  readonly #clock: Clock
  readonly #activations: Readonly<Record<ActorName, Activations>> = {
    balance: new Activations(LIMITS.activationsMax.balance),
    payment: new Activations(LIMITS.activationsMax.payment),
    exchange: new Activations(LIMITS.activationsMax.exchange),
    quote: new Activations(LIMITS.activationsMax.quote),
    mandate: new Activations(LIMITS.activationsMax.mandate),
  }
  readonly #sweeper: NodeJS.Timeout
  readonly #onCommitted: (() => void)[] = []
  readonly #onReconnected: (() => void)[] = []
  /** The number of asks so far, by kind of actor. */
  readonly asked: Record<ActorName, number> = { balance: 0, payment: 0, exchange: 0, quote: 0, mandate: 0 }

  constructor(options: SystemOptions) {
    this.#clock = options.clock
    this.lanes = Array.from(
      { length: options.lanes },
      (_, nth) =>
        new Lane({
          databaseUrl: options.databaseUrl,
          nth,
          clock: options.clock,
          monotonic: options.monotonic,
          onBug: options.onBug,
          onCommitted: () => {
            for (const listener of this.#onCommitted) listener()
          },
          onReconnected: () => {
            this.#forgetStates(nth)
            for (const listener of this.#onReconnected) listener()
          },
          balanceInMemory: (id) => this.#activations.balance.peek(id),
        }),
    )
    this.#sweeper = setInterval(() => this.#forgetIdle(), LIMITS.activationIdleMs / 6)
    this.#sweeper.unref()
  }

  /** Registers a listener, which is called after each commit, because there may be events. It must be quick. */
  onCommitted(listener: () => void): void {
    this.#onCommitted.push(listener)
  }

  /**
   * Registers a listener, which is called when a lane has replaced its connection: state that other caches hold may
   * never have existed on the new server.
   */
  onReconnected(listener: () => void): void {
    this.#onReconnected.push(listener)
  }

  /** The number of activations in memory, by kind. */
  get size(): { readonly balance: number; readonly payment: number } {
    return { balance: this.#activations.balance.size, payment: this.#activations.payment.size }
  }

  /**
   * Asks one actor and waits for the committed outcome.
   *
   * @param shard the customer's shard; it determines the lane.
   * @param deadline by the clock: after it the caller has given up, and an undecided command is refused without a
   *   decision.
   * @throws Overloaded, DatabaseUnavailable or OutcomeUnknown, all safe to repeat under the same Idempotency-Key.
   */
  ask<State, Command, Reply>(
    kind: ActorKind<State, Command, Reply>,
    id: string,
    shard: number,
    command: Command,
    deadline?: number,
  ): Promise<Outcome<Reply>> {
    const activation = this.#activation(kind, id, shard)
    const now = this.#clock.now()
    activation.lastAskedAt = now
    this.asked[kind.name] += 1
    return new Promise((resolve, reject) => {
      const ask: Ask<Command, Reply> = {
        command,
        deadline: deadline ?? now + LIMITS.requestDeadlineMs,
        attempts: 0,
        resolve,
        reject,
      }
      activation.lane.enqueue(activation as unknown as Activation, ask as unknown as Ask<unknown, unknown>)
    })
  }

  /** Stores a state that a commit has just written, so that the next ask need not read it. */
  remember<State, Command, Reply>(
    kind: ActorKind<State, Command, Reply>,
    id: string,
    shard: number,
    state: State,
  ): void {
    const activation = this.#activation(kind, id, shard)
    activation.lastAskedAt = this.#clock.now()
    if (!activation.scheduled) activation.state = state
  }

  /**
   * Returns the state of an actor in memory; undefined when none is in memory, null when there is no such row. The
   * state may be stale.
   */
  recall<State, Command, Reply>(kind: ActorKind<State, Command, Reply>, id: string): State | null | undefined {
    return this.#activations[kind.name].peek(id)?.state as State | null | undefined
  }

  /** Drops one idle activation. */
  forget(kind: ActorName, id: string): void {
    this.#activations[kind].forget(id)
  }

  /** The number of commands decided and committed so far. */
  get commandsCommitted(): number {
    return this.lanes.reduce((total, lane) => total + lane.counters.commands, 0)
  }

  /** Answers the accepted asks, then closes the lanes. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    await Promise.all(this.lanes.map((lane) => lane.close()))
  }

  #activation<State, Command, Reply>(
    kind: ActorKind<State, Command, Reply>,
    id: string,
    shard: number,
  ): Activation<State, Command, Reply> {
    const activations = this.#activations[kind.name]
    let activation = activations.get(id)
    if (activation === undefined) {
      activation = new Activation(
        kind as unknown as ActorKind<unknown, unknown, unknown>,
        id,
        this.lanes[shard % this.lanes.length] as Lane,
      )
      activations.add(id, activation)
    }
    return activation as unknown as Activation<State, Command, Reply>
  }

  /** Drops the states of a lane's actors; their mailboxes stay. */
  #forgetStates(nth: number): void {
    const lane = this.lanes[nth]
    for (const activations of Object.values(this.#activations))
      activations.forgetStates((activation) => activation.lane === lane)
  }

  #forgetIdle(): void {
    const before = this.#clock.now() - LIMITS.activationIdleMs
    for (const activations of Object.values(this.#activations)) activations.forgetIdle(before)
  }
}
