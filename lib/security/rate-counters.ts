/** The shared counters of rate limits. */

/** The units taken from one partition of one policy. */
export interface RateCount {
  /** The name of the policy; together with its window it is unique. */
  readonly policy: string
  readonly windowSeconds: number
  readonly partition: string
  readonly units: number
}

/** Counters that all nodes add to. */
export interface RateCounters {
  /**
   * Adds the units that this node has taken, and returns the sum of all nodes in the current window.
   *
   * @throws Error when the counters cannot be reached; each node then limits on its own
   */
  add(count: RateCount): Promise<number>
}
