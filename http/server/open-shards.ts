/** The shards of a node: all of them, or those that it leases from Redis. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { InProcessShards } from '../../actors/runtime/in-process-shards.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { Config } from '../../lib/config/config.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { RedisShards } from '../../storage/redis/redis-shards.ts'

/**
 * Opens the shards: a single node has all of them; several nodes lease them from Redis, unless leases are switched off.
 */
export function openShards(
  { redisUrl, nodeUrl, nodeId, nodeSecret, leases }: Config,
  {
    log,
    clock,
    databaseUrl,
    instance,
  }: { readonly log: Logger; readonly clock: Clock; readonly databaseUrl: string; readonly instance: string },
): Shards {
  const id = nodeId ?? randomUUID()
  if (redisUrl === null || nodeUrl === null || nodeSecret === null || leases === 'off') return new InProcessShards(id)
  return new RedisShards({
    redisUrl,
    nodeUrl,
    nodeId: id,
    nodeSecret,
    instance,
    clock,
    namespace: new URL(databaseUrl).pathname.slice(1),
    log,
  })
}
