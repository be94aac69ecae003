/**
 * A rate that is taken anew for an exchange which has waited for people: what stays fixed, and how far it may have
 * moved.
 */
import t from 'tap'
import { baseRate } from '../../../lib/exchange/market.ts'
import { price } from '../../../lib/exchange/pricing.ts'
import { moveByBps, type Fraction } from '../../../lib/exchange/rate.ts'
import { isWithin, requote } from '../../../lib/exchange/requote.ts'

const MID = baseRate('EUR', 'USD') as Fraction
const terms = { marginBps: 50, approvalToleranceBps: 50 }

function waiting(fixedSide: 'sell' | 'buy') {
  const priced = price({ fixedSide, amount: 100_000n, sellCurrency: 'EUR', buyCurrency: 'USD' }, MID, terms.marginBps)
  if (typeof priced === 'string') throw new Error(priced)
  return {
    fixedSide,
    sellCurrency: 'EUR',
    buyCurrency: 'USD',
    sellAmount: priced.sell,
    buyAmount: priced.buy,
    rate: priced.rate,
  } as const
}

t.test('a rate that has not moved is the same exchange', (t) => {
  const exchange = waiting('sell')
  t.match(requote(exchange, { mid: MID, daysAhead: 0, terms }), {
    sell: exchange.sellAmount,
    buy: exchange.buyAmount,
    rate: exchange.rate,
  })
  t.end()
})

t.test('what was fixed stays fixed, the other side follows', (t) => {
  const [sold, bought] = [waiting('sell'), waiting('buy')]
  const mid = moveByBps(MID, -40n)
  const one = requote(sold, { mid, daysAhead: 0, terms })
  t.match(one, { sell: 100_000n })
  t.ok(typeof one !== 'string' && one.buy < sold.buyAmount)
  const other = requote(bought, { mid, daysAhead: 0, terms })
  t.match(other, { buy: 100_000n })
  t.ok(typeof other !== 'string' && other.sell > bought.sellAmount)
  t.end()
})

t.test('a rate that has moved too far is not taken, whichever way', (t) => {
  for (const [bps, expected] of [
    [-51n, 'moved'],
    [51n, 'moved'],
    [-50n, 'taken'],
    [50n, 'taken'],
    [-4_000n, 'moved'],
  ] as const) {
    const found = requote(waiting('sell'), { mid: moveByBps(MID, bps), daysAhead: 0, terms })
    t.equal(typeof found === 'string' ? found : 'taken', expected, `${bps}`)
  }
  t.equal(
    requote(waiting('sell'), { mid: moveByBps(MID, 1n), daysAhead: 0, terms: { ...terms, approvalToleranceBps: 0 } }),
    'moved',
  )
  t.match(requote(waiting('sell'), { mid: MID, daysAhead: 51, terms }), 'moved', 'days ahead cost, too')
  t.ok(isWithin(10_000n, 10_050n, 50))
  t.notOk(isWithin(10_000n, 10_051n, 50))
  t.ok(isWithin(10_000n, 9_950n, 50))
  t.notOk(isWithin(10_000n, 9_949n, 50))
  t.end()
})
