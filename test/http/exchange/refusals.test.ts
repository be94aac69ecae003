/** The refusals of quotes and exchanges, none of which changes a row. */
import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { Exchange, IndicativeRates, Quote } from '../../../lib/exchange/exchange-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { becomes, events, exchange, money, postings, quote, updates } from './support.ts'

t.test('refusals, rates and simulations', async (t) => {
  await using world = await createWorld()
  const {
    client,
    balanceIds: [eurBalance],
  } = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const stranger = await world.customer({
    balances: [
      { currency: 'EUR', amount: 5_000n },
      { currency: 'USD', amount: 5_000n },
    ],
  })
  const fault = async (body: Readonly<Record<string, unknown>>) => {
    const { status, problem } = await quote(client, body)
    return `${status} ${problem.code} ${problem.errors?.map(({ field, code }) => `${field} ${code}`).join() ?? ''}`
  }

  await t.test('quotes that cannot be', async (t) => {
    t.equal(
      await fault({ sellCurrency: 'XXX', amount: money(1, 'XXX') }),
      '422 validation-error /sellCurrency invalid_value',
    )
    t.equal(await fault({ buyCurrency: 'BGN' }), '422 validation-error /buyCurrency currency_withdrawn')
    t.equal(await fault({ buyCurrency: 'BHD' }), '422 validation-error /buyCurrency invalid_value')
    t.equal(await fault({ buyCurrency: 'EUR' }), '422 validation-error /buyCurrency invalid_value')
    t.equal(await fault({ amount: money(1, 'USD') }), '422 validation-error /amount/currency currency_mismatch')
    t.equal(
      await fault({ sellCurrency: 'JPY', buyCurrency: 'GBP', amount: money(0, 'JPY') }),
      '422 validation-error /amount/amountMinor too_small',
    )
    t.equal(
      await fault({ sellCurrency: 'HUF', amount: money(1, 'HUF') }),
      '422 validation-error /amount/amountMinor amount_too_small',
    )
    t.equal(await fault({ amount: money(10n ** 15n + 1n, 'EUR') }), '422 limit-exceeded ')
    t.equal(
      await fault({ amount: { amountMinor: 100, currency: 'EUR' } }),
      '422 validation-error /amount/amountMinor invalid_type',
    )
    t.equal(await fault({ kind: 'drawdown' }), '422 validation-error /kind invalid_value')
    t.equal(await fault({ settlementDate: '2027-01-04' }), '422 validation-error /settlementDate not_applicable')
    t.equal(await fault({ kind: 'forward' }), '422 validation-error /settlementDate required')
    t.equal(await fault({ holdMinutes: 5 }), '422 validation-error /holdMinutes not_applicable')
    t.equal(await fault({ kind: 'held_rate', holdMinutes: 1_441 }), '422 validation-error /holdMinutes too_large')
    t.equal(await fault({ sellBalanceId: stranger.balanceIds[0] }), '422 validation-error /sellBalanceId not_found')
    t.equal(await fault({ buyBalanceId: eurBalance }), '422 validation-error /buyBalanceId currency_mismatch')
    t.equal(await fault({ colour: 'red' }), '422 validation-error /colour unknown_field')
    t.strictSame(await world.query('select from quote where customer_id = $1', [client.tenantId]), [])
  })

  await t.test("what runs out, what is another's, and what is not there", async (t) => {
    const arrived = await quote(client, { amount: money(1_801, 'EUR') })
    t.equal(arrived.body.expiresAt, arrived.body.createdAt, 'expired on arrival')
    const key = randomUUID()
    const late = await exchange(client, arrived.body.id, {}, key)
    t.match(late.problem, {
      status: 409,
      code: 'quote-expired',
      quoteId: arrived.body.id,
      expiredAt: arrived.body.expiresAt,
    })
    t.equal((await exchange(client, arrived.body.id, {}, key)).headers.get('idempotency-replayed'), 'true')
    t.match((await client.list('/balances')).body.data.length, 1, 'no balance is opened for what is refused')
    t.match((await exchange(client, randomUUID())).problem, {
      code: 'validation-error',
      errors: [{ field: '/quoteId', code: 'not_found' }],
    })
    const theirs = await quote(stranger.client)
    t.match((await exchange(client, theirs.body.id)).problem, { errors: [{ field: '/quoteId', code: 'not_found' }] })
    t.equal((await client.get(`/exchanges/quotes/${theirs.body.id}`)).status, 404)
    t.equal((await client.get(`/exchanges/${randomUUID()}`)).status, 404)
    t.equal((await client.post(`/exchanges/quotes/${randomUUID()}/refresh`, undefined)).status, 404)
    const aged = await quote(client)
    world.advance(30_000)
    t.match((await exchange(client, aged.body.id)).problem, { code: 'quote-expired' })
    t.equal((await client.get<Quote>(`/exchanges/quotes/${aged.body.id}`)).body.used, false)
    t.equal(
      (await client.post<Quote>(`/exchanges/quotes/${aged.body.id}/refresh`, undefined)).status,
      201,
      'an expired one is refreshed',
    )
  })

  await t.test('funds, balances and currencies', async (t) => {
    const much = await quote(client, { amount: money(100_001, 'EUR') })
    const { problem } = await exchange(client, much.body.id)
    t.match(problem, {
      status: 409,
      code: 'insufficient-funds',
      available: money(100_000, 'EUR'),
      required: money(100_001, 'EUR'),
    })
    t.equal(
      (await client.get<Quote>(`/exchanges/quotes/${much.body.id}`)).body.used,
      false,
      'a quote that nothing came of is not used',
    )
    const {
      body: { id },
    } = await quote(client)
    t.match((await exchange(client, id, { sellBalanceId: stranger.balanceIds[0] })).problem, {
      errors: [{ field: '/sellBalanceId', code: 'not_found' }],
    })
    t.match((await exchange(client, id, { buyBalanceId: eurBalance })).problem, {
      errors: [{ field: '/buyBalanceId', code: 'currency_mismatch' }],
    })

    await world.query(
      `insert into setting (owner_id, name, version, value, updated_by, updated_at) values ($1, 'currencies', 1, '{"enabled": ["EUR", "USD", "GBP"]}', $1, now())`,
      [client.tenantId],
    )
    const kept = await quote(client, { buyCurrency: 'PLN' })
    if (kept.status === 422) t.match(kept.problem, { errors: [{ field: '/buyCurrency', code: 'inactive' }] })
    else
      t.match(
        (await exchange(client, kept.body.id)).problem,
        { errors: [{ field: '/buyBalanceId', code: 'inactive' }] },
        'a node that has not heard yet finds out when the balance is opened',
      )
    const sterling = await quote(client, { buyCurrency: 'GBP' })
    const made = await exchange(client, sterling.body.id)
    t.equal(made.status, 201, made.text)
    t.match(
      (await client.list('/balances', { 'filter[currency]': 'GBP' })).body.data,
      [{ id: made.body.buyBalanceId, isDefault: true, status: 'active' }],
      'a balance was opened',
    )
    await becomes(world, client, made.body.id, 'completed')
    t.equal((await client.balance(made.body.buyBalanceId)).bookBalance.amountMinor, '8557')
    t.equal(
      (await exchange(client, (await quote(client, { buyCurrency: 'GBP' })).body.id)).body.buyBalanceId,
      made.body.buyBalanceId,
      'and is there the next time',
    )
  })

  await t.test('ten who use one quote at once make one exchange', async (t) => {
    const {
      body: { id },
    } = await quote(client, { amount: money(100, 'EUR') })
    const replies = await Promise.all(Array.from({ length: 10 }, () => exchange(client, id)))
    t.strictSame(replies.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409, 409, 409])
    for (const reply of replies)
      if (reply.status === 409) t.match(reply.problem, { code: 'invalid-transition', currentStatus: 'used' })
    t.equal((await world.query('select from exchange where quote_id = $1', [id])).length, 1)
  })

  await t.test('indicative rates', async (t) => {
    const { body } = await client.get<IndicativeRates>('/exchanges/rates?sellCurrency=EUR&buyCurrency=USD,JPY')
    t.match(body.data, [
      { sellCurrency: 'EUR', buyCurrency: 'USD', mid: '1.08', bid: '1.0746', ask: '1.0854271357', at: /Z$/ },
      { buyCurrency: 'JPY', mid: '160' },
    ])
    t.strictSame((await stranger.client.get<IndicativeRates>('/exchanges/rates?sellCurrency=USD')).body.data.length, 20)
    t.match((await client.get('/exchanges/rates?sellCurrency=EUR&buyCurrency=BHD')).problem, {
      status: 400,
      errors: [{ field: 'query.buyCurrency' }],
    })
    t.match((await client.get('/exchanges/rates')).problem, { status: 400 })
  })

  await t.test('a rate is moved, the inverse the other way, and back', async (t) => {
    const moved = await client.post<{ details: object }>('/simulations/fx-rates', {
      sellCurrency: 'EUR',
      buyCurrency: 'USD',
      shiftBps: 100,
    })
    t.equal(moved.status, 202, moved.text)
    t.match(moved.body, {
      kind: 'fx_rate',
      status: 'applied',
      provider: 'sandbox',
      details: { rate: '1.0908', inverseRate: '0.9167583425', shiftBps: 100 },
    })
    t.equal((await quote(client)).body.rate, '1.085346')
    t.equal(
      (await client.get<IndicativeRates>('/exchanges/rates?sellCurrency=USD&buyCurrency=EUR')).body.data[0]?.mid,
      '0.9167583425',
    )
    await client.post('/simulations/fx-rates', {
      sellCurrency: 'USD',
      buyCurrency: 'EUR',
      shiftBps: 0,
      durationMinutes: 5,
    })
    t.equal((await quote(client)).body.rate, '1.0746', 'what was said of the pair is replaced')
    t.match(
      (await client.post('/simulations/fx-rates', { sellCurrency: 'EUR', buyCurrency: 'USD', shiftBps: 5_001 }))
        .problem,
      { errors: [{ field: '/shiftBps' }] },
    )
    t.match(
      (await client.post('/simulations/fx-rates', { sellCurrency: 'EUR', buyCurrency: 'BHD', shiftBps: 1 })).problem,
      { errors: [{ field: '/buyCurrency', code: 'invalid_value' }] },
    )
  })

  await t.test('an exchange that stays until it is simulated; what fits no more changes nothing', async (t) => {
    const open = async () =>
      (await exchange(client, (await quote(client, { amount: money(1_701, 'EUR') })).body.id)).body.id
    const say = (id: string, body: object) =>
      client.post<{ providerEventIds: string[] }>(`/simulations/exchanges/${id}/status`, body)
    const told = (id: string) =>
      world.query<{ due_at: string | null }>('select due_at from sandbox_fx_order where reference = $1', [id])
    const first = await open()
    await until('the dealer has it', async () => (await told(first)).length > 0)
    world.advance(60_000)
    t.equal((await client.get<Exchange>(`/exchanges/${first}`)).body.status, 'processing')
    t.match((await say(first, { status: 'completed', reason: 'X' })).problem, {
      errors: [{ field: '/reason', code: 'not_applicable' }],
    })
    const unclear = await say(first, { status: 'exception' })
    t.equal(unclear.status, 202, unclear.text)
    await becomes(world, client, first, 'exception')
    t.match((await say(first, { status: 'exception' })).problem, {
      code: 'simulation-not-possible',
      currentStatus: 'exception',
    })
    await say(first, { status: 'failed', reason: 'NOLIQ' })
    t.match(await becomes(world, client, first, 'failed'), { failure: { schemeCode: 'NOLIQ' } })
    t.strictSame(await postings(world, first), ['L30 EUR 1701', 'L35 EUR 1701'])
    t.strictSame(await updates(world, first), ['processing', 'exception', 'failed'])
    t.strictSame(await events(world, first), [
      'exchange.status_changed null processing',
      'exchange.status_changed processing exception',
      'exchange.status_changed exception failed',
    ])
    t.match((await say(first, { status: 'completed' })).problem, {
      code: 'simulation-not-possible',
      currentStatus: 'failed',
    })
    t.equal((await stranger.client.post(`/simulations/exchanges/${first}/status`, { status: 'completed' })).status, 404)

    // The dealer says the opposite afterwards: kept, and nothing moves.
    await world.query(
      `update sandbox_fx_order set next_event = 'settled', due_at = now() - interval '1 hour', event_number = event_number + 1, state = 'accepted' where reference = $1`,
      [first],
    )
    await until('the dealer has said it', async () => (await told(first))[0]?.due_at === null)
    t.strictSame(
      (
        await world.query<{ type: string }>(
          'select type from provider_event where object_id = $1 order by received_at, id',
          [first],
        )
      )
        .map(({ type }) => type)
        .sort(),
      ['refused', 'settled', 'unclear'],
    )
    t.equal((await client.get<Exchange>(`/exchanges/${first}`)).body.status, 'failed')
    await world.query(`update sandbox_fx_order set state = 'refused' where reference = $1`, [first])
  })

  await t.test('a connection that does not exchange: the operator takes and gives itself', async (t) => {
    await world.query(`update provider_connection set config = config || '{"capabilities": {"fx": false}}'`)
    const {
      body: { id },
    } = await exchange(stranger.client, (await quote(stranger.client, { amount: money(1_000, 'EUR') })).body.id)
    await becomes(world, stranger.client, id, 'completed')
    t.strictSame(await postings(world, id), ['L30 EUR 1000', 'L33 USD 1075', 'L36 EUR 1000', 'L36 USD 1075'])
    await world.query(`update provider_connection set config = config - 'capabilities'`)
  })
})
