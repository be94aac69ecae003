import t from 'tap'

import { accountOf, agentOf } from '../../../lib/providers/iso20022/parties.ts'
import { fileMessageId, instructionIdOf, uuidAmong, uuidOf } from '../../../lib/providers/iso20022/references.ts'
import { order } from '../../support/file-orders.ts'
import { orderFault } from '../../../lib/providers/iso20022/credit-transfers.ts'
import type { BankValues } from '../../../lib/recipients/bank-checks.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import type { CurrencyCode } from '../../../lib/base/currency.ts'

const ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

t.test('the account details of each country name the account and the bank', (t) => {
  const bban = (number: string) => ({ number, scheme: 'BBAN' })
  const rows: readonly (readonly [string, Rail, CurrencyCode, BankValues, unknown, string | null, string | null])[] = [
    ['DE', 'sepa', 'EUR', { iban: 'DE89370400440532013000' }, { iban: 'DE89370400440532013000' }, null, null],
    [
      'GB',
      'bacs',
      'GBP',
      { iban: 'GB48SBOX99000112345678', sortCode: '990001', accountNumber: '12345678' },
      bban('12345678'),
      'GBDSC',
      '990001',
    ],
    ['GB', 'sepa', 'EUR', { iban: 'GB48SBOX99000112345678' }, { iban: 'GB48SBOX99000112345678' }, null, null],
    [
      'US',
      'ach',
      'USD',
      { routingNumber: '099000011', accountNumber: '1000000001', accountType: 'checking' },
      bban('1000000001'),
      'USABA',
      '099000011',
    ],
    ['AU', 'au_becs', 'AUD', { bsb: '062000', accountNumber: '12345' }, bban('12345'), 'AUBSB', '062000'],
    ['IN', 'in_neft', 'INR', { ifsc: 'HDFC0000001', accountNumber: '12345' }, bban('12345'), 'INFSC', 'HDFC0000001'],
    [
      'CA',
      'ca_eft',
      'CAD',
      { institutionNumber: '003', transitNumber: '00012', accountNumber: '1234567' },
      bban('1234567'),
      'CACPA',
      '000300012',
    ],
    [
      'JP',
      'jp_zengin',
      'JPY',
      { bankCode: '0001', branchCode: '001', accountNumber: '1234567' },
      bban('1234567'),
      'JPZGN',
      '0001001',
    ],
    ['HK', 'hk_fps', 'HKD', { bankCode: '004', accountNumber: '600123456001' }, bban('600123456001'), 'HKNCC', '004'],
    ['SG', 'sg_giro', 'SGD', { bankCode: '7171', accountNumber: '1234567' }, bban('1234567'), 'SGIBG', '7171'],
    ['NZ', 'nz_becs', 'NZD', { accountNumber: '0100010001234000' }, bban('0100010001234000'), 'NZNCC', '010001'],
    ['ZA', 'za_eft', 'ZAR', { branchCode: '250655', accountNumber: '12345' }, bban('12345'), 'ZANCC', '250655'],
    [
      'SE',
      'se_domestic',
      'SEK',
      { clearingNumber: '5000', accountNumber: '0058398257' },
      bban('50000058398257'),
      'SESBA',
      '5000',
    ],
    [
      'MX',
      'mx_spei',
      'MXN',
      { clabe: '999010000000000004' },
      { number: '999010000000000004', scheme: 'CLABE' },
      null,
      null,
    ],
    ['SE', 'se_domestic', 'SEK', { bankgiro: '9912346' }, { number: '9912346', scheme: 'BGNR' }, null, null],
    ['HK', 'hk_fps', 'HKD', { fpsId: '1234567' }, { number: '1234567', scheme: 'FPS' }, null, null],
    ['NO', 'no_domestic', 'NOK', { accountNumber: '86011117947' }, { iban: 'NO9386011117947' }, null, null],
    [
      'DK',
      'dk_domestic',
      'DKK',
      { bankCode: '0040', accountNumber: '0440116243' },
      { iban: 'DK5000400440116243' },
      null,
      null,
    ],
  ]
  for (const [country, rail, currency, details, account, system, member] of rows) {
    const what = `${country} ${rail}`
    t.strictSame(accountOf(details, country), account, what)
    const agent = agentOf(details, country)
    t.equal(agent?.clearing?.system ?? null, system, what)
    t.equal(agent?.clearing?.member ?? null, member, what)
    const written = order({ rail, currency, creditorAccount: accountOf(details, country), creditorAgent: agent })
    t.equal(orderFault(written), null, `${what} can be written`)
  }
  t.strictSame(agentOf({ iban: 'X', bic: 'SBOXNL2A', bankName: 'Box' }, 'NL'), {
    bic: 'SBOXNL2A',
    clearing: null,
    name: 'Box',
    country: null,
  })
  t.equal(agentOf({ iban: 'X' }, 'NL'), null, 'an IBAN needs no bank')
  t.throws(() => accountOf({}, 'US'), RangeError)
  t.end()
})

t.test('our references survive the fields of a file', (t) => {
  const hex = ID.replaceAll('-', '')
  t.equal(instructionIdOf(ID.toUpperCase()), hex)
  t.equal(uuidOf(hex.toUpperCase()), ID)
  t.equal(uuidOf(ID), ID)
  t.equal(uuidOf(`${hex}0`), null)
  t.equal(uuidAmong([null, 'x', hex]), ID)
  t.equal(uuidAmong([null]), null)
  t.equal(fileMessageId('00000000-0000-0000-0000-000000000000'), '0'.repeat(26))
  t.equal(fileMessageId('ffffffff-ffff-ffff-ffff-ffffffffffff'), `7${'Z'.repeat(25)}`)
  t.end()
})
