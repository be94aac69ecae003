/** The rate limits of a node. */
import type { Clock } from '../../lib/base/clock.ts'
import type { Config } from '../../lib/config/config.ts'
import { createRateCounters } from '../../storage/redis/rate-counters.ts'
import { connectRedis } from '../../storage/redis/redis.ts'
import { RateLimits } from '../access/rate-limits.ts'

/** Opens the rate limits of this node; with Redis, the counts are shared with the other nodes. */
export function openRateLimits(
  config: Config,
  { clock, onError }: { readonly clock: Clock; readonly onError: (error: unknown, what: string) => void },
): { readonly limits: RateLimits | null; readonly stop: () => void } {
  if (config.rateLimits === 'off') return { limits: null, stop: () => undefined }
  const redis = config.redisUrl === null ? null : connectRedis(config.redisUrl, 'commands')
  // Each failing command reports its own error, so the connection's errors need no log line.
  redis?.on('error', () => undefined)
  const limits = new RateLimits({
    clock,
    counters: redis === null ? null : createRateCounters(redis),
    onError,
  })
  return {
    limits,
    stop: () => {
      limits[Symbol.dispose]()
      redis?.disconnect()
    },
  }
}
