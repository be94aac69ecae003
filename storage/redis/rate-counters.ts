/**
 * Rate-limit counters in Redis, by rate-limiter-flexible. Losing them costs accuracy for a window, never an answer.
 */
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { RateCounters } from '../../lib/security/rate-counters.ts'
import type { RedisClient } from './redis.ts'

/** Counters under a key prefix. The connection stays its owner's. */
export function createRateCounters(redis: RedisClient, prefix = 'rate'): RateCounters {
  const limiters = new Map<string, RateLimiterRedis>()
  return {
    async add({ policy, windowSeconds, partition, units }) {
      let limiter = limiters.get(policy)
      if (limiter === undefined) {
        limiter = new RateLimiterRedis({ storeClient: redis, keyPrefix: `${prefix}:${policy}`, points: Number.MAX_SAFE_INTEGER, duration: windowSeconds })
        limiters.set(policy, limiter)
      }
      const { consumedPoints } = await limiter.penalty(partition, units)
      return consumedPoints
    },
  }
}
