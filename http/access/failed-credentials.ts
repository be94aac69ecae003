/**
 * Look-ups of credentials: limits how many of an address run at a time, and how many may fail.
 *
 * Promises
 *  * A credential that this node does not know is looked up only while its address is below its limit of failures.
 *    Beyond the limit the answer is 429 without a query to Postgres. All nodes count together
 *    (http/access/rate-limits.ts).
 *  * An address runs only as many look-ups at a time as may still fail, and at most LOOK_UPS_MAX; the others wait. So
 *    simultaneous look-ups never exceed the limit, and one address does not take Postgres away from the others.
 *  * A credential that was right at its last look-up on this node is always looked up, whatever the other clients of
 *    its address do. With its first failure it loses this exception.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import { ProblemError, type ProblemSlug, refuse } from '../../lib/base/problems.ts'
import { addressBlock } from './address-block.ts'

/** Look-ups of one address at a time. More would only wait for a connection of the pool. */
const LOOK_UPS_MAX = 32
/** Look-ups of one address that wait. At one millisecond each, the last one waits a quarter of a second. */
const WAITING_MAX = 256
/** Credentials remembered as right; each takes some hundred bytes. */
const PROVEN_MAX = 20_000
const RETRY_AFTER_SECONDS = 1

/** Problems that mean: the credential is wrong, or no longer valid. */
const FAILURES: ReadonlySet<ProblemSlug> = new Set(['invalid-api-key', 'unauthenticated', 'session-expired'])

/** The failures of addresses, counted by http/access/rate-limits.ts. */
export interface FailureLimit {
  /** How many more look-ups of the address may fail now. */
  failuresLeft(address: string): number
  countFailure(address: string): void
  /** @throws ProblemError `rate-limited`; before that, `onRefusal` gets the headers of the answer */
  refuseFailing(address: string, onRefusal: (headers: readonly string[]) => void): never
}

/** A credential to look up. */
export interface LookUp {
  /** SHA-256 of the credential; the hash is kept in memory. */
  readonly hash: string
  /** Address of the client. */
  readonly address: string
  readonly onRefusal: (headers: readonly string[]) => void
}

interface Turns {
  underWay: number
  readonly waiting: (() => void)[]
}

/** The look-ups of credentials on one node, by address. */
export class FailedCredentials {
  readonly #limit: FailureLimit | null
  readonly #proven = new LRUCache<string, true>(atMost(PROVEN_MAX))
  readonly #turns = new Map<string, Turns>()

  /** With `limit` null, failures are not counted; look-ups still wait their turn. */
  constructor(limit: FailureLimit | null) {
    this.#limit = limit
  }

  /**
   * Looks a credential up with `find`.
   *
   * @throws ProblemError `rate-limited`, `service-unavailable`; and every error of `find`
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
      // Runs also after a refusal, so that the next look-up that waits is refused too.
      const next = turns.waiting.shift()
      if (next !== undefined) next()
      else if (turns.underWay === 0 && this.#turns.get(address) === turns) this.#turns.delete(address)
    }
  }

  /** Resolves when the address may run one more look-up. */
  async #takeTurn(turns: Turns, address: string, onRefusal: (headers: readonly string[]) => void): Promise<void> {
    for (;;) {
      const left = this.#limit === null ? LOOK_UPS_MAX : Math.floor(this.#limit.failuresLeft(address))
      if (left < 1) this.#limit?.refuseFailing(address, onRefusal)
      if (turns.underWay < Math.min(left, LOOK_UPS_MAX)) {
        turns.underWay += 1
        return
      }
      if (turns.waiting.length >= WAITING_MAX) {
        refuse(
          'service-unavailable',
          'Too many credentials of this address are being looked up. Send the same request again shortly.',
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        )
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
