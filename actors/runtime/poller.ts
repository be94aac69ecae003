/** Looks again and again for what is due, one look at a time: one that takes longer than the pause is not overtaken. Who does nothing else is one. */
export interface PollerOptions {
  /** From the beginning of one look to the next, milliseconds. */
  readonly everyMs: number
  readonly poll: () => Promise<void>
  /** A look has failed; the next one comes all the same. */
  readonly onError: (error: unknown) => void
}

export class Poller {
  readonly #options: PollerOptions
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined

  constructor(options: PollerOptions) { this.#options = options }

  /** Begins to look. Does not keep the process alive. */
  start(): void {
    this.#timer = setInterval(() => this.#poll(), this.#options.everyMs)
    this.#timer.unref()
  }

  /** Stops looking; a look that was begun is finished. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#polling
  }

  /** Looks now, unless a look is under way: something has become due here. */
  nudge(): void {
    this.#poll()
  }

  #poll(): void {
    const { poll, onError } = this.#options
    this.#polling ??= poll().catch(onError).finally(() => { this.#polling = undefined })
  }
}
