/** The directory of banks: which codes it knows, what it refuses, and what recipients and lookups make of it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { BankDirectory, type DirectoryLine } from '../../../lib/recipients/bank-directory.ts'
import { lookupBank, lookupIban } from '../../../lib/recipients/bank-lookup.ts'
import { validateRecipient, type BankInput } from '../../../lib/recipients/validation.ts'
import { loadBankDirectory } from '../../../storage/recipients/bank-directory-file.ts'
import { loadUkModulusTable } from '../../../storage/recipients/uk-modulus-files.ts'

const ukModulus = await loadUkModulusTable(null)
const line = (country: string, kind: string, from: string, overrides: Partial<DirectoryLine> = {}): DirectoryLine => ({
  country,
  kind,
  from,
  to: '',
  name: `Bank ${from}`,
  bic: '',
  rails: '',
  ...overrides,
})
const banks = new BankDirectory([
  line('AU', 'bsb', '062000', { to: '062999', name: 'Example Bank', bic: 'EXAMAU2S' }),
  line('AU', 'bsb', '033'),
  line('IN', 'ifsc', 'SBIN'),
  line('IN', 'ifsc', 'HDFC0000001', { name: 'One branch' }),
  line('IN', 'ifsc', 'HDFC', { name: 'Any other branch' }),
  line('NZ', 'accountNumber', '010001', { to: '010999' }),
  line('US', 'routingNumber', '021000021', { rails: 'fedwire' }),
  line('US', 'routingNumber', '026009593', { rails: 'ach fedwire' }),
  line('DE', 'iban', '37040044', { name: 'Frankfurt Bank', bic: 'COBADEFFXXX' }),
  line('FR', 'bic', 'BNPAFRPP', { name: 'Paris Bank' }),
])
const live = { ukModulus, banks, sandbox: false }

t.test('a code is whose line it begins like, the longest line first', async (t) => {
  for (const [country, kind, code, expected] of [
    ['AU', 'bsb', '062000', 'Example Bank'],
    ['AU', 'bsb', '062999', 'Example Bank'],
    ['AU', 'bsb', '063000', null],
    ['AU', 'bsb', '061999', null],
    ['AU', 'bsb', '033999', 'Bank 033'],
    ['AU', 'bsb', '03', null],
    ['IN', 'ifsc', 'HDFC0000001', 'One branch'],
    ['IN', 'ifsc', 'HDFC0000002', 'Any other branch'],
    ['NZ', 'accountNumber', '0105001234567000', 'Bank 010001'],
    ['NZ', 'accountNumber', '0110001234567000', null],
    ['NZ', 'bsb', '062000', null],
  ] as const)
    t.equal(banks.find(country, kind, code)?.name ?? null, expected, `${country} ${kind} ${code}`)
  t.strictSame([banks.has('AU', 'bsb'), banks.has('AU', 'ifsc'), banks.has('CA', 'bsb')], [true, false, false])
})

t.test('lines that cannot be are refused, and so is a code that two have', async (t) => {
  for (const wrong of [
    line('Au', 'bsb', '062000'),
    line('AU', 'name', '062000'),
    line('AU', 'bsb', '06 2'),
    line('AU', 'bsb', '062', { to: '0629' }),
    line('AU', 'bsb', '062', { to: '061' }),
    line('AU', 'bsb', '062', { name: '' }),
    line('AU', 'bsb', '062', { rails: 'pigeon' }),
  ])
    t.throws(() => new BankDirectory([wrong]), SyntaxError, JSON.stringify(wrong))
  t.throws(
    () => new BankDirectory([line('AU', 'bsb', '062000', { to: '062999' }), line('AU', 'bsb', '062500')]),
    /AU bsb 062500 is listed twice/,
  )
})

t.test('what is in no list cannot be paid, where there is a list', async (t) => {
  const address = { line1: 'Main Street 1', city: 'Town', postalCode: '1000', state: 'XX' }
  const check = (
    currency: string,
    country: string,
    bank: BankInput,
    world: Parameters<typeof validateRecipient>[0] = live,
  ) => {
    const found = validateRecipient(world, {
      name: 'Amsterdam Trading BV',
      type: 'business',
      currency,
      address: { ...address, country },
      bank: { bankCountry: country, ...bank },
      purpose: null,
    })
    return 'errors' in found ? found.errors.map(({ field, code }) => `${field} ${code}`) : []
  }
  const us = (routingNumber: string) => ({ routingNumber, accountNumber: '12345678', accountType: 'checking' })
  t.strictSame(check('AUD', 'AU', { bsb: '062-000', accountNumber: '123456789' }), [])
  t.strictSame(check('AUD', 'AU', { bsb: '063-000', accountNumber: '123456789' }), ['/bank/bsb invalid_value'])
  t.strictSame(
    check('AUD', 'AU', { bsb: '063-000', accountNumber: '123456789' }, { ukModulus, sandbox: false }),
    [],
    'without a directory the form is enough',
  )
  t.strictSame(check('INR', 'IN', { ifsc: 'ICIC0000001', accountNumber: '12345678901' }), ['/bank/ifsc invalid_value'])
  t.strictSame(check('NZD', 'NZ', { accountNumber: '01-0001-0001234-00' }), [])
  t.strictSame(check('NZD', 'NZ', { accountNumber: '02-0001-0001234-00' }), ['/bank/accountNumber invalid_value'])
  t.strictSame(check('USD', 'US', us('026009593')), [])
  t.strictSame(check('USD', 'US', us('011000015')), ['/bank/routingNumber invalid_value'])
  t.strictSame(check('USD', 'US', us('021000022')), ['/bank/routingNumber invalid_checksum'], 'once is enough')
  t.strictSame(
    check('USD', 'US', us('099000011'), { ...live, sandbox: true }),
    [],
    'the bank of the sandbox is in no list',
  )
  t.strictSame(
    check('CAD', 'CA', { institutionNumber: '003', transitNumber: '00012', accountNumber: '1234567' }),
    [],
    'a country without a list',
  )
  const unreached = new BankDirectory([line('US', 'routingNumber', '021000021', { rails: 'sepa' })])
  t.strictSame(check('USD', 'US', us('021000021'), { ...live, banks: unreached }), [
    '/bank/routingNumber account_not_eligible',
  ])
})

t.test('lookups name what is listed', async (t) => {
  const rails = (lookup: ReturnType<typeof lookupBank>) =>
    'found' in lookup ? lookup.found.rails.map(({ rail }) => rail) : []
  t.match(lookupBank(live, { country: 'AU', code: '062-123' }), {
    found: { kind: 'bsb', bankName: 'Example Bank', bic: 'EXAMAU2S', vouchedBy: 'list' },
  })
  t.match(lookupBank(live, { country: 'AU', code: '063-123' }), { fault: { parameter: 'code', code: null } })
  t.strictSame(rails(lookupBank(live, { country: 'US', code: '021000021' })), ['fedwire'])
  t.match(lookupBank(live, { country: 'FR', code: 'BNPAFRPPXXX' }), {
    found: { kind: 'bic', bankName: 'Paris Bank', bic: 'BNPAFRPPXXX', vouchedBy: 'list' },
  })
  t.match(lookupBank(live, { country: 'FR', code: 'AGRIFRPP' }), { found: { bankName: null, vouchedBy: 'form' } })
  t.match(lookupIban(live, 'DE89370400440532013000'), {
    found: { bankName: 'Frankfurt Bank', bic: 'COBADEFFXXX', vouchedBy: 'list' },
  })
  t.match(
    lookupIban(live, 'DE12500105170648489890'),
    { found: { bankName: null, vouchedBy: 'check_digits' } },
    'other IBANs stay right',
  )
})

t.test('it is read from a file, or does not start', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'vostro-banks-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'banks.csv')
  await writeFile(
    file,
    '\ufeffcountry,kind,from,to,name,bic,rails\r\nAU,bsb,062000,062999,"Example, Bank",,au_becs au_npp\r\n',
  )
  t.equal((await loadBankDirectory(file)).find('AU', 'bsb', '062001')?.name, 'Example, Bank')
  t.notOk((await loadBankDirectory(null)).has('AU', 'bsb'))
  await writeFile(file, 'country,kind,from,name\nAU,bsb,062000,X\n')
  await t.rejects(loadBankDirectory(file), /BANK_DIRECTORY cannot be read: there is no column to/)
  await t.rejects(loadBankDirectory(join(folder, 'none.csv')), /BANK_DIRECTORY/)
})
