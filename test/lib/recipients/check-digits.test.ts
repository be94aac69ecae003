/** Check digits against the samples that the schemes publish. */
import t from 'tap'
import {
  abaPrefixKnown,
  abaValid,
  clabeValid,
  czechAccountValid,
  hungarianAccountValid,
  luhnValid,
  norwegianAccountValid,
  qrReferenceValid,
} from '../../../lib/recipients/check-digits.ts'
import {
  bankingCountry,
  bicValid,
  ibanFault,
  ibanLength,
  isQrIban,
  isTestBic,
  usesIban,
} from '../../../lib/recipients/iban.ts'
import { parseUkModulusTable, ukAccountValid } from '../../../lib/recipients/uk-modulus.ts'
import { loadUkModulusTable } from '../../../storage/recipients/uk-modulus-files.ts'

const czech = (text: string) => {
  const [prefix, base] = text.split('-') as [string, string]
  return czechAccountValid({ prefix, base })
}

const VECTORS: readonly (readonly [
  name: string,
  check: (text: string) => boolean,
  right: readonly string[],
  wrong: readonly string[],
])[] = [
  ['ABA', abaValid, ['021000021', '011000015', '099000011', '121000248'], ['021000022', '012000021', '121000249']],
  [
    'CLABE',
    clabeValid,
    ['032180000118359719', '999010000000000004', '002010077777777771'],
    ['032180000118359718', '032180000118359791'],
  ],
  ['Norwegian account', norwegianAccountValid, ['86011117947'], ['86011117948', '68011117947']],
  ['Czech account', czech, ['19-2000145399'], ['19-2000145398', '18-2000145399']],
  [
    'Hungarian account',
    hungarianAccountValid,
    ['117730161111101800000000', '1177301611111018'],
    ['117730171111101800000000', '117730161111101900000000'],
  ],
  ['Luhn', luhnValid, ['9912346', '79927398713'], ['9912345', '79927398710']],
  [
    'QR reference',
    qrReferenceValid,
    ['210000000003139471430009017'],
    ['210000000003139471430009018', '120000000003139471430009017'],
  ],
]

t.test('the published samples', async (t) => {
  for (const [name, check, right, wrong] of VECTORS) {
    for (const text of right) t.equal(check(text), true, `${name} ${text}`)
    for (const text of wrong) t.equal(check(text), false, `${name} ${text}`)
  }
  for (const known of ['00', '12', '21', '32', '61', '72', '80']) t.ok(abaPrefixKnown(`${known}0000000`), known)
  for (const unknown of ['13', '20', '33', '60', '73', '79', '81', '99'])
    t.notOk(abaPrefixKnown(`${unknown}0000000`), unknown)
})

/** Pay.UK's own test cases: sort code, account, whether it passes, and what it is there for. */
const UK: readonly (readonly [string, string, boolean, string])[] = [
  ['089999', '66374958', true, 'modulus 10'],
  ['107999', '88837491', true, 'modulus 11'],
  ['202959', '63748472', true, 'modulus 11 and double alternate'],
  ['871427', '46238510', true, 'exceptions 10 and 11, the first passes'],
  ['872427', '46238510', true, 'exceptions 10 and 11, the second passes'],
  ['871427', '09123496', true, 'exception 10, ab=09 and g=9'],
  ['871427', '99123496', true, 'exception 10, ab=99 and g=9'],
  ['820000', '73688637', true, 'exception 3, the second is left out for c=6'],
  ['827999', '73988638', true, 'exception 3, the second is left out for c=9'],
  ['827101', '28748352', true, 'exception 3, both are made'],
  ['134020', '63849203', true, 'exception 4'],
  ['118765', '64371389', true, 'exception 1'],
  ['200915', '41011166', true, 'exception 6, foreign currency'],
  ['938611', '07806039', true, 'exception 5'],
  ['938600', '42368003', true, 'exception 5 with substitution'],
  ['938063', '55065200', true, 'exception 5, remainders of zero'],
  ['772798', '99345694', true, 'exception 7'],
  ['086090', '06774744', true, 'exception 8'],
  ['309070', '02355688', true, 'exceptions 2 and 9, the first passes'],
  ['309070', '12345668', true, 'exceptions 2 and 9, the second passes with substitution'],
  ['309070', '12345677', true, 'exceptions 2 and 9, a is not 0, g is not 9'],
  ['309070', '99345694', true, 'exceptions 2 and 9, a is not 0, g is 9'],
  ['938063', '15764273', false, 'exception 5, only the first check digit is right'],
  ['938063', '15764264', false, 'exception 5, the first check digit is wrong'],
  ['938063', '15763217', false, 'exception 5, a remainder of 1'],
  ['118765', '64371388', false, 'exception 1'],
  ['203099', '66831036', false, 'passes modulus 11, fails double alternate'],
  ['203099', '58716970', false, 'fails modulus 11, passes double alternate'],
  ['089999', '66374959', false, 'modulus 10'],
  ['107999', '88837493', false, 'modulus 11'],
  ['074456', '12345112', true, 'exceptions 12 and 13, passes modulus 11'],
  ['070116', '34012583', true, 'exceptions 12 and 13'],
  ['074456', '11104102', true, 'exceptions 12 and 13, fails modulus 11, passes modulus 10'],
  ['180002', '00000190', true, 'exception 14'],
]

t.test('every published case of the British modulus check', async (t) => {
  const table = await loadUkModulusTable(null)
  for (const [sortCode, account, valid, why] of UK)
    t.equal(ukAccountValid(table, sortCode, account), valid, `${sortCode} ${account}: ${why}`)
  t.ok(ukAccountValid(table, '990001', '12345678'), 'a sort code without a row cannot be checked')
  t.throws(() => parseUkModulusTable('089999 089999 MOD12 1 2 3', ''), SyntaxError)
  t.throws(() => parseUkModulusTable('', '12345'), SyntaxError)
  await t.rejects(loadUkModulusTable('/nowhere'), /UK_MODULUS_DIR/)
})

t.test('IBANs', async (t) => {
  const right = [
    'DE89370400440532013000',
    'NL77SBOX0100000001',
    'GB48SBOX99000112345678',
    'NO9386011117947',
    'PL61109010140000071219812874',
  ]
  for (const iban of right) t.equal(ibanFault(iban), null, iban)
  t.equal(ibanFault('DE88370400440532013000'), 'checksum')
  t.equal(ibanFault('DE8937040044053201300'), 'length')
  t.equal(ibanFault('DE8937040044053201300A'), 'form')
  t.equal(ibanFault('US89370400440532013000'), 'country')
  const lengths = `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18
    FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27
    MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23
    ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
  for (const entry of lengths.split(/\s+/)) t.equal(ibanLength(entry.slice(0, 2)), Number(entry.slice(2)), entry)
  for (const country of ['US', 'AU', 'CA', 'JP', 'IN']) t.notOk(usesIban(country), country)
  t.ok(usesIban('GG'))
  t.equal(bankingCountry('RE'), 'FR')
  t.ok(isQrIban('CH4431999123000889012'))
  t.notOk(isQrIban('CH9300762011623852957'))
})

t.test('BICs', async (t) => {
  for (const bic of ['SBOXNL2A', 'DEUTDEFF500']) t.ok(bicValid(bic), bic)
  for (const bic of ['SBOXN2A', 'SBOXNL2', 'ABCDXX00']) t.notOk(bicValid(bic), bic)
  t.ok(isTestBic('ABNANL20'))
})
