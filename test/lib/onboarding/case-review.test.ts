/** What staff decide on KYB cases: pure. */
import t from 'tap'
import {
  approvalBy,
  approvalProblem,
  defaultCurrencies,
  nextReviewAfter,
  type ApprovalFacts,
} from '../../../lib/onboarding/case-review.ts'
import { decideAlert, newHits } from '../../../lib/onboarding/screening-alert.ts'

const day = (text: string): number => Date.parse(`${text}T12:00:00.000Z`)

t.test('an approval needs what the contract says', async (t) => {
  const complete: ApprovalFacts = {
    risk: 'low',
    status: 'in_review',
    reviewAnswer: 'green',
    hasProvider: true,
    persons: [
      { id: 'a', kind: 'person', status: 'green' },
      { id: 'b', kind: 'company', status: 'draft' },
    ],
    alerts: [{ status: 'cleared' }],
    requireAllPersonsVerified: true,
  }
  const person = { id: 'c', kind: 'person', status: 'pending' } as const
  const rows: readonly (readonly [string, Partial<ApprovalFacts>, string | null, (readonly string[])?])[] = [
    ['complete', {}, null],
    ['a person is not verified', { persons: [person] }, 'kyc_incomplete', ['c']],
    ['a person is red', { persons: [{ ...person, status: 'red' }] }, 'kyc_incomplete', ['c']],
    ['nobody asks for it', { persons: [person], requireAllPersonsVerified: false }, null],
    ['there is no provider', { persons: [person], hasProvider: false, reviewAnswer: null }, null],
    ['the customer is not verified', { reviewAnswer: null }, 'kyc_incomplete', []],
    ['the customer is red', { reviewAnswer: 'red' }, 'kyc_incomplete', []],
    ['red, and nobody asks', { reviewAnswer: 'red', requireAllPersonsVerified: false }, null],
    ['an alert is open', { alerts: [{ status: 'open' }] }, 'kyc_incomplete', []],
    [
      'an alert is confirmed',
      { alerts: [{ status: 'confirmed' }], requireAllPersonsVerified: false },
      'kyc_incomplete',
    ],
    ['the risk is prohibited', { risk: 'prohibited' }, 'invalid-transition'],
    ['the risk is not rated', { risk: null }, null],
  ]
  for (const [what, change, slug, persons] of rows) {
    const problem = approvalProblem({ ...complete, ...change })
    t.equal(problem?.slug ?? null, slug, what)
    if (persons !== undefined) t.strictSame(problem?.extra?.['persons'], persons, what)
  }
})

t.test('a customer of high risk is approved by two people', async (t) => {
  const first = { by: 'ann', byName: 'Ann', at: 0, note: null }
  for (const risk of ['low', 'medium', null] as const) t.equal(approvalBy('ann', { risk, first: null }), 'approves')
  t.equal(approvalBy('ann', { risk: 'high', first: null }), 'first')
  t.equal(approvalBy('ann', { risk: 'high', first }), 'again')
  t.equal(approvalBy('ben', { risk: 'high', first }), 'approves')
})

t.test('the next review is due after the months of the risk', async (t) => {
  const months = { low: 36, medium: 24, high: 12 }
  const next = (from: string, risk: Parameters<typeof nextReviewAfter>[1]) =>
    new Date(nextReviewAfter(day(from), risk, months)).toISOString().slice(0, 10)
  t.equal(next('2026-03-15', 'low'), '2029-03-15')
  t.equal(next('2026-03-15', 'medium'), '2028-03-15')
  t.equal(next('2026-03-15', null), '2028-03-15')
  t.equal(next('2026-03-15', 'high'), '2027-03-15')
  t.equal(next('2028-02-29', 'high'), '2029-02-28', 'a day that the month does not have')
  t.equal(nextReviewAfter(day('2026-01-31'), 'high', { ...months, high: 1 }), day('2026-02-28'))
})

t.test('two people decide on an alert, and two may find otherwise later', async (t) => {
  const view = (by: string, decision: 'cleared' | 'confirmed' = 'cleared') => ({
    ...{ by, byName: by, at: 0, decision, reason: 'Another date of birth.' },
  })
  const open = { status: 'open', proposal: null, decision: null } as const
  const first = decideAlert(open, view('ann'))
  t.match(first, { status: 'open', proposal: { by: 'ann' }, decision: null })
  if ('refused' in first) return
  t.match(decideAlert(first, view('ann')), { status: 'open', proposal: { by: 'ann' } }, 'one person is one')
  t.match(decideAlert(first, view('ben', 'confirmed')), { status: 'open', proposal: { by: 'ben' } }, 'a different view')
  const cleared = decideAlert(first, view('ben'))
  t.match(cleared, { status: 'cleared', proposal: null, decision: { by: 'ben', first: { by: 'ann' } } })
  if ('refused' in cleared) return
  t.match(decideAlert(cleared, view('cid')), { refused: { slug: 'invalid-transition' } })
  const doubted = decideAlert(cleared, view('ann', 'confirmed'))
  t.match(doubted, { status: 'cleared', proposal: { by: 'ann' } }, 'until a second person agrees')
})

t.test('a hit is new once', async (t) => {
  const hit = (name: string, status = 'potential_match') => ({ list: 'EU', name, score: 90, status })
  t.strictSame(
    newHits([{ list: 'EU', name: 'Known' }], [hit('Known'), hit('New'), hit('New'), hit('Not', 'false_positive')]),
    [hit('New')],
  )
})

t.test('balances are opened in the currencies that the customer expects to use', async (t) => {
  const available = new Set(['EUR', 'GBP', 'USD'])
  t.strictSame(defaultCurrencies(['GBP', 'XAU', 'USD', 'GBP'], available), ['GBP', 'USD'])
  t.strictSame(defaultCurrencies([], available), ['EUR'])
  t.strictSame(defaultCurrencies(null, available), ['EUR'])
  t.strictSame(defaultCurrencies(['XAU'], new Set(['USD'])), [])
})
