import t from 'tap'
import {
  brokenLimit,
  countOutflow,
  limitsJson,
  limitsOf,
  periodsOf,
  unusedLimits,
  type LimitState,
  type PaymentLimits,
} from '../../../lib/customers/limits.ts'
import { MONDAY } from '../../support/commands.ts'

const DAY = 86_400_000
const limitState = (overrides: Partial<LimitState['limits']> = {}, day = 0n, month = day): LimitState => ({
  limits: { currency: 'EUR', single: 500n, daily: 1_000n, monthly: 1_500n, ...overrides },
  day: { start: '2026-05-04', amount: day },
  month: { start: '2026-05-01', amount: month },
})
const state = (...overrides: Parameters<typeof limitState>): PaymentLimits => ({
  customer: limitState(...overrides),
  members: new Map(),
})
const spending = (amount: bigint, spenderId = 'key') => ({ customerId: 'customer', spenderId, amount })
const kindOf = (limits: PaymentLimits, amount: bigint, now = MONDAY) =>
  (brokenLimit(limits, spending(amount), now)?.extra?.['limit'] as { kind: string } | undefined)?.kind ?? null

t.test('the first limit that an amount breaks is named, with what remains of it', (t) => {
  for (const [limits, amount, expected] of [
    [state(), 500n, null],
    [state(), 501n, 'single'],
    [state({}, 600n), 400n, null],
    [state({}, 600n), 401n, 'daily'],
    [state({}, 600n, 1_200n), 300n, null],
    [state({}, 600n, 1_200n), 301n, 'monthly'],
    [state({}, 600n, 1_200n), 501n, 'single'],
    [state({ single: null }, 0n), 1_000n, null],
    [state({ single: null, daily: null, monthly: null }), 10n ** 15n, null],
    [state({ daily: 100n }, 600n), 1n, 'daily'],
  ] as const)
    t.equal(kindOf(limits, amount), expected, `${amount} of ${JSON.stringify(limitsJson([limits.customer!.limits]))}`)
  t.match(brokenLimit(state({}, 600n), spending(401n), MONDAY), {
    slug: 'limit-exceeded',
    detail: 'The daily limit is 10.00 EUR, of which 4.00 EUR remain.',
    extra: {
      limit: {
        kind: 'daily',
        period: '2026-05-04',
        amount: { amountMinor: '1000', currency: 'EUR' },
        remaining: { amountMinor: '400', currency: 'EUR' },
      },
    },
  })
  t.match(
    brokenLimit(state({ daily: 100n }, 600n), spending(1n), MONDAY),
    { extra: { limit: { remaining: { amountMinor: '0' } } } },
    'never less than nothing',
  )
  t.end()
})

t.test('what was used on another day or in another month counts no more', (t) => {
  t.equal(kindOf(state({}, 1_000n), 1n), 'daily')
  t.equal(kindOf(state({}, 1_000n), 500n, MONDAY + DAY), null)
  t.equal(kindOf(state({}, 1_000n, 1_500n), 1n, MONDAY + DAY), 'monthly')
  t.equal(kindOf(state({}, 1_000n, 1_500n), 500n, MONDAY + 31 * DAY), null)
  t.strictSame(periodsOf(Date.UTC(2026, 11, 31, 23, 59, 59, 999)), { day: '2026-12-31', month: '2026-12-01' })
  t.end()
})

t.test('counting adds to the day and the month that have a limit', (t) => {
  const counted = countOutflow(state({}, 100n, 200n), spending(50n), MONDAY)
  t.strictSame(counted.limits.customer!.day, { start: '2026-05-04', amount: 150n })
  t.strictSame(counted.limits.customer!.month, { start: '2026-05-01', amount: 250n })
  const shared = { customerId: 'customer', spenderId: 'customer', currency: 'EUR', amount: 50n }
  t.strictSame(counted.outflows, [
    { ...shared, periodKind: 'day', periodStart: '2026-05-04', maxAmount: 1_000n },
    { ...shared, periodKind: 'month', periodStart: '2026-05-01', maxAmount: 1_500n },
  ])
  t.strictSame(
    countOutflow(state({ daily: null, monthly: null }), spending(50n), MONDAY).outflows,
    [],
    'a limit of single payments needs no count',
  )
  t.strictSame(
    countOutflow(state({}, 100n, 200n), spending(50n), MONDAY + DAY).limits.customer!.day,
    { start: '2026-05-05', amount: 50n },
    'a new day begins at nothing',
  )
  t.end()
})

t.test('limits survive the row they are kept in', (t) => {
  const limits = [{ currency: 'EUR', single: 10n ** 15n, daily: null, monthly: 1n }]
  t.strictSame(limitsOf(JSON.parse(JSON.stringify(limitsJson(limits))) as ReturnType<typeof limitsJson>), limits)
  t.end()
})

t.test('a member has limits beside those of the customer, which bind in their name alone', (t) => {
  const limits: PaymentLimits = {
    customer: limitState({}, 100n),
    members: new Map([['ann', limitState({ single: null, daily: 300n, monthly: null }, 200n)]]),
  }
  const broken = (amount: bigint, spenderId: string) => brokenLimit(limits, spending(amount, spenderId), MONDAY)
  t.match(broken(101n, 'ann'), {
    detail: "The member's daily limit is 3.00 EUR, of which 1.00 EUR remain.",
    extra: { limit: { kind: 'daily', remaining: { amountMinor: '100' } } },
  })
  t.match(broken(501n, 'ann'), { detail: /^The single limit/ }, "the customer's is said first")
  t.strictSame([broken(100n, 'ann'), broken(101n, 'bob')], [null, null])
  t.equal(brokenLimit(unusedLimits(limits), spending(300n, 'ann'), MONDAY), null, 'on another day')

  const counted = countOutflow(limits, spending(50n, 'ann'), MONDAY)
  t.strictSame(
    counted.outflows.map(({ spenderId, periodKind, maxAmount }) => [spenderId, periodKind, maxAmount]),
    [
      ['customer', 'day', 1_000n],
      ['customer', 'month', 1_500n],
      ['ann', 'day', 300n],
    ],
  )
  t.match([counted.limits.customer?.day, counted.limits.members.get('ann')?.day], [{ amount: 150n }, { amount: 250n }])
  t.equal(limits.members.get('ann')!.day.amount, 200n, 'what was known before stays as it was')
  t.strictSame(countOutflow(limits, spending(50n, 'bob'), MONDAY).limits.members, limits.members)
  t.strictSame(
    countOutflow({ ...limits, customer: null }, spending(50n, 'ann'), MONDAY).outflows.length,
    1,
    'a customer may have none itself',
  )
  t.end()
})
