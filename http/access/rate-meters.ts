/**
 * The meters of the rate limits: each quota of each policy with its buckets, and the exchange of the units that the
 * nodes have taken.
 */
import type { RateCounters } from '../../lib/security/rate-counters.ts'
import { type Bucket, TokenBuckets } from '../../lib/security/token-buckets.ts'
import { type Partition, POLICIES, type Policy, type PolicyId } from '../route/rate-policies.ts'

/** The policy of wrong credentials. */
export const FAILED_CREDENTIALS = 'failed-credentials' satisfies PolicyId
/** A request takes two shares, so that one can be given back for a 304 and the counts in Redis stay whole numbers. */
export const SHARES_PER_UNIT = 2

/** A quota of a policy, with all its buckets. */
export interface Meter {
  readonly name: string
  readonly partition: Partition
  readonly buckets: TokenBuckets
  readonly id: string
}

/** Makes the meters of all policies. `scale` multiplies every quota. */
export function createMeters(scale: number): ReadonlyMap<PolicyId, readonly Meter[]> {
  const meters = new Map<PolicyId, readonly Meter[]>()
  for (const [id, policy] of Object.entries(POLICIES) as [PolicyId, Policy][]) {
    meters.set(
      id,
      policy.quotas.map(({ units, windowSeconds }) => ({
        name: policy.name,
        partition: policy.partition,
        id: `${id}:${windowSeconds}`,
        // A credential is looked up only while one more may fail, so with less than one unit no credential could be
        // looked up.
        buckets: new TokenBuckets({
          units: id === FAILED_CREDENTIALS ? Math.max(1, units * scale) : units * scale,
          windowSeconds,
        }),
      })),
    )
  }
  return meters
}

/**
 * Sends the units taken on this node to the others, and subtracts the units that the others took.
 *
 * @throws the first error of the counters, after all others have been tried
 */
export async function shareUnits(meters: readonly Meter[], counters: RateCounters): Promise<void> {
  const work: Promise<void>[] = []
  for (const meter of meters) {
    for (const [partition, bucket] of meter.buckets.entries()) {
      if (bucket.unshared !== 0) work.push(shareBucket(meter, partition, bucket, counters))
    }
  }
  const outcomes = await Promise.allSettled(work)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function shareBucket(
  { id: policy, buckets }: Meter,
  partition: string,
  bucket: Bucket,
  counters: RateCounters,
): Promise<void> {
  const own = bucket.unshared
  bucket.unshared = 0
  const total = await counters.add({ policy, windowSeconds: buckets.quota.windowSeconds, partition, units: own })
  // The shared count restarts with its window; then all of it is new.
  const others = (total >= bucket.shared ? total - bucket.shared : total) - own
  bucket.shared = total
  if (others > 0) buckets.give(bucket, -others / SHARES_PER_UNIT)
}
