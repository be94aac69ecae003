/** Leases of shards in Redis, taken, extended and released through redlock. */
import Redlock, { ResourceLockedError, type ExecutionError, type Lock } from 'redlock'
import type { RedisClient } from './redis.ts'

/** Clock drift against Redis that redlock assumes: the share, and the constant (expiry is counted in milliseconds). */
const DRIFT_SHARE = 0.01
const DRIFT_MS = 2

/** A lease of a shard; it has ended when the monotonic clock reaches `until` (S1). */
export interface Lease {
  readonly shard: number
  readonly lock: Lock
  /** On the monotonic clock: the time it was last taken or extended, and its end. */
  readonly since: number
  readonly until: number
}

/**
 * Lua: shortens leases that last longer than a lease can (after Redis's clock was set back), so that they end within
 * one lease.
 */
const CURTAIL = `
  for _, key in ipairs(KEYS) do
    local left = redis.call('pttl', key)
    if left == -1 or left > tonumber(ARGV[1]) then redis.call('pexpire', key, ARGV[1]) end
  end
  return #KEYS
`

/** The leases of one namespace in Redis. */
export class ShardLeases {
  readonly #commands: RedisClient
  readonly #redlock: Redlock
  readonly #prefix: string
  readonly #ttlMs: number

  constructor(commands: RedisClient, prefix: string, ttlMs: number) {
    this.#commands = commands
    // Redlock retries nothing: the next turn does, with a newer view.
    this.#redlock = new Redlock([commands], { retryCount: 0, driftFactor: DRIFT_SHARE })
    this.#prefix = prefix
    this.#ttlMs = ttlMs
  }

  /** Takes the lease of a shard; null when another node has it. */
  async take(shard: number): Promise<Lease | null> {
    const since = performance.now()
    try {
      const lock = await this.#redlock.acquire([this.#keyOf(shard)], this.#ttlMs)
      return this.#leaseOf(shard, lock, since)
    } catch (error) {
      if (await isLocked(error)) return null
      throw error
    }
  }

  /** Extends a lease; null when it is lost and another node has the shard. */
  async renew(lease: Lease): Promise<Lease | null> {
    const since = performance.now()
    // Redlock would refuse by the wall clock, which may have been moved; here the monotonic clock decides (S1).
    lease.lock.expiration = Number.POSITIVE_INFINITY
    try {
      const lock = await this.#redlock.extend(lease.lock, this.#ttlMs)
      return this.#leaseOf(lease.shard, lock, since)
    } catch (error) {
      // Redis lost the lease and no other node has taken it: take it again, as if it had been kept (S4).
      if (await isLocked(error)) return this.take(lease.shard)
      throw error
    }
  }

  #leaseOf(shard: number, lock: Lock, since: number): Lease {
    return { shard, lock, since, until: since + this.#ttlMs * (1 - DRIFT_SHARE) - DRIFT_MS }
  }

  /** Releases a lease, whether or not Redis still has it. */
  async release(lease: Lease): Promise<void> {
    try {
      await lease.lock.release()
    } catch (error) {
      // Redis lost the lease, or gave it to another node: either way it is released already.
      if (!(await isLocked(error))) throw error
    }
  }

  /** Shortens the leases of these shards that last longer than a lease can, so that they end within a lease's time. */
  async curtail(shards: readonly number[]): Promise<void> {
    const keys = shards.map((shard) => this.#keyOf(shard))
    await this.#commands.eval(CURTAIL, keys.length, ...keys, this.#ttlMs)
  }

  #keyOf(shard: number): string {
    return `${this.#prefix}:lease:${shard}`
  }
}

/** Whether redlock failed because another node has the lease, and not because Redis failed. */
async function isLocked(error: unknown): Promise<boolean> {
  const attempts = (error as Partial<ExecutionError>).attempts ?? []
  const votes = (await Promise.all(attempts)).flatMap((attempt) => [...attempt.votesAgainst.values()])
  return votes.length > 0 && votes.every((vote) => vote instanceof ResourceLockedError)
}

/** Runs the work for all items, `max` at once; after the first failure no more is started. @throws the first failure */
export async function inParallel<Item>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0
  let failed = false
  const lane = async (): Promise<void> => {
    while (next < items.length && !failed) {
      try {
        await work(items[next++]!)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const lanes = Array.from({ length: Math.min(max, items.length) }, lane)
  const failure = (await Promise.allSettled(lanes)).find((result) => result.status === 'rejected')
  if (failure !== undefined) throw failure.reason
}
