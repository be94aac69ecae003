/**
 * When batches of work begin: the next one at once or, while work comes faster than it is done one by one, some time
 * after the last one began, so that a batch is worth its fixed cost. Only a batch of several items shows such a backlog:
 * an item that meets none waits for nothing.
 */

export interface BatchGatheringOptions {
  /** From the beginning of a batch to that of the next one, milliseconds. */
  readonly gatherMs: number
  /** A batch of so many items and more shows a backlog. */
  readonly backlogMin: number
  /** The most items of a batch: so many do not wait. */
  readonly batchMax: number
  /** Called when the gathering ends by itself. */
  readonly onDue: () => void
}

export class BatchGathering {
  readonly #options: BatchGatheringOptions
  #under: { readonly timer: NodeJS.Timeout; readonly resolve: () => void } | undefined

  constructor(options: BatchGatheringOptions) {
    this.#options = options
  }

  /** Whether the next batch waits for more items than the number that waits now. */
  holds(waiting: number): boolean {
    return this.#under !== undefined && waiting < this.#options.batchMax
  }

  /** Notes that a batch of so many items begins; resolves when the next one need not wait any longer. */
  async begin(items: number): Promise<void> {
    this.end()
    const { backlogMin, gatherMs, onDue } = this.#options
    if (items < backlogMin) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.end()
      onDue()
    }, gatherMs)
    this.#under = { timer, resolve }
    await promise
  }

  /** Ends the gathering. */
  end(): void {
    if (this.#under === undefined) return
    const { timer, resolve } = this.#under
    this.#under = undefined
    clearTimeout(timer)
    resolve()
  }
}
