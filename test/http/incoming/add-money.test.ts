import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { AccountDetails } from '../../../http/schemas/account-details.ts'
import { createWorld } from '../../support/world.ts'
import { money } from './support.ts'

interface Added {
  readonly method: string
  readonly depositDetails: readonly AccountDetails[]
  readonly exchange: null
}

t.test('adding money by bank transfer says where to send it', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const body = { method: 'bank_transfer', balanceId: balances.GBP, amount: money(500, 'GBP') }
  const key = randomUUID()
  const added = await client.post<Added>('/add-money', body, key)
  t.equal(added.status, 200, added.text)
  const details = (await client.list<AccountDetails>(`/balances/${balances.GBP}/details`)).body.data
  t.strictSame(added.body, { method: 'bank_transfer', depositDetails: details, exchange: null })
  const again = await client.post<Added>('/add-money', body, key)
  t.equal(again.text, added.text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match((await client.post('/add-money', { ...body, amount: null }, key)).problem, { status: 422, code: 'idempotency-key-reused' })
  t.match((await client.send('/v1/add-money', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).problem, { status: 400, errors: [{ field: 'header.Idempotency-Key' }] })

  await world.query(`update account_details set status = case scope when 'local' then 'closed' else 'pending' end, identifiers = null where balance_id = $1`, [balances.GBP])
  t.match((await client.post<Added>('/add-money', { method: 'bank_transfer', balanceId: balances.GBP })).body.depositDetails, [{ status: 'pending', scope: 'international', iban: null }], 'pending ones too, closed ones not')
})

t.test('what cannot be added is refused by name', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const transfer = { method: 'bank_transfer', balanceId: balances.EUR }
  const conversion = { method: 'conversion', balanceId: balances.EUR, fromBalanceId: balances.USD, amount: money(100) }
  for (const [name, body, field, code] of [
    ['no method', { balanceId: balances.EUR }, '/method', 'required'],
    ['another method', { ...transfer, method: 'cheque' }, '/method', 'invalid_value'],
    ['no balance', { ...transfer, balanceId: randomUUID() }, '/balanceId', 'not_found'],
    ["a stranger's balance", { ...transfer, balanceId: other.balanceIds[0] }, '/balanceId', 'not_found'],
    ['another currency', { ...transfer, amount: money(1, 'USD') }, '/amount/currency', 'currency_mismatch'],
    ['a source of a transfer', { ...transfer, fromBalanceId: balances.USD }, '/fromBalanceId', 'not_applicable'],
    ['a quote of a transfer', { ...transfer, quoteId: randomUUID() }, '/quoteId', 'not_applicable'],
    ['a side of a transfer', { ...transfer, fixedSide: 'buy' }, '/fixedSide', 'not_applicable'],
    ['a conversion of nothing', { ...conversion, fromBalanceId: null }, '/fromBalanceId', 'required'],
    ["a conversion of a stranger's", { ...conversion, fromBalanceId: other.balanceIds[0] }, '/fromBalanceId', 'not_found'],
    ['a conversion into itself', { ...conversion, fromBalanceId: balances.EUR }, '/fromBalanceId', 'invalid_value'],
    ['a conversion of no amount', { ...conversion, amount: null }, '/amount', 'required'],
    ['a conversion in the other currency', { ...conversion, fixedSide: 'sell' }, '/amount/currency', 'currency_mismatch'],
  ] as const) {
    t.match((await client.post('/add-money', body)).problem, { status: 422, code: 'validation-error', errors: [{ field, code }] }, name)
  }
  t.match((await client.post('/add-money', conversion)).problem, { status: 501, code: 'not-implemented' })
  await world.query(`update balance set status = 'closed', version = version + 1 where id = $1`, [balances.EUR])
  t.match((await client.post('/add-money', transfer)).problem, { status: 422, errors: [{ field: '/balanceId', code: 'inactive' }] })
})
