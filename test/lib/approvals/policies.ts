/** Random approval policies for properties: few amounts, people and teams, so that policies often touch each other. */
import fc from 'fast-check'
import {
  DEFAULT_TIER,
  NO_POLICY,
  RECIPIENT_MODES,
  type AppliesTo,
  type PolicyKind,
  type PolicyTerms,
  type Tier,
} from '../../../lib/approvals/policy.ts'
import type { StoredPolicies } from '../../../lib/approvals/in-effect.ts'

export const AMOUNT_MAX = 50
export const BALANCES = ['balance-1', 'balance-2'] as const
export const RECIPIENTS = ['recipient-1', 'recipient-2'] as const
export const CURRENCIES = ['EUR', 'GBP', 'BGN'] as const

const mostly = <Value>(usual: Value, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: other })

const asked = fc.record({
  requiredApprovals: fc.integer({ min: 1, max: 3 }),
  approverRoles: mostly<Tier['approverRoles']>([], fc.subarray(['owner', 'admin', 'approver', 'viewer'] as const)),
  approverUserIds: mostly<readonly string[]>([], fc.subarray(['person-1', 'person-2'])),
  approverTeamIds: mostly<readonly string[]>([], fc.subarray(['team-1', 'team-2'])),
  allowSelfApproval: mostly(false, fc.boolean()),
  distinctTeams: mostly(false, fc.boolean()),
  expiresAfterHours: mostly(DEFAULT_TIER.expiresAfterHours, fc.integer({ min: 1, max: 720 })),
})

/** Up to three tiers in ascending order, as the API takes them; the last one may have an end. */
const tiers = fc.uniqueArray(fc.integer({ min: 0, max: AMOUNT_MAX }), { minLength: 1, maxLength: 4 }).chain((cuts) => {
  const sorted = [...cuts].sort((left, right) => left - right)
  const endless = fc.boolean()
  return fc
    .tuple(fc.array(asked, { minLength: sorted.length, maxLength: sorted.length }), endless)
    .map(([said, open]) => {
      const count = open || sorted.length === 1 ? sorted.length : sorted.length - 1
      return sorted.slice(0, count).map(
        (start, nth): Tier => ({
          ...said[nth]!,
          tier: nth + 1,
          minAmount: BigInt(start),
          maxAmount: sorted[nth + 1] === undefined ? null : BigInt(sorted[nth + 1]!),
        }),
      )
    })
})

const appliesTo: fc.Arbitrary<AppliesTo | null> = mostly<AppliesTo | null>(
  null,
  fc.record({
    balanceIds: mostly<string[] | null>(null, fc.subarray([...BALANCES])),
    rails: fc.constant(null),
    recipientIds: mostly<string[] | null>(null, fc.subarray([...RECIPIENTS])),
  }),
)

/** Terms of one policy. Only a policy for recipients has a mode. */
export const termsOfKind = (kind: PolicyKind): fc.Arbitrary<PolicyTerms> =>
  fc.record({
    enabled: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    currency: mostly('EUR', fc.constantFrom(...CURRENCIES)),
    tiers,
    appliesTo,
    exemptOwnAccounts: fc.boolean(),
    recipientMode: kind === 'recipient' ? fc.constantFrom(...RECIPIENT_MODES) : fc.constant(NO_POLICY.recipientMode),
  })

/** The stored policies of a customer: each kind set or not. */
export const stored: fc.Arbitrary<StoredPolicies> = fc.record(
  {
    payment: termsOfKind('payment'),
    bulk_payment: termsOfKind('bulk_payment'),
    exchange: termsOfKind('exchange'),
    recipient: termsOfKind('recipient'),
    policy_change: termsOfKind('policy_change'),
  },
  { requiredKeys: [] },
)
