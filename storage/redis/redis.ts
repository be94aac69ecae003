/**
 * Connections to Redis: one server, one behind Sentinels, or a Cluster. They reconnect by themselves without end, with
 * a bounded backoff. A command either is answered soon or fails; none is queued during an outage, because its facts
 * about a lease would be outdated by then.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis'

import { ConfigError } from '../../lib/config/environment.ts'
import { parseRedisUrl } from '../../lib/config/redis-address.ts'

export const REDIS_LIMITS = {
  /** Timeout of a command: a third of a lease, so that a lost answer leaves time for a repetition. */
  commandTimeoutMs: 1_000,
  /** Long enough for TLS across a region, short enough to try a second server within a lease. */
  connectTimeoutMs: 2_000,
  /** The first attempt to reconnect is nearly immediate, for a connection that was merely cut. */
  reconnectDelayMinMs: 50,
  /**
   * Maximum delay between attempts: a Redis that is back is noticed in time for the reassignment of shards after it.
   */
  reconnectDelayMaxMs: 500,
  /** Hops after a moved key or a failed Cluster node, 100 ms apart: together below `commandTimeoutMs`. */
  redirectionsMax: 8,
} as const

export type RedisClient = Redis | Cluster

/**
 * Opens a connection in the background; the caller listens to its `error` events.
 *
 * `purpose`: `commands` fail immediately while there is no connection; a `subscription` is kept and renewed.
 */
export function connectRedis(redisUrl: string, purpose: 'commands' | 'subscription'): RedisClient {
  const address = parseRedisUrl(redisUrl)
  if (address === null) throw new ConfigError('REDIS_URL is not the address of a Redis; set it to redis://host:6379.')

  const subscribes = purpose === 'subscription'
  const credentials = {
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    ...(address.tls ? { tls: {} } : {}),
  }
  const options = {
    connectTimeout: REDIS_LIMITS.connectTimeoutMs,
    ...(subscribes ? {} : { commandTimeout: REDIS_LIMITS.commandTimeoutMs }),
    // A command of a lost connection fails; sent again later, it would take a lease that the caller has given up.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: subscribes ? null : 0,
    // A demoted master answers, but refuses writes: reconnect to find the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    // The client's name and version would be two more commands per connection, without use.
    disableClientInfo: true,
    keepAlive: REDIS_LIMITS.connectTimeoutMs,
  }

  if (address.kind === 'cluster') {
    return new Cluster([...address.hosts], {
      redisOptions: { ...options, ...credentials },
      enableOfflineQueue: subscribes,
      clusterRetryStrategy: reconnectDelayMs,
      maxRedirections: REDIS_LIMITS.redirectionsMax,
      slotsRefreshTimeout: REDIS_LIMITS.commandTimeoutMs,
    })
  }
  const single = { ...options, ...credentials, enableOfflineQueue: subscribes, retryStrategy: reconnectDelayMs }
  if (address.kind === 'sentinel') {
    return new SentinelRedis({
      ...single,
      sentinels: [...address.hosts],
      name: address.name,
      ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
      sentinelRetryStrategy: reconnectDelayMs,
      sentinelCommandTimeout: REDIS_LIMITS.commandTimeoutMs,
      // Learns of a failover from the Sentinels instead of waiting for the old master to fail.
      failoverDetector: true,
    })
  }
  return new Redis({ ...single, ...address.hosts[0]!, db: address.database })
}

/**
 * A client that connects again after a failover during its connect, which ioredis treats as final, unless the caller
 * has
 * disconnected it.
 */
class SentinelRedis extends Redis {
  #isLeft = false

  constructor(options: Omit<RedisOptions, 'replyMapping'>) {
    super(options)
    this.on('end', () => {
      setTimeout(() => {
        if (!this.#isLeft)
          this.connect().catch(() => {
            /* Reported by `error`. */
          })
      }, REDIS_LIMITS.reconnectDelayMaxMs).unref()
    })
  }

  override disconnect(reconnect = false): void {
    this.#isLeft ||= !reconnect
    super.disconnect(reconnect)
  }
}

function reconnectDelayMs(attempt: number): number {
  const { reconnectDelayMinMs, reconnectDelayMaxMs } = REDIS_LIMITS
  return Math.min(reconnectDelayMinMs * 2 ** Math.min(attempt - 1, 10), reconnectDelayMaxMs)
}
