/** Summarises the outcomes of an endpoint's attempts, in the order in which they ended, for the endpoint's row. */
export interface AttemptOutcome {
  readonly succeeded: boolean
  /** Epoch milliseconds. */
  readonly endedAt: number
}

export interface Streak {
  /** Failures before the first success; all of them when there is no success. They add to the earlier failures. */
  readonly leading: number
  /** The longest run of failures between two successes. */
  readonly longestWithin: number
  /** Failures after the last success. */
  readonly trailing: number
  readonly lastAt: number
  readonly lastSuccessAt: number | null
  /** The time of the first failure after the last success. */
  readonly failingSince: number | null
}

/** Summarises outcomes; there is at least one. */
export function streakOf(outcomes: readonly AttemptOutcome[]): Streak {
  let leading = 0
  let longestWithin = 0
  let run = 0
  let lastSuccessAt: number | null = null
  let failingSince: number | null = null
  for (const { succeeded, endedAt } of outcomes) {
    if (succeeded) {
      if (lastSuccessAt === null) leading = run
      else longestWithin = Math.max(longestWithin, run)
      run = 0
      failingSince = null
      lastSuccessAt = endedAt
    } else {
      run += 1
      failingSince ??= endedAt
    }
  }
  const lastAt = (outcomes.at(-1) as AttemptOutcome).endedAt
  return lastSuccessAt === null
    ? { leading: run, longestWithin: 0, trailing: run, lastAt, lastSuccessAt, failingSince }
    : { leading, longestWithin, trailing: run, lastAt, lastSuccessAt, failingSince }
}
