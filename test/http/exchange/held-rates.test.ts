/** Held rates: held, drawn from, given up, run out. */
import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import { createWorld } from '../../support/world.ts'
import {
  askQuote,
  becomes,
  book,
  draw,
  drawdowns,
  eur,
  euros,
  events,
  heldRate,
  HOUR_MS,
  quote,
  read,
  usd,
  type Customer,
} from './contracts-support.ts'

await using world = await createWorld()
const [one, two, three] = (await Promise.all(
  [2_500_000n, 2_500_000n, 1_000n].map((amount) => euros(world, amount)),
)) as [Customer, Customer, Customer]

await t.test('a rate is held for an hour unless said otherwise, and costs nothing', async (t) => {
  const key = randomUUID()
  const quoteId = await quote(one.client, { kind: 'held_rate', amount: eur(2_000_000) })
  const made = await one.client.post<Exchange>('/held-rates', { quoteId, reference: 'Season' }, key)
  t.match(
    made.body,
    {
      kind: 'held_rate',
      status: 'active',
      deposit: null,
      forwardType: null,
      remainingSellAmount: eur(2_000_000),
      drawdownCount: 0,
      number: /^EXC/,
    },
    made.text,
  )
  t.equal(Date.parse(made.body.heldUntil ?? '') - Date.parse(made.body.createdAt), HOUR_MS)
  t.equal((await one.client.post('/held-rates', { quoteId, reference: 'Season' }, key)).text, made.text)
  t.equal(await book(one.client, one.from), 2_500_000n)

  const first = await draw(one.client, made.body, { amount: usd(1_000_000) })
  t.match(
    first.body,
    { kind: 'drawdown', status: 'processing', rate: made.body.rate, parentExchangeId: made.body.id },
    first.text,
  )
  const left = BigInt(made.body.sellAmount.amountMinor) - BigInt(first.body.sellAmount.amountMinor)
  t.match(await read(one.client, made.body.id), {
    status: 'partially_drawn',
    remainingSellAmount: eur(left),
    drawdownCount: 1,
  })
  t.match((await one.client.post(`/held-rates/${made.body.id}/cancel`, {})).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'partially_drawn',
  })
  t.match((await draw(one.client, made.body, { amount: eur(left + 1n) })).problem, {
    errors: [{ field: '/amount', code: 'too_large', params: { remaining: left.toString() } }],
  })
  const rest = await draw(one.client, made.body, { amount: eur(left) })
  t.equal(rest.status, 201, rest.text)
  t.match(await read(one.client, made.body.id), { status: 'completed', remainingBuyAmount: usd(0) })
  t.equal(
    BigInt(first.body.buyAmount.amountMinor) + BigInt(rest.body.buyAmount.amountMinor),
    BigInt(made.body.buyAmount.amountMinor),
  )
  world.advance(6_000)
  for (const { id } of await drawdowns(one.client, made.body)) await becomes(one.client, id, 'completed')
  t.equal(await book(one.client, one.to), BigInt(made.body.buyAmount.amountMinor))
  t.strictSame(await events(world, made.body.id), [
    'exchange.status_changed null active',
    'exchange.status_changed active partially_drawn',
    'exchange.status_changed partially_drawn completed',
    'exchange.completed partially_drawn completed',
  ])
})

await t.test('given up while nothing is drawn; drawn at once by many, once', async (t) => {
  const given = await heldRate(two.client)
  const key = randomUUID()
  const cancelled = await two.client.post<Exchange>(`/held-rates/${given.id}/cancel`, {}, key)
  t.match(cancelled.body, { status: 'cancelled' }, cancelled.text)
  t.equal((await two.client.post<Exchange>(`/held-rates/${given.id}/cancel`, {}, key)).text, cancelled.text)
  t.match((await two.client.post(`/held-rates/${given.id}/cancel`, {})).problem, {
    status: 409,
    code: 'not-cancellable',
  })
  t.match((await draw(two.client, given, { amount: eur(1) })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'cancelled',
    allowed: ['active', 'partially_drawn'],
  })

  const held = await heldRate(two.client, { amount: 1_000_000 })
  const replies = await Promise.all(Array.from({ length: 10 }, () => draw(two.client, held, { amount: eur(400_000) })))
  t.equal(replies.filter(({ status }) => status === 201).length, 2, replies.map(({ status }) => status).join())
  t.match(await read(two.client, held.id), { remainingSellAmount: eur(200_000), drawdownCount: 2 })
  t.equal(await book(two.client, two.from), 1_700_000n)
})

await t.test('every one of many draws at once is decided, however many come first', async (t) => {
  const held = await heldRate(two.client, { amount: 50_000 })
  const draws = Array.from({ length: 50 }, () =>
    two.client.post(`/held-rates/${held.id}/drawdowns`, { amount: eur(1_000) }),
  )
  t.strictSame(new Set((await Promise.all(draws)).map(({ status }) => status)), new Set([201]))
  t.match(await read(two.client, held.id), { remainingSellAmount: eur(0), drawdownCount: 50 })
})

await t.test('what is not drawn in time has expired', async (t) => {
  const held = await heldRate(three.client, { amount: 1_000, holdMinutes: 5 })
  t.match((await draw(three.client, held, { amount: eur(1_001) })).problem, { errors: [{ code: 'too_large' }] })
  t.equal((await draw(three.client, held, { amount: eur(400) })).status, 201)
  world.advance(5 * 60_000 + 1_000)
  t.match(await becomes(three.client, held.id, 'expired'), { drawdownCount: 1 })
  t.match((await draw(three.client, held, { amount: eur(100) })).problem, {
    code: 'invalid-transition',
    currentStatus: 'expired',
  })
})

await t.test('wrong terms are refused', async (t) => {
  const { client } = three
  t.match((await askQuote(client, { kind: 'held_rate', holdMinutes: 1_441 })).problem, {
    errors: [{ field: '/holdMinutes', code: 'too_large' }],
  })
  t.match((await client.post('/held-rates', { quoteId: await quote(client, { kind: 'spot' }) })).problem, {
    errors: [{ field: '/quoteId', code: 'invalid_value' }],
  })
  t.match((await client.post('/held-rates', { quoteId: randomUUID(), drawdownFrom: '2026-12-01' })).problem, {
    errors: [{ field: '/drawdownFrom', code: 'read_only_field' }],
  })
  t.match((await client.post('/held-rates', {})).problem, { errors: [{ field: '/quoteId', code: 'required' }] })
  t.equal((await client.post(`/held-rates/${randomUUID()}/cancel`, {})).status, 404)
  t.equal((await client.list(`/held-rates/${randomUUID()}/drawdowns`)).status, 404)
  const held = await heldRate(client, { amount: 10 })
  t.match((await draw(client, held, { amount: eur(10), sellBalanceId: randomUUID() })).problem, {
    errors: [{ field: '/sellBalanceId', code: 'not_found' }],
  })
  t.match((await draw(client, await heldRate(client, { amount: 100_000 }), { amount: eur(99_999) })).problem, {
    status: 409,
    code: 'insufficient-funds',
  })
})

await t.test('the audit says when a contract does not add up', async (t) => {
  const { id } = await heldRate(three.client, { amount: 100 })
  await world.query('update exchange set remaining_sell = remaining_sell - 1 where id = $1', [id])
  await t.rejects(world.audit(), /contracts and their drawdowns/)
  await world.query('update exchange set remaining_sell = remaining_sell + 1 where id = $1', [id])
  await world.query(`update exchange set deposit_received = 1, deposit_status = 'received' where id = $1`, [id])
  await t.rejects(world.audit(), /forward deposits/)
  await world.query('update exchange set deposit_received = 0, deposit_status = null where id = $1', [id])
  await world.audit()
})
