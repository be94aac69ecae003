/**
 * Connections to Redis: one server, one behind Sentinels, or a Cluster. They reconnect by themselves for ever with a bounded
 * backoff, and a command either is answered soon or fails; none waits for better times, because what it says about a
 * lease would be old by then.
 */
import { Cluster, Redis } from 'ioredis'

import { ConfigError, parseRedisUrl } from '../../lib/config/config.ts'

export const REDIS_LIMITS = {
  /** A command not answered within this has failed: a third of a lease, so that a lost answer can be asked for again. */
  commandTimeoutMs: 1_000,
  /** Long enough for TLS across a region, short enough to try a second server within a lease. */
  connectTimeoutMs: 2_000,
  /** The first attempt to reconnect is nearly at once, for a connection that was merely cut. */
  reconnectDelayMinMs: 50,
  /** The last ones are this far apart: a Redis that is back is noticed in time for the settling after it. */
  reconnectDelayMaxMs: 500,
  /** Hops after a moved key or a failed Cluster node, 100 ms apart: together below `commandTimeoutMs`. */
  redirectionsMax: 8,
} as const

export type RedisClient = Redis | Cluster

/**
 * Opens a connection in the background; `error` events are the caller's to listen to.
 *
 * `purpose`: `commands` fail at once while there is no connection; a `subscription` is remembered and renewed.
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
    // A command of a lost connection fails; sent again later, it would take a lease nobody counts on any more.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: subscribes ? null : 0,
    // A master that was demoted answers, but refuses to write: look for the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    // The client's name and version are two commands per connection that nobody reads.
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
    return beginningAgain(new Redis({
      ...single,
      sentinels: [...address.hosts],
      name: address.name,
      ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
      sentinelRetryStrategy: reconnectDelayMs,
      sentinelCommandTimeout: REDIS_LIMITS.commandTimeoutMs,
      // Hears of a failover from the Sentinels instead of waiting for the old master to fail.
      failoverDetector: true,
    }))
  }
  return new Redis({ ...single, ...address.hosts[0]!, db: address.database })
}

/** A client that hears of a failover while it connects takes that for the end, once and for all: it begins again, unless it was told to leave. */
function beginningAgain(client: Redis): Redis {
  let isLeft = false
  const disconnect = client.disconnect.bind(client)
  client.disconnect = (reconnect = false) => {
    isLeft ||= !reconnect
    disconnect(reconnect)
  }
  client.on('end', () => {
    setTimeout(() => { if (!isLeft) client.connect().catch(() => { /* Whoever listens to errors has heard of it. */ }) }, REDIS_LIMITS.reconnectDelayMaxMs).unref()
  })
  return client
}

function reconnectDelayMs(attempt: number): number {
  const { reconnectDelayMinMs, reconnectDelayMaxMs } = REDIS_LIMITS
  return Math.min(reconnectDelayMinMs * 2 ** Math.min(attempt - 1, 10), reconnectDelayMaxMs)
}
