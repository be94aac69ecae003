/** Forwards: agreed on, secured, drawn from, settled. */
import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import {
  activeForward,
  advanceTo,
  askQuote,
  becomes,
  book,
  type Customer,
  dayFromNow,
  DAY_MS,
  draw,
  drawdowns,
  eur,
  euros,
  events,
  forward,
  quote,
  read,
  rules,
  updates,
  usd,
} from './contracts-support.ts'

await using world = await createWorld()
// Before time passes: their money came in when it says.
const [fixed, open, last, missed, wrong, other] = (await Promise.all(
  [3_000_000n, 2_200_000n, 2_200_000n, 3_000_000n, 50_000n, 10_000n].map((amount) => euros(world, amount)),
)) as [Customer, Customer, Customer, Customer, Customer, Customer]

await t.test('a fixed forward: its deposit, a drawdown on its day, and the rest by itself', async (t) => {
  const { client, from, to } = fixed
  const contract = await forward(world, client, { reference: 'Machines', externalId: 'F-1', metadata: { order: '7' } })
  t.match(contract, {
    kind: 'forward',
    status: 'awaiting_deposit',
    number: /^EXC/,
    sellAmount: eur(2_000_000),
    remainingSellAmount: eur(2_000_000),
    remainingBuyAmount: contract.buyAmount,
    forwardType: 'fixed',
    drawdownCount: 0,
    drawdownFrom: null,
    heldUntil: null,
    deposit: { status: 'awaiting', required: eur(100_000), received: eur(0), dueAt: /Z$/ },
    sellBalanceId: from,
    buyBalanceId: to,
    fee: null,
    reference: 'Machines',
    externalId: 'F-1',
    metadata: { order: '7' },
    settlementDate: dayFromNow(world, 10),
    parentExchangeId: null,
  })
  t.equal(Date.parse(contract.deposit?.dueAt ?? ''), Date.parse(contract.createdAt) + DAY_MS)
  t.equal((await read(client, contract.id)).status, 'awaiting_deposit', 'it is an exchange too')

  const path = `/forward-contracts/${contract.id}/deposit`
  const part = await client.post<Exchange>(path, { balanceId: from, amount: eur(40_000) })
  t.match(part.body, { status: 'awaiting_deposit', deposit: { status: 'awaiting', received: eur(40_000) } }, part.text)
  t.match((await client.post(path, { balanceId: from, amount: eur(60_001) })).problem, {
    status: 422,
    errors: [{ field: '/amount', code: 'too_large', params: { remaining: '60000' } }],
  })
  const key = randomUUID()
  const paid = await client.post<Exchange>(path, { balanceId: from }, key)
  t.match(paid.body, { status: 'active', deposit: { status: 'received', received: eur(100_000), dueAt: null } })
  const again = await client.post<Exchange>(path, { balanceId: from }, key)
  t.equal(again.text, paid.text, 'the same key is the same answer')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match((await client.post(path, { balanceId: from })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'active',
    allowed: ['awaiting_deposit'],
  })
  t.match(await client.journal(from, { limit: 2 }), [
    { type: 'forward_deposit', direction: 'debit', amount: eur(60_000) },
    { type: 'forward_deposit', amount: eur(40_000) },
  ])
  t.strictSame(await rules(world, contract.id), ['L40 cust fx_deposit 40000', 'L40 cust fx_deposit 60000'])

  t.match(
    (await draw(client, contract, { amount: eur(500_000) })).problem,
    { status: 409, code: 'invalid-transition' },
    'not before its day',
  )
  advanceTo(world, `${contract.settlementDate}T09:00:00Z`)
  const drawKey = randomUUID()
  const drawn = await draw(client, contract, { amount: eur(500_000), reference: 'First', externalId: 'D-1' }, drawKey)
  t.equal(drawn.status, 201, drawn.text)
  t.match(drawn.body, {
    kind: 'drawdown',
    status: 'processing',
    number: /^DRW/,
    parentExchangeId: contract.id,
    quoteId: null,
    rate: contract.rate,
    sellAmount: eur(500_000),
    fixedSide: 'sell',
    reference: 'First',
  })
  t.equal(drawn.headers.get('location'), `/v1/exchanges/${drawn.body.id}`)
  t.equal(
    (await draw(client, contract, { amount: eur(500_000), reference: 'First', externalId: 'D-1' }, drawKey)).text,
    drawn.text,
  )
  t.match((await draw(client, contract, { amount: eur(500_000), externalId: 'D-1' })).problem, {
    status: 409,
    code: 'duplicate-external-id',
    existingId: drawn.body.id,
  })
  const { body: left } = await client.get<Exchange>(`/forward-contracts/${contract.id}`)
  t.match(left, { status: 'partially_drawn', drawdownCount: 1, remainingSellAmount: eur(1_500_000) })
  t.match((await draw(client, contract, { amount: eur(1_500_001) })).problem, {
    status: 422,
    errors: [{ field: '/amount', code: 'too_large', params: { remaining: '1500000' } }],
  })
  world.advance(6_000)
  await becomes(client, drawn.body.id, 'completed')
  t.equal((await rules(world, drawn.body.id))[0], 'L30 cust fx_clearing 500000')

  advanceTo(world, `${contract.settlementDate}T10:00:01Z`)
  const done = await becomes(client, contract.id, 'completed')
  t.match(done, {
    drawdownCount: 2,
    remainingSellAmount: eur(0),
    remainingBuyAmount: usd(0),
    deposit: { status: 'applied' },
  })
  const [, rest] = (await drawdowns(client, contract)) as [Exchange, Exchange]
  world.advance(6_000)
  await becomes(client, rest.id, 'completed')
  t.match(
    (await rules(world, rest.id)).filter((rule) => rule.startsWith('L43')),
    ['L43 fx_deposit fx_clearing 100000', 'L43 cust fx_clearing 1400000'],
  )
  t.equal(
    BigInt(drawn.body.buyAmount.amountMinor) + BigInt(rest.buyAmount.amountMinor),
    BigInt(contract.buyAmount.amountMinor),
    'the parts are the whole',
  )
  t.equal(await book(client, from), 1_000_000n)
  t.equal(await book(client, to), BigInt(contract.buyAmount.amountMinor))
  t.strictSame(await events(world, contract.id), [
    'exchange.status_changed null awaiting_deposit',
    'exchange.status_changed awaiting_deposit active',
    'exchange.status_changed active partially_drawn',
    'exchange.status_changed partially_drawn completed',
    'exchange.completed partially_drawn completed',
  ])
  t.strictSame(await updates(world, contract.id), [
    'awaiting_deposit',
    'awaiting_deposit',
    'active',
    'partially_drawn',
    'completed',
  ])
})

await t.test('an open forward: its deposit at once, drawn from some day on; what fails is there again', async (t) => {
  const { client, from } = open
  const contract = await forward(world, client, {
    forwardType: 'open',
    drawdownFrom: dayFromNow(world, 2),
    depositBalanceId: from,
  })
  t.match(contract, { status: 'active', forwardType: 'open', deposit: { status: 'received', received: eur(100_000) } })
  t.strictSame(await updates(world, contract.id), ['active'])
  t.match((await draw(client, contract, { amount: eur(1_000) })).problem, { status: 409, code: 'invalid-transition' })
  advanceTo(world, `${contract.drawdownFrom}T09:00:00Z`)
  const failing = (await draw(client, contract, { amount: eur(1_309) })).body
  const doubtful = (await draw(client, contract, { amount: eur(1_501) })).body
  const bought = (await draw(client, contract, { amount: usd(100_000) })).body
  t.match(bought, { fixedSide: 'buy', buyAmount: usd(100_000) })
  world.advance(6_000)
  await becomes(client, failing.id, 'failed')
  await becomes(client, bought.id, 'completed')
  await becomes(client, doubtful.id, 'exception')
  const left = 2_000_000n - 1_501n - BigInt(bought.sellAmount.amountMinor)
  t.match(await read(client, contract.id), {
    status: 'partially_drawn',
    drawdownCount: 3,
    remainingSellAmount: eur(left),
  })
  t.match(await rules(world, failing.id), ['L30 cust fx_clearing 1309', 'L35 fx_clearing cust 1309'])
  world.advance(61_000)
  await becomes(client, doubtful.id, 'completed')

  const [first, second] = await Promise.all([
    draw(client, contract, { amount: eur(left) }),
    draw(client, contract, { amount: eur(left) }),
  ])
  t.same([first.status, second.status].sort(), [201, 409], 'what is left is drawn once, however often it is asked for')
  t.match(await read(client, contract.id), { status: 'completed', deposit: { status: 'applied' } })
})

await t.test('a failed last drawdown opens the contract again, with its deposit', async (t) => {
  const { client, from } = last
  const contract = await activeForward(world, client, { forwardType: 'open', drawdownFrom: dayFromNow(world, 0) })
  t.equal((await draw(client, contract, { amount: eur(2_000_000 - 1_309) })).status, 201)
  const rest = (await draw(client, contract, { amount: eur(1_309) })).body
  t.match(await read(client, contract.id), { status: 'completed', deposit: { status: 'applied' } })
  t.match(
    await client.journal(from, { limit: 1 }),
    [{ type: 'forward_deposit_release', amount: eur(100_000 - 1_309) }],
    'what the last one does not need goes back',
  )
  world.advance(6_000)
  await becomes(client, rest.id, 'failed')
  t.match(await read(client, contract.id), {
    status: 'partially_drawn',
    remainingSellAmount: eur(1_309),
    deposit: { status: 'received', received: eur(1_309) },
  })
  t.strictSame(await rules(world, rest.id), ['L43 fx_deposit fx_clearing 1309', 'L35 fx_clearing fx_deposit 1309'])
})

await t.test('what is not secured in time is cancelled, and so is what its customer gives up', async (t) => {
  const { client, from } = missed
  const [late, given] = [await forward(world, client), await forward(world, client)]
  await client.post(`/forward-contracts/${late.id}/deposit`, { balanceId: from, amount: eur(30_000) })
  const cancelled = await client.post<Exchange>(`/exchanges/${given.id}/cancel`, {})
  t.match(cancelled.body, { status: 'cancelled' }, cancelled.text)
  world.advance(DAY_MS + 1_000)
  t.match(await becomes(client, late.id, 'cancelled'), { deposit: { status: 'released' } })
  t.strictSame(await rules(world, late.id), ['L40 cust fx_deposit 30000', 'L42 fx_deposit cust 30000'])
  t.equal(await book(client, from), 3_000_000n)
  t.match((await client.post(`/forward-contracts/${late.id}/deposit`, { balanceId: from })).problem, {
    code: 'invalid-transition',
    currentStatus: 'cancelled',
    allowed: ['awaiting_deposit'],
  })
  t.match((await client.post(`/exchanges/${late.id}/cancel`, {})).problem, { status: 409, code: 'not-cancellable' })
})

await t.test('wrong terms are refused, and nothing is made', async (t) => {
  const { client, from, to } = wrong
  const day = dayFromNow(world, 20)
  const quoteId = await quote(client, { settlementDate: day })
  const make = (body: object) => client.post<Exchange>('/forward-contracts', { quoteId, acceptTerms: true, ...body })
  t.match((await client.post('/forward-contracts', { quoteId })).problem, {
    status: 422,
    errors: [{ field: '/acceptTerms', code: 'required' }],
  })
  t.match((await make({ acceptTerms: false })).problem, { status: 422, errors: [{ field: '/acceptTerms' }] })
  t.match((await make({ drawdownFrom: day })).problem, { errors: [{ field: '/drawdownFrom', code: 'not_applicable' }] })
  t.match((await make({ forwardType: 'open' })).problem, { errors: [{ field: '/drawdownFrom', code: 'required' }] })
  t.match((await make({ forwardType: 'open', drawdownFrom: day })).problem, {
    errors: [{ field: '/drawdownFrom', code: 'too_large' }],
  })
  t.match((await make({ forwardType: 'open', drawdownFrom: '2024-01-01' })).problem, {
    errors: [{ field: '/drawdownFrom', code: 'in_past' }],
  })
  t.match((await make({ quoteId: randomUUID() })).problem, { errors: [{ field: '/quoteId', code: 'not_found' }] })
  t.match((await make({ quoteId: await quote(client, { kind: 'spot' }) })).problem, {
    errors: [{ field: '/quoteId', code: 'invalid_value' }],
  })
  t.match((await make({ depositBalanceId: to })).problem, {
    errors: [{ field: '/depositBalanceId', code: 'currency_mismatch' }],
  })
  t.match((await make({ depositBalanceId: randomUUID() })).problem, {
    errors: [{ field: '/depositBalanceId', code: 'not_found' }],
  })
  t.match((await make({ depositBalanceId: from })).problem, {
    status: 409,
    code: 'insufficient-funds',
    available: eur(50_000),
    required: eur(100_000),
  })
  t.equal((await client.list('/forward-contracts')).body.data.length, 0)
  t.match((await askQuote(client, { settlementDate: dayFromNow(world, 2) })).problem, {
    errors: [{ field: '/settlementDate', code: 'too_small' }],
  })
  t.match((await askQuote(client, { settlementDate: dayFromNow(world, 400) })).problem, {
    errors: [{ field: '/settlementDate', code: 'too_far_ahead' }],
  })
  t.match((await askQuote(client, { settlementDate: day, amount: eur(999_999) })).problem, {
    errors: [{ field: '/amount/amountMinor', code: 'too_small' }],
  })

  const made = (await make({})).body
  t.equal(made.status, 'awaiting_deposit')
  t.match((await make({})).problem, { status: 409, code: 'invalid-transition' }, 'a quote is used once')
  const pay = (body: object) => client.post(`/forward-contracts/${made.id}/deposit`, body)
  t.match((await pay({ balanceId: from })).problem, { status: 409, code: 'insufficient-funds' })
  t.match((await pay({ balanceId: to })).problem, { errors: [{ field: '/balanceId', code: 'currency_mismatch' }] })
  t.match((await pay({ balanceId: from, amount: usd(5) })).problem, {
    errors: [{ field: '/amount/currency', code: 'currency_mismatch' }],
  })
  t.match((await pay({ balanceId: randomUUID() })).problem, { errors: [{ field: '/balanceId', code: 'not_found' }] })
  t.match((await pay({})).problem, { errors: [{ field: '/balanceId', code: 'required' }] })
  t.match((await draw(client, made, { amount: eur(5) })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'awaiting_deposit',
    allowed: ['active', 'partially_drawn'],
  })
  t.match((await draw(client, made, { amount: { amountMinor: '5', currency: 'GBP' } })).problem, {
    errors: [{ field: '/amount/currency', code: 'currency_mismatch' }],
  })
  t.match((await draw(client, made, { amount: eur(5), buyBalanceId: from })).problem, {
    errors: [{ field: '/buyBalanceId', code: 'currency_mismatch' }],
  })
  t.match((await draw(client, made, { amount: eur(5), sellBalanceId: to })).problem, {
    errors: [{ field: '/sellBalanceId', code: 'currency_mismatch' }],
  })
  for (const path of [`/forward-contracts/${randomUUID()}/drawdowns`, `/held-rates/${made.id}/drawdowns`])
    t.equal((await client.post(path, { amount: eur(5) })).status, 404)
  t.equal((await client.get(`/held-rates/${made.id}`)).status, 404, 'a forward is no held rate')
  t.equal((await world.seeded.client.get(`/forward-contracts/${made.id}`)).status, 404, 'nor anybody else’s')
  t.equal((await client.list('/forward-contracts', { 'filter[kind]': 'held_rate' })).body.data.length, 0)
  t.match(
    (
      await client.list<Exchange>('/forward-contracts', {
        'filter[status]': 'awaiting_deposit',
        sort: 'settlementDate',
      })
    ).body.data,
    [{ id: made.id }],
  )
})

await t.test(
  'the same contract comes of POST /exchanges, and of the amounts that tell the sandbox what to do',
  async (t) => {
    const { client } = other
    const quoteId = await quote(client, { amount: eur(1_601), settlementDate: dayFromNow(world, 5) })
    const made = (await client.post<Exchange>('/exchanges', { quoteId })).body
    t.match(made, {
      kind: 'forward',
      forwardType: 'fixed',
      status: 'awaiting_deposit',
      deposit: { required: eur(160) },
    })
  },
)

await t.test('features that are off are not there', async (t) => {
  const { client } = other
  await world.query(
    `update operator set features = features || '{"exchange.forwards": false, "exchange.held_rates": false}'`,
  )
  await until(
    'the features are off',
    async () =>
      (await client.list('/held-rates')).status === 404 && (await client.list('/forward-contracts')).status === 404,
  )
  t.match((await client.list('/forward-contracts')).problem, {
    status: 404,
    code: 'feature-disabled',
    feature: 'exchange.forwards',
  })
  t.match((await client.post('/held-rates', {})).problem, { status: 404, code: 'feature-disabled' })
  t.match((await askQuote(client, { settlementDate: dayFromNow(world, 5) })).problem, {
    status: 404,
    code: 'feature-disabled',
  })
})
