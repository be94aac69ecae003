import t from 'tap'
import { baseRate } from '../../../lib/exchange/market.ts'
import { converterOf } from '../../../lib/exchange/worth.ts'

t.test('what an amount is worth, in the minor units of each currency', (t) => {
  const convert = converterOf(baseRate)
  t.equal(convert(100_00n, 'EUR', 'USD'), 108_00n)
  t.equal(convert(108_00n, 'USD', 'EUR'), 100_00n)
  t.equal(convert(100_00n, 'EUR', 'JPY'), 16_000n, 'the yen has no decimals')
  t.equal(convert(16_000n, 'JPY', 'EUR'), 100_00n)
  t.equal(convert(1n, 'JPY', 'EUR'), 1n, '0.625 of a cent')
  t.equal(convert(7n, 'EUR', 'EUR'), 7n)
  t.equal(convert(1n, 'EUR', 'KWD'), null, 'what is not quoted')
  t.equal(convert(1n, 'KWD', 'KWD'), 1n)
  t.equal(convert(1n, 'EUR', 'nonsense'), null)
  t.end()
})
