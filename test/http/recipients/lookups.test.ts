/** The facts about a bank by an IBAN or a code, and the answer where there are none. */
import t from 'tap'
import type { BankLookup } from '../../../lib/recipients/bank-lookup-schema.ts'
import { CUSTOMER_SCOPES } from '../../../lib/identity/api-key.ts'
import { lookupBank, lookupIban } from '../../../lib/recipients/bank-lookup.ts'
import { loadUkModulusTable } from '../../../storage/recipients/uk-modulus-files.ts'
import { createWorld } from '../../support/world.ts'

t.test('over HTTP', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client } = world.seeded
  const iban = (text: string) => client.get<BankLookup>(`/recipients/lookups/iban?iban=${encodeURIComponent(text)}`)
  const bank = (country: string, code: string) =>
    client.get<BankLookup>(`/recipients/lookups/bank?country=${country}&code=${encodeURIComponent(code)}`)

  t.match(await iban('de89 3704 0044 0532 0130 00'), {
    status: 200,
    body: {
      country: 'DE',
      kind: 'iban',
      code: 'DE89370400440532013000',
      bankCode: '37040044',
      branchCode: null,
      bankName: null,
      bic: null,
      vouchedBy: 'check_digits',
      rails: [
        { rail: 'sepa', currency: 'EUR' },
        { rail: 'sepa_instant', currency: 'EUR' },
        { rail: 'target2', currency: 'EUR' },
        { rail: 'swift', currency: null },
      ],
    },
  })
  t.match((await iban('NL77SBOX0100000001')).body, { bankCode: 'SBOX', bankName: 'Sandbox Bank', bic: 'SBOXNL2A' })
  t.match((await iban('GB48SBOX99000112345678')).body, { bankCode: 'SBOX', branchCode: '990001', bic: 'SBOXGB2A' })
  t.match((await iban('DE89370400440532013001')).problem, {
    status: 422,
    code: 'validation-error',
    errors: [{ field: 'query.iban', code: 'invalid_checksum' }],
  })
  t.match((await iban('DE8937040044')).problem, {
    status: 422,
    errors: [{ field: 'query.iban', code: 'invalid_format' }],
  })
  t.match((await iban('US89370400440532013000')).problem, {
    status: 422,
    errors: [{ field: 'query.iban', code: 'invalid_value' }],
  })
  t.match((await client.get('/recipients/lookups/iban')).problem, { status: 400, code: 'malformed-request' })

  t.match(await bank('US', '021000021'), {
    status: 200,
    body: { kind: 'routingNumber', code: '021000021', vouchedBy: 'check_digits' },
  })
  t.match((await bank('DE', 'DEUTDEFF500')).body, {
    kind: 'bic',
    bankCode: 'DEUT',
    branchCode: '500',
    bic: 'DEUTDEFF500',
    bankName: null,
    vouchedBy: 'form',
  })
  t.match((await bank('MX', '002')).body, {
    kind: 'clabe',
    bankCode: '002',
    vouchedBy: 'list',
    rails: [{ rail: 'mx_spei', currency: 'MXN' }, { rail: 'swift' }],
  })
  t.match((await bank('MX', '003')).problem, { status: 404, code: 'not-found' })
  t.match((await bank('XX', '003')).problem, {
    status: 400,
    code: 'malformed-request',
    errors: [{ field: 'query.country' }],
  })
  t.match((await bank('GB', 'DEUTDEFF')).problem, {
    status: 422,
    errors: [{ field: 'query.code', code: 'invalid_value' }],
  })
  const nothing = await client
    .with({ apiKey: await keyWithout(world) })
    .get('/recipients/lookups/bank?country=MX&code=002')
  t.equal(nothing.status, 403, 'needs the scope of reading recipients')
})

t.test('every kind of code', async (t) => {
  const world = { ukModulus: await loadUkModulusTable(null), sandbox: false }
  const rows: readonly (readonly [country: string, code: string, expected: string])[] = [
    ['GB', '20-00-00', 'sortCode 200000 list'],
    ['GB', '99-00-01', 'sortCode 990001 form'],
    ['GG', '200000', 'sortCode 200000 list'],
    ['AU', '062-000', 'bsb 062000 form'],
    ['CA', '003', 'institutionNumber 003 form'],
    ['IN', 'sbin0000001', 'ifsc SBIN0000001 form'],
    ['SG', '7171', 'bankCode 7171 form'],
    ['HK', '004', 'bankCode 004 form'],
    ['JP', '0001', 'bankCode 0001 form'],
    ['CZ', '0800', 'bankCode 0800 form'],
    ['DK', '0040', 'bankCode 0040 form'],
    ['SE', '5000', 'clearingNumber 5000 form'],
    ['ZA', '250655', 'branchCode 250655 form'],
    ['BR', 'ITAUBRSP', 'bic ITAUBRSP form'],
    ['US', '021000022', 'invalid_checksum'],
    ['US', '990000011', 'invalid_value'],
    ['US', '12', 'invalid_format'],
    ['BR', '341', 'invalid_format'],
    ['MX', '12', 'invalid_format'],
    ['MX', '999', 'nobody has it'],
    ['NL', 'SBOXNL20', 'invalid_value'],
    ['NL', 'DEUTXXFF', 'invalid_format'],
  ]
  for (const [country, code, expected] of rows) {
    const lookup = lookupBank(world, { country, code })
    const said =
      'found' in lookup
        ? `${lookup.found.kind} ${lookup.found.code} ${lookup.found.vouchedBy}`
        : (lookup.fault.code ?? 'nobody has it')
    t.equal(said, expected, `${country} ${code}`)
  }
  t.match(
    lookupIban(world, 'NL77SBOX0100000001'),
    { found: { bankName: null, bic: null } },
    'where there is no sandbox its bank is unknown',
  )
  t.match(lookupIban(world, 'GB29NWBK60161331926819'), { found: { branchCode: '601613', vouchedBy: 'list' } })
  t.match(
    lookupIban(world, 'GB56NWBK60161331926818'),
    { fault: { parameter: 'iban', code: 'invalid_checksum' } },
    'the account inside is checked',
  )
})

/** A key of the customer that may do everything but read recipients. */
async function keyWithout(world: Awaited<ReturnType<typeof createWorld>>): Promise<string> {
  const owner = await world.person('owner').signIn()
  await owner.stepUp('api_key.create')
  const made = await owner.post<{ secret: string }>('/api-keys', {
    name: 'Elsewhere',
    environment: 'test',
    scopes: CUSTOMER_SCOPES.filter((scope) => !scope.startsWith('recipients')),
  })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.secret
}
