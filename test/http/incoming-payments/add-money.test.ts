import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { AccountDetails } from '../../../lib/accounts/account-details-schema.ts'
import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import { becomes, postings, quote } from '../exchange/support.ts'
import { createWorld } from '../../support/world.ts'
import { money } from './support.ts'

interface Added {
  readonly method: string
  readonly depositDetails: readonly AccountDetails[]
  readonly exchange: Exchange | null
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
  t.match((await client.post('/add-money', { ...body, amount: null }, key)).problem, {
    status: 422,
    code: 'idempotency-key-reused',
  })
  t.match(
    (
      await client.send('/v1/add-money', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).problem,
    { status: 400, errors: [{ field: 'header.Idempotency-Key' }] },
  )

  await world.query(
    `update account_details set status = case scope when 'local' then 'closed' else 'pending' end, identifiers = null where balance_id = $1`,
    [balances.GBP],
  )
  t.match(
    (await client.post<Added>('/add-money', { method: 'bank_transfer', balanceId: balances.GBP })).body.depositDetails,
    [{ status: 'pending', scope: 'international', iban: null }],
    'pending ones too, closed ones not',
  )
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
    [
      "a conversion of a stranger's",
      { ...conversion, fromBalanceId: other.balanceIds[0] },
      '/fromBalanceId',
      'not_found',
    ],
    ['a conversion into itself', { ...conversion, fromBalanceId: balances.EUR }, '/fromBalanceId', 'invalid_value'],
    ['a conversion of no amount', { ...conversion, amount: null }, '/amount', 'required'],
    [
      'a conversion in the other currency',
      { ...conversion, fixedSide: 'sell' },
      '/amount/currency',
      'currency_mismatch',
    ],
  ] as const) {
    t.match(
      (await client.post('/add-money', body)).problem,
      { status: 422, code: 'validation-error', errors: [{ field, code }] },
      name,
    )
  }
  t.match((await client.post('/add-money', { ...conversion, quoteId: randomUUID() })).problem, {
    status: 422,
    errors: [{ field: '/quoteId', code: 'not_found' }],
  })
  t.match((await client.post('/add-money', { ...conversion, amount: money(1_000_000_000_000) })).problem, {
    status: 409,
    code: 'insufficient-funds',
  })
  await world.query(`update balance set status = 'closing', version = version + 1 where id = $1`, [balances.EUR])
  t.match((await client.post('/add-money', transfer)).problem, {
    status: 422,
    errors: [{ field: '/balanceId', code: 'inactive' }],
  })
})

t.test('what is on one balance is converted into the currency of another', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const before = await Promise.all(
    [balances.EUR, balances.USD].map(async (id) => Number((await client.balance(id)).bookBalance.amountMinor)),
  )
  const body = { method: 'conversion', balanceId: balances.EUR, fromBalanceId: balances.USD, amount: money(10_000) }
  const key = randomUUID()
  const added = await client.post<Added>('/add-money', body, key)
  t.equal(added.status, 200, added.text)
  t.match(added.body, {
    method: 'conversion',
    depositDetails: [],
    exchange: {
      status: 'processing',
      kind: 'spot',
      fixedSide: 'buy',
      buyAmount: money(10_000),
      sellBalanceId: balances.USD,
      buyBalanceId: balances.EUR,
    },
  })
  const again = await client.post<Added>('/add-money', body, key)
  t.equal(again.text, added.text, 'once under one key')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  const { id, sellAmount } = added.body.exchange!
  await becomes(world, client, id, 'completed')
  t.match(
    (await postings(world, id)).filter((line) => !line.startsWith('L34')),
    [`L81 USD ${sellAmount.amountMinor}`, /^L31 USD/, 'L32 EUR 10000', 'L33 EUR 10000'],
  )
  t.match(await client.balance(balances.EUR), { bookBalance: money(before[0]! + 10_000) })
  t.match(await client.balance(balances.USD), {
    bookBalance: money(before[1]! - Number(sellAmount.amountMinor), 'USD'),
  })
  t.match((await client.journal(balances.USD))[0], { type: 'exchange_out' })

  const locked = (await quote(client, { sellCurrency: 'USD', buyCurrency: 'EUR', amount: money(5_000, 'USD') })).body
  const { amount: _, ...quoted } = { ...body, quoteId: locked.id }
  t.match((await client.post('/add-money', { ...quoted, amount: money(4_999, 'USD'), fixedSide: 'sell' })).problem, {
    status: 422,
    errors: [{ field: '/amount/amountMinor', code: 'invalid_value' }],
  })
  t.match((await client.post<Added>('/add-money', quoted)).body.exchange, {
    quoteId: locked.id,
    sellAmount: money(5_000, 'USD'),
    buyAmount: locked.buyAmount,
  })
  t.match((await client.post('/add-money', quoted)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'used',
  })
  world.advance(10_000)
})
