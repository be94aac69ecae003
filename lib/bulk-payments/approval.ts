/** The tier that a whole file falls into. Pure. */
import { tierFor, type Convert, type PolicyTerms, type TierMatch } from '../approvals/policy.ts'

/** What the rows come to that a policy is about, minor units of each currency. */
export interface Measured {
  readonly currency: string
  readonly amount: bigint
}

/** What all of them come to in one currency; null where one cannot be converted. */
export function totalIn(currency: string, totals: readonly Measured[], convert: Convert): bigint | null {
  let sum = 0n
  for (const total of totals) {
    const amount = convert(total.amount, total.currency, currency)
    if (amount === null) return null
    sum += amount
  }
  return sum
}

/**
 * The tier of a policy that a file falls into, by the total of those rows that the policy is about; null when it needs nobody.
 * Where a currency cannot be converted the highest tier is the safe one.
 */
export function batchTier(policy: PolicyTerms, totals: readonly Measured[], convert: Convert): TierMatch | null {
  if (totals.length === 0 || !policy.enabled || policy.tiers.length === 0) return null
  const amount = totalIn(policy.currency, totals, convert)
  if (amount === null) return { tier: policy.tiers.at(-1)!, converted: false }
  // The rows were chosen by what the policy applies to.
  return tierFor({ ...policy, appliesTo: null }, { amount, currency: policy.currency })
}
