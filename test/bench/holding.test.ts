/** Whether a rate holds: growth, the lag of followers, and the verdict. */
import t from 'tap'
import { chainLag, growthOf, holds, lagIsBounded, lagOf, lagText, type Held } from '../../bench/holding.ts'

t.test('the lag of a follower is what its passes leave behind', async (t) => {
  const saw = [0.3, 1.9, 2.6, 0.4, 1.8, 2.5, 0.5, 2.2, 2.7]
  t.same(lagOf(saw, 3), { begin: 0.3, end: 0.5, most: 2.7 })
  t.ok(lagIsBounded(lagOf(saw, 3)), 'a beat is no growth')
  t.same(lagOf([], 3), { begin: Infinity, end: Infinity, most: Infinity })
  t.notOk(lagIsBounded(lagOf([], 3)), 'a lag that was not read is not bounded')
  t.same(lagOf([4], 3), { begin: 4, end: 4, most: 4 })
})

t.test('a lag is bounded below two seconds, unless it is on its way there', async (t) => {
  const rising = (perSecond: number, seconds = 60) => Array.from({ length: seconds }, (_, at) => at * perSecond)
  t.ok(lagIsBounded(lagOf(rising(0.01), 3)))
  t.notOk(lagIsBounded(lagOf(rising(0.02), 3)), 'a second and more in a minute')
  t.notOk(lagIsBounded(lagOf(rising(0.1), 3)))
  t.ok(lagIsBounded({ begin: 1.9, end: 1.9, most: 9 }))
  t.notOk(lagIsBounded({ begin: 2, end: 2, most: 2 }), 'two seconds are too many')
  t.ok(lagIsBounded({ begin: 30, end: 0.2, most: 30 }), 'and what was caught up is forgiven')
})

t.test('the chain counts lines, and they are turned into seconds', async (t) => {
  const at = (seconds: number, value: number) => ({ at: seconds * 1000, value })
  const written = [at(0, 10_000), at(1, 12_000), at(2, 14_000)]
  t.same(chainLag([at(0, 0), at(1, 1_000), at(2, 9_000)], written), [0, 0.5, 4.5])
  t.same(chainLag([at(0, 0), at(1, 7)], [at(0, 5), at(1, 5)]), [0, Infinity], 'lines that wait while none are written')
  t.same(chainLag([], []), [])
  t.same(chainLag([at(0, 0)], [at(0, 5)]), [0], 'one reading has no pace')
})

t.test('growth is the slope of a line', async (t) => {
  const readings = (values: readonly number[]) => values.map((value, nth) => ({ at: nth * 500, value }))
  t.equal(growthOf(readings([100, 110, 120, 130])), 20)
  t.equal(growthOf(readings([100, 90, 110, 100, 100])) < 5, true)
  t.equal(growthOf(readings([7])), 0)
})

const HELD: Held = {
  arrivalsPerSecond: 1_000,
  rate: 1_000,
  failures: 0,
  p50Ms: 50,
  growth: 5,
  lags: { transactions: { begin: 0.3, end: 0.4, most: 1.2 }, 'journal chain': { begin: 0, end: 1.5, most: 9 } },
}

t.test('a rate holds when all of it does', async (t) => {
  t.ok(holds({ ...HELD, lags: {} }))
  t.notOk(holds({ ...HELD, growth: 21 }), 'payments under way grow')
  t.notOk(holds({ ...HELD, failures: 1 }), 'a request failed')
  t.notOk(holds({ ...HELD, p50Ms: 1_001 }), 'requests wait')
  t.notOk(holds({ ...HELD, rate: 979 }), 'not all that arrived was answered')
  t.notOk(holds(HELD), 'the chain rises by more than a second')
  const lags = { ...HELD.lags, 'journal chain': { begin: 1, end: 1.5, most: 9 } }
  t.ok(holds({ ...HELD, lags }))
  t.notOk(holds({ ...HELD, lags: { ...lags, webhooks: { begin: 0, end: 2.1, most: 2.1 } } }), 'one follower is behind')
})

t.test('the lags in words', async (t) => {
  t.equal(lagText(HELD.lags), 'lag at the end (most), s: transactions 0.4 (1.2), journal chain 1.5 (9.0)')
})
