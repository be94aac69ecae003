import t from 'tap'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import { checkReference, railReference, referenceMessage } from '../../../lib/rails/reference.ts'
import { chooseRail } from '../../../lib/rails/choose-rail.ts'
import { RAILS, SEPA_COUNTRIES, speedOf } from '../../../lib/rails/rails.ts'
import type { BankField } from '../../../lib/rails/bank-field.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import type { RailRefusal } from '../../../lib/rails/choose-rail.ts'

const UK = 'sortCode accountNumber'
const US = 'routingNumber accountNumber accountType address'

function ask(
  currency: CurrencyCode,
  amountMinor: bigint,
  bankCountry: string,
  fields: string,
  requested: Rail | null = null,
) {
  return chooseRail({
    currency,
    amountMinor,
    bankCountry,
    fields: new Set(fields.split(' ') as BankField[]),
    requested,
  })
}

t.test('the fastest rail that fits is chosen, then the cheapest', (t) => {
  const table: readonly (readonly [CurrencyCode, bigint, string, string, Rail, string])[] = [
    ['EUR', 100n, 'NL', 'iban', 'sepa_instant', 'instant'],
    ['EUR', 10n ** 14n, 'DE', 'iban', 'sepa_instant', 'instant'],
    ['EUR', 100n, 'US', 'bic accountWithoutIban address', 'swift', 'international'],
    ['GBP', 1_000_000_00n, 'GB', UK, 'faster_payments', 'instant'],
    ['GBP', 1_000_000_01n, 'GB', `${UK} address`, 'chaps', 'same_day'],
    ['GBP', 1_000_000_01n, 'GB', UK, 'bacs', 'batch'],
    ['GBP', 100n, 'GB', 'iban', 'faster_payments', 'instant'],
    ['USD', 10_000_000_00n, 'US', US, 'rtp', 'instant'],
    ['USD', 10_000_000_01n, 'US', US, 'fedwire', 'same_day'],
    ['USD', 100n, 'NL', 'bic iban address', 'swift', 'international'],
    ['PLN', 100_000_00n, 'PL', 'iban', 'pl_express_elixir', 'instant'],
    ['PLN', 100_000_01n, 'PL', 'accountNumber', 'pl_elixir', 'same_day'],
    ['CHF', 100n, 'LI', 'iban address', 'ch_sic', 'same_day'],
    ['SEK', 100n, 'SE', 'bankgiro', 'se_domestic', 'same_day'],
    ['NOK', 100n, 'NO', 'accountNumber', 'no_domestic', 'same_day'],
    ['DKK', 500_000_00n, 'DK', 'iban', 'dk_domestic', 'instant'],
    ['DKK', 500_000_01n, 'DK', 'iban', 'dk_domestic', 'same_day'],
    ['CZK', 2_500_000_00n, 'CZ', 'accountNumber bankCode', 'cz_certis', 'instant'],
    ['HUF', 20_000_000_00n, 'HU', 'iban', 'hu_giro', 'instant'],
    ['HUF', 20_000_001_00n, 'HU', 'iban', 'hu_giro', 'same_day'],
    ['RON', 50_000_01n, 'RO', 'iban', 'ro_transfond', 'same_day'],
    ['AUD', 1_000_000_00n, 'AU', 'bsb accountNumber', 'au_npp', 'instant'],
    ['AUD', 1_000_000_01n, 'AU', 'bsb accountNumber', 'au_becs', 'batch'],
    ['NZD', 100n, 'NZ', 'accountNumber', 'nz_becs', 'same_day'],
    ['CAD', 100n, 'CA', 'institutionNumber transitNumber accountNumber address', 'ca_eft', 'batch'],
    ['SGD', 200_000_00n, 'SG', 'bic accountNumber', 'sg_fast', 'instant'],
    ['SGD', 200_000_01n, 'SG', 'bankCode accountNumber', 'sg_giro', 'batch'],
    ['HKD', 10_000_000_01n, 'HK', 'fpsId', 'hk_chats', 'same_day'],
    ['JPY', 100_000_000n, 'JP', 'bankCode branchCode accountType accountNumber address', 'jp_zengin', 'same_day'],
    ['INR', 500_000_00n, 'IN', 'ifsc accountNumber address', 'in_imps', 'instant'],
    ['INR', 500_000_01n, 'IN', 'ifsc accountNumber address', 'in_neft', 'same_day'],
    ['MXN', 100n, 'MX', 'clabe', 'mx_spei', 'instant'],
    ['ZAR', 5_000_000_01n, 'ZA', 'branchCode accountNumber accountType address', 'za_eft', 'batch'],
    ['AED', 100n, 'AE', 'iban address', 'ae_uaefts', 'same_day'],
    ['THB', 100n, 'TH', 'bic accountWithoutIban address', 'swift', 'international'],
  ]
  for (const [currency, amount, country, fields, rail, reason] of table) {
    t.strictSame(ask(currency, amount, country, fields), { rail, reason }, `${currency} ${amount} ${country} ${fields}`)
  }
  t.end()
})

t.test('a requested rail is taken or refused, never replaced', (t) => {
  t.strictSame(ask('EUR', 100n, 'NL', 'iban', 'sepa'), { rail: 'sepa', reason: 'requested' })
  t.strictSame(ask('GBP', 100n, 'GB', UK, 'bacs'), { rail: 'bacs', reason: 'requested' })
  const table: readonly (readonly [CurrencyCode, bigint, string, string, Rail, RailRefusal])[] = [
    ['EUR', 100n, 'NL', 'iban', 'faster_payments', 'wrong_currency'],
    ['EUR', 100n, 'US', 'iban', 'sepa', 'country_not_reached'],
    ['EUR', 100n, 'NL', 'iban', 'target2', 'missing_bank_fields'],
    ['GBP', 1_000_000_01n, 'GB', UK, 'faster_payments', 'above_limit'],
    ['INR', 199_999_99n, 'IN', 'ifsc accountNumber address', 'in_rtgs', 'below_minimum'],
    ['HUF', 150n, 'HU', 'iban', 'hu_giro', 'not_whole_units'],
    ['BGN', 100n, 'BG', 'iban', 'bg_bisera', 'rail_withdrawn'],
    ['BGN', 100n, 'BG', 'bic iban address', 'swift', 'currency_withdrawn'],
    ['EUR', 100n, 'NL', 'iban', 'internal', 'not_on_platform'],
    ['EUR', 100n, 'NL', 'iban', 'card', 'unknown_rail'],
  ]
  for (const [currency, amount, country, fields, rail, reason] of table) {
    t.strictSame(ask(currency, amount, country, fields, rail), { refused: [{ rail, reason }] }, `${rail} ${reason}`)
  }
  t.end()
})

t.test('when nothing fits, every rail considered says why', (t) => {
  t.strictSame(ask('GBP', 20_000_000_01n, 'GB', UK), {
    refused: [
      { rail: 'faster_payments', reason: 'above_limit' },
      { rail: 'chaps', reason: 'missing_bank_fields' },
      { rail: 'bacs', reason: 'above_limit' },
      { rail: 'swift', reason: 'missing_bank_fields' },
    ],
  })
  t.end()
})

t.test('only offered rails are considered', (t) => {
  const question = {
    currency: 'EUR',
    amountMinor: 100n,
    bankCountry: 'NL',
    fields: new Set<BankField>(['iban', 'address']),
  } as const
  t.strictSame(chooseRail({ ...question, offered: new Set<Rail>(['sepa', 'target2']) }), {
    rail: 'sepa',
    reason: 'same_day',
  })
  t.strictSame(chooseRail({ ...question, offered: new Set<Rail>(['target2']) }), {
    rail: 'target2',
    reason: 'same_day',
  })
  t.strictSame(chooseRail({ ...question, requested: 'sepa', offered: new Set<Rail>(['target2']) }), {
    refused: [{ rail: 'sepa', reason: 'not_offered' }],
  })
  t.end()
})

t.test('an operator’s table takes the place of ours', (t) => {
  const lower = new Map(RAILS).set('faster_payments', { ...RAILS.get('faster_payments')!, limitMinor: 50n })
  const question = {
    currency: 'GBP',
    amountMinor: 51n,
    bankCountry: 'GB',
    fields: new Set<BankField>(['sortCode', 'accountNumber']),
  } as const
  t.strictSame(chooseRail(question, lower), { rail: 'bacs', reason: 'batch' })
  t.end()
})

t.test('every rail but card has terms, and its zones and amounts make sense', (t) => {
  t.equal(RAILS.size, 39)
  for (const [rail, row] of RAILS) {
    t.equal(row.rail, rail)
    if (row.cutOff !== null && row.cutOff.zone !== 'partner')
      t.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: row.cutOff!.zone }))
    t.ok(row.limitMinor === null || row.limitMinor > row.minMinor, rail)
    t.ok(row.businessDays.max >= row.businessDays.min, rail)
    t.ok(row.speed !== 'instant' || row.cutOff === null, `${rail} is instant around the clock`)
  }
  t.equal(SEPA_COUNTRIES.size, 41)
  t.equal(speedOf(RAILS.get('hu_giro')!, 20_000_000_00n), 'instant')
  t.end()
})

t.test('a reference fits the rail or says what is wrong', (t) => {
  const table: readonly (readonly [Rail, string, 'too_long' | 'invalid_characters' | null])[] = [
    ['sepa', 'Invoice 12/2026 (part)', null],
    ['sepa', 'x'.repeat(140), null],
    ['sepa', 'x'.repeat(141), 'too_long'],
    ['sepa', 'a//b', 'invalid_characters'],
    ['sepa', '//b', 'invalid_characters'],
    ['sepa', 'Café', 'invalid_characters'],
    ['sepa', 'SBX:AC01', null],
    ['sepa', 'a\nb', 'invalid_characters'],
    ['faster_payments', 'Rent March', null],
    ['faster_payments', 'SBX:AC01', 'invalid_characters'],
    ['faster_payments', 'SBX/AC01', null],
    ['faster_payments', 'x'.repeat(19), 'too_long'],
    ['bacs', 'rent march', null],
    ['bacs', 'rent_march', 'invalid_characters'],
    ['chaps', 'x'.repeat(36), 'too_long'],
    ['swift', 'line one\r\nline two', null],
    ['swift', 'a&b', 'invalid_characters'],
    ['pl_elixir', 'Opłata za wrzesień', null],
    ['pl_elixir', 'Größe', 'invalid_characters'],
    ['ach', 'a&b ~', null],
    ['ach', 'é', 'invalid_characters'],
    ['nz_becs', 'x'.repeat(13), 'too_long'],
    ['au_npp', 'x'.repeat(280), null],
    ['jp_zengin', 'ｱｲｳ 1', null],
    ['jp_zengin', '東京', 'invalid_characters'],
    ['internal', 'Größe € “ok”', null],
    ['internal', 'привет', 'invalid_characters'],
    ['internal', '😀'.repeat(141), 'too_long'],
    ['internal', '😀'.repeat(71), 'invalid_characters'],
    ['card', '東京', null],
  ]
  for (const [rail, text, code] of table)
    t.equal(checkReference(rail, text)?.code ?? null, code, `${rail} ${text.slice(0, 30)}`)
  t.strictSame(checkReference('faster_payments', 'x'.repeat(19)), { code: 'too_long', params: { max: 18 } })
  t.strictSame(checkReference('ach', 'é'), { code: 'invalid_characters', params: { characters: 'ascii' } })
  t.equal(
    referenceMessage('faster_payments', checkReference('faster_payments', 'x'.repeat(19))!),
    'A reference may have at most 18 characters on faster_payments.',
  )
  t.equal(
    referenceMessage('bacs', checkReference('bacs', "o'neil")!),
    'A reference consists of plain letters, digits, spaces and . & / - on bacs.',
  )
  t.equal(railReference('bacs', 'rent march'), 'RENT MARCH')
  t.equal(railReference('faster_payments', 'Rent March'), 'Rent March')
  t.end()
})
