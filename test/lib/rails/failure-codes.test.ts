import t from 'tap'
import { FAILURE_CODES, failureFor, failureOf, isIsoOrAchCode } from '../../../lib/rails/failure-codes.ts'
import type { FailureCode, Scheme } from '../../../lib/rails/failure-codes.ts'

const TABLE: readonly (readonly [FailureCode, Scheme, string])[] = [
  ['insufficient_funds', 'iso20022', 'AM04'],
  ['insufficient_funds', 'ach', 'R01 R09'],
  ['insufficient_funds', 'bacs', '0'],
  ['account_not_found', 'iso20022', 'AC03 BE06'],
  ['account_not_found', 'ach', 'R03'],
  ['account_not_found', 'fps', 'AC03 PY01'],
  ['account_not_found', 'bacs', '5'],
  ['account_closed', 'iso20022', 'AC04 AC07'],
  ['account_closed', 'ach', 'R02'],
  ['account_closed', 'bacs', 'B'],
  ['account_blocked', 'iso20022', 'AC06 AC16 AC17'],
  ['account_blocked', 'ach', 'R16'],
  ['account_not_eligible', 'iso20022', 'AG01 AG03 AC14'],
  ['account_not_eligible', 'ach', 'R20 R13'],
  ['account_not_eligible', 'bacs', 'F'],
  ['invalid_account_details', 'iso20022', 'AC01 RC01 RC03 RC04 RC07 AGNT'],
  ['invalid_account_details', 'ach', 'R04 R17 R28'],
  ['invalid_account_details', 'bacs', 'L'],
  ['name_mismatch', 'iso20022', 'BE01 BE05'],
  ['bank_unreachable', 'iso20022', 'CNOR DNOR AB05 AB06 AB07 AB08 AB09 NOAS'],
  ['bank_unreachable', 'ach', 'R32 R34'],
  ['bank_unreachable', 'fps', 'BE08'],
  ['unsupported_currency', 'iso20022', 'AM03 CURR AC09'],
  ['unsupported_currency', 'ach', 'R85'],
  ['amount_limit_exceeded', 'iso20022', 'AM02 AM14'],
  ['amount_limit_exceeded', 'ach', 'R19'],
  ['duplicate', 'iso20022', 'AM05 DUPL'],
  ['duplicate', 'ach', 'R24'],
  ['refused_by_recipient_bank', 'iso20022', 'MS03 AG02 NARR SL02'],
  ['refused_by_recipient_bank', 'ach', 'R31'],
  ['refused_by_recipient', 'iso20022', 'MS02'],
  ['refused_by_recipient', 'ach', 'R23 R08'],
  ['refused_by_recipient', 'bacs', '1'],
  ['regulatory_information_missing', 'iso20022', 'RR01 RR02 RR03 RR05 RR06 RR12 BE04 BE07 BE10 BE11'],
  ['regulatory_information_missing', 'ach', 'R26 R80'],
  ['reference_invalid', 'iso20022', 'RR07 RR09 RF01'],
  ['reference_invalid', 'ach', 'R25'],
  ['cutoff_missed', 'iso20022', 'TM01 DT01'],
  ['cutoff_missed', 'ach', 'R18'],
  ['declined', 'iso20022', 'RR04 FRAD FR01 AM07'],
  ['declined', 'ach', 'R90'],
  ['recalled', 'iso20022', 'FOCR CUST UPAY'],
  ['recalled', 'ach', 'R06'],
  ['recipient_deceased', 'iso20022', 'MD07'],
  ['recipient_deceased', 'ach', 'R14 R15'],
  ['recipient_deceased', 'fps', 'MD09'],
  ['recipient_deceased', 'bacs', '2'],
  ['technical_error', 'iso20022', 'FF01 DS28 ED05 TECH BE08 AB03 AB04'],
  ['technical_error', 'ach', 'R27'],
]

t.test('every listed code of every scheme has its meaning', (t) => {
  for (const [code, scheme, listed] of TABLE) {
    for (const schemeCode of listed.split(' ')) {
      t.match(failureFor(schemeCode, scheme), { code, scheme, schemeCode }, `${scheme} ${schemeCode}`)
      t.equal(
        isIsoOrAchCode(schemeCode),
        scheme === 'iso20022' || scheme === 'ach' || ['AC03', 'BE08'].includes(schemeCode),
        schemeCode,
      )
    }
  }
  t.end()
})

t.test('a code without its scheme is found, ISO 20022 first', (t) => {
  t.match(failureFor('AC04'), { code: 'account_closed', scheme: 'iso20022' })
  t.match(failureFor('r01'), { code: 'insufficient_funds', scheme: 'ach', schemeCode: 'r01' })
  t.match(failureFor('PY01'), { code: 'account_not_found', scheme: 'fps' })
  t.match(failureFor('0'), { code: 'insufficient_funds', scheme: 'bacs' })
  t.match(failureFor('BE08'), { code: 'technical_error', scheme: 'iso20022' })
  t.match(failureFor('AC04', 'fps'), { code: 'account_closed', scheme: 'fps' })
  t.match(failureFor('name and number mismatch', 'fps'), { code: 'name_mismatch' })
  t.end()
})

t.test('a code nobody lists is unknown and kept', (t) => {
  t.strictSame(failureFor('ZZ99'), { ...failureOf('unknown'), scheme: 'provider', schemeCode: 'ZZ99' })
  t.match(failureFor('R99', 'ach'), { code: 'unknown', scheme: 'ach', schemeCode: 'R99' })
  t.match(failureFor('AC04', 'bacs'), { code: 'unknown' })
  t.end()
})

t.test('every failure has a neutral sentence for the customer', (t) => {
  for (const code of FAILURE_CODES) {
    const { message } = failureOf(code)
    t.match(message, /^[A-Z].*\.$/, code)
    t.notMatch(message, /fraud|compliance|screening|sanction|deceased|died/i, code)
  }
  t.equal(FAILURE_CODES.length, 23)
  t.end()
})
