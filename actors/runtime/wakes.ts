/**
 * Wakes the pollers that rest: when a row becomes due earlier than they know, on this node or on another one.
 *
 * Triggers of the tables of due work (storage/db/due-work.ts) notify all nodes, so no writer can forget it. Tables that
 * the commit of payments writes have no such trigger, because a transaction that notifies keeps others from committing;
 * their pollers wake with the events that this node commits, which it owns.
 *
 * All pollers wake when messages may have been missed, when this node gains shards, and when the clock jumps.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { WORK_CHANNEL, type DueWork, type OtherWork } from '../../storage/db/due-work.ts'
import type { PgListener } from '../../storage/db/pg-listener.ts'

/** The cause of a wake: rows of one table of due work, or events that this node has committed. */
export type Wake = DueWork | OtherWork | 'events'

export interface WakesOptions {
  readonly listener: Pick<PgListener, 'subscribe'>
  readonly clock: Clock
  readonly shards: Pick<Shards, 'onChange'>
}

export class Wakes {
  #eventsAt = Number.NEGATIVE_INFINITY
  readonly #sleepers = new Set<{ readonly on: readonly Wake[]; readonly wake: () => void }>()

  /** Begins to hear of due work once the listener starts. */
  constructor({ listener, clock, shards }: WakesOptions) {
    listener.subscribe(WORK_CHANNEL, {
      onMessage: (work) => this.wake(work as DueWork),
      onGap: () => this.wakeAll(),
    })
    clock.onJump?.(() => this.wakeAll())
    shards.onChange(({ gained }) => {
      if (gained.length > 0) this.wakeAll()
    })
  }

  /** Registers a sleeper; the returned function takes it back. `wake` must be quick, and may be called at any time. */
  add(on: readonly Wake[], wake: () => void): () => void {
    const sleeper = { on, wake }
    this.#sleepers.add(sleeper)
    return () => this.#sleepers.delete(sleeper)
  }

  /** Wakes the sleepers for one kind of work of this node. */
  wake(work: Wake): void {
    if (work === 'events') this.#eventsAt = performance.now()
    for (const { on, wake } of this.#sleepers) if (on.includes(work)) wake()
  }

  /** Whether this node has committed events within the last `ms` milliseconds. */
  hasEventsWithin(ms: number): boolean {
    return performance.now() - this.#eventsAt < ms
  }

  wakeAll(): void {
    for (const { wake } of this.#sleepers) wake()
  }
}
