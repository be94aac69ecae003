/** Keeps the calls of one connection to its provider's rate and concurrency, and pauses them when the provider asks. */
import { PartnerUnreachable } from '../adapters/partner-http.ts'

/** Calls that wait for their turn at a time; more are turned away. */
const WAITING_MAX = 2_000
/** Calls may begin this much before their even spacing, so that a short burst after a rest does not wait. */
const BURST_MS = 250

export interface CallLimits {
  readonly perSecond: number
  readonly concurrent: number
  /** Returns this node's part of the connection's work, above 0 and up to 1: the nodes share the rate. */
  readonly share: () => number
}

export class CallLimiter {
  readonly #limits: CallLimits
  readonly #waiting: { readonly begin: () => void; readonly giveUp: (error: Error) => void }[] = []
  #active = 0
  /** When the next call is to begin by even spacing, and until when all of them pause, by the monotonic clock. */
  #next = 0
  #pausedUntil = 0
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(limits: CallLimits) {
    this.#limits = limits
  }

  /**
   * Resolves when a call may begin, with what ends it.
   *
   * @throws PartnerUnreachable when too many calls wait, or the connection was closed
   */
  async enter(): Promise<() => void> {
    if (this.#closed || this.#waiting.length >= WAITING_MAX)
      throw new PartnerUnreachable(
        this.#closed ? 'The connection was closed.' : 'Too many calls wait for the provider.',
      )
    await new Promise<void>((begin, giveUp) => {
      this.#waiting.push({ begin, giveUp })
      this.#pump()
    })
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#active -= 1
      this.#pump()
    }
  }

  /** Lets no call begin for a time. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms)
  }

  /** Turns the waiting calls away. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const { giveUp } of this.#waiting.splice(0)) giveUp(new PartnerUnreachable('The connection was closed.'))
  }

  #pump(): void {
    const { perSecond, concurrent, share } = this.#limits
    while (this.#waiting.length > 0 && this.#active < concurrent) {
      const now = performance.now()
      const beginsAt = Math.max(this.#pausedUntil, this.#next - BURST_MS)
      if (beginsAt > now) {
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => this.#pump(), Math.ceil(beginsAt - now))
        return
      }
      this.#next = Math.max(this.#next, now) + 1_000 / (perSecond * share())
      this.#active += 1
      this.#waiting.shift()?.begin()
    }
  }
}
