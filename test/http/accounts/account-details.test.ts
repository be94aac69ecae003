import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { AccountDetails } from '../../../lib/accounts/account-details-schema.ts'
import { createWorld } from '../../support/world.ts'

const FIELDS = [
  'accountHolderName',
  'accountNumber',
  'balanceId',
  'bankAddress',
  'bankCode',
  'bankName',
  'bic',
  'branchCode',
  'bsb',
  'clabe',
  'country',
  'createdAt',
  'currency',
  'estimatedArrival',
  'iban',
  'id',
  'intermediaryBic',
  'rails',
  'reference',
  'replacedById',
  'routingNumber',
  'scope',
  'shared',
  'sortCode',
  'status',
  'statusReason',
  'validFrom',
  'validUntil',
]

t.test('a balance says where money for it can be sent', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const read = async (balanceId: string, parameters = {}) =>
    await client.list<AccountDetails>(`/balances/${balanceId}/details`, parameters)
  const page = (await read(balances.EUR)).body
  t.strictSame(page.page, { nextCursor: null, prevCursor: null, limit: 100 })
  const [local, abroad, ...others] = page.data
  t.strictSame(Object.keys(local!).sort(), FIELDS, 'every documented field is there, and no other')
  t.match(local, {
    balanceId: balances.EUR,
    currency: 'EUR',
    scope: 'local',
    status: 'active',
    country: 'NL',
    iban: /^NL\d\dSBOX\d{10}$/,
    bic: 'SBOXNL2A',
    accountHolderName: 'Sandbox Company',
    shared: false,
  })
  t.match(abroad, { scope: 'international', rails: ['swift'], iban: local!.iban })
  t.strictSame(others, [])
  t.match((await read(balances.GBP)).body.data[0], { sortCode: '990001', accountNumber: /^\d{8}$/, iban: null })
  t.match((await read(balances.USD)).body.data[0], { routingNumber: '099000011', accountNumber: /^\d{10}$/ })
  t.equal((await read(balances.JPY)).body.data.length, 2)

  t.strictSame(
    (await read(balances.EUR, { rail: 'sepa' })).body.data.map(({ id }) => id),
    [local!.id],
    'by rail',
  )
  t.strictSame((await read(balances.EUR, { rail: 'fedwire' })).body.data, [])
  t.match((await read(balances.EUR, { rail: 'pigeon' })).problem, { status: 400, errors: [{ field: 'query.rail' }] })
  t.match((await read(balances.EUR, { limit: 5 })).problem, {
    status: 400,
    errors: [{ field: 'query.limit', code: 'unknown_field' }],
  })

  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  t.equal((await read(other.balanceIds[0]!)).problem.code, 'not-found', "a stranger's balance does not exist")
  t.equal((await read(randomUUID())).problem.code, 'not-found')
  const theirs = (await other.client.list<AccountDetails>(`/balances/${other.balanceIds[0]!}/details`)).body.data
  t.not(theirs[0]!.iban, local!.iban, 'no two balances share an account')

  await world.query(`update account_details set status = 'pending', identifiers = null where balance_id = $1`, [
    balances.JPY,
  ])
  t.match((await read(balances.JPY)).body.data, [
    { status: 'pending', accountNumber: null, bankCode: null, branchCode: null },
    { status: 'pending', iban: null, bic: null },
  ])

  await world.query('delete from account_details')
  await world.restart()
  t.equal((await read(balances.EUR)).body.data.length, 2, 'a sandbox of before gets its accounts when it starts')
})
