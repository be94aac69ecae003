/** Quotes, and what is exchanged at their rate. */
import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { Exchange, Quote } from '../../../lib/exchange/exchange-schema.ts'
import { createWorld } from '../../support/world.ts'
import { becomes, events, exchange, money, postings, quote, updates } from './support.ts'

t.test('quotes and exchanges', async (t) => {
  await using world = await createWorld()
  const { client } = await world.customer({
    balances: [
      { currency: 'EUR', amount: 1_000_000n },
      { currency: 'USD', amount: 0n },
    ],
  })
  const balances = (await client.list<{ id: string; currency: string }>('/balances')).body.data
  const of = (currency: string) => balances.find((balance) => balance.currency === currency)!.id

  await t.test('a quote fixes one side and derives the other', async (t) => {
    const sold = await quote(client)
    t.equal(sold.status, 201, sold.text)
    t.match(sold.body, {
      sellAmount: money(10_000, 'EUR'),
      buyAmount: money(10_746, 'USD'),
      rate: '1.0746',
      inverseRate: '0.9305788200',
      fixedSide: 'sell',
      kind: 'spot',
      fee: null,
      depositRequired: null,
      used: false,
    })
    t.equal(Date.parse(sold.body.expiresAt) - Date.parse(sold.body.createdAt), 30_000)
    t.equal(sold.headers.get('location'), `/v1/exchanges/quotes/${sold.body.id}`)
    t.strictSame((await client.get(`/exchanges/quotes/${sold.body.id}`)).body, sold.body)
    const bought = await quote(client, { amount: money(10_000, 'USD'), fixedSide: 'buy' })
    t.match(bought.body, { sellAmount: money(9_306, 'EUR'), buyAmount: money(10_000, 'USD') })
    const yen = await quote(client, { buyCurrency: 'JPY', sellCurrency: 'GBP', amount: money(999, 'GBP') })
    t.match(yen.body, { buyAmount: money(1_849, 'JPY'), rate: '185.1162790698' }, 'a cross, by division')
  })

  await t.test('a quote under a key is the same bytes again', async (t) => {
    const key = randomUUID()
    const first = await quote(client, {}, key)
    const again = await quote(client, {}, key)
    t.equal(again.text, first.text)
    t.equal(again.headers.get('idempotency-replayed'), 'true')
    t.equal(again.headers.get('etag'), first.headers.get('etag'))
    t.match((await quote(client, { amount: money(5, 'EUR') }, key)).problem, { code: 'idempotency-key-reused' })
  })

  await t.test('an exchange is booked at once and settles with its margin', async (t) => {
    const before = await client.balance(of('EUR'))
    const {
      body: { id: quoteId },
    } = await quote(client)
    const key = randomUUID()
    const made = await exchange(
      client,
      quoteId,
      { reference: 'Dollars', externalId: 'FX-1', metadata: { team: 'treasury' } },
      key,
    )
    t.equal(made.status, 201, made.text)
    t.match(made.body, {
      kind: 'spot',
      status: 'processing',
      quoteId,
      sellBalanceId: of('EUR'),
      buyBalanceId: of('USD'),
      number: /^EXC/,
      reference: 'Dollars',
      externalId: 'FX-1',
      settledAt: null,
      drawdownCount: 0,
    })
    t.equal(made.headers.get('location'), `/v1/exchanges/${made.body.id}`)
    t.match((await client.get<Quote>(`/exchanges/quotes/${quoteId}`)).body, { used: true })
    t.equal(
      BigInt((await client.balance(of('EUR'))).bookBalance.amountMinor),
      BigInt(before.bookBalance.amountMinor) - 10_000n,
    )
    t.equal((await client.balance(of('USD'))).bookBalance.amountMinor, '0')

    const done = await becomes(world, client, made.body.id, 'completed')
    t.match(done, { settledAt: /Z$/, failure: null })
    t.strictSame(await postings(world, done.id), [
      'L30 EUR 10000',
      'L31 EUR 10000',
      'L32 USD 10800',
      'L33 USD 10746',
      'L34 USD 54',
    ])
    t.strictSame(await updates(world, done.id), ['processing', 'completed'])
    t.strictSame(await events(world, done.id), [
      'exchange.status_changed null processing',
      'exchange.status_changed processing completed',
      'exchange.completed processing completed',
    ])
    t.match((await client.journal(of('EUR')))[0], {
      direction: 'debit',
      type: 'exchange_out',
      amount: money(10_000, 'EUR'),
      source: { object: 'exchange', id: done.id },
    })
    t.match((await client.journal(of('USD')))[0], {
      direction: 'credit',
      type: 'exchange_in',
      amount: money(10_746, 'USD'),
    })
    t.equal(
      (
        await exchange(
          client,
          quoteId,
          { reference: 'Dollars', externalId: 'FX-1', metadata: { team: 'treasury' } },
          key,
        )
      ).text,
      made.text,
      'the same key is the same bytes, whatever has become of it',
    )

    const other = await quote(client)
    t.match((await exchange(client, other.body.id, { externalId: 'FX-1' })).problem, {
      code: 'duplicate-external-id',
      existingId: done.id,
    })
    t.match((await exchange(client, quoteId)).problem, { code: 'invalid-transition', currentStatus: 'used' })
    t.match(
      (await client.post(`/exchanges/quotes/${quoteId}/refresh`, undefined)).problem,
      { code: 'invalid-transition' },
      'a used quote is not refreshed',
    )
    const refreshed = await client.post<Quote>(`/exchanges/quotes/${other.body.id}/refresh`, undefined)
    t.equal(refreshed.status, 201)
    t.not(refreshed.body.id, other.body.id)
    t.strictSame(refreshed.body.sellAmount, other.body.sellAmount)

    t.strictSame(
      (await client.list<Exchange>('/exchanges?q=dollars')).body.data.map(({ id }) => id),
      [done.id],
    )
    t.strictSame(
      (await client.list<Exchange>(`/exchanges?q=${done.number}`)).body.data.map(({ id }) => id),
      [done.id],
    )
    t.strictSame((await client.list<Exchange>('/exchanges?filter[status]=failed')).body.data, [])
    t.match(
      (
        await client.list<Exchange>(
          '/exchanges?filter[kind]=spot&filter[sellCurrency]=EUR&filter[externalId]=FX-1&sort=settlementDate&withTotal=true',
        )
      ).body,
      { data: [{ id: done.id }], page: { total: 1 } },
    )
  })

  await t.test('the side that is bought may be fixed, and the margin is in the other', async (t) => {
    const {
      body: { id: quoteId },
    } = await quote(client, { amount: money(10_000, 'USD'), fixedSide: 'buy' })
    const made = await exchange(client, quoteId)
    await becomes(world, client, made.body.id, 'completed')
    t.strictSame(await postings(world, made.body.id), [
      'L30 EUR 9306',
      'L31 EUR 9259',
      'L32 USD 10000',
      'L33 USD 10000',
      'L34 EUR 47',
    ])
  })

  await t.test('what is refused gives everything back, what nobody knows waits and is asked about', async (t) => {
    const refusedQuote = await quote(client, { amount: money(1_309, 'EUR') })
    const unknownQuote = await quote(client, { amount: money(1_501, 'EUR') })
    const before = (await client.balance(of('EUR'))).bookBalance.amountMinor
    const refused = await exchange(client, refusedQuote.body.id)
    const failed = await becomes(world, client, refused.body.id, 'failed')
    t.match(failed, { failure: { code: 'unknown', scheme: 'provider', schemeCode: 'FX01', at: /Z$/ }, settledAt: null })
    t.strictSame(await postings(world, failed.id), ['L30 EUR 1309', 'L35 EUR 1309'])
    t.equal((await client.balance(of('EUR'))).bookBalance.amountMinor, before)
    t.match((await client.journal(of('EUR')))[0], { direction: 'credit', type: 'exchange_out' })

    const renewed = await client.post<Quote>(`/exchanges/quotes/${unknownQuote.body.id}/refresh`, undefined)
    const unknown = await exchange(client, renewed.body.id)
    const excepted = await becomes(world, client, unknown.body.id, 'exception')
    t.equal(excepted.exception, null, 'customers are not told what of')
    await becomes(world, client, unknown.body.id, 'completed')
    t.strictSame(await updates(world, unknown.body.id), ['processing', 'exception', 'completed'])
    t.strictSame(
      await world.query<{ status: string; outcome: string }>(
        'select status, outcome from exception_case where subject_id = $1',
        [unknown.body.id],
      ),
      [{ status: 'resolved', outcome: 'completed' }],
    )
  })
})
