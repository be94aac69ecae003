/** Routing as a pure decision: a table of cases, and what holds for any rules, connections and payments. */
import fc from 'fast-check'
import t from 'tap'
import { CUSTOMER_TYPES } from '../../../lib/customers/types.ts'
import { CONNECTION_ROLES, type ConnectionStatus } from '../../../lib/providers/connection.ts'
import { HEALTH_STATES } from '../../../lib/providers/health.ts'
import { sandboxDescription } from '../../../lib/providers/sandbox/description.ts'
import {
  connectionForQuestion,
  costOf,
  isRouted,
  route,
  type RoutedPayment,
  type RoutingConnection,
  type RoutingQuestion,
  type RoutingRule,
  type RoutingTerms,
} from '../../../lib/providers/routing.ts'

const ANY = { currency: null, rail: null, country: null, customerType: null, amountMin: null, amountMax: null }
const rule = (id: string, connectionId: string, more: Partial<RoutingRule> = {}): RoutingRule => ({
  id,
  name: null,
  priority: 10,
  match: ANY,
  connectionId,
  preferredRail: null,
  costPerPayment: null,
  costBps: 0,
  dailyVolumeMax: null,
  dailyCountMax: null,
  enabled: true,
  ...more,
})
const connection = (id: string, more: Partial<RoutingConnection> = {}): RoutingConnection => ({
  id,
  customerId: null,
  name: id,
  status: 'active',
  role: id === 'home' ? 'primary' : 'fallback',
  fallbackCurrencies: ['EUR', 'GBP'],
  health: 'healthy',
  rails: null,
  capabilities: null,
  calendar: null,
  ...more,
})
const PAYMENT: RoutedPayment = {
  currency: 'EUR',
  amount: 10_000n,
  rail: 'sepa',
  isRailFixed: false,
  country: 'DE',
  customerId: 'customer',
  customerType: 'business',
  homeConnectionId: 'home',
}
const OPEN: RoutingQuestion = { volumeOf: () => ({ amount: 0n, count: 0 }), canUse: () => true }
const decide = (
  terms: Partial<RoutingTerms>,
  payment: Partial<RoutedPayment> = {},
  question: Partial<RoutingQuestion> = {},
) =>
  route(
    { rules: [], connections: [connection('home'), connection('other')], ...terms },
    { ...PAYMENT, ...payment },
    { ...OPEN, ...question },
  )
const way = (...parameters: Parameters<typeof decide>) => {
  const { ruleId, connectionId, rail, isOpen } = decide(...parameters)
  return `${ruleId ?? '-'} ${connectionId} ${rail}${isOpen ? '' : ' waits'}`
}

t.test(
  'without a rule a payment leaves through the connection of its balance, as long as that takes payments',
  async (t) => {
    t.equal(way({}), '- home sepa')
    const home = (more: Partial<RoutingConnection>) => ({
      connections: [connection('home', more), connection('other'), connection('new', { role: 'primary' })],
    })
    for (const health of ['down', 'paused'] as const) t.equal(way(home({ health })), '- new sepa', health)
    t.equal(way(home({ health: 'degraded' })), '- home sepa', 'a degraded connection takes payments')
    t.equal(way(home({ status: 'draining' })), '- new sepa', 'the active primary takes the work of one that drains')
    t.equal(decide(home({ status: 'draining' })).reason, '“home” is draining.')
    t.equal(way(home({ rails: { swift: { currencies: 'all' } } })), '- new sepa', 'it does not carry the rail')
    const two = (more: Partial<RoutingConnection>) => ({
      connections: [connection('home', { health: 'down' }), connection('other', more)],
    })
    t.equal(way(two({})), '- other sepa', 'a fallback serves its currencies')
    t.equal(way(two({ fallbackCurrencies: ['GBP'] })), '- home sepa waits', 'and no others')
    t.equal(way(two({ status: 'verified' })), '- home sepa waits')
    t.equal(way(two({}), {}, { refusedBy: new Set(['other']) }), '- home sepa waits')
    t.equal(way({ connections: [] }), '- home sepa waits')
    const [theirs, own] = [
      connection('theirs', { customerId: 'another' }),
      connection('own', { customerId: 'customer' }),
    ]
    const scoped = [connection('home', { status: 'draining' }), theirs, connection('new'), own].map((each) => ({
      ...each,
      role: 'primary' as const,
    }))
    t.equal(
      way({ connections: scoped }),
      '- own sepa',
      "the customer's own connection comes first, and another's never",
    )
  },
)

t.test('the first rule that matches decides: by priority, then by cost, then by age', async (t) => {
  const rules = [rule('b', 'other', { priority: 20 }), rule('a', 'home', { priority: 30 })]
  t.equal(way({ rules }), 'b other sepa')
  const costly = [
    rule('a', 'home', { costPerPayment: 20n, costBps: 0 }),
    rule('b', 'other', { costPerPayment: 1n, costBps: 10 }),
  ]
  t.equal(way({ rules: costly }), 'b other sepa', '11 is less than 20')
  t.equal(way({ rules: costly }, { amount: 1_000_000n }), 'a home sepa', 'for a large amount the share is more')
  t.equal(way({ rules: [rule('b', 'other'), rule('a', 'home')] }), 'a home sepa')
  t.strictSame(
    decide({ rules }).rules.map(({ ruleId, matched, reasons }) => [ruleId, matched, ...reasons]),
    [
      ['b', true, 'The rule has no conditions.'],
      ['a', true, 'The rule has no conditions.', 'A rule that is asked before it has decided.'],
    ],
  )
  t.equal(costOf(rule('a', 'home', { costPerPayment: 5n, costBps: 1 }), 1n), 6n, 'a share is rounded up')
})

t.test('a rule tells every reason why it did not match', async (t) => {
  const match = {
    currency: 'GBP',
    rail: 'faster_payments' as const,
    country: 'GB',
    customerType: 'individual' as const,
    amountMin: 20_000n,
    amountMax: 30_000n,
  }
  const refused = decide({
    rules: [rule('a', 'other', { match, enabled: false })],
    connections: [connection('home'), connection('other', { health: 'down' })],
  })
  t.strictSame(refused.rules, [
    {
      ruleId: 'a',
      matched: false,
      reasons: [
        'The rule is switched off.',
        'The currency is EUR, not GBP.',
        'The rail is sepa, not faster_payments.',
        'The country is DE, not GB.',
        'The type of the customer is business, not individual.',
        'The amount is below the range.',
        '“other” is down.',
      ],
    },
  ])
  const fits = decide(
    { rules: [rule('a', 'other', { match, name: 'Pounds' })] },
    { currency: 'GBP', rail: 'faster_payments', country: 'GB', customerType: 'individual', amount: 30_000n },
  )
  t.strictSame(fits.rules[0]?.reasons, [
    'The currency is GBP.',
    'The rail is faster_payments.',
    'The country is GB.',
    'The type of the customer is individual.',
    'The amount is in the range.',
  ])
  t.equal(fits.reason, 'The rule “Pounds” matched.')
  const gone = decide({ rules: [rule('a', 'gone')] })
  t.strictSame([gone.ruleId, gone.rules[0]?.reasons], [null, ['There is no such connection.']])
})

t.test(
  'a preferred rail is taken where it can carry the payment, and never in place of one that was asked for',
  async (t) => {
    const rules = [rule('a', 'other', { preferredRail: 'sepa_instant' })]
    t.equal(way({ rules }), 'a other sepa_instant')
    t.equal(way({ rules }, { isRailFixed: true }), 'a other sepa')
    t.equal(way({ rules }, {}, { canUse: () => false }), 'a other sepa')
    const rails = { sepa: { currencies: ['EUR'] }, sepa_instant: { currencies: 'all', amountMax: 9_999n } } as const
    t.equal(way({ rules, connections: [connection('home'), connection('other', { rails })] }), 'a other sepa')
    const less = { sepa_instant: { currencies: ['GBP'] } } as const
    t.equal(way({ rules, connections: [connection('home'), connection('other', { rails: less })] }), '- home sepa')
  },
)

t.test('the volume of a day ends a rule, and the next one decides', async (t) => {
  const rules = [rule('a', 'other', { dailyVolumeMax: 50_000n, dailyCountMax: 3 })]
  const used = (amount: bigint, count: number) => ({ volumeOf: () => ({ amount, count }) })
  t.equal(way({ rules }, {}, used(40_000n, 2)), 'a other sepa', 'the last unit counts')
  t.equal(way({ rules }, {}, used(40_001n, 2)), '- home sepa')
  t.equal(way({ rules }, {}, used(0n, 3)), '- home sepa')
})

t.test('an operator without rules whose connections all work has nothing to decide', async (t) => {
  t.notOk(isRouted({ rules: [rule('a', 'other', { enabled: false })], connections: [connection('home')] }))
  t.notOk(
    isRouted({
      rules: [],
      connections: [connection('home', { health: 'degraded' }), connection('b', { status: 'draft' })],
    }),
  )
  t.ok(isRouted({ rules: [rule('a', 'other')], connections: [connection('home')] }))
  t.ok(isRouted({ rules: [], connections: [connection('home', { status: 'draining' })] }))
  t.ok(isRouted({ rules: [], connections: [connection('home', { health: 'paused' })] }))
})

// ── What holds for any case
// ───────────────────────────────────────────────────────────────────────────────────────────

const CURRENCIES = ['EUR', 'GBP'] as const
const RAILS = ['sepa', 'sepa_instant', 'swift'] as const
const IDS = ['home', 'other', 'third', 'gone'] as const
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
const amount = fc.bigInt({ min: 1n, max: 100n })
const aRule = fc.record({
  id: fc.uuid(),
  name: maybe(fc.constant('name')),
  priority: fc.integer({ min: 0, max: 3 }),
  match: fc.record({
    currency: maybe(fc.constantFrom(...CURRENCIES)),
    rail: maybe(fc.constantFrom(...RAILS)),
    country: maybe(fc.constantFrom('DE', 'GB')),
    customerType: maybe(fc.constantFrom(...CUSTOMER_TYPES)),
    amountMin: maybe(amount),
    amountMax: maybe(amount),
  }),
  connectionId: fc.constantFrom(...IDS),
  preferredRail: maybe(fc.constantFrom(...RAILS)),
  costPerPayment: maybe(fc.bigInt({ min: 0n, max: 5n })),
  costBps: fc.integer({ min: 0, max: 500 }),
  dailyVolumeMax: maybe(fc.bigInt({ min: 1n, max: 150n })),
  dailyCountMax: maybe(fc.integer({ min: 1, max: 3 })),
  enabled: fc.boolean(),
})
const aConnection = (id: string) =>
  fc.record({
    id: fc.constant(id),
    customerId: fc.constantFrom(null, null, 'customer', 'another'),
    name: fc.constant(id),
    status: fc.constantFrom<ConnectionStatus[]>('draft', 'active', 'active', 'active', 'draining', 'retired'),
    role: fc.constantFrom(...CONNECTION_ROLES),
    fallbackCurrencies: fc.subarray([...CURRENCIES]),
    health: fc.constantFrom('healthy' as const, ...HEALTH_STATES),
    calendar: fc.constant(null),
    rails: maybe(
      fc.constantFrom(
        { sepa: { currencies: 'all' as const, amountMax: 50n } },
        { swift: { currencies: ['GBP'] }, sepa_instant: { currencies: 'all' as const } },
      ),
    ),
    capabilities: maybe(fc.constant(sandboxDescription.capabilities)),
  })
const aCase = fc.record({
  rules: fc.uniqueArray(aRule, { maxLength: 6, selector: ({ id }) => id }),
  connections: fc.tuple(aConnection('home'), aConnection('other'), aConnection('third')),
  payment: fc.record({
    currency: fc.constantFrom(...CURRENCIES),
    amount,
    rail: fc.constantFrom(...RAILS),
    isRailFixed: fc.boolean(),
    country: fc.constantFrom('DE', 'GB'),
    customerId: fc.constant('customer'),
    customerType: fc.constantFrom(...CUSTOMER_TYPES),
    homeConnectionId: fc.constantFrom('home', 'other'),
  }),
  usable: fc.subarray([...RAILS]),
  refusedBy: fc.subarray([...IDS]),
  used: fc.record({ amount: fc.bigInt({ min: 0n, max: 100n }), count: fc.integer({ min: 0, max: 3 }) }),
})

t.test(
  'whatever the rules: only a connection that takes the payment is chosen, and every rule is answered once',
  async () => {
    fc.assert(
      fc.property(aCase, ({ rules, connections, payment, usable, refusedBy, used }) => {
        const question: RoutingQuestion = {
          volumeOf: () => used,
          canUse: (rail) => usable.some((each) => each === rail),
          refusedBy: new Set(refusedBy),
        }
        const decision = route({ rules, connections }, payment, question)
        const ids = decision.rules.map(({ ruleId }) => ruleId)
        if (ids.length !== rules.length || new Set(ids).size !== ids.length) return false
        if (decision.rules.some(({ reasons }) => reasons.length === 0)) return false
        const first = decision.rules.find(({ matched }) => matched)
        if ((first?.ruleId ?? null) !== decision.ruleId) return false
        const asked = ids.map((id) => rules.find((each) => each.id === id)!)
        if (asked.some(({ priority }, nth) => nth > 0 && priority < asked[nth - 1]!.priority)) return false
        if (payment.isRailFixed && decision.rail !== payment.rail) return false
        if (decision.rail !== payment.rail && !usable.some((each) => each === decision.rail)) return false
        if (!decision.isOpen) return decision.ruleId === null && decision.connectionId === payment.homeConnectionId
        const chosen = connections.find(({ id }) => id === decision.connectionId)!
        const carried = chosen.rails?.[decision.rail as 'sepa'] as
          | { currencies: 'all' | string[]; amountMax?: bigint }
          | undefined
        const isFit =
          chosen.status === 'active' &&
          chosen.health !== 'down' &&
          chosen.health !== 'paused' &&
          chosen.customerId !== 'another' &&
          !refusedBy.some((each) => each === chosen.id) &&
          (chosen.role === 'primary' ||
            chosen.id === payment.homeConnectionId ||
            chosen.fallbackCurrencies.includes(payment.currency)) &&
          (chosen.rails === null ||
            (carried !== undefined &&
              (carried.currencies === 'all' || carried.currencies.includes(payment.currency)) &&
              (carried.amountMax === undefined || payment.amount <= carried.amountMax)))
        if (!isFit || decision.ruleId === null) return isFit
        const { match, enabled, connectionId, dailyVolumeMax, dailyCountMax } = rules.find(
          ({ id }) => id === decision.ruleId,
        )!
        return (
          enabled &&
          connectionId === chosen.id &&
          (match.currency ?? payment.currency) === payment.currency &&
          (match.rail ?? payment.rail) === payment.rail &&
          (match.country ?? payment.country) === payment.country &&
          (match.customerType ?? payment.customerType) === payment.customerType &&
          (match.amountMin ?? 0n) <= payment.amount &&
          (match.amountMax ?? payment.amount) >= payment.amount &&
          (dailyVolumeMax === null || used.amount + payment.amount <= dailyVolumeMax) &&
          (dailyCountMax === null || used.count < dailyCountMax)
        )
      }),
      { numRuns: 2_000 },
    )
  },
)

t.test(
  'the order in which rules are stored changes nothing, and a rule that does not match changes nothing',
  async (t) => {
    fc.assert(
      fc.property(aCase, ({ rules, connections, payment, used }) => {
        const question = { ...OPEN, volumeOf: () => used }
        const decision = route({ rules, connections }, payment, question)
        const turned = route({ rules: rules.toReversed(), connections }, payment, question)
        const matching = rules.filter(({ id }) => decision.rules.some((each) => each.ruleId === id && each.matched))
        const { rules: _, ...without } = route({ rules: matching, connections }, payment, question)
        const { rules: __, ...is } = decision
        t.strictSame(turned, decision)
        t.strictSame(without, is)
      }),
      { numRuns: 300 },
    )
  },
)

t.test('a question goes to a connection whose provider has the ability', async (t) => {
  const able = { capabilities: sandboxDescription.capabilities }
  const blind = { capabilities: { ...sandboxDescription.capabilities, cop: false } }
  const rows: (readonly [string, readonly RoutingConnection[], string | null])[] = [
    ['there is none', [], null],
    ['a provider without an adapter', [connection('home')], null],
    ['a provider without the ability', [connection('home', blind)], null],
    ['another currency', [connection('home', { capabilities: { ...able.capabilities, currencies: ['EUR'] } })], null],
    ['the primary', [connection('home', able)], 'home'],
    ['one that drains', [connection('home', { ...able, status: 'draining' })], null],
    ['a fallback of the currency', [connection('home', blind), connection('other', able)], 'other'],
    [
      'a fallback of others',
      [connection('home', blind), connection('other', { ...able, fallbackCurrencies: ['EUR'] })],
      null,
    ],
    ['a primary first', [connection('other', able), connection('home', able)], 'home'],
    [
      'the customer’s own first',
      [connection('home', able), connection('own', { ...able, role: 'primary', customerId: 'customer' })],
      'own',
    ],
    ['not another customer’s', [connection('home', { ...able, customerId: 'another' })], null],
    ['one that is well first', [connection('home', { ...able, health: 'down' }), connection('other', able)], 'other'],
    ['one that is down, where no other is', [connection('home', { ...able, health: 'down' })], 'home'],
  ]
  const question = { customerId: 'customer', currency: 'GBP', capability: 'cop' } as const
  for (const [what, connections, expected] of rows)
    t.equal(connectionForQuestion(connections, question), expected, what)
})
