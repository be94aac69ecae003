/** When the queue of payments acts without a new payment: the times of its pollers, and how they rest. */
import type { Clock } from '../../lib/base/clock.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { nextInstruction } from '../../storage/payments/partner-instructions.ts'
import { Poller, REST_MS } from '../runtime/poller.ts'
import { earliest } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The shortest time between two polls for payments whose outcome is unknown. */
const ATTENTION_TICK_MS = 1_000
/** The bank is asked about a payment handed over this long ago without any message; also the time between two polls. */
const SILENCE_MS = 30_000
/**
 * The shortest time between two polls of the rows for payments that were never offered to this queue: payments whose
 * commit got no answer, and payments of a shard that moved to this node during their commit.
 */
const LOOK_MS = 5_000

export interface QueueUpkeepOptions {
  readonly database: Database
  readonly clock: Clock
  readonly wakes: Wakes
  readonly shards: Shards
  /** Asks the bank about payments, and hands over those that wait. */
  readonly tick: () => void
  /** Reads the rows for payments that were never offered. */
  readonly look: () => void
  /** Recovers payments handed over before a time, epoch milliseconds, that got no message. */
  readonly recover: (sentBefore: number) => Promise<void>
  /** Whether payments wait in memory, or trouble has to be cleared up. */
  readonly isBusy: () => boolean
  readonly onError: (error: unknown) => void
}

export class QueueUpkeep {
  readonly #options: QueueUpkeepOptions
  readonly #attention: Poller
  readonly #silence: Poller
  /** When the rows were last read for payments that were never offered, by the monotonic clock. */
  #lookedAt = performance.now()
  /** Whether this node has committed since. */
  #lookWanted = true
  #leave: readonly (() => void)[] = []

  constructor(options: QueueUpkeepOptions) {
    this.#options = options
    const { clock, wakes, recover, onError } = options
    this.#attention = new Poller({
      everyMs: ATTENTION_TICK_MS,
      poll: async () => this.#poll(),
      onError,
      rest: { clock, wakes, on: ['events'], next: () => this.#next() },
    })
    this.#silence = new Poller({ everyMs: SILENCE_MS, poll: () => recover(clock.now() - SILENCE_MS), onError })
  }

  start(): void {
    this.#lookedAt = performance.now()
    const { wakes, look } = this.#options
    this.#leave = [
      wakes.add(['events'], () => {
        this.#lookWanted = true
      }),
      // The payments of a balance go on when it is no longer stopped.
      wakes.add(['balance'], look),
    ]
    this.#attention.start()
    this.#silence.start()
  }

  async stop(): Promise<void> {
    for (const leave of this.#leave) leave()
    await Promise.all([this.#attention.stop(), this.#silence.stop()])
  }

  /** Ends the rest, because a hand-over has failed. */
  wake(): void {
    this.#attention.wake()
  }

  /** Does what is due; reads the rows, too, some time after a commit. */
  #poll(): void {
    this.#options.tick()
    const now = performance.now()
    if (now - this.#lookedAt < (this.#lookWanted ? LOOK_MS : REST_MS)) return
    this.#lookedAt = now
    this.#lookWanted = false
    this.#options.look()
  }

  /** Rests until a payment is to be asked about or handed over, unless the queue is busy. */
  async #next(): Promise<number | null> {
    const { database, clock, shards, isBusy } = this.#options
    if (isBusy()) return clock.now()
    const next = await nextInstruction(database, { now: clock.now(), owned: shards.owned() })
    return earliest([next, this.#lookWanted ? clock.now() + LOOK_MS - (performance.now() - this.#lookedAt) : null])
  }
}
