/**
 * Token buckets: a quota that may be used at once and fills up again evenly over its window.
 *
 * A full bucket is the same as none, so only buckets in use are kept, and their number is bounded. Pure: time is given.
 */

/** A quota of units in a window. */
export interface Quota {
  readonly units: number
  readonly windowSeconds: number
}

/** What is left of one quota for one partition. */
export interface Bucket {
  units: number
  /** When `units` was right, epoch milliseconds. */
  at: number
  /** Taken since nodes last told one another; see RateCounters. */
  unshared: number
  /** The shared count as it was last heard. */
  shared: number
}

/** Buckets of one policy kept at once; each is about a hundred bytes. */
const BUCKETS_MAX = 100_000

export class TokenBuckets {
  readonly quota: Quota
  readonly #perMs: number
  readonly #buckets = new Map<string, Bucket>()

  constructor(quota: Quota) {
    this.quota = quota
    this.#perMs = quota.units / (quota.windowSeconds * 1000)
  }

  get size(): number { return this.#buckets.size }

  /** The bucket of a partition, filled up to this moment. */
  at(partition: string, now: number): Bucket {
    const bucket = this.#buckets.get(partition)
    if (bucket === undefined) return this.#open(partition, now)
    // A clock that was set back fills nothing and takes nothing.
    if (now > bucket.at) {
      const units = bucket.units + (now - bucket.at) * this.#perMs
      bucket.units = units > this.quota.units ? this.quota.units : units
      bucket.at = now
    }
    return bucket
  }

  /** Whole seconds until the bucket holds this many units. */
  secondsUntil(bucket: Bucket, units: number): number {
    return bucket.units >= units ? 0 : Math.ceil((units - bucket.units) / this.#perMs / 1000)
  }

  /** Gives units back, or takes them away when negative; never more than the quota, never less than nothing. */
  give(bucket: Bucket, units: number): void {
    bucket.units = Math.min(Math.max(bucket.units + units, 0), this.quota.units)
  }

  /** All buckets that are kept. */
  entries(): Iterable<[string, Bucket]> {
    return this.#buckets
  }

  #open(partition: string, now: number): Bucket {
    if (this.#buckets.size >= BUCKETS_MAX) this.#makeRoom(now)
    const bucket = { units: this.quota.units, at: now, unshared: 0, shared: 0 }
    this.#buckets.set(partition, bucket)
    return bucket
  }

  /** Forgets full buckets; when none is full, the oldest tenth: better too much for some than memory without end. */
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
