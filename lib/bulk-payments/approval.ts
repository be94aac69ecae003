/** The approval tier of a whole bulk file. Pure. */
import { tierFor, type Convert, type PolicyTerms, type TierMatch } from '../approvals/policy.ts'

/** The total of the rows in one currency that a policy applies to, in minor units. */
export interface PolicyTotal {
  readonly currency: string
  readonly amount: bigint
}

/** Adds up all totals in one currency; null when a total cannot be converted. */
export function totalIn(currency: string, totals: readonly PolicyTotal[], convert: Convert): bigint | null {
  let sum = 0n
  for (const total of totals) {
    const amount = convert(total.amount, total.currency, currency)
    if (amount === null) return null
    sum += amount
  }
  return sum
}

/**
 * Finds the tier of a policy for a file, by the total of the rows that the policy applies to; null when the file needs
 * no approval. Where a currency cannot be converted, the highest tier, the strictest choice, applies.
 */
export function batchTier(policy: PolicyTerms, totals: readonly PolicyTotal[], convert: Convert): TierMatch | null {
  if (totals.length === 0 || !policy.enabled || policy.tiers.length === 0) return null
  const amount = totalIn(policy.currency, totals, convert)
  if (amount === null) return { tier: policy.tiers.at(-1)!, converted: false }
  // The caller passes only the totals of rows that the policy applies to, so its scope is not checked again.
  return tierFor({ ...policy, appliesTo: null }, { amount, currency: policy.currency })
}
