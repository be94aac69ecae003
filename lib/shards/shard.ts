/** Where a customer's work is done: customers spread over a fixed number of shards, and a shard has one home at a time. */
import { crc32 } from 'node:zlib'

/** Fixed for good: rows carry the number of their shard. */
export const SHARD_COUNT = 256

/** The shard of a customer, 0 to 255. The same for ever, on every node and machine; upper and lower case are the same id. */
export function shardOf(customerId: string): number {
  // Ids made at the same moment differ only in their tails; a checksum spreads them, the first digits would not.
  return crc32(customerId.toLowerCase()) % SHARD_COUNT
}
