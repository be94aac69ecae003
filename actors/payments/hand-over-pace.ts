/**
 * When the payment queue begins its next hand-over: at once, or, while payments wait in numbers, GATHER_MS after the
 * last one began. A hand-over costs two reads, a commit and a call of the bank however few payments it has, and in a
 * flood the payments of a few milliseconds were too few.
 *
 * A payment that meets no backlog waits for nothing: only a hand-over of BACKLOG_MIN payments and more shows one.
 */
import { LIMITS } from '../../lib/base/limits.ts'

const GATHER_MS = 20
/** So many payments waited when a hand-over began: they came faster than payments are handed over one by one. */
const BACKLOG_MIN = 4

export class HandOverPace {
  readonly #onDue: () => void
  #gathering: { readonly timer: NodeJS.Timeout; readonly resolve: () => void } | undefined

  /** `onDue` is called when the gathering ends by itself. */
  constructor(onDue: () => void) {
    this.#onDue = onDue
  }

  /** Whether the next hand-over waits for more payments than the number that waits now. */
  isGathering(waiting: number): boolean {
    return this.#gathering !== undefined && waiting < LIMITS.partnerBatchMax
  }

  /** Notes that a hand-over of so many payments begins; resolves when the next one need not wait any longer. */
  async begin(payments: number): Promise<void> {
    this.end()
    if (payments < BACKLOG_MIN) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.end()
      this.#onDue()
    }, GATHER_MS)
    this.#gathering = { timer, resolve }
    await promise
  }

  /** Ends the gathering. */
  end(): void {
    if (this.#gathering === undefined) return
    const { timer, resolve } = this.#gathering
    this.#gathering = undefined
    clearTimeout(timer)
    resolve()
  }
}
