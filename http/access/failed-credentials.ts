/**
 * Look-ups of credentials: how many of them an address may have under way, and how many may fail.
 *
 * What it promises
 *  * A credential that this node does not know is looked up only while its address is below its limit of failures; beyond it the
 *    answer is 429 before Postgres is asked. All nodes count together (http/access/rate-limits.ts).
 *  * An address has as many look-ups under way as it may still fail, and LOOK_UPS_MAX at most; the others wait their turn. So many
 *    at once pass the limit by none, and one address does not take Postgres away from the others.
 *  * A credential that was right when it was last seen here is looked up whatever its neighbours behind one address do. It is
 *    forgotten with its first failure.
 */
import { LRUCache } from 'lru-cache'
import { ProblemError, type ProblemSlug, refuse } from '../../lib/base/problems.ts'
import { addressBlock } from './rate-limits.ts'

/** More at a time would wait for one of the connections of the pool. */
const LOOK_UPS_MAX = 32
/** Look-ups of one address that wait; at a millisecond each this is a quarter of a second. */
const WAITING_MAX = 256
/** Credentials remembered as right; some hundred bytes each. */
const PROVEN_MAX = 20_000
const RETRY_AFTER_SECONDS = 1

/** The answers to a credential that is not right, or no longer. */
const FAILURES: ReadonlySet<ProblemSlug> = new Set(['invalid-api-key', 'unauthenticated', 'session-expired'])

/** The failures of addresses, as http/access/rate-limits.ts counts them. */
export interface FailureLimit {
  /** How many more look-ups of an address may fail now. */
  failuresLeft(address: string): number
  countFailure(address: string): void
  /** @throws ProblemError `rate-limited`; `onRefusal` is given the headers of that answer first */
  refuseFailing(address: string, onRefusal: (headers: readonly string[]) => void): never
}

/** One credential to look up. */
export interface LookUp {
  /** SHA-256 of the credential; it is kept in memory. */
  readonly hash: string
  /** Of the client. */
  readonly address: string
  readonly onRefusal: (headers: readonly string[]) => void
}

interface Turns {
  underWay: number
  readonly waiting: (() => void)[]
}

export class FailedCredentials {
  readonly #limit: FailureLimit | null
  readonly #proven = new LRUCache<string, true>({ max: PROVEN_MAX })
  readonly #turns = new Map<string, Turns>()

  /** Without a limit failures are not counted; look-ups still wait their turn. */
  constructor(limit: FailureLimit | null) {
    this.#limit = limit
  }

  /**
   * Looks a credential up with `find`.
   *
   * @throws ProblemError `rate-limited`, `service-unavailable`; whatever `find` throws
   */
  async lookUp<Found>({ hash, address: sentFrom, onRefusal }: LookUp, find: () => Promise<Found>): Promise<Found> {
    const address = addressBlock(sentFrom)
    if (this.#proven.get(hash) === true) return await this.#judge(hash, address, find)
    const turns = this.#turns.get(address) ?? { underWay: 0, waiting: [] }
    this.#turns.set(address, turns)
    try {
      await this.#takeTurn(turns, address, onRefusal)
      try {
        return await this.#judge(hash, address, find)
      } finally {
        turns.underWay -= 1
      }
    } finally {
      // Also when this one was refused: the next hears so too.
      const next = turns.waiting.shift()
      if (next !== undefined) next()
      else if (turns.underWay === 0 && this.#turns.get(address) === turns) this.#turns.delete(address)
    }
  }

  /** Resolves when the address has one more look-up under way. */
  async #takeTurn(turns: Turns, address: string, onRefusal: (headers: readonly string[]) => void): Promise<void> {
    for (;;) {
      const left = this.#limit === null ? LOOK_UPS_MAX : Math.floor(this.#limit.failuresLeft(address))
      if (left < 1) this.#limit?.refuseFailing(address, onRefusal)
      if (turns.underWay < Math.min(left, LOOK_UPS_MAX)) {
        turns.underWay += 1
        return
      }
      if (turns.waiting.length >= WAITING_MAX) {
        refuse('service-unavailable', 'Too many credentials of this address are being looked up. Send the same request again shortly.', { retryAfterSeconds: RETRY_AFTER_SECONDS })
      }
      await new Promise<void>((resolve) => turns.waiting.push(resolve))
    }
  }

  async #judge<Found>(hash: string, address: string, find: () => Promise<Found>): Promise<Found> {
    try {
      const found = await find()
      this.#proven.set(hash, true)
      return found
    } catch (error) {
      if (error instanceof ProblemError && FAILURES.has(error.problem.slug)) {
        this.#proven.delete(hash)
        this.#limit?.countFailure(address)
      }
      throw error
    }
  }
}
