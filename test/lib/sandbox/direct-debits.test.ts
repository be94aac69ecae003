/** The words of the sandbox bank for direct debits, scheme by scheme. */
import t from 'tap'
import type { MandateScheme } from '../../../lib/rails/debit-schemes.ts'
import {
  debitRules,
  decodeDebitSteps,
  encodeDebitSteps,
  planCollection,
  planMandate,
} from '../../../lib/sandbox/direct-debits.ts'

const mandate = (name: string, scheme: MandateScheme = 'sepa_dd_core'): string => {
  const steps = planMandate(scheme, name, 'collect')
  t.strictSame(decodeDebitSteps(encodeDebitSteps(steps)), steps, `the plan of ${name} reads back`)
  return encodeDebitSteps(steps)
}
const collection = (name: string, amountMinor = 1000n, scheme: MandateScheme = 'sepa_dd_core', attempt = 1): string => {
  const steps = planCollection({ scheme, counterpartyName: name, amountMinor, attempt })
  t.strictSame(decodeDebitSteps(encodeDebitSteps(steps)), steps, `the plan of ${name} reads back`)
  return encodeDebitSteps(steps)
}

const COLLECTED = 'collection.collected@10000'

/** The word, the plan of its mandate, and the plan of a collection of 10.00. */
const WORDS: readonly (readonly [string, string, string])[] = [
  ['Jane Doe', 'mandate.active@5000', COLLECTED],
  ['Successful Ltd', 'mandate.active@5000', COLLECTED],
  ['Invalid Ltd', 'mandate.failed@5000:AC01', COLLECTED],
  ['Penniless Ltd', 'mandate.active@5000', 'collection.rejected@10000:AM04:reject'],
  ['Late Ltd', 'mandate.active@5000', `${COLLECTED} collection.returned@30000:AM04:return`],
  ['Fickle Ltd', 'mandate.active@5000', `${COLLECTED} collection.returned@30000:MD06:refund_authorised`],
  ['Cancels Ltd', 'mandate.active@5000 mandate.cancelled@30000:MD16', COLLECTED],
  ['Slow Ltd', '', ''],
  ['Transferred Ltd', 'mandate.active@5000 mandate.amended@35000:MD20', COLLECTED],
  ['Dormant Ltd', 'mandate.active@5000', COLLECTED],
  [
    'Insists Ltd',
    'mandate.active@5000',
    `${COLLECTED} collection.returned@40000:MD06:refund_authorised collection.reinstated@70000`,
  ],
  ['Retry Ltd', 'mandate.active@5000', 'collection.rejected@10000:AM04:reject'],
]

t.test('the first word of the counterparty, or its token, decides', async (t) => {
  for (const [name, ofMandate, ofCollection] of WORDS) {
    t.equal(mandate(name), ofMandate, `mandate of ${name}`)
    t.equal(collection(name), ofCollection, `collection of ${name}`)
    const [word] = name.split(' ')
    t.equal(collection(`Jane Doe SBX:${word}`), ofCollection, `token ${word}`)
    t.equal(collection(`${name.toLowerCase()}`), ofCollection, 'in any case')
    t.equal(collection(`Jane ${word}`), COLLECTED, 'only the first word')
  }
  t.equal(collection('Retry Ltd', 1000n, 'sepa_dd_core', 2), COLLECTED, 'the second attempt')
})

t.test('codes are those of the scheme', async (t) => {
  t.equal(mandate('Invalid', 'bacs_dd'), 'mandate.failed@5000:5')
  t.equal(collection('Penniless', 1000n, 'bacs_dd'), 'collection.rejected@10000:0:reject')
  t.equal(collection('Penniless', 1000n, 'ach_debit'), 'collection.rejected@10000:R01:reject')
  t.equal(collection('Penniless', 1000n, 'becs_dd'), 'collection.rejected@10000:6:reject')
  t.equal(collection('Penniless', 1000n, 'pad'), 'collection.rejected@10000:901:reject')
  t.equal(collection('Fickle', 1000n, 'bacs_dd'), `${COLLECTED} collection.returned@30000:2:indemnity_claim`)
  t.equal(
    collection('Fickle', 1000n, 'sepa_dd_b2b'),
    `${COLLECTED} collection.returned@30000:MS02:return`,
    'B2B has no refund',
  )
})

t.test('amounts decide where no word does', async (t) => {
  const codes = 'AC01 AC04 AC06 AM04 BE01 AG01 RC01 RR04 MS03 AM05 AM02 TM01'.split(' ')
  codes.forEach((code, nth) => {
    t.equal(collection('Jane Doe', BigInt(1301 + nth)), `collection.rejected@10000:${code}:reject`)
    t.equal(
      collection('Cancels Ltd', BigInt(1301 + nth)),
      `collection.rejected@10000:${code}:reject`,
      'the word is the mandate’s',
    )
  })
  t.equal(collection('Jane Doe', 1313n), COLLECTED)
  t.equal(collection('Late Ltd', 1301n), `${COLLECTED} collection.returned@30000:AM04:return`, 'the word comes first')
})

t.test('a plan that cannot be read is not guessed', async (t) => {
  t.throws(() => decodeDebitSteps('vanished@3'), SyntaxError)
  t.throws(() => decodeDebitSteps('active'), SyntaxError)
})

t.test('the catalogue tells every word and amount', async (t) => {
  const rules = debitRules().map(({ rule }) => rule)
  for (const [name] of WORDS.slice(1))
    t.ok(
      rules.some((rule) => rule.startsWith(`${name.split(' ')[0]}:`)),
      name,
    )
  t.equal(rules.filter((rule) => rule.startsWith('amountMinor 13')).length, 12)
})

t.test('the account of a creditor does not move', (t) => {
  t.equal(encodeDebitSteps(planMandate('sepa_dd_core', 'Transferred Ltd', 'pay')), 'mandate.active@5000')
  t.end()
})
