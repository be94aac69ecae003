/**
 * Customers are spread over a fixed number of shards; a shard has one home node at a time, where the work of its
 * customers is done.
 */
import { crc32 } from 'node:zlib'

/** Can never change: rows store the number of their shard. */
export const SHARD_COUNT = 256

/**
 * Returns the shard of a customer, 0 to 255. The same for ever, on every node and machine; the case of the id does not
 * matter.
 */
export function shardOf(customerId: string): number {
  // Ids made at the same moment differ only in their tails; a checksum spreads them, the first digits would not.
  return crc32(customerId.toLowerCase()) % SHARD_COUNT
}
