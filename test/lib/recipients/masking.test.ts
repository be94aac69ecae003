import t from 'tap'
import { maskAccountNumber, maskIban } from '../../../lib/recipients/masking.ts'

t.test('an IBAN keeps its first and last four characters', (t) => {
  t.equal(maskIban('NL77SBOX0100000001'), 'NL77****0001')
  t.equal(maskIban('NL77 SBOX 0100 0000 01'), 'NL77****0001')
  t.equal(maskIban('NO9386011117947'), 'NO93****7947')
  t.end()
})

t.test('other numbers keep their last four characters, short ones two', (t) => {
  const table: readonly (readonly [string, string])[] = [
    ['12345678', '****5678'],
    ['1234567', '****4567'],
    ['123456', '****56'],
    ['1234', '****34'],
    ['999010000000000004', '****0004'],
    ['12-34-56', '****56'],
    ['19-2000145399', '****5399'],
  ]
  for (const [number, masked] of table) t.equal(maskAccountNumber(number), masked)
  t.end()
})
