import fc from 'fast-check'
import t from 'tap'
import {
  formatMajor,
  INT64_MAX,
  INT64_MIN,
  moneyJson,
  parseAmountMinor,
  parsePositiveAmountMinor,
  REQUEST_AMOUNT_MAX,
} from '../../../lib/base/money.ts'

t.test('an amount is a plain whole number that fits 64 bits, and nothing else', (t) => {
  const table: readonly (readonly [string, bigint | null])[] = [
    ['0', 0n],
    ['1', 1n],
    ['-1', -1n],
    ['9000', 9000n],
    ['9223372036854775807', INT64_MAX],
    ['-9223372036854775808', INT64_MIN],
    ['9223372036854775808', null],
    ['-9223372036854775809', null],
    ['10000000000000000000', null],
    ['', null],
    ['-', null],
    ['-0', null],
    ['+1', null],
    ['01', null],
    ['1.0', null],
    ['1e3', null],
    [' 1', null],
    ['1\n', null],
    ['0x10', null],
    ['1n', null],
    ['١', null],
  ]
  for (const [text, expected] of table) t.equal(parseAmountMinor(text), expected, JSON.stringify(text))
  t.end()
})

t.test('a positive amount is above zero', (t) => {
  const table: readonly (readonly [string, bigint | null])[] = [
    ['1', 1n],
    ['9223372036854775807', INT64_MAX],
    ['9223372036854775808', null],
    ['0', null],
    ['-1', null],
    ['', null],
  ]
  for (const [text, expected] of table) t.equal(parsePositiveAmountMinor(text), expected, JSON.stringify(text))
  t.equal(REQUEST_AMOUNT_MAX, 1_000_000_000_000_000n)
  t.end()
})

t.test('every 64-bit amount survives the wire', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
      (amountMinor) => parseAmountMinor(moneyJson({ amountMinor, currency: 'EUR' }).amountMinor) === amountMinor,
    ),
  )
  t.end()
})

t.test('major units show every decimal of the currency', (t) => {
  t.equal(formatMajor(9000n, 'EUR'), '90.00')
  t.equal(formatMajor(5n, 'EUR'), '0.05')
  t.equal(formatMajor(-5n, 'EUR'), '-0.05')
  t.equal(formatMajor(0n, 'EUR'), '0.00')
  t.equal(formatMajor(9000n, 'JPY'), '9000')
  t.equal(formatMajor(-1234n, 'BHD'), '-1.234')
  t.equal(formatMajor(12345n, 'CLF'), '1.2345')
  t.equal(formatMajor(INT64_MAX, 'EUR'), '92233720368547758.07')
  t.end()
})
