/** Runs `poll` every `everyMs`; runs never overlap. A slow run delays the next. */
export interface PollerOptions {
  /** The time from the start of one run to the start of the next, milliseconds. */
  readonly everyMs: number
  readonly poll: () => Promise<void>
  /** Called when a run has failed; the next run follows all the same. */
  readonly onError: (error: unknown) => void
}

export class Poller {
  readonly #options: PollerOptions
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined

  constructor(options: PollerOptions) {
    this.#options = options
  }

  /** Starts polling. Does not keep the process alive. */
  start(): void {
    this.#timer = setInterval(() => this.nudge(), this.#options.everyMs)
    this.#timer.unref()
  }

  /** Stops polling; finishes the run in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#polling
  }

  /** Polls now, because work has become due here; does nothing while a run is in progress. */
  nudge(): void {
    void this.#poll()
  }

  /**
   * Polls now, also before `start`; resolves when the run has ended, and never rejects. A run in progress may have read
   * the clock already, so it is finished first.
   */
  async runOnce(): Promise<void> {
    await this.#polling
    await this.#poll()
  }

  #poll(): Promise<void> {
    const { poll, onError } = this.#options
    this.#polling ??= poll()
      .catch(onError)
      .finally(() => {
        this.#polling = undefined
      })
    return this.#polling
  }
}
