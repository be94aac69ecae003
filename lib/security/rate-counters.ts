/** What nodes tell one another about rate limits. */

/** One partition of one policy, and what was taken from it. */
export interface RateCount {
  /** Name of the policy and its window, which together are unique. */
  readonly policy: string
  readonly windowSeconds: number
  readonly partition: string
  readonly units: number
}

/** Counters that all nodes add to. */
export interface RateCounters {
  /**
   * Adds what this node has taken and answers the sum of all nodes in the current window.
   *
   * @throws when the counters cannot be reached; nodes then limit each for itself.
   */
  add(count: RateCount): Promise<number>
}
