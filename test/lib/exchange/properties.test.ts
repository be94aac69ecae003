/**
 * Both sides of an exchange, for every pair of currencies, either side fixed, amounts from one minor unit to 10^15: the
 * fixed side stays as it is, the other is the exact value rounded half to even. Here nothing is divided: a value is the
 * right one when it is at most half a minor unit away from the exact fraction, and even when it is just that far.
 *
 *   SEED=123 npm test -- test/lib/exchange/properties.test.ts
 */
import t from 'tap'
import { CURRENCIES, type Currency } from '../../../lib/base/currency.ts'
import { INT64_MAX, REQUEST_AMOUNT_MAX } from '../../../lib/base/money.ts'
import { MARKET_CURRENCIES, marketRate } from '../../../lib/exchange/market.ts'
import { price } from '../../../lib/exchange/pricing.ts'
import { inverseOf, RATE_ONE, sidesAt, type FixedSide, type Fraction } from '../../../lib/exchange/rate.ts'
import { Random } from '../../support/random.ts'

const SEED = Number(process.env['SEED'] ?? 1)
/** Amounts and rates that are tried in every pair, besides those that chance chooses. */
const AMOUNTS = [1n, 5n, REQUEST_AMOUNT_MAX] as const
const RATES = [1n, RATE_ONE / 2n, RATE_ONE, 10n ** 20n - 1n] as const

/** A number of any size up to so many digits, each size as likely as the others. */
function anyNumber(random: Random, digits: number): bigint {
  let text = String(random.int(1, 9))
  for (let left = random.int(0, digits - 1); left > 0; left--) text += String(random.int(0, 9))
  return BigInt(text)
}

/** Whether `value` is the fraction rounded half to even. */
function isRounded(value: bigint, numerator: bigint, denominator: bigint): boolean {
  const away = 2n * (value * denominator - numerator)
  const distance = away < 0n ? -away : away
  return distance < denominator || (distance === denominator && value % 2n === 0n)
}

/** The fault of the sides of an exchange; null when they are right. */
function fault(sell: Currency, buy: Currency, fixedSide: FixedSide, amount: bigint, rate: bigint): string | null {
  const sides = sidesAt({ fixedSide, amount, sellCurrency: sell.code, buyCurrency: buy.code }, rate)
  // A rate is so many units bought for one sold, and has ten places.
  const [one, other] = [10n ** BigInt(sell.exponent), 10n ** BigInt(buy.exponent)]
  const [numerator, denominator] =
    fixedSide === 'sell' ? [amount * rate * other, one * 10n ** 10n] : [amount * 10n ** 10n * one, rate * other]
  if (sides === 'amount_too_small') return isRounded(0n, numerator, denominator) ? null : 'said to be too small'
  if (sides === 'too_large') return numerator > INT64_MAX * denominator ? null : 'said to be too large'
  const [fixed, derived] = fixedSide === 'sell' ? [sides.sell, sides.buy] : [sides.buy, sides.sell]
  if (fixed !== amount) return `the fixed side became ${fixed}`
  if (derived <= 0n || derived > INT64_MAX) return `the other side is ${derived}`
  return isRounded(derived, numerator, denominator) ? null : `${derived} is not ${numerator}/${denominator}`
}

t.test(`every pair, either side, any amount (SEED=${SEED})`, (t) => {
  const random = new Random(SEED)
  const wrong: string[] = []
  let checked = 0
  const look = (sell: Currency, buy: Currency, fixedSide: FixedSide, amount: bigint, rate: bigint) => {
    checked += 1
    const found = fault(sell, buy, fixedSide, amount, rate)
    if (found !== null && wrong.length < 5)
      wrong.push(`${sell.code} to ${buy.code}, ${fixedSide} ${amount} at ${rate}: ${found}`)
  }
  for (const sell of CURRENCIES) {
    for (const buy of CURRENCIES) {
      if (sell === buy) continue
      for (const fixedSide of ['sell', 'buy'] as const) {
        look(sell, buy, fixedSide, anyNumber(random, 15), anyNumber(random, 20))
        look(sell, buy, fixedSide, random.pick(AMOUNTS), anyNumber(random, 20))
        look(sell, buy, fixedSide, anyNumber(random, 15), random.pick(RATES))
      }
    }
  }
  t.strictSame(wrong, [])
  t.ok(checked === CURRENCIES.length * (CURRENCIES.length - 1) * 6, `${checked} exchanges`)
  t.end()
})

t.test(`every pair of the market, shifted and with a margin (SEED=${SEED})`, (t) => {
  const random = new Random(SEED)
  const wrong: string[] = []
  const byCode = new Map(CURRENCIES.map((currency) => [currency.code, currency]))
  for (const sell of MARKET_CURRENCIES) {
    for (const buy of MARKET_CURRENCIES) {
      if (sell === buy) continue
      const shift = {
        sellCurrency: random.chance(0.5) ? sell : buy,
        buyCurrency: '',
        shiftBps: random.int(-5_000, 5_000),
        until: null,
      }
      shift.buyCurrency = shift.sellCurrency === sell ? buy : sell
      const mid = marketRate(sell, buy, [shift], 0) as Fraction
      const fixedSide = random.pick(['sell', 'buy'] as const)
      const amount = anyNumber(random, 15)
      const priced = price({ fixedSide, amount, sellCurrency: sell, buyCurrency: buy }, mid, random.int(0, 500))
      const say = (what: string) => {
        if (wrong.length < 5) wrong.push(`${sell} to ${buy}, ${fixedSide} ${amount}: ${what}`)
      }
      if (typeof priced === 'string') continue
      if (!isRounded(priced.partnerRate, mid.numerator * RATE_ONE, mid.denominator))
        say(`${priced.partnerRate} is not the middle`)
      if (priced.rate > priced.partnerRate) say('the margin is against the operator')
      if (!isRounded(inverseOf(priced.rate), RATE_ONE * RATE_ONE, priced.rate)) say('the inverse is another')
      const found = fault(byCode.get(sell)!, byCode.get(buy)!, fixedSide, amount, priced.rate)
      if (found !== null) say(found)
      const sides = sidesAt({ fixedSide, amount, sellCurrency: sell, buyCurrency: buy }, priced.rate)
      if (typeof sides === 'string' || sides.sell !== priced.sell || sides.buy !== priced.buy)
        say('the sides are not those of the rate that is shown')
    }
  }
  t.strictSame(wrong, [])
  t.end()
})

t.test('what lies just between two goes to the even one', (t) => {
  const sides = (fixedSide: FixedSide, amount: bigint, rate: bigint) =>
    sidesAt({ fixedSide, amount, sellCurrency: 'EUR', buyCurrency: 'USD' }, rate)
  const half = RATE_ONE / 2n
  t.strictSame(sides('sell', 3n, half), { sell: 3n, buy: 2n }, '1.5')
  t.strictSame(sides('sell', 5n, half), { sell: 5n, buy: 2n }, '2.5')
  t.strictSame(sides('sell', 1n, half), 'amount_too_small', '0.5')
  t.strictSame(sides('sell', 1n, half + 1n), { sell: 1n, buy: 1n })
  t.strictSame(sides('buy', 3n, 2n * RATE_ONE), { sell: 2n, buy: 3n }, '1.5')
  t.strictSame(sides('buy', 5n, 2n * RATE_ONE), { sell: 2n, buy: 5n }, '2.5')
  t.end()
})
