import t from 'tap'

import {
  isCreditorReference,
  printedReference,
  referenceOf,
  referencesIn,
} from '../../../lib/funds-requests/creditor-reference.ts'
import { orderNumber } from '../../../lib/base/ids.ts'

t.test('references of the standard are right, and wrong by one character they are not', async (t) => {
  for (const right of ['RF18539007547034', 'RF18 5390 0754 7034', 'rf712348231', 'RF712348231'])
    t.ok(isCreditorReference(right), right)
  for (const wrong of ['RF19539007547034', 'RF18539007547035', 'RF18', 'XX18539007547034', `RF18${'1'.repeat(22)}`, ''])
    t.notOk(isCreditorReference(wrong), wrong)
})

t.test('a number becomes a reference in which a wrong digit, or a wrong letter, is noticed', async (t) => {
  for (const value of [0n, 1n, 98_765_432_109n, (1n << 50n) - 1n]) {
    const reference = referenceOf(orderNumber('FRQ', value))
    t.match(reference, /^RF\d\dFRQ[0-9A-Z]{10}$/)
    t.ok(isCreditorReference(reference), reference)
    for (let at = 2; at < reference.length; at++) {
      const character = reference[at]!
      const [one, other] = /\d/.test(character) ? ['1', '2'] : ['A', 'B']
      const wrong = character === one ? other : one
      t.notOk(isCreditorReference(reference.slice(0, at) + wrong + reference.slice(at + 1)), `${reference} at ${at}`)
    }
  }
  t.throws(() => referenceOf('too-long-and-wrong-for-any-reference'), RangeError)
})

t.test('references are found in what payers write', async (t) => {
  const one = referenceOf(orderNumber('FRQ', 41n))
  const two = referenceOf(orderNumber('FRQ', 42n))
  t.strictSame(referencesIn(one), [one])
  t.strictSame(referencesIn(printedReference(one)), [one], 'in groups')
  t.strictSame(referencesIn(`Invoice 7, ${one.toLowerCase()}, thanks`), [one], 'in small letters, in a sentence')
  t.strictSame(referencesIn(`${two}/${one} ${two}`), [two, one], 'each once, in their order')
  t.strictSame(referencesIn('RF18539007547034'), [], 'references of others are not ours')
  t.strictSame(referencesIn(`${one.slice(0, -1)}Z`), [], 'nor are wrong ones')
  t.strictSame(referencesIn(''), [])
})
