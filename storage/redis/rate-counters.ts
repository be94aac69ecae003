/**
 * Rate-limit counters in Redis, by rate-limiter-flexible. Their loss makes limits inexact for one window, but fails no
 * request.
 */
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { RateCounters } from '../../lib/security/rate-counters.ts'
import type { RedisClient } from './redis.ts'

/** Creates counters under a key prefix. The connection stays with its owner. */
export function createRateCounters(redis: RedisClient, prefix = 'rate'): RateCounters {
  const limiters = new Map<string, RateLimiterRedis>()
  return {
    async add({ policy, windowSeconds, partition, units }) {
      let limiter = limiters.get(policy)
      if (limiter === undefined) {
        limiter = new RateLimiterRedis({
          storeClient: redis,
          keyPrefix: `${prefix}:${policy}`,
          points: Number.MAX_SAFE_INTEGER,
          duration: windowSeconds,
        })
        limiters.set(policy, limiter)
      }
      const { consumedPoints } = await limiter.penalty(partition, units)
      return consumedPoints
    },
  }
}
