/**
 * The tier of a whole file: by what its rows come to in the policy's currency, the highest where that cannot be said.
 */
import t from 'tap'
import { DEFAULT_TIER, NO_POLICY, type Convert, type PolicyTerms } from '../../../lib/approvals/policy.ts'
import { batchTier, totalIn } from '../../../lib/bulk-payments/approval.ts'
import { afterRun, canMove, statusesFor } from '../../../lib/bulk-payments/bulk-payment.ts'

const policy: PolicyTerms = {
  ...NO_POLICY,
  enabled: true,
  tiers: [
    { ...DEFAULT_TIER, minAmount: 10_000n, maxAmount: 50_000n },
    { ...DEFAULT_TIER, tier: 2, minAmount: 50_000n, requiredApprovals: 2 },
  ],
}
/** A pound is two euros; nobody quotes a franc. */
const convert: Convert = (amount, from, to) =>
  from === to ? amount : from === 'GBP' && to === 'EUR' ? amount * 2n : null
const tierOf = (...totals: readonly [string, bigint][]) => {
  const match = batchTier(
    policy,
    totals.map(([currency, amount]) => ({ currency, amount })),
    convert,
  )
  return match === null ? null : [match.tier.tier, match.converted]
}

t.test('currencies are added up in that of the policy', async (t) => {
  t.equal(
    totalIn(
      'EUR',
      [
        { currency: 'EUR', amount: 100n },
        { currency: 'GBP', amount: 50n },
      ],
      convert,
    ),
    200n,
  )
  t.equal(
    totalIn(
      'EUR',
      [
        { currency: 'EUR', amount: 100n },
        { currency: 'CHF', amount: 1n },
      ],
      convert,
    ),
    null,
  )
  t.strictSame(
    [
      tierOf(['EUR', 9_999n]),
      tierOf(['EUR', 10_000n]),
      tierOf(['EUR', 9_998n], ['GBP', 1n]),
      tierOf(['EUR', 10_000n], ['GBP', 20_000n]),
    ],
    [null, [1, true], [1, true], [2, true]],
  )
})

t.test('what cannot be converted is in the highest tier; no rows, or no policy, in none', async (t) => {
  t.strictSame(tierOf(['EUR', 1n], ['CHF', 1n]), [2, false])
  t.equal(tierOf(), null)
  t.equal(batchTier({ ...policy, enabled: false }, [{ currency: 'CHF', amount: 1n }], convert), null)
  t.equal(batchTier({ ...policy, tiers: [] }, [{ currency: 'CHF', amount: 1n }], convert), null)
  // The rows are those that the policy applies to.
  t.equal(
    batchTier(
      { ...policy, appliesTo: { balanceIds: ['another'], rails: null, recipientIds: null } },
      [{ currency: 'EUR', amount: 10_000n }],
      convert,
    )?.tier.tier,
    1,
  )
})

t.test('the end of a run says what became of its rows', async (t) => {
  t.equal(afterRun({ submitted: 2, failed: 0 }, false), 'submitted')
  t.equal(afterRun({ submitted: 1, failed: 1 }, false), 'partially_submitted')
  t.equal(afterRun({ submitted: 0, failed: 2 }, false), 'partially_submitted', 'also when every row failed')
  t.equal(afterRun({ submitted: 0, failed: 2 }, true), 'cancelled')
  t.equal(afterRun({ submitted: 2, failed: 0 }, true), 'submitted', 'a run that stood still after its last row')
  t.ok(
    canMove('ready', 'submit') &&
      canMove('submitting', 'submit') &&
      !canMove('invalid', 'submit') &&
      !canMove('submitted', 'cancel'),
  )
  t.strictSame(statusesFor('cancel'), ['validating', 'ready', 'invalid'])
})
