/**
 * Proofs between nodes of one cluster: HMAC-SHA256 with keys that are derived from NODE_SECRET.
 *
 * Every purpose has a key of its own, so a signature for one purpose is useless for another. NODE_SECRET itself never
 * leaves the process.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/**
 * The largest difference between the clocks of two nodes, milliseconds. A signature is valid for this time before and
 * after its own.
 */
export const CLOCK_DIFFERENCE_MAX_MS = 10_000

/**
 * The texts that nodes sign: their entry in Redis, the two halves of a handshake; and what the keys of a connection are
 * made of, one for each direction.
 */
const PURPOSES = ['member', 'handshake', 'handshake answer', 'to home', 'from home'] as const
export type NodeProofPurpose = (typeof PURPOSES)[number]

export class NodeProof {
  // Kept as bytes, because a KeyObject makes each signature 1 µs slower.
  readonly #keys: ReadonlyMap<NodeProofPurpose, Uint8Array>

  constructor(nodeSecret: string) {
    this.#keys = new Map(
      PURPOSES.map((purpose) => [
        purpose,
        new Uint8Array(hkdfSync('sha256', nodeSecret, '', `vostro node ${purpose}`, 32)),
      ]),
    )
  }

  /** Signs texts in their order, and the bytes of a body after them. Returns 43 characters of base64url. */
  sign(purpose: NodeProofPurpose, parts: readonly string[], body: string | Uint8Array = ''): string {
    return this.#mac(purpose, parts, body).toString('base64url')
  }

  /** Makes a key that only nodes with the same NODE_SECRET can make of the same texts. Returns 32 bytes. */
  key(purpose: NodeProofPurpose, parts: readonly string[]): Uint8Array {
    return this.#mac(purpose, parts, '')
  }

  /**
   * Tells whether a node with the same NODE_SECRET signed exactly these texts for this purpose. Takes the same time for
   * every wrong signature.
   */
  isSigned(
    purpose: NodeProofPurpose,
    parts: readonly string[],
    signature: string,
    body: string | Uint8Array = '',
  ): boolean {
    const expected = this.#mac(purpose, parts, body)
    const given = Buffer.from(signature, 'base64url')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  #mac(purpose: NodeProofPurpose, parts: readonly string[], body: string | Uint8Array): Buffer {
    // JSON separates the texts, whatever they contain, and marks where the body begins.
    return createHmac('sha256', this.#keys.get(purpose) as Uint8Array)
      .update(JSON.stringify(parts))
      .update(body)
      .digest()
  }
}
