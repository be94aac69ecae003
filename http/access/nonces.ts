/** Nonces of forwarded requests: each request has another, and a node accepts each of them once. */
import { randomBytes } from 'node:crypto'
import { CLOCK_DIFFERENCE_MAX_MS } from '../../lib/security/node-proof.ts'

/** Makes nonces that no other request of any node has. */
export function nonceSource(): () => string {
  const prefix = randomBytes(12).toString('base64url')
  let sent = 0
  return () => `${prefix}${(++sent).toString(36)}`
}

/**
 * The nonces of received requests, kept for as long as their signatures are valid. A request whose node's clock is
 * ahead by the permitted difference is valid for twice that time. Two generations are kept, so forgetting costs
 * nothing.
 */
export class SeenNonces {
  #recent = new Set<string>()
  #older = new Set<string>()
  #since = Number.NEGATIVE_INFINITY

  /** Remembers the nonce. Returns false when it was remembered before. */
  isNew(nonce: string, now: number): boolean {
    if (now - this.#since > 2 * CLOCK_DIFFERENCE_MAX_MS || now < this.#since) {
      this.#older = this.#recent
      this.#recent = new Set()
      this.#since = now
    }
    if (this.#recent.has(nonce) || this.#older.has(nonce)) return false
    this.#recent.add(nonce)
    return true
  }
}
