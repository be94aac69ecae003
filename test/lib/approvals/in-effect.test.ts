/** The rules in effect, and which changes of a stored policy loosen them. */
import fc from 'fast-check'
import t from 'tap'
import {
  loosens,
  ruleInEffect,
  rulesInEffect,
  tierInEffect,
  type RulesInEffect,
  type StoredPolicies,
} from '../../../lib/approvals/in-effect.ts'
import {
  DEFAULT_TIER,
  NO_POLICY,
  POLICY_KINDS,
  RECIPIENT_MODES,
  tierFor,
  type Convert,
  type PolicySubject,
  type PolicyKind,
  type PolicyTerms,
  type RecipientMode,
  type Tier,
} from '../../../lib/approvals/policy.ts'
import { AMOUNT_MAX, BALANCES, CURRENCIES, RECIPIENTS, stored, termsOfKind } from './policies.ts'

const tier = (overrides: Partial<Tier>): Tier => ({ ...DEFAULT_TIER, approverRoles: [], ...overrides })
const policy = (overrides: Partial<PolicyTerms> = {}): PolicyTerms => ({
  ...NO_POLICY,
  enabled: true,
  tiers: [tier({ minAmount: 1_000n })],
  ...overrides,
})
const changed = (before: StoredPolicies, kind: PolicyKind, after: PolicyTerms, mode: RecipientMode = 'none'): boolean =>
  loosens(rulesInEffect(before, mode), rulesInEffect({ ...before, [kind]: after }, mode))
const payments = (before: PolicyTerms, after: PolicyTerms): boolean => changed({ payment: before }, 'payment', after)

t.test('what is in effect while a policy was never set', (t) => {
  const payment = policy()
  t.match(ruleInEffect('exchange', { payment }), { from: 'payment', terms: payment, otherwise: null })
  t.match(ruleInEffect('bulk_payment', { payment }), { from: 'payment', terms: payment, otherwise: null })
  t.match(
    ruleInEffect('exchange', { payment, exchange: { ...payment, enabled: false } }),
    { from: null, terms: null },
    'a row that is disabled stands for itself',
  )
  t.strictSame(tierInEffect(ruleInEffect('policy_change', {}), { amount: null, currency: null }), {
    tier: DEFAULT_TIER,
    converted: true,
    fromPolicy: false,
  })
  t.strictSame(
    tierInEffect(ruleInEffect('policy_change', { policy_change: { ...policy(), enabled: false } }), {
      amount: null,
      currency: null,
    })?.tier,
    DEFAULT_TIER,
  )
  t.equal(tierInEffect(ruleInEffect('payment', {}), { amount: 1n, currency: 'EUR' }), null)
  t.equal(rulesInEffect({}, 'operator_queue').recipientMode, 'operator_queue')
  t.equal(rulesInEffect({ recipient: NO_POLICY }, 'operator_queue').recipientMode, 'none')
  t.end()
})

t.test('a change is compared with what is in effect, not with its own row', (t) => {
  const mine = policy({ tiers: [tier({ allowSelfApproval: true })] })
  t.equal(changed({}, 'policy_change', mine), true, 'self-approval of policy changes where the default tier holds')
  t.equal(
    changed({ policy_change: { ...mine, enabled: false } }, 'policy_change', mine),
    true,
    'the same where the row is disabled',
  )
  t.equal(
    changed({}, 'policy_change', policy({ tiers: [tier({ expiresAfterHours: 169 })] })),
    true,
    'a later expiry than that of the default tier',
  )
  t.equal(
    changed({}, 'policy_change', policy({ tiers: [tier({ approverRoles: ['admin'], expiresAfterHours: 24 })] })),
    false,
    'fewer people, sooner',
  )
  t.equal(
    changed({ payment: policy() }, 'exchange', { ...policy(), enabled: false }),
    true,
    'exchanges that waited under the payment policy',
  )
  t.equal(changed({ payment: policy() }, 'bulk_payment', mine), true, 'files that waited under the payment policy')
  t.equal(changed({ payment: policy() }, 'exchange', policy()), false, 'the same terms in a row of its own')
  t.equal(
    changed({ payment: policy(), exchange: policy(), bulk_payment: policy() }, 'payment', {
      ...policy(),
      enabled: false,
    }),
    true,
  )
  t.equal(
    changed({ payment: policy() }, 'recipient', NO_POLICY, 'operator_queue'),
    true,
    'no review where the operator reviews',
  )
  t.equal(changed({}, 'recipient', NO_POLICY, 'none'), false)
  t.equal(
    changed(
      {},
      'recipient',
      { ...policy(), recipientMode: 'customer_tier', tiers: [tier({ allowSelfApproval: true })] },
      'customer_tier',
    ),
    true,
    'self-approval of recipients',
  )
  t.equal(changed({}, 'recipient', { ...NO_POLICY, recipientMode: 'customer_then_operator' }, 'operator_queue'), false)
  t.equal(
    changed({ payment: policy() }, 'payment', {
      ...policy(),
      tiers: [tier({ minAmount: 0n, maxAmount: 1_000n }), tier({ tier: 2, minAmount: 1_000n, expiresAfterHours: 200 })],
    }),
    true,
    'a later expiry',
  )
  const strict = policy({
    tiers: [
      tier({ maxAmount: 10n, requiredApprovals: 1 }),
      tier({ tier: 2, minAmount: 20n, maxAmount: 30n, requiredApprovals: 3 }),
    ],
  })
  t.equal(
    changed({ payment: strict }, 'payment', {
      ...strict,
      tiers: [...strict.tiers, tier({ tier: 3, minAmount: 40n, requiredApprovals: 2 })],
    }),
    true,
    'a highest tier that asks fewer people about amounts that cannot be converted',
  )
  t.end()
})

t.test('what loosens', (t) => {
  const before = policy({
    tiers: [tier({ minAmount: 1_000n, requiredApprovals: 2, approverRoles: ['approver'], distinctTeams: true })],
    exemptOwnAccounts: false,
  })
  const with_ = (overrides: Partial<Tier>): PolicyTerms => ({
    ...before,
    tiers: [{ ...before.tiers[0]!, ...overrides }],
  })
  const cases: readonly (readonly [string, PolicyTerms, boolean])[] = [
    ['the same', before, false],
    ['off', { ...before, enabled: false }, true],
    ['no tiers', { ...before, tiers: [] }, true],
    ['a higher threshold', with_({ minAmount: 1_001n }), true],
    ['a lower one', with_({ minAmount: 999n }), false],
    ['an end', with_({ maxAmount: 10n ** 12n }), true],
    ['fewer approvals', with_({ requiredApprovals: 1 }), true],
    ['more', with_({ requiredApprovals: 3 }), false],
    ['self-approval', with_({ allowSelfApproval: true }), true],
    ['one team', with_({ distinctTeams: false }), true],
    ['everybody', with_({ approverRoles: [] }), true],
    ['another role too', with_({ approverRoles: ['approver', 'admin'] }), true],
    ['a role that may never decide too', with_({ approverRoles: ['approver', 'viewer'] }), false],
    ['a named person too', with_({ approverUserIds: ['u'] }), true],
    ['a named team too', with_({ approverTeamIds: ['t'] }), true],
    ['a later expiry', with_({ expiresAfterHours: 169 }), true],
    ['a sooner expiry', with_({ expiresAfterHours: 167 }), false],
    ['another currency', { ...before, currency: 'GBP' }, true],
    ['own accounts left out', { ...before, exemptOwnAccounts: true }, true],
    ['only some balances', { ...before, appliesTo: { balanceIds: ['a'], rails: null, recipientIds: null } }, true],
    [
      'a second tier above, stricter',
      {
        ...before,
        tiers: [
          { ...before.tiers[0]!, maxAmount: 5_000n },
          { ...before.tiers[0]!, tier: 2, minAmount: 5_000n, requiredApprovals: 3 },
        ],
      },
      false,
    ],
    [
      'a second tier above, laxer',
      {
        ...before,
        tiers: [
          { ...before.tiers[0]!, maxAmount: 5_000n },
          { ...before.tiers[0]!, tier: 2, minAmount: 5_000n, requiredApprovals: 1 },
        ],
      },
      true,
    ],
  ]
  for (const [name, after, expected] of cases) t.equal(payments(before, after), expected, name)
  t.equal(payments(NO_POLICY, before), false, 'the first policy')
  t.equal(payments({ ...before, enabled: false }, with_({ requiredApprovals: 1 })), false, 'a policy that was off')
  const wide: PolicyTerms = { ...before, appliesTo: { balanceIds: ['a'], rails: null, recipientIds: null } }
  t.equal(payments(wide, { ...wide, appliesTo: { balanceIds: ['a', 'b'], rails: null, recipientIds: null } }), false)
  t.equal(payments(wide, { ...wide, appliesTo: { balanceIds: ['b'], rails: null, recipientIds: null } }), true)
  const modes: readonly (readonly [RecipientMode, RecipientMode, boolean])[] = [
    ['customer_tier', 'none', true],
    ['customer_tier', 'customer_then_operator', false],
    ['operator_queue', 'customer_tier', true],
    ['none', 'operator_queue', false],
  ]
  for (const [was, is, expected] of modes)
    t.equal(
      changed({ recipient: { ...NO_POLICY, recipientMode: was } }, 'recipient', { ...NO_POLICY, recipientMode: is }),
      expected,
      `${was} to ${is}`,
    )
  t.end()
})

t.test(
  'a change of payments that does not loosen asks at least as many people about every amount, and only such a change',
  (t) => {
    const amount = fc.bigInt({ min: 0n, max: 50n })
    const terms = fc
      .uniqueArray(amount, { minLength: 1, maxLength: 5 })
      .chain((cuts) => {
        const starts = [...cuts].sort((left, right) => Number(left - right))
        return fc.tuple(
          fc.constant(starts),
          fc.array(fc.integer({ min: 1, max: 5 }), { minLength: starts.length, maxLength: starts.length }),
          fc.boolean(),
        )
      })
      .map(([starts, required, ends]) =>
        policy({
          tiers: starts.map((minAmount, nth) =>
            tier({
              tier: nth + 1,
              minAmount,
              requiredApprovals: required[nth]!,
              maxAmount: starts[nth + 1] ?? (ends ? minAmount + 5n : null),
            }),
          ),
        }),
      )
    // In BGN no amount can be converted.
    const needed = (of: PolicyTerms, minor: bigint | null) =>
      tierFor(of, { amount: minor ?? 1n, currency: minor === null ? 'BGN' : 'EUR' })?.tier.requiredApprovals ?? 0
    fc.assert(
      fc.property(terms, terms, (before, after) => {
        const lost = [null, ...Array.from({ length: 70 }, (_, minor) => BigInt(minor))].some(
          (minor) => needed(after, minor) < needed(before, minor),
        )
        return payments(before, after) === lost
      }),
      { numRuns: 500 },
    )
    t.end()
  },
)

// ── Every kind, compared with what the readers of policies would ask
// ──────────────────────────────────────────────────

const CONVERT: Convert = (amount, from, to) => (from === to ? amount : from === 'BGN' || to === 'BGN' ? null : amount)
const AMOUNTS = Array.from({ length: AMOUNT_MAX + 10 }, (_, minor) => BigInt(minor))
const WITHOUT_AMOUNT: ReadonlySet<PolicyKind> = new Set(['recipient', 'policy_change'])

/** Everything that may be measured against a policy of a kind. */
function probesOf(kind: PolicyKind): readonly PolicySubject[] {
  if (WITHOUT_AMOUNT.has(kind))
    return [
      { amount: null, currency: null },
      ...RECIPIENTS.map((recipientId) => ({ amount: null, currency: null, recipientId })),
    ]
  return AMOUNTS.flatMap((amount) =>
    CURRENCIES.flatMap((currency) =>
      BALANCES.flatMap((balanceId) =>
        [...RECIPIENTS, undefined].flatMap((recipientId) =>
          [true, false].map(
            (toOwnAccount): PolicySubject => ({
              amount,
              currency,
              balanceId,
              toOwnAccount,
              ...(recipientId === undefined ? {} : { recipientId }),
            }),
          ),
        ),
      ),
    ),
  )
}
const PROBES = new Map(POLICY_KINDS.map((kind) => [kind, probesOf(kind)] as const))

/** Tells whether a tier asks for less than before: fewer approvals or later ones, or no approval at all. */
function asksLess(was: Tier | null, is: Tier | null): boolean {
  if (was === null) return false
  return (
    is === null ||
    is.requiredApprovals < was.requiredApprovals ||
    (is.allowSelfApproval && !was.allowSelfApproval) ||
    (was.distinctTeams && !is.distinctTeams) ||
    is.expiresAfterHours > was.expiresAfterHours
  )
}

function lessIn(before: RulesInEffect, after: RulesInEffect): string | null {
  for (const kind of POLICY_KINDS) {
    for (const probe of PROBES.get(kind)!) {
      const [was, is] = [before, after].map(({ rules }) => tierInEffect(rules[kind], probe, CONVERT)?.tier ?? null)
      if (asksLess(was!, is!)) return `${kind} ${probe.amount} ${probe.currency}`
    }
  }
  return null
}

t.test('no change that is effective at once asks less about anything of any kind', (t) => {
  const change = fc.constantFrom(...POLICY_KINDS).chain((kind) => fc.tuple(fc.constant(kind), termsOfKind(kind)))
  let immediate = 0
  fc.assert(
    fc.property(
      stored,
      fc.constantFrom(...RECIPIENT_MODES),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (policies, mode, changes) => {
        let now = policies
        const first = rulesInEffect(policies, mode)
        for (const [kind, terms] of changes) {
          const next = { ...now, [kind]: terms }
          if (loosens(rulesInEffect(now, mode), rulesInEffect(next, mode))) continue
          immediate += 1
          now = next
        }
        const less = lessIn(first, rulesInEffect(now, mode))
        if (less !== null) throw new Error(`asks less about ${less}`)
      },
    ),
    { numRuns: 150, seed: Number(process.env['SEED'] ?? 1) },
  )
  t.ok(immediate > 20, `${immediate} changes were effective at once`)
  t.end()
})
