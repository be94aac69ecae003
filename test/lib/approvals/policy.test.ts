import t from 'tap'
import {
  DEFAULT_TIER,
  NO_POLICY,
  termsJson,
  termsOf,
  tierFor,
  tiersFault,
  type PolicyTerms,
  type Tier,
} from '../../../lib/approvals/policy.ts'
import type { Rail } from '../../../lib/rails/rails.ts'

const tier = (overrides: Partial<Tier>): Tier => ({ ...DEFAULT_TIER, approverRoles: [], ...overrides })
const policy = (overrides: Partial<PolicyTerms> = {}): PolicyTerms => ({
  ...NO_POLICY,
  enabled: true,
  tiers: [tier({ minAmount: 1_000n })],
  ...overrides,
})

t.test('the tier is the one whose range the amount lies in', (t) => {
  const terms = policy({
    tiers: [
      tier({ tier: 1, minAmount: 100n, maxAmount: 500n }),
      tier({ tier: 2, minAmount: 500n, maxAmount: 900n }),
      tier({ tier: 3, minAmount: 2_000n }),
    ],
  })
  const of = (amount: bigint, currency = 'EUR') => tierFor(terms, { amount, currency })?.tier.tier ?? null
  for (const [amount, expected] of [
    [99n, null],
    [100n, 1],
    [499n, 1],
    [500n, 2],
    [899n, 2],
    [900n, null],
    [1_999n, null],
    [2_000n, 3],
    [10n ** 15n, 3],
  ] as const) {
    t.equal(of(amount), expected, String(amount))
  }
  t.strictSame(
    tierFor(terms, { amount: 1n, currency: 'GBP' }),
    { tier: terms.tiers[2], converted: false },
    'without a rate the highest tier is the safe one',
  )
  t.match(
    tierFor(terms, { amount: 1n, currency: 'GBP' }, (amount) => amount * 200n),
    { tier: { tier: 1 }, converted: true },
  )
  t.match(
    tierFor(terms, { amount: null, currency: null }),
    { tier: { tier: 1 } },
    'what has no amount takes the first tier',
  )
  t.equal(tierFor({ ...terms, enabled: false }, { amount: 100n, currency: 'EUR' }), null)
  t.equal(tierFor(null, { amount: 100n, currency: 'EUR' }), null)
  t.end()
})

t.test('a policy that is limited to some things says nothing of others', (t) => {
  const limited = policy({
    tiers: [tier({})],
    appliesTo: { balanceIds: ['a', 'b'], rails: ['sepa'], recipientIds: null },
  })
  const asked = (balanceId: string, rail: Rail) =>
    tierFor(limited, { amount: 1n, currency: 'EUR', balanceId, rail, recipientId: 'r' }) !== null
  t.ok(asked('a', 'sepa'))
  t.notOk(asked('c', 'sepa'))
  t.notOk(asked('a', 'swift'), 'all lists have to match')
  t.end()
})

t.test('tiers that make no sense are named', (t) => {
  const fault = (tiers: readonly Tier[], enabled = true) =>
    tiersFault({ enabled, tiers, currency: 'EUR' }, [])?.field ?? null
  t.equal(fault([tier({})]), null)
  t.equal(fault([]), '/tiers')
  t.equal(fault([], false), null, 'a policy that is off needs none')
  t.equal(fault([tier({ tier: 2 })]), '/tiers/0/tier')
  t.equal(fault([tier({ maxAmount: 0n })]), '/tiers/0/maxAmount')
  t.equal(fault([tier({ maxAmount: 10n }), tier({ tier: 2, minAmount: 9n })]), '/tiers/1/minAmount')
  t.equal(fault([tier({ maxAmount: 10n }), tier({ tier: 2, minAmount: 20n })]), null, 'gaps are allowed')
  t.equal(fault([tier({ requiredApprovals: 2, approverUserIds: ['a'] })]), '/tiers/0/approverUserIds')
  t.equal(fault([tier({ requiredApprovals: 2, approverUserIds: ['a'], approverRoles: ['owner'] })]), null)
  t.equal(
    fault([tier({ requiredApprovals: 2, distinctTeams: true, approverTeamIds: ['a'] })]),
    '/tiers/0/approverTeamIds',
  )
  t.match(tiersFault({ enabled: true, tiers: [tier({})], currency: 'EUR' }, ['EUR', 'GBP']), {
    field: '/tiers',
    code: 'currency_mismatch',
  })
  t.end()
})

t.test('terms survive the row they are kept in', (t) => {
  const terms = policy({
    tiers: [tier({ maxAmount: 10n ** 15n, approverUserIds: ['u'] }), tier({ tier: 2, minAmount: 10n ** 15n })],
    appliesTo: { balanceIds: ['a'], rails: ['sepa'], recipientIds: null },
  })
  t.strictSame(termsOf(JSON.parse(JSON.stringify(termsJson(terms))) as ReturnType<typeof termsJson>), terms)
  t.end()
})
