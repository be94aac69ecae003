/**
 * Runs work again and again; runs never overlap.
 *
 * A poller with a `rest` sleeps while nothing is due: until the next due time that Postgres knows, or until it is
 * woken. Such a poller runs every `REST_MS` all the same, in case a wake was lost. A poller without a `rest` runs at a
 * fixed beat.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Wake, Wakes } from './wakes.ts'

/** The longest sleep of a poller that rests. */
export const REST_MS = 30_000

/** How a poller rests between its runs. */
export interface Rest {
  readonly clock: Clock
  readonly wakes: Wakes
  /** The wakes that end the rest. */
  readonly on: readonly Wake[]
  /** Returns when the next row is due, epoch milliseconds, which may have passed; null: none is known. */
  readonly next: () => Promise<number | null>
}

export interface PollerOptions {
  /**
   * The time from the start of one run to the start of the next, milliseconds; with a `rest` the shortest such time,
   * which passes while there is work.
   */
  readonly everyMs: number
  readonly poll: () => Promise<void>
  /** Called when a run has failed; the next run follows all the same. */
  readonly onError: (error: unknown) => void
  readonly rest?: Rest
}

export class Poller {
  readonly #options: PollerOptions
  #timer: NodeJS.Timeout | undefined
  /** When the timer runs, by the monotonic clock, as all times here. */
  #runsAt = Number.POSITIVE_INFINITY
  #began = Number.NEGATIVE_INFINITY
  #started = false
  /** Whether work may have come since the run in progress began. */
  #woken = false
  #polling: Promise<void> | undefined
  #leave: (() => void) | undefined

  constructor(options: PollerOptions) {
    this.#options = options
  }

  /** Starts polling. Does not keep the process alive. */
  start(): void {
    const { rest, everyMs } = this.#options
    this.#started = true
    this.#leave = rest?.wakes.add(rest.on, () => this.wake())
    this.#runAt(performance.now() + everyMs)
  }

  /** Stops polling; finishes the run in progress. */
  async stop(): Promise<void> {
    this.#started = false
    this.#leave?.()
    this.#clear()
    await this.#polling
  }

  /** Polls now, because work has become due here. A run in progress is followed by another one after `everyMs`. */
  nudge(): void {
    this.#woken = true
    void this.#poll()
  }

  /** Ends the rest: polls as soon as `everyMs` have passed since the last run began. Does nothing before `start`. */
  wake(): void {
    this.#woken = true
    if (this.#polling === undefined) this.#runAt(this.#beat())
  }

  /**
   * Polls now, also before `start`; resolves when that run is over, and never rejects. A run in progress
   * may have read the clock already, so it is finished first.
   */
  async runOnce(): Promise<void> {
    await this.#polling
    await this.#poll()
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#run().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #run(): Promise<void> {
    const { poll, onError } = this.#options
    this.#clear()
    this.#woken = false
    this.#began = performance.now()
    let failed = false
    await poll().catch((error: unknown) => {
      failed = true
      onError(error)
    })
    if (!this.#started) return
    const pauseMs = failed || this.#woken ? 0 : await this.#restMs()
    this.#runAt(Math.max(this.#beat(), this.#woken ? 0 : performance.now() + pauseMs))
  }

  /** The time to rest, milliseconds: until the next row is due. */
  async #restMs(): Promise<number> {
    const { rest, onError } = this.#options
    if (rest === undefined) return 0
    try {
      const next = await rest.next()
      // A timer may run a fraction of a millisecond early, and would then find nothing.
      return next === null ? REST_MS : Math.min(Math.max(next - rest.clock.now() + 1, 0), REST_MS)
    } catch (error) {
      onError(error)
      return 0
    }
  }

  /** The earliest time of the next run. */
  #beat(): number {
    return this.#began + this.#options.everyMs
  }

  #runAt(at: number): void {
    if (!this.#started || at >= this.#runsAt) return
    clearTimeout(this.#timer)
    this.#runsAt = at
    this.#timer = setTimeout(() => void this.#poll(), Math.max(0, Math.ceil(at - performance.now())))
    this.#timer.unref()
  }

  #clear(): void {
    clearTimeout(this.#timer)
    this.#runsAt = Number.POSITIVE_INFINITY
  }
}
