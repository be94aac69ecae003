/**
 * A latency histogram of fixed size: 128 buckets for every doubling, so a quantile is never more than 1 % off, and
 * recording is a shift and an increment. Values are whole microseconds.
 */

/** Buckets per doubling, as a power of two. 2^7 bounds the error at 1/128. */
const PRECISION_BITS = 7
const PER_DOUBLING = 1 << PRECISION_BITS
/** 2^31 µs are 35 minutes; whatever takes longer is recorded as that. */
const VALUE_MAX = 2 ** 31 - 1
const BUCKETS = bucketOf(VALUE_MAX) + 1

function bucketOf(value: number): number {
  const shift = 31 - Math.clz32(value | PER_DOUBLING) - PRECISION_BITS
  return (shift << PRECISION_BITS) + (value >>> shift)
}

/** The largest value that falls into a bucket. */
function highestIn(bucket: number): number {
  const shift = Math.max(0, (bucket >>> PRECISION_BITS) - 1)
  return (bucket - (shift << PRECISION_BITS) + 1) * 2 ** shift - 1
}

/** A histogram on its way between processes: bucket, count, bucket, count. */
export type SparseHistogram = readonly number[]

export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #total = 0
  #max = 0

  static from(sparse: SparseHistogram): Histogram {
    const histogram = new Histogram()
    histogram.addAll(sparse)
    return histogram
  }

  get total(): number {
    return this.#total
  }

  /** The largest value recorded, exactly, unless it came through a sparse form. */
  get max(): number {
    return this.#max
  }

  record(micros: number): void {
    const value = micros > VALUE_MAX ? VALUE_MAX : micros < 0 ? 0 : Math.round(micros)
    const bucket = bucketOf(value)
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#total += 1
    if (value > this.#max) this.#max = value
  }

  addAll(sparse: SparseHistogram): void {
    for (let i = 0; i < sparse.length; i += 2) {
      const bucket = sparse[i] as number
      const count = sparse[i + 1] as number
      this.#counts[bucket] = (this.#counts[bucket] as number) + count
      this.#total += count
      this.#max = Math.max(this.#max, highestIn(bucket))
    }
  }

  /** The value that this share of the records does not exceed; 0 when there are none. */
  quantile(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.#total))
    let seen = 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket] as number
      if (seen >= rank) return Math.min(highestIn(bucket), this.#max)
    }
    return 0
  }

  sparse(): number[] {
    const pairs: number[] = []
    this.#counts.forEach((count, bucket) => {
      if (count > 0) pairs.push(bucket, count)
    })
    return pairs
  }
}
