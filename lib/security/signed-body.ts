/** Requests that carry a signature over their body, as partners send them. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The body of a request exactly as it arrived, with its headers; their names are in lower case. */
export interface SignedBody {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Returns a header that was sent once; null otherwise. */
export function soleHeader({ headers }: Pick<SignedBody, 'headers'>, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** Compares an HMAC over `parts`, one after the other, with the one that was sent, in constant time. */
export function hmacFits(
  algorithm: 'sha1' | 'sha256' | 'sha512',
  key: Uint8Array | string,
  parts: readonly (string | Uint8Array)[],
  sent: Uint8Array,
): boolean {
  const hmac = createHmac(algorithm, key)
  for (const part of parts) hmac.update(part)
  const expected = hmac.digest()
  return sent.length === expected.length && timingSafeEqual(expected, sent)
}
