import t from 'tap'
import {
  CURRENCIES,
  currencyName,
  exponentOf,
  isCurrencyCode,
  WITHDRAWN_CURRENCIES,
} from '../../../lib/base/currency.ts'

const EXCEPTIONS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

t.test('the exponents are those of ISO 4217', (t) => {
  for (const [exponent, codes] of Object.entries(EXCEPTIONS)) {
    t.strictSame(
      CURRENCIES.filter((each) => each.exponent === Number(exponent)).map((each) => each.code),
      codes.split(' ').toSorted(),
    )
  }
  t.ok(CURRENCIES.every((each) => [0, 2, 3, 4].includes(each.exponent)))
  t.equal(exponentOf('EUR'), 2)
  t.equal(exponentOf('JPY'), 0)
  t.end()
})

t.test('codes are three capital letters, listed once and in order', (t) => {
  const codes = CURRENCIES.map((each) => each.code)
  t.ok(codes.every((code) => /^[A-Z]{3}$/.test(code)))
  t.strictSame(codes, [...new Set(codes)].toSorted())
  t.equal(currencyName('GBP'), 'Pound Sterling')
  t.end()
})

t.test('only listed codes are currencies', (t) => {
  for (const code of ['EUR', 'GBP', 'USD', 'BGN', 'XCG']) t.ok(isCurrencyCode(code), code)
  for (const code of ['eur', 'EU', 'XXX', 'XAU', 'ZZZ', 'HRK', '', 'constructor', '__proto__'])
    t.notOk(isCurrencyCode(code), code)
  t.end()
})

t.test('the lev is known but withdrawn for the euro', (t) => {
  t.strictSame(WITHDRAWN_CURRENCIES.BGN, { since: '2026-01-01', replacedBy: 'EUR' })
  t.end()
})
