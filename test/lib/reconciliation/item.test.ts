import t from 'tap'

import {
  BREAK_KINDS,
  BREAK_STATUSES,
  differenceOf,
  goesToSuspense,
  outcomesOf,
  type BreakFacts,
} from '../../../lib/reconciliation/item.ts'

const facts = (change: Partial<BreakFacts> = {}): BreakFacts => ({
  kind: 'missing_with_us',
  status: 'open',
  direction: 'DBIT',
  ourAmount: null,
  partnerAmount: 100n,
  ...change,
})

t.test("what the partner's balance has more than ours", async (t) => {
  for (const [change, difference] of [
    [{ direction: 'CRDT', partnerAmount: 100n }, 100n],
    [{ direction: 'DBIT', partnerAmount: 100n }, -100n],
    [{ direction: 'CRDT', partnerAmount: null, ourAmount: 100n }, -100n],
    [{ direction: 'DBIT', partnerAmount: null, ourAmount: 100n }, 100n],
    [{ direction: 'CRDT', partnerAmount: 110n, ourAmount: 100n }, 10n],
    [{ direction: 'DBIT', partnerAmount: 110n, ourAmount: 100n }, -10n],
  ] as const)
    t.equal(
      differenceOf(facts(change)),
      difference,
      JSON.stringify(change, (_, value: unknown) => String(value)),
    )
})

t.test('what may become of an item, by its kind and status', async (t) => {
  for (const kind of BREAK_KINDS) {
    for (const status of BREAK_STATUSES) {
      for (const direction of ['CRDT', 'DBIT'] as const) {
        const differs = kind === 'amount_differs'
        const item = facts({
          kind,
          status,
          direction,
          ourAmount: kind === 'missing_with_us' ? null : 90n,
          partnerAmount: kind === 'missing_with_partner' ? null : 100n,
        })
        const expected =
          status === 'in_suspense'
            ? direction === 'DBIT'
              ? ['charge']
              : []
            : status === 'matched' || status === 'resolved'
              ? []
              : differs && direction === 'DBIT'
                ? ['explained', 'charge']
                : ['explained']
        t.strictSame(outcomesOf(item), expected, `${kind} ${status} ${direction}`)
        t.equal(
          goesToSuspense(item),
          status === 'open' && (kind === 'missing_with_us' || kind === 'duplicate'),
          `${kind} ${status} ${direction}: suspense`,
        )
      }
    }
  }
  t.strictSame(
    outcomesOf(facts({ kind: 'amount_differs', ourAmount: 100n, partnerAmount: 90n })),
    ['explained'],
    'what the partner took less of is no charge',
  )
})
