/** Looks again and again for what is due, one look at a time: one that takes longer than the pause is not overtaken. Who does nothing else is one. */
export interface LookoutOptions {
  /** From the beginning of one look to the next, milliseconds. */
  readonly everyMs: number
  readonly look: () => Promise<void>
  /** A look has failed; the next one comes all the same. */
  readonly onError: (error: unknown) => void
}

export class Lookout {
  readonly #options: LookoutOptions
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined

  constructor(options: LookoutOptions) { this.#options = options }

  /** Begins to look. Does not keep the process alive. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), this.#options.everyMs)
    this.#timer.unref()
  }

  /** Stops looking; a look that was begun is finished. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  /** Looks now, unless a look is under way: something has become due here. */
  nudge(): void {
    this.#look()
  }

  #look(): void {
    const { look, onError } = this.#options
    this.#looking ??= look().catch(onError).finally(() => { this.#looking = undefined })
  }
}
