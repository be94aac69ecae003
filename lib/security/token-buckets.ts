/**
 * Token buckets: a quota that may be used at once and is refilled evenly over its window.
 *
 * A full bucket is the same as no bucket, so only buckets in use are kept, and their number is bounded. Pure: the
 * caller passes the time.
 */

/** A quota of units per window. */
export interface Quota {
  readonly units: number
  readonly windowSeconds: number
}

/** The rest of one quota for one partition. */
export interface Bucket {
  units: number
  /** The time at which `units` was computed, epoch milliseconds. */
  at: number
  /** Units taken since the last exchange with the shared counters; see RateCounters. */
  unshared: number
  /** The shared count at the last exchange. */
  shared: number
}

/** Limit of buckets of one policy; each takes about a hundred bytes. */
const BUCKETS_MAX = 100_000

export class TokenBuckets {
  readonly quota: Quota
  readonly #perMs: number
  readonly #buckets = new Map<string, Bucket>()

  constructor(quota: Quota) {
    this.quota = quota
    this.#perMs = quota.units / (quota.windowSeconds * 1000)
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Returns the bucket of a partition, refilled up to this moment. */
  at(partition: string, now: number): Bucket {
    const bucket = this.#buckets.get(partition)
    if (bucket === undefined) return this.#open(partition, now)
    // A clock that was set back neither adds nor removes units.
    if (now > bucket.at) {
      const units = bucket.units + (now - bucket.at) * this.#perMs
      bucket.units = units > this.quota.units ? this.quota.units : units
      bucket.at = now
    }
    return bucket
  }

  /** Returns the whole seconds until the bucket holds this many units. */
  secondsUntil(bucket: Bucket, units: number): number {
    return bucket.units >= units ? 0 : Math.ceil((units - bucket.units) / this.#perMs / 1000)
  }

  /** Adds units, or removes them when negative; the result stays between zero and the quota. */
  give(bucket: Bucket, units: number): void {
    bucket.units = Math.min(Math.max(bucket.units + units, 0), this.quota.units)
  }

  /** Returns all kept buckets. */
  entries(): Iterable<[string, Bucket]> {
    return this.#buckets
  }

  #open(partition: string, now: number): Bucket {
    if (this.#buckets.size >= BUCKETS_MAX) this.#makeRoom(now)
    const bucket = { units: this.quota.units, at: now, unshared: 0, shared: 0 }
    this.#buckets.set(partition, bucket)
    return bucket
  }

  /**
   * Drops full buckets; if none is full, the oldest tenth. Some partitions then get too much, but memory stays bounded.
   */
  #makeRoom(now: number): void {
    for (const [partition, bucket] of this.#buckets) {
      if (bucket.units + (now - bucket.at) * this.#perMs >= this.quota.units) this.#buckets.delete(partition)
    }
    if (this.#buckets.size < BUCKETS_MAX) return
    let spare = BUCKETS_MAX / 10
    for (const partition of this.#buckets.keys()) {
      this.#buckets.delete(partition)
      if (--spare <= 0) return
    }
  }
}
