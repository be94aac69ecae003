/** The table of requirements: what it accepts and refuses in every market, and that what it shows is what it checks. */
import t from 'tap'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import type { FieldErrorCode } from '../../../lib/base/problems.ts'
import { RAILS } from '../../../lib/rails/rails.ts'
import { halfWidthName } from '../../../lib/recipients/kana.ts'
import { paymentFieldFault } from '../../../lib/recipients/payment-fields.ts'
import { REQUIREMENTS_VERSION, requirementsOf } from '../../../lib/recipients/requirements.ts'
import { loadUkModulusTable } from '../../../storage/recipients/uk-modulus-files.ts'
import { validateRecipient, type BankInput, type RecipientInput } from '../../../lib/recipients/validation.ts'

const SWIFT = RAILS.get('swift')!
const ukModulus = await loadUkModulusTable(null)
const sandbox = { ukModulus, sandbox: true }
const live = { ukModulus, sandbox: false }

const ADDRESSES: Readonly<Record<string, object>> = {
  US: { line1: '1 Broadway', city: 'New York', postalCode: '10004', state: 'NY' },
  CA: { line1: '1 Bay Street', city: 'Toronto', postalCode: 'M5J 2R8', state: 'ON' },
  IN: { line1: '1 Marine Drive', city: 'Mumbai', state: 'MH' },
  MX: { line1: 'Reforma 1', city: 'Ciudad de México', state: 'CMX' },
  AU: { line1: '1 George Street', city: 'Sydney', state: 'NSW' },
}
const addressIn = (country: string) =>
  ({
    line1: 'Main Street 1',
    city: 'Town',
    postalCode: '1000',
    ...ADDRESSES[country],
    country,
  }) as RecipientInput['address']

const input = (
  currency: string,
  country: string,
  bank: BankInput,
  change: Partial<RecipientInput> = {},
): RecipientInput => ({
  name: 'Amsterdam Trading BV',
  type: 'business',
  currency,
  address: addressIn(country),
  bank: { bankCountry: country, ...bank },
  purpose: null,
  ...change,
})

type Wrong = readonly [change: BankInput, field: string, code: FieldErrorCode]
interface Sample {
  readonly market: readonly [currency: string, country: string]
  /** Each of them is right by itself. */
  readonly right: readonly BankInput[]
  /** Changes to the first right one. */
  readonly wrong: readonly Wrong[]
}

const iban = (value: string): BankInput => ({ iban: value })
/** The inputs that every IBAN market refuses: wrong check digits, one digit short, another country's, none at all. */
const ibanWrongs = (right: string, change: BankInput = {}): Wrong[] => {
  const digit = right.at(-1) as string
  return [
    [
      { ...change, iban: right.slice(0, -1) + (digit === '9' ? '8' : String(Number(digit) + 1)) },
      '/bank/iban',
      'invalid_checksum',
    ],
    [{ ...change, iban: 'MT84MALT011000012345MTLCAST001S' }, '/bank/iban', 'invalid_value'],
    [{ ...change, iban: null }, '/bank/iban', 'required'],
    [{ ...change, iban: 'NL77SBOX' }, '/bank/iban', 'too_short'],
  ]
}
const localIban = (right: string, change: BankInput = {}): Wrong[] => [
  ...ibanWrongs(right, change).filter(([bank]) => bank.iban?.startsWith('MT') !== true),
  [{ ...change, iban: `${right}0` }, '/bank/iban', 'too_long'],
]

const SAMPLES: readonly Sample[] = [
  {
    market: ['EUR', 'NL'],
    right: [
      iban('NL77SBOX0100000001'),
      iban('nl77 sbox 0100 0000 01'),
      { iban: 'NL77SBOX0100000001', bic: 'SBOXNL2A' },
    ],
    wrong: [
      ...ibanWrongs('NL77SBOX0100000001'),
      [{ bic: 'DEUTDEFF' }, '/bank/bic', 'invalid_value'],
      [{ bic: 'SBOXN2A' }, '/bank/bic', 'too_short'],
      [{ accountNumber: '123' }, '/bank/accountNumber', 'not_applicable'],
    ],
  },
  {
    market: ['EUR', 'DE'],
    right: [iban('DE89370400440532013000')],
    wrong: [
      [iban('DE88370400440532013000'), '/bank/iban', 'invalid_checksum'],
      [iban('DE8937040044053201300'), '/bank/iban', 'invalid_format'],
      [iban('DE8937040044053201300A'), '/bank/iban', 'invalid_format'],
    ],
  },
  {
    market: ['EUR', 'TR'],
    right: [{ iban: 'TR330006100519786457841326', bic: 'SBOXTR2A' }],
    wrong: [
      [{ bic: null }, '/bank/bic', 'required'],
      [{ iban: null }, '/bank/iban', 'required'],
      [{ iban: 'TR340006100519786457841326' }, '/bank/iban', 'invalid_checksum'],
      [{ bic: 'SBOXNL2A' }, '/bank/bic', 'invalid_value'],
      [{ accountNumber: '1' }, '/bank/accountNumber', 'not_applicable'],
    ],
  },
  {
    market: ['EUR', 'US'],
    right: [{ accountNumber: '1000000001', bic: 'SBOXUS33' }],
    wrong: [
      [{ accountNumber: null }, '/bank/accountNumber', 'required'],
      [{ bic: 'SBOXUS3' }, '/bank/bic', 'too_short'],
      [{ accountNumber: 'A'.repeat(35) }, '/bank/accountNumber', 'too_long'],
      [iban('DE89370400440532013000'), '/bank/iban', 'not_applicable'],
    ],
  },
  {
    market: ['GBP', 'GB'],
    right: [
      { sortCode: '08-99-99', accountNumber: '66374958' },
      iban('GB48SBOX99000112345678'),
      { sortCode: '990001', accountNumber: '345678' },
      { sortCode: '134020', accountNumber: '63849203', secondaryReference: 'ROLL-1' },
      { sortCode: '990001', accountNumber: '12345678', bic: 'SBOXGB2A' },
    ],
    wrong: [
      [{ accountNumber: '66374959' }, '/bank/accountNumber', 'invalid_checksum'],
      [{ sortCode: '08999' }, '/bank/sortCode', 'too_short'],
      [{ sortCode: '08999A' }, '/bank/sortCode', 'invalid_format'],
      [{ accountNumber: '12345' }, '/bank/accountNumber', 'too_short'],
      [{ accountNumber: null }, '/bank/accountNumber', 'required'],
      [{ bic: 'SBOXNL2A' }, '/bank/bic', 'invalid_value'],
      [{ clabe: '032180000118359719' }, '/bank/clabe', 'not_applicable'],
      [{ iban: 'GB48SBOX99000112345678' }, '/bank/sortCode', 'invalid_value'],
    ],
  },
  {
    market: ['USD', 'US'],
    right: [
      { routingNumber: '021000021', accountNumber: '12345678', accountType: 'checking' },
      { routingNumber: '099000011', accountNumber: 'ab12', accountType: 'savings' },
    ],
    wrong: [
      [{ routingNumber: '021000022' }, '/bank/routingNumber', 'invalid_checksum'],
      [{ routingNumber: '501000021' }, '/bank/routingNumber', 'invalid_value'],
      [{ routingNumber: '02100002' }, '/bank/routingNumber', 'too_short'],
      [{ accountNumber: '123' }, '/bank/accountNumber', 'too_short'],
      [{ accountType: null }, '/bank/accountType', 'required'],
      [{ accountType: 'current' }, '/bank/accountType', 'invalid_value'],
    ],
  },
  {
    market: ['USD', 'DE'],
    right: [
      { iban: 'DE89370400440532013000', bic: 'DEUTDEFF500' },
      { accountNumber: '532013000', bic: 'DEUTDEFF' },
    ],
    wrong: [
      [{ iban: null }, '/bank/iban', 'required'],
      [{ bic: null }, '/bank/bic', 'required'],
      [{ bic: 'DEUTDEF1' + '00' }, '/bank/bic', 'invalid_format'],
      [{ intermediaryBic: 'XX' }, '/bank/intermediaryBic', 'too_short'],
    ],
  },
  {
    market: ['CNY', 'CN'],
    right: [{ bic: 'BKCHCNBJ', accountNumber: '6217000010001234567' }],
    wrong: [
      [{ bic: null }, '/bank/bic', 'required'],
      [{ accountNumber: null }, '/bank/accountNumber', 'required'],
      [{ bic: 'BKCHUSBJ' }, '/bank/bic', 'invalid_value'],
      [{ accountNumber: '12*4' }, '/bank/accountNumber', 'invalid_format'],
    ],
  },
  {
    market: ['PLN', 'PL'],
    right: [iban('PL61109010140000071219812874'), { accountNumber: '61 1090 1014 0000 0712 1981 2874' }],
    wrong: [
      ...localIban('PL61109010140000071219812874'),
      [{ iban: null, accountNumber: '6110901014000007121981287' }, '/bank/accountNumber', 'too_short'],
      [{ iban: null, accountNumber: '62109010140000071219812874' }, '/bank/accountNumber', 'invalid_checksum'],
      [iban('PL13101000712221000000000000'), '/bank/iban', 'account_not_eligible'],
    ],
  },
  {
    market: ['CHF', 'CH'],
    right: [iban('CH9300762011623852957'), iban('CH4431999123000889012')],
    wrong: localIban('CH9300762011623852957'),
  },
  {
    market: ['CHF', 'LI'],
    right: [iban('LI21088100002324013AA')],
    wrong: [
      [iban('LI22088100002324013AA'), '/bank/iban', 'invalid_checksum'],
      [iban('CH9300762011623852957'), '/bank/iban', 'invalid_value'],
      [{ iban: null }, '/bank/iban', 'required'],
    ],
  },
  {
    market: ['SEK', 'SE'],
    right: [
      iban('SE4550000000058398257466'),
      { clearingNumber: '5000', accountNumber: '0058398257' },
      { bankgiro: '991-2346' },
    ],
    wrong: [
      ...localIban('SE4550000000058398257466'),
      [{ iban: null, bankgiro: '9912345' }, '/bank/bankgiro', 'invalid_checksum'],
      [{ iban: null, clearingNumber: '500', accountNumber: '1' }, '/bank/clearingNumber', 'too_short'],
      [{ iban: null, clearingNumber: '5000' }, '/bank/accountNumber', 'required'],
    ],
  },
  {
    market: ['NOK', 'NO'],
    right: [iban('NO9386011117947'), { accountNumber: '8601.11.17947'.replaceAll('.', ' ') }],
    wrong: [
      ...localIban('NO9386011117947'),
      [{ iban: null, accountNumber: '86011117948' }, '/bank/accountNumber', 'invalid_checksum'],
      [{ iban: null, accountNumber: '8601111794' }, '/bank/accountNumber', 'too_short'],
    ],
  },
  {
    market: ['DKK', 'DK'],
    right: [iban('DK5000400440116243'), { bankCode: '0040', accountNumber: '440116243' }],
    wrong: [
      ...localIban('DK5000400440116243'),
      [{ iban: null, bankCode: '0040', accountNumber: '123' }, '/bank/accountNumber', 'too_short'],
      [{ iban: null, bankCode: '0040' }, '/bank/accountNumber', 'required'],
      [{ iban: null, bankCode: '40', accountNumber: '1234' }, '/bank/bankCode', 'too_short'],
    ],
  },
  {
    market: ['CZK', 'CZ'],
    right: [iban('CZ6508000000192000145399'), { accountNumber: '19-2000145399', bankCode: '0800' }],
    wrong: [
      ...localIban('CZ6508000000192000145399'),
      [{ iban: null, accountNumber: '19-2000145398', bankCode: '0800' }, '/bank/accountNumber', 'invalid_checksum'],
      [{ iban: null, accountNumber: '19-2000145399' }, '/bank/bankCode', 'required'],
      [{ iban: null, accountNumber: '19--2000145399', bankCode: '0800' }, '/bank/accountNumber', 'invalid_format'],
    ],
  },
  {
    market: ['HUF', 'HU'],
    right: [
      iban('HU42117730161111101800000000'),
      { accountNumber: '11773016-11111018-00000000' },
      { accountNumber: '1177301611111018' },
    ],
    wrong: [
      ...localIban('HU42117730161111101800000000'),
      [{ iban: null, accountNumber: '117730171111101800000000' }, '/bank/accountNumber', 'invalid_checksum'],
      [{ iban: null, accountNumber: '11773016111110180' }, '/bank/accountNumber', 'invalid_format'],
    ],
  },
  { market: ['RON', 'RO'], right: [iban('RO49AAAA1B31007593840000')], wrong: localIban('RO49AAAA1B31007593840000') },
  {
    market: ['AUD', 'AU'],
    right: [{ bsb: '062-000', accountNumber: '123456789' }],
    wrong: [
      [{ bsb: '06200' }, '/bank/bsb', 'too_short'],
      [{ bsb: '06200A' }, '/bank/bsb', 'invalid_format'],
      [{ accountNumber: '1234' }, '/bank/accountNumber', 'too_short'],
      [{ accountNumber: null }, '/bank/accountNumber', 'required'],
    ],
  },
  {
    market: ['NZD', 'NZ'],
    right: [{ accountNumber: '01-0001-0001234-00' }, { accountNumber: '0100010001234000' }],
    wrong: [
      [{ accountNumber: '01000100012340' }, '/bank/accountNumber', 'too_short'],
      [{ accountNumber: '01000100012340000' }, '/bank/accountNumber', 'too_long'],
      [{ accountNumber: '01000100012340A' }, '/bank/accountNumber', 'invalid_format'],
      [{ accountNumber: null }, '/bank/accountNumber', 'required'],
    ],
  },
  {
    market: ['CAD', 'CA'],
    right: [{ institutionNumber: '003', transitNumber: '00012', accountNumber: '1234567' }],
    wrong: [
      [{ institutionNumber: '03' }, '/bank/institutionNumber', 'too_short'],
      [{ transitNumber: '0012' }, '/bank/transitNumber', 'too_short'],
      [{ accountNumber: '1234' }, '/bank/accountNumber', 'too_short'],
      [{ transitNumber: null }, '/bank/transitNumber', 'required'],
    ],
  },
  {
    market: ['SGD', 'SG'],
    right: [
      { bic: 'DBSSSGSG', accountNumber: '0010000001' },
      { bankCode: '7171', branchCode: '001', accountNumber: '0000001' },
    ],
    wrong: [
      [{ bic: 'DBSSHKHH' }, '/bank/bic', 'invalid_value'],
      [{ accountNumber: '123' }, '/bank/accountNumber', 'too_short'],
      [{ bic: null, bankCode: '717' }, '/bank/bankCode', 'too_short'],
      [{ accountNumber: null }, '/bank/accountNumber', 'required'],
    ],
  },
  {
    market: ['HKD', 'HK'],
    right: [{ bankCode: '004', accountNumber: '600123456001' }, { fpsId: '1234567' }],
    wrong: [
      [{ bankCode: '04' }, '/bank/bankCode', 'too_short'],
      [{ accountNumber: '12345678' }, '/bank/accountNumber', 'too_short'],
      [{ bankCode: null, accountNumber: null, fpsId: '123456' }, '/bank/fpsId', 'too_short'],
      [{ accountNumber: null }, '/bank/accountNumber', 'required'],
    ],
  },
  {
    market: ['JPY', 'JP'],
    right: [
      { bankCode: '0001', branchCode: '001', accountType: 'savings', accountNumber: '1234567' },
      { bankCode: '0001', branchCode: '001', accountType: 'current', accountNumber: '12345' },
    ],
    wrong: [
      [{ accountType: 'checking' }, '/bank/accountType', 'invalid_value'],
      [{ accountNumber: '12345678' }, '/bank/accountNumber', 'too_long'],
      [{ branchCode: '01' }, '/bank/branchCode', 'too_short'],
      [{ bankCode: null }, '/bank/bankCode', 'required'],
    ],
  },
  {
    market: ['INR', 'IN'],
    right: [{ ifsc: 'sbin0000001', accountNumber: '12345678901' }],
    wrong: [
      [{ ifsc: 'SBIN1000001' }, '/bank/ifsc', 'invalid_format'],
      [{ ifsc: 'SBIN000001' }, '/bank/ifsc', 'too_short'],
      [{ accountNumber: '12345678' }, '/bank/accountNumber', 'too_short'],
      [{ ifsc: null }, '/bank/ifsc', 'required'],
    ],
  },
  {
    market: ['MXN', 'MX'],
    right: [{ clabe: '032180000118359719' }, { clabe: '999010000000000004' }],
    wrong: [
      [{ clabe: '032180000118359718' }, '/bank/clabe', 'invalid_checksum'],
      [{ clabe: '03218000011835971' }, '/bank/clabe', 'too_short'],
      [{ clabe: '998010000000000005' }, '/bank/clabe', 'invalid_value'],
      [{ clabe: null }, '/bank/clabe', 'required'],
    ],
  },
  {
    market: ['ZAR', 'ZA'],
    right: [{ branchCode: '250655', accountNumber: '62000000001', accountType: 'current' }],
    wrong: [
      [{ branchCode: '25065' }, '/bank/branchCode', 'too_short'],
      [{ accountNumber: '123456' }, '/bank/accountNumber', 'too_short'],
      [{ accountType: 'cheque' }, '/bank/accountType', 'invalid_value'],
      [{ accountType: null }, '/bank/accountType', 'required'],
    ],
  },
  { market: ['AED', 'AE'], right: [iban('AE070331234567890123456')], wrong: localIban('AE070331234567890123456') },
]

t.test('every market accepts what is right and refuses what is wrong', async (t) => {
  for (const {
    market: [currency, country],
    right,
    wrong,
  } of SAMPLES) {
    t.ok(wrong.length >= 3, `${currency}/${country} has at least three wrong samples`)
    for (const bank of right)
      t.match(
        validateRecipient(sandbox, input(currency, country, bank)),
        { recipient: { bankCountry: country } },
        `${currency}/${country} ${JSON.stringify(bank)}`,
      )
    for (const [change, field, code] of wrong) {
      const found = validateRecipient(sandbox, input(currency, country, { ...right[0], ...change }))
      t.match(found, { errors: [{ field, code }] }, `${currency}/${country} ${JSON.stringify(change)}`)
    }
  }
})

t.test('the lev has ended', async (t) => {
  for (const bank of [iban('BG80BNBG96611020345678'), iban('BG81BNBG96611020345678'), {}]) {
    t.match(validateRecipient(sandbox, input('BGN', 'BG', bank)), {
      errors: [{ field: '/currency', code: 'currency_withdrawn', params: { replacedBy: 'EUR' } }],
    })
  }
  t.match(validateRecipient(sandbox, input('EUR', 'BG', iban('BG80BNBG96611020345678'))), {
    recipient: { bankCountry: 'BG' },
  })
  t.match(validateRecipient(sandbox, input('XXX', 'BG', {})), {
    errors: [{ field: '/currency', code: 'invalid_value' }],
  })
})

t.test('a field says when it is required, its form, its checks and its rails', async (t) => {
  t.equal(requirementsOf({ currency: 'EUR', country: 'NL', type: null }).version, REQUIREMENTS_VERSION)
  t.match(
    requirementsOf({ currency: 'GBP', country: 'GB', type: null }).fields.find(({ name }) => name === '/bank/sortCode'),
    {
      label: 'Sort code',
      required: true,
      requiredWhen: '/bank/iban is null',
      type: 'string',
      minLength: 6,
      maxLength: 6,
      pattern: '^[0-9]{6}$',
      example: '990001',
      checks: ['uk_modulus'],
      rails: ['faster_payments', 'chaps', 'bacs'],
    },
  )
})

t.test('what a payment says it is for is a code that its country knows, or one of ISO 20022', async (t) => {
  const fault = (bankCountry: string, purposeCode: string | null) =>
    paymentFieldFault({ bankCountry, iban: null, fields: new Set() }, SWIFT, { reference: 'Invoice 42', purposeCode })
      ?.code ?? null
  for (const [country, code, expected] of [
    ['NL', null, null],
    ['NL', 'SALA', null],
    ['NL', 'sala', 'invalid_format'],
    ['NL', 'SAL', 'invalid_format'],
    ['NL', '!!!!', 'invalid_format'],
    ['NL', 'P0103', 'invalid_format'],
    ['NL', 'ZZZZ', 'invalid_value'],
    ['NL', 'B112', null],
    ['NL', 'DIVI', null],
    ['IN', 'P0103', null],
    ['IN', 'SALA', 'invalid_format'],
    ['IN', null, 'required'],
    ['AE', 'SAL', null],
  ] as const)
    t.equal(fault(country, code), expected, `${country} ${code}`)
})

t.test('rails, purposes and verification by market', async (t) => {
  const of = (currency: CurrencyCode, country: string) => requirementsOf({ currency, country, type: 'business' })
  t.same(
    of('EUR', 'NL').rails.map(({ rail }) => rail),
    ['sepa', 'sepa_instant', 'target2', 'swift'],
  )
  t.same(
    of('PLN', 'PL').rails.map(({ rail, cutOff }) => [rail, cutOff]),
    [
      ['pl_express_elixir', null],
      ['pl_elixir', { time: '14:30', zone: 'Europe/Warsaw' }],
      ['swift', { time: '16:00', zone: 'UTC' }],
    ],
    'SWIFT reaches every country, with the cut-off of the partner',
  )
  t.same(
    of('PLN', 'PL').rails.map(({ alternatives }) => alternatives),
    [
      [['/bank/iban'], ['/bank/accountNumber']],
      [['/bank/iban'], ['/bank/accountNumber']],
      [['/bank/bic', '/bank/iban', '/address']],
    ],
  )
  t.match(
    of('PLN', 'PL').fields.find(({ name }) => name === '/bank/bic'),
    { required: false, rails: ['swift'] },
    'a recipient must satisfy one rail, so what only SWIFT needs is optional',
  )
  t.match(
    of('RON', 'RO').fields.find(({ name }) => name === '/purpose'),
    {
      required: false,
      requiredWhen: '/bank/iban is an account of the treasury (TREZ)',
      pattern: '[0-9]{2,13}',
    },
  )
  t.same(
    of('EUR', 'US').rails.map(({ rail }) => rail),
    ['swift'],
  )
  t.same(
    of('INR', 'IN')
      .paymentFields.filter(({ name }) => name === '/purposeCode')
      .map(({ required, pattern }) => [required, pattern]),
    [[true, '^P[0-9]{4}$']],
  )
  t.same(
    of('USD', 'AE')
      .paymentFields.filter(({ name }) => name === '/purposeCode')
      .map(({ required, pattern }) => [required, pattern]),
    [[true, '^[A-Z]{3}$']],
  )
  t.same(
    of('CHF', 'CH')
      .paymentFields.filter(({ name }) => name === '/reference')
      .map(({ checks, rails }) => [checks, rails]),
    [
      [['qr_iban'], ['ch_sic', 'swift']],
      [['mod97_rf'], ['ch_sic']],
    ],
  )
  t.same(
    [of('GBP', 'GB').verification, of('EUR', 'BG').verification, of('EUR', 'TR').verification],
    [
      { scheme: 'cop', mandatory: true },
      { scheme: 'vop', mandatory: true },
      { scheme: 'none', mandatory: false },
    ],
  )
  t.equal(
    of('EUR', 'NL').fields.find(({ name }) => name === '/address/line1')?.required,
    false,
    'only gross settlement and SWIFT need it',
  )
  t.same(of('EUR', 'NL').fields.find(({ name }) => name === '/address/line1')?.rails, ['target2', 'swift'])
  t.equal(of('USD', 'US').fields.find(({ name }) => name === '/address/state')?.required, true)
})

t.test('what is kept is one spelling of one account', async (t) => {
  const kept = (currency: string, country: string, bank: BankInput) => {
    const found = validateRecipient(sandbox, input(currency, country, bank))
    if ('errors' in found) throw new Error(JSON.stringify(found.errors))
    return found.recipient
  }
  t.match(kept('GBP', 'GB', iban('GB48SBOX99000112345678')), {
    bank: { sortCode: '990001', accountNumber: '12345678' },
    maskedIdentifier: 'GB48****5678',
  })
  t.equal(kept('GBP', 'GB', { sortCode: '99-00-01', accountNumber: '345678' }).bank.accountNumber, '00345678')
  t.match(kept('PLN', 'PL', { accountNumber: '61109010140000071219812874' }).bank, {
    iban: 'PL61109010140000071219812874',
    accountNumber: undefined,
  })
  t.equal(kept('NZD', 'NZ', { accountNumber: '01-0001-0001234-00' }).bank.accountNumber, '0100010001234000')
  t.equal(kept('AUD', 'AU', { bsb: '062000', accountNumber: '123456' }).maskedIdentifier, '****56')
  const pairs: readonly (readonly [string, string, BankInput, BankInput])[] = [
    ['GBP', 'GB', iban('GB48SBOX99000112345678'), { sortCode: '990001', accountNumber: '12345678' }],
    ['NOK', 'NO', iban('NO9386011117947'), { accountNumber: '86011117947' }],
    ['DKK', 'DK', iban('DK5000400440116243'), { bankCode: '0040', accountNumber: '440116243' }],
    ['CZK', 'CZ', iban('CZ6508000000192000145399'), { accountNumber: '19-2000145399', bankCode: '0800' }],
    ['HUF', 'HU', iban('HU42117730161111101800000000'), { accountNumber: '1177301611111018' }],
    ['PLN', 'PL', iban('PL61109010140000071219812874'), { accountNumber: '61109010140000071219812874' }],
    ['EUR', 'US', { bic: 'SBOXUS33XXX', accountNumber: '1' }, { bic: 'SBOXUS33', accountNumber: '1' }],
    [
      'AUD',
      'AU',
      { bsb: '062000', accountNumber: '123456' },
      { bsb: '062000', accountNumber: '123456', bic: 'SBOXAU2A' },
    ],
  ]
  for (const [currency, country, one, other] of pairs)
    t.equal(kept(currency, country, one).accountIdentity, kept(currency, country, other).accountIdentity, currency)
  t.not(
    kept('AUD', 'AU', { bsb: '062000', accountNumber: '123456' }).accountIdentity,
    kept('AUD', 'AU', { bsb: '062001', accountNumber: '123456' }).accountIdentity,
  )
})

t.test('addresses, countries, names', async (t) => {
  const us = { routingNumber: '021000021', accountNumber: '12345678', accountType: 'checking' } as const
  t.match(validateRecipient(sandbox, input('USD', 'US', us, { address: { line1: 'a', city: 'b', country: 'US' } })), {
    errors: [
      { field: '/address/postalCode', code: 'required' },
      { field: '/address/state', code: 'required' },
    ],
  })
  t.match(validateRecipient(sandbox, input('USD', 'US', us, { address: null })), {
    errors: [{ field: '/address', code: 'required' }],
  })
  t.match(
    validateRecipient(
      sandbox,
      input('EUR', 'NL', iban('NL77SBOX0100000001'), { address: { line1: 'a', city: 'b', country: 'ZZ' } }),
    ),
    { errors: [{ field: '/address/country', code: 'invalid_value' }] },
  )
  t.match(validateRecipient(sandbox, input('EUR', 'ZZ', iban('NL77SBOX0100000001'))), {
    errors: [{ field: '/bank/bankCountry', code: 'invalid_value' }],
  })
  t.match(
    validateRecipient(sandbox, { ...input('EUR', 'NL', {}), bank: iban('NL77SBOX0100000001') }),
    { recipient: { bankCountry: 'NL' } },
    'the country may be left out',
  )
  t.match(validateRecipient(sandbox, { ...input('EUR', 'NL', {}), bank: {} }), {
    errors: [{ field: '/bank/bankCountry', code: 'required' }],
  })
  t.match(validateRecipient(sandbox, { ...input('EUR', 'NL', {}), bank: iban('??') }), {
    errors: [{ field: '/bank/iban', code: 'invalid_format' }],
  })
  t.match(
    validateRecipient(sandbox, input('EUR', 'RE', iban('FR1420041010050500013M02606'))),
    { recipient: { bankCountry: 'RE' } },
    'territories bank under their country',
  )
  t.match(validateRecipient(sandbox, input('RON', 'RO', iban('RO63TREZ1B31007593840000'))), {
    errors: [{ field: '/purpose', code: 'required' }],
  })
  t.match(
    validateRecipient(sandbox, input('RON', 'RO', iban('RO63TREZ1B31007593840000'), { purpose: 'CUI 14399840' })),
    { recipient: {} },
  )
  const japan = { bankCode: '0001', branchCode: '001', accountType: 'savings', accountNumber: '1234567' } as const
  t.match(validateRecipient(sandbox, input('JPY', 'JP', japan, { name: '山田商事' })), {
    errors: [{ field: '/name', code: 'invalid_characters' }],
  })
  t.equal(halfWidthName('がっこう ｶﾅ Ｋａｔｏ'), 'ｶﾞﾂｺｳ ｶﾅ KATO')
  t.equal(halfWidthName('ヤマダ・タロウ（カ）'), 'ﾔﾏﾀﾞ.ﾀﾛｳ(ｶ)')
  t.equal(halfWidthName('Ünal'), null)
})

t.test('what only the sandbox lets pass', async (t) => {
  t.match(validateRecipient(live, input('EUR', 'NL', { iban: 'NL77SBOX0100000001', bic: 'ABNANL20' })), {
    errors: [{ field: '/bank/bic', code: 'invalid_value' }],
  })
  t.match(validateRecipient(sandbox, input('EUR', 'NL', { iban: 'NL77SBOX0100000001', bic: 'ABNANL20' })), {
    recipient: {},
  })
  t.match(validateRecipient(live, input('MXN', 'MX', { clabe: '999010000000000004' })), {
    errors: [{ field: '/bank/clabe', code: 'invalid_value' }],
  })
})
