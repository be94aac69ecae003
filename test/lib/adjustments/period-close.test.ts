/** The close of a period: whatever the accounts hold, it leaves them empty, and its entries balance. */
import fc from 'fast-check'
import t from 'tap'
import { isShort, OWN_MONEY, overdraws } from '../../../lib/adjustments/adjustment.ts'
import { periodEnd, periodId, periodPostings, type SweptKey } from '../../../lib/adjustments/period-close.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { RULE_IDS } from '../../../lib/ledger/postings.ts'

const NOW = Date.parse('2026-06-01T08:00:00Z')
const ids = createIdSource(new ManualClock(NOW))
const operatorId = ids.next()
const accounts = Object.fromEntries(OWN_MONEY.map((key) => [key, key]))
const KEYS = OWN_MONEY.filter((key): key is SweptKey => key !== 'house')
const close = { operatorId, currency: 'EUR', period: '2026-05', accounts, ids, now: NOW, closed: 0 }

t.test('every account is swept to zero, and the house has the rest', (t) => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(-1_000n, 1_000n), { minLength: 6, maxLength: 6 }), (amounts) => {
      const swept = Object.fromEntries(KEYS.map((key, index) => [key, amounts[index]]))
      const postings = periodPostings({ ...close, swept })
      // Income is on the credit side, expenses on the debit side.
      const left = new Map<string, bigint>(KEYS.map((key) => [key, (key.startsWith('exp_') ? -1n : 1n) * swept[key]!]))
      for (const { debit, credit, amount } of postings) {
        left.set(debit.id, (left.get(debit.id) ?? 0n) - amount)
        left.set(credit.id, (left.get(credit.id) ?? 0n) + amount)
      }
      const profit = KEYS.reduce((sum, key) => sum + (key.startsWith('exp_') ? -swept[key]! : swept[key]!), 0n)
      const keysOfPostings = postings.map(({ occurrence, ordinal }) => `${occurrence} ${ordinal}`)
      return (
        KEYS.every((key) => left.get(key) === 0n) &&
        (left.get('house') ?? 0n) === profit &&
        postings.every(({ amount }) => amount > 0n) &&
        new Set(keysOfPostings).size === postings.length
      )
    }),
  )
  t.end()
})

t.test('a period has one source, so it is closed once; after its reversal its entries have other numbers', (t) => {
  const swept = { inc_fee: 10n, exp_fx: 3n }
  const once = periodPostings({ ...close, swept })
  const again = periodPostings({ ...close, swept, closed: 1 })
  const source = periodId(close)
  t.ok(once.every(({ sourceId, sourceObject }) => sourceId === source && sourceObject === 'period_close'))
  t.notOk(again.some(({ occurrence }) => once.some((posting) => posting.occurrence === occurrence)))
  t.not(periodId({ ...close, currency: 'GBP' }), source)
  t.not(periodId({ ...close, period: '2026-06' }), source)
  t.match(once[0], { valueDate: '2026-05-31', description: 'Close of 2026-05', customerId: operatorId })
  t.strictSame(periodPostings({ ...close, swept: {} }), [])
  t.equal(periodEnd('2026-12'), Date.parse('2027-01-01T00:00:00Z'))
  t.end()
})

t.test('only what G3 names takes a balance below zero', (t) => {
  t.ok(overdraws('correction_debit', 'L90'))
  t.ok(overdraws('reversal', 'L90'))
  for (const kind of ['correction_credit', 'interest', 'write_off', 'suspense_direct_debit'] as const)
    t.notOk(overdraws(kind, 'L92'), kind)
  t.strictSame(
    RULE_IDS.filter((rule) => /^L9/.test(rule) && overdraws('reversal', rule)),
    ['L90'],
  )
  t.end()
})

t.test('people are told when less than a fifth of the own money is left', (t) => {
  t.notOk(isShort({ funds: 0n, expenses: 0n }), 'an operator that has nothing yet')
  t.notOk(isShort({ funds: 1_000n, expenses: 800n }))
  t.ok(isShort({ funds: 1_000n, expenses: 801n }))
  t.ok(isShort({ funds: 0n, expenses: 1n }))
  t.end()
})
