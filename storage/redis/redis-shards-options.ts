/** The settings and dependencies of the shards in Redis. */
import type { Clock } from '../../lib/base/clock.ts'

export interface RedisShardsSettings {
  readonly heartbeatMs: number
  readonly silenceMaxMs: number
  readonly leaseTtlMs: number
  readonly extendAfterMs: number
  readonly meetMs: number
  readonly startMaxMs: number
  readonly inParallelMax: number
}

export const SETTINGS: RedisShardsSettings = {
  /** Interval of heartbeats: four of them fit before a node counts as dead. */
  heartbeatMs: 500,
  /** A node silent for this long is dead: longer than a garbage collection, shorter than the timeout of a caller. */
  silenceMaxMs: 2_000,
  /** A dead node's shards are free after this; with one more heartbeat they have a new owner in under 4 s. */
  leaseTtlMs: 3_000,
  /** The interval of extensions: two of them may fail before a lease is lost. */
  extendAfterMs: 1_000,
  /** After this time every live node has sent a heartbeat since Redis lost its memory (S3). */
  meetMs: 1_000,
  /** Timeout of the start: a Redis that does not answer then is a wrong address more often than an outage. */
  startMaxMs: 10_000,
  /** Concurrent lease commands: they share a round trip, and their replies do not block the event loop for long. */
  inParallelMax: 64,
}

export interface ShardsLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface RedisShardsOptions {
  readonly redisUrl: string
  /** The name of the nodes' database: nodes of the same namespace share shards. */
  readonly namespace: string
  readonly nodeId: string
  /** The address at which other nodes reach this one. */
  readonly nodeUrl: string
  /** The same on every node: entries signed with another secret are ignored. */
  readonly nodeSecret: string
  /**
   * Identifies one start of a process, so that a restarted node is not mistaken for its earlier process. A random UUID
   * by default.
   */
  readonly instance?: string
  readonly clock: Clock
  readonly log: ShardsLog
  readonly settings?: Partial<RedisShardsSettings>
}
