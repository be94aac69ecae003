/** The fields of payments by account and rail: structured references, symbols, end-to-end ids. */
import t from 'tap'
import type { BankField } from '../../../lib/rails/bank-field.ts'
import { RAILS, type Rail, type RailTerms } from '../../../lib/rails/rails.ts'
import { kidValid } from '../../../lib/recipients/check-digits.ts'
import { metadataFault, paymentFieldFault, type CheckedPayment } from '../../../lib/recipients/payment-fields.ts'
import { CATEGORY_PURPOSE_CODES, PURPOSE_CODES } from '../../../lib/recipients/purpose-codes.ts'

const fault = (
  rail: Rail,
  country: string,
  payment: Partial<CheckedPayment>,
  { iban = null, fields = [] }: { readonly iban?: string | null; readonly fields?: readonly BankField[] } = {},
): string | null => {
  const found = paymentFieldFault(
    { bankCountry: country, iban, fields: new Set(fields) },
    RAILS.get(rail) as RailTerms,
    { reference: 'Invoice 42', ...payment },
  )
  return found === null ? null : `${found.field} ${found.code}`
}

const QR_IBAN = 'CH4431999123000889012'
const QR = '210000000003139471430009017'

t.test('a reference with check digits is checked where the rail and the account know it', async (t) => {
  const bankgiro = { fields: ['bankgiro'] as const }
  for (const [rail, country, reference, expected, account] of [
    ['sepa', 'NL', 'RF18539007547034', null],
    ['sepa', 'NL', 'RF18 5390 0754 7034', null],
    ['sepa', 'NL', 'rf18539007547034', null],
    ['sepa', 'NL', 'RF19539007547034', '/reference invalid_checksum'],
    ['sepa_instant', 'NL', 'RF19 5390 0754 7034', '/reference invalid_checksum'],
    ['target2', 'NL', 'RF19539007547034', '/reference invalid_checksum'],
    ['ch_sic', 'CH', 'RF19539007547034', '/reference invalid_checksum', { iban: 'CH9300762011623852957' }],
    ['sepa', 'NL', 'RF19 is our contract', null],
    ['sepa', 'NL', 'RF19', null],
    ['faster_payments', 'GB', 'RF19539007547034', null],
    ['ch_sic', 'CH', QR, null, { iban: QR_IBAN }],
    ['ch_sic', 'CH', '21 00000 00003 13947 14300 09017', null, { iban: QR_IBAN }],
    ['ch_sic', 'CH', `${QR.slice(0, -1)}8`, '/reference invalid_checksum', { iban: QR_IBAN }],
    ['ch_sic', 'CH', 'RF18539007547034', '/reference invalid_format', { iban: QR_IBAN }],
    ['swift', 'CH', 'Invoice 42', '/reference invalid_format', { iban: QR_IBAN }],
    ['se_domestic', 'SE', '1234567897', null, bankgiro],
    ['se_domestic', 'SE', '1234567898', '/reference invalid_checksum', bankgiro],
    ['se_domestic', 'SE', 'Faktura 1234567898', null, bankgiro],
    ['se_domestic', 'SE', '1234567898', null, { fields: ['clearingNumber', 'accountNumber'] }],
    ['no_domestic', 'NO', '1234567897', null],
    ['no_domestic', 'NO', '1234567898', '/reference invalid_checksum'],
    ['no_domestic', 'NO', '12345678903', null],
    ['no_domestic', 'NO', 'Faktura 1234567898', null],
    ['no_domestic', 'NO', '7', null],
    ['dk_domestic', 'DK', '1234567898', null],
  ] as const)
    t.equal(fault(rail, country, { reference }, account), expected, `${rail} ${reference}`)
})

t.test('a KID has the check digit of one of two rules', async (t) => {
  for (const [kid, isValid] of [
    // Modulus 10: 123456789 has 7. Modulus 11: 1234567890 has 3; 13 would have 10, which is a dash.
    ['1234567897', true],
    ['12345678903', true],
    ['1234567891', false],
    ['14-', false],
    ['6-', true],
    ['60', false],
    ['67', true],
  ] as const)
    t.equal(kidValid(kid), isValid, kid)
})

t.test('the symbols of Czech payments are digits, on the Czech rail alone', async (t) => {
  for (const [metadata, expected] of [
    [{ VS: '20260042', KS: '0308', SS: '1' }, null],
    [{ VS: '12345678901' }, '/metadata/VS invalid_format'],
    [{ VS: '42a' }, '/metadata/VS invalid_format'],
    [{ VS: '' }, '/metadata/VS invalid_format'],
    [{ KS: '308' }, '/metadata/KS invalid_format'],
    [{ KS: '1234567890' }, null],
    [{ SS: '12345678901' }, '/metadata/SS invalid_format'],
    [{ invoice: 'VS 42a' }, null],
  ] as const) {
    t.equal(fault('cz_certis', 'CZ', { metadata }), expected, JSON.stringify(metadata))
    t.equal(fault('sepa', 'CZ', { metadata }), null)
    const alone = metadataFault('cz_certis', metadata as Readonly<Record<string, string>>)
    t.equal(alone === null ? null : `${alone.field} ${alone.code}`, expected)
  }
  t.equal(metadataFault(null, { VS: 'a' }), null)
})

t.test('an end-to-end id has the characters of its rail', async (t) => {
  for (const [rail, country, endToEndId, isValid] of [
    ['sepa', 'NL', 'INV-2026/42', true],
    ['sepa', 'NL', 'INV//42', false],
    ['sepa', 'NL', 'Łódź 42', false],
    ['pl_elixir', 'PL', 'Łódź 42', true],
    ['faster_payments', 'GB', 'INV_42', false],
    ['bacs', 'GB', 'inv-42', true],
    ['ach', 'US', 'INV_42', true],
    ['ach', 'US', 'ÜBER', false],
    ['swift', 'US', 'a&b', false],
    ['internal', 'NL', 'Größe 42', true],
  ] as const)
    t.equal(
      fault(rail, country, { endToEndId }),
      isValid ? null : '/endToEndId invalid_characters',
      `${rail} ${endToEndId}`,
    )
})

t.test('the list of purposes is whole', async (t) => {
  t.equal(PURPOSE_CODES.size, 329)
  for (const code of PURPOSE_CODES) t.match(code, /^[A-Z][A-Z0-9]{3}$/)
  for (const code of CATEGORY_PURPOSE_CODES) t.notOk(PURPOSE_CODES.has(code), code)
  for (const code of 'SALA SUPP GDDS SCVE TAXS VATX RENT INTC TREA CORT DIVI LOAN INSU PENS CHAR OTHR'.split(' '))
    t.equal(fault('sepa', 'NL', { purposeCode: code }), null, code)
  t.equal(fault('sepa', 'NL', { purposeCode: 'QQQQ' }), '/purposeCode invalid_value')
})
