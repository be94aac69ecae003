/** Rates, exact: what an amount is worth, and which side gives way. */
import fc from 'fast-check'
import t from 'tap'

import type { CurrencyCode } from '../../../lib/base/currency.ts'
import { exponentOf } from '../../../lib/base/currency.ts'
import { baseRate, MARKET_CURRENCIES, marketRate } from '../../../lib/exchange/market.ts'
import { bidAndAsk, forwardOf, price } from '../../../lib/exchange/pricing.ts'
import {
  divideHalfEven,
  formatRate,
  formatRateInFull,
  inverseOf,
  invert,
  moveByBps,
  parseRate,
  rateOf,
  sidesAt,
} from '../../../lib/exchange/rate.ts'

t.test('rates are read and written as they are', (t) => {
  for (const [text, shown = text] of [
    ['1'],
    ['0.0000000001'],
    ['9999999999.9999999999'],
    ['1.0842'],
    ['1.0800', '1.08'],
    ['160.0000000000', '160'],
  ] as const) {
    t.equal(formatRate(parseRate(text)!), shown)
  }
  for (const text of ['', '0', '0.0', '-1', '01', '1.', '.5', '1e3', '1.00000000001', '10000000000', '1,5', 'NaN'])
    t.equal(parseRate(text), null, text)
  t.equal(formatRateInFull(inverseOf(parseRate('1.08')!)), '0.9259259259')
  t.equal(formatRateInFull(inverseOf(parseRate('160')!)), '0.0062500000')
  t.throws(() => inverseOf(1n), RangeError, 'the inverse of the smallest rate is no rate')
  t.end()
})

t.test('halves go to the even neighbour', (t) => {
  t.strictSame(
    [5n, 15n, 25n, 35n, 14n, 16n, 0n].map((n) => divideHalfEven(n, 10n)),
    [0n, 2n, 2n, 4n, 1n, 2n, 0n],
  )
  t.end()
})

t.test('the derived side, in currencies of every kind', (t) => {
  const sides = (
    fixedSide: 'sell' | 'buy',
    amount: bigint,
    sellCurrency: CurrencyCode,
    buyCurrency: CurrencyCode,
    rate: string,
  ) => sidesAt({ fixedSide, amount, sellCurrency, buyCurrency }, parseRate(rate)!)
  t.strictSame(sides('sell', 10_000n, 'EUR', 'USD', '1.0746'), { sell: 10_000n, buy: 10_746n })
  t.strictSame(sides('buy', 10_746n, 'EUR', 'USD', '1.0746'), { sell: 10_000n, buy: 10_746n })
  t.strictSame(sides('sell', 999n, 'EUR', 'JPY', '160'), { sell: 999n, buy: 1_598n }, 'two decimals to none: 1 598.4')
  t.strictSame(sides('buy', 1n, 'JPY', 'EUR', '0.00625'), { sell: 2n, buy: 1n }, 'one cent costs 1.6 yen')
  t.strictSame(sides('sell', 1n, 'EUR', 'BHD', '0.4'), { sell: 1n, buy: 4n }, 'three decimals')
  t.strictSame(sides('sell', 125n, 'CLF', 'EUR', '1'), { sell: 125n, buy: 1n }, 'four decimals: 1.25')
  t.strictSame(sides('sell', 50n, 'CLF', 'EUR', '1'), 'amount_too_small', 'half a cent is even at none')
  t.strictSame(sides('sell', 150n, 'CLF', 'EUR', '1'), { sell: 150n, buy: 2n })
  t.strictSame(sides('sell', 1n, 'JPY', 'EUR', '0.004'), 'amount_too_small')
  t.strictSame(sides('sell', 10n ** 15n, 'EUR', 'USD', '9999999999'), 'too_large')
  t.end()
})

t.test('the market: base rates, crosses by division, shifts and their inverse', (t) => {
  t.equal(formatRate(rateOf(baseRate('EUR', 'USD')!)), '1.08')
  t.equal(formatRate(rateOf(baseRate('USD', 'EUR')!)), '0.9259259259')
  t.equal(formatRate(rateOf(baseRate('GBP', 'JPY')!)), '186.0465116279')
  t.equal(baseRate('EUR', 'BHD'), null)
  const shifts = [{ sellCurrency: 'EUR', buyCurrency: 'USD', shiftBps: 100, until: 1_000 }]
  t.equal(formatRate(rateOf(marketRate('EUR', 'USD', shifts, 0)!)), '1.0908')
  t.equal(formatRate(rateOf(marketRate('USD', 'EUR', shifts, 0)!)), '0.9167583425', 'the other way')
  t.equal(
    formatRate(rateOf(marketRate('USD', 'EUR', [{ ...shifts[0]!, sellCurrency: 'USD', buyCurrency: 'EUR' }], 0)!)),
    '0.9351851852',
  )
  t.equal(formatRate(rateOf(marketRate('EUR', 'USD', shifts, 1_000)!)), '1.08', 'its time is over')
  t.equal(formatRate(rateOf(marketRate('EUR', 'GBP', shifts, 0)!)), '0.86', 'other pairs stay')
  t.end()
})

t.test('the margin is against the customer, and so is every day ahead', (t) => {
  const mid = baseRate('EUR', 'USD')!
  const fixed = { fixedSide: 'sell', amount: 10_000n, sellCurrency: 'EUR', buyCurrency: 'USD' } as const
  t.strictSame(price(fixed, mid, 50), {
    sell: 10_000n,
    buy: 10_746n,
    rate: parseRate('1.0746'),
    partnerRate: parseRate('1.08'),
  })
  t.strictSame(price(fixed, forwardOf(mid, 30), 50), {
    sell: 10_000n,
    buy: 10_714n,
    rate: parseRate('1.0713762'),
    partnerRate: parseRate('1.07676'),
  })
  const { bid, ask } = bidAndAsk(mid, 50)
  t.strictSame([formatRate(bid), formatRate(ask)], ['1.0746', '1.0854271357'])
  t.throws(() => moveByBps(mid, -10_000n), RangeError)
  t.end()
})

t.test(
  'for every pair, side and amount: the fixed side stays, the other is the exact value to the nearest unit, and the partner loses nothing',
  (t) => {
    const currency = fc.constantFrom(...MARKET_CURRENCIES)
    fc.assert(
      fc.property(
        currency,
        currency,
        fc.constantFrom('sell' as const, 'buy' as const),
        fc.bigInt(1n, 10n ** 15n),
        fc.integer({ min: 0, max: 500 }),
        (sellCurrency, buyCurrency, fixedSide, amount, margin) => {
          fc.pre(sellCurrency !== buyCurrency)
          const priced = price(
            { fixedSide, amount, sellCurrency, buyCurrency },
            baseRate(sellCurrency, buyCurrency)!,
            margin,
          )
          if (typeof priced === 'string') return
          const { sell, buy, rate, partnerRate } = priced
          // |2 × derived − 2 × exact| ≤ 1, with everything over one denominator.
          const sellUnits = 10n ** BigInt(exponentOf(sellCurrency))
          const buyUnits = 10n ** BigInt(exponentOf(buyCurrency))
          const one = 10n ** 10n
          if (fixedSide === 'sell') {
            if (sell !== amount) throw new Error('the fixed side has moved')
            const away = 2n * (buy * one * sellUnits - sell * rate * buyUnits)
            if ((away < 0n ? -away : away) > one * sellUnits) throw new Error('not the nearest')
          } else {
            if (buy !== amount) throw new Error('the fixed side has moved')
            const away = 2n * (sell * rate * buyUnits - buy * one * sellUnits)
            if ((away < 0n ? -away : away) > rate * buyUnits) throw new Error('not the nearest')
          }
          if (rate > partnerRate) throw new Error('the margin is negative')
          if (rateOf(invert({ numerator: rate, denominator: one })) !== inverseOf(rate)) throw new Error('two inverses')
        },
      ),
      { numRuns: 2_000 },
    )
    t.end()
  },
)
