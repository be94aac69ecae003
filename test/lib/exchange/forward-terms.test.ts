/** Forwards: their days, their deposits, and what drawing in any order leaves. */
import fc from 'fast-check'
import t from 'tap'

import { draw, giveBack } from '../../../lib/exchange/drawdown.ts'
import {
  depositFor,
  drawdownFromRefusal,
  graceUntil,
  isWorthForward,
  marginCall,
  maturityOf,
  settlementDateRefusal,
} from '../../../lib/exchange/forward-terms.ts'
import { sidesAt, type Sides } from '../../../lib/exchange/rate.ts'
import { PLAIN_CALENDAR } from '../../../lib/rails/business-days.ts'

const FRIDAY = Date.parse('2026-11-20T12:00:00Z')

t.test('a forward settles three business days to a year ahead, on a day the bank works', async (t) => {
  const refusal = (date: string, calendar: typeof PLAIN_CALENDAR | null = PLAIN_CALENDAR) =>
    settlementDateRefusal(date, { now: FRIDAY, calendar, maxTenorMonths: 12 })?.code ?? null
  t.equal(refusal('2026-11-19'), 'in_past')
  t.equal(refusal('2026-11-24'), 'too_small', 'the second business day')
  t.equal(refusal('2026-11-25'), null)
  t.equal(refusal('2026-11-28'), 'not_business_day')
  t.equal(refusal('2027-11-19'), null)
  t.equal(refusal('2027-11-22'), 'too_far_ahead')
  t.equal(refusal('2026-11-22', null), 'too_small', 'where calendars are ignored each day counts')
  t.equal(refusal('2026-11-23', null), null)
  t.equal(refusal('2026-11-28', null), null)
})

t.test('an open one is drawn from some day before that', async (t) => {
  const refusal = (date: string) =>
    drawdownFromRefusal(date, { now: FRIDAY, settlementDate: '2026-12-01' })?.code ?? null
  t.equal(refusal('2026-11-19'), 'in_past')
  t.equal(refusal('2026-11-20'), null)
  t.equal(refusal('2026-11-30'), null)
  t.equal(refusal('2026-12-01'), 'too_large')
})

t.test('times: ten in the morning of the last day, and two business days of grace', async (t) => {
  t.equal(maturityOf('2026-12-01'), Date.parse('2026-12-01T10:00:00Z'))
  t.equal(graceUntil(FRIDAY, PLAIN_CALENDAR), Date.parse('2026-11-25T00:00:00Z'), 'a weekend is between')
  t.equal(graceUntil(FRIDAY, null), Date.parse('2026-11-23T00:00:00Z'))
})

t.test('deposits, and what is too little for a forward', async (t) => {
  const terms = { depositBps: 500, sandbox: true }
  t.equal(depositFor(1_000_000n, terms), 50_000n)
  t.equal(depositFor(1_601n, terms), 160n, 'the sandbox asks for a tenth of this one')
  t.equal(depositFor(1_601n, { ...terms, sandbox: false }), 80n)
  t.equal(depositFor(1_000_000n, { ...terms, depositBps: 0 }), 0n)
  t.ok(isWorthForward(5n, 1_000_000n, { minSellEur: 1_000_000n, sandbox: false }))
  t.notOk(isWorthForward(5n, 999_999n, { minSellEur: 1_000_000n, sandbox: true }))
  t.ok(isWorthForward(1_602n, 1_602n, { minSellEur: 1_000_000n, sandbox: true }))
  t.notOk(isWorthForward(1_602n, 1_602n, { minSellEur: 1_000_000n, sandbox: false }))
})

t.test('a margin call brings a deposit back to what it was', async (t) => {
  const call = (kept: bigint, worth: bigint) =>
    marginCall({ remainingSell: 10_000n, worth, kept }, { depositBps: 500, marginCallBps: 300 })
  t.equal(call(500n, 10_000n), null)
  t.equal(call(500n, 9_700n), null, 'at the threshold')
  t.equal(call(500n, 9_699n), 301n, 'the loss')
  t.equal(call(801n, 9_699n), null, 'paid')
  t.equal(call(0n, 9_699n), 801n)
})

t.test('however a contract is drawn, its parts are the whole of it', async () => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 12n),
      fc.bigInt(1n, 10n ** 14n),
      fc.array(
        fc.record({
          share: fc.bigInt(1n, 1_000n),
          side: fc.constantFrom('sell' as const, 'buy' as const),
          fails: fc.boolean(),
        }),
        { maxLength: 20 },
      ),
      (amount, rate, steps) => {
        const pair = { sellCurrency: 'EUR', buyCurrency: 'JPY', fixedSide: 'sell' } as const
        const total = sidesAt({ ...pair, amount }, rate)
        if (typeof total === 'string') return
        let left: Sides = total
        let drawn: Sides = { sell: 0n, buy: 0n }
        for (const { share, side, fails } of steps) {
          const part = (left[side] * share) / 1_000n
          if (part === 0n) continue
          const taken = draw(left, { ...pair, fixedSide: side, amount: part, rate })
          if (taken.kind !== 'drawn') continue
          left = fails ? giveBack(taken.left, taken.sides) : taken.left
          if (!fails) drawn = giveBack(drawn, taken.sides)
          if ((left.sell === 0n) !== (left.buy === 0n) || left.sell < 0n || left.buy < 0n)
            throw new Error('something is left of one side alone')
        }
        if (left.sell > 0n) {
          const last = draw(left, { ...pair, amount: left.sell, rate })
          if (last.kind !== 'drawn' || last.sides.buy !== left.buy) throw new Error('the last one takes the rest')
          drawn = giveBack(drawn, last.sides)
        }
        if (drawn.sell !== total.sell || drawn.buy !== total.buy) throw new Error('the parts are not the whole')
      },
    ),
  )
})
