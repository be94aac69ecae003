/** Ids of messages that a provider names in its own way. */
import { createHash } from 'node:crypto'

/**
 * Derives the id of a message from its connection and the provider's id of the message: a UUID of version 8, the same
 * for the same message however often and by whichever way it comes.
 *
 * @param parts the provider's id, and where one id of it stands for several messages, what tells them apart
 */
export function derivedId(connectionId: string, ...parts: readonly string[]): string {
  const hash = createHash('sha256').update(connectionId)
  // Lengths keep the parts apart: `ab`, `c` is not `a`, `bc`.
  for (const part of parts) hash.update(`\0${Buffer.byteLength(part)}\0`).update(part)
  const bytes = hash.digest().subarray(0, 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
