/** Forwards that the market or missing money bring to an end: margin calls, overdue, closed out. */
import t from 'tap'

import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { pay } from '../incoming-payments/support.ts'
import {
  activeForward,
  advanceTo,
  becomes,
  book,
  dayFromNow,
  DAY_MS,
  draw,
  drawdowns,
  eur,
  euros,
  events,
  forward,
  read,
  rules,
  updates,
  type Customer,
} from './contracts-support.ts'

await using world = await createWorld()
const [covering, losing, gaining, short, poor, called] = (await Promise.all(
  [2_500_000n, 110_000n, 200_000n, 110_000n, 150_000n, 5_000n].map((amount) => euros(world, amount)),
)) as [Customer, Customer, Customer, Customer, Customer, Customer]
const shift = async (bps: number) => {
  await world.seeded.client
    .post('/simulations/fx-rates', { sellCurrency: 'EUR', buyCurrency: 'USD', shiftBps: bps })
    .then(({ body }) => body)
}
const notices = (type: string, id: string) =>
  world.query('select from notification where type = $1 and object_id = $2', [type, id])

await t.test('the sandbox calls for more half a minute after a forward of 1602 is active', async (t) => {
  const contract = await activeForward(world, called.client, {
    amount: 1_602,
    forwardType: 'open',
    drawdownFrom: dayFromNow(world, 0),
  })
  t.match(contract, { status: 'active', deposit: { required: eur(80) } })
  world.advance(31_000)
  const asked = await becomes(called.client, contract.id, 'awaiting_deposit')
  t.match(asked.deposit, { status: 'margin_call', required: eur(160), received: eur(80), dueAt: /Z$/ })
  const drawn = await draw(called.client, contract, { amount: eur(600) })
  t.equal(drawn.status, 201, 'drawn from all the same')
  t.match(await read(called.client, contract.id), {
    status: 'awaiting_deposit',
    remainingSellAmount: eur(1_002),
    drawdownCount: 1,
  })
  t.match((await called.client.post(`/exchanges/${contract.id}/cancel`, {})).problem, { code: 'not-cancellable' })
  const paid = await called.client.post<Exchange>(`/forward-contracts/${contract.id}/deposit`, {
    balanceId: called.from,
  })
  t.match(paid.body, { status: 'partially_drawn', deposit: { status: 'received', received: eur(160) } })
  t.strictSame(await events(world, contract.id), [
    'exchange.status_changed null awaiting_deposit',
    'exchange.status_changed awaiting_deposit active',
    'exchange.status_changed active awaiting_deposit',
    'exchange.status_changed awaiting_deposit partially_drawn',
  ])
})

await t.test('the market turns: a call that is paid, and one that is not', async (t) => {
  const kept = await activeForward(world, covering.client, { days: 20 })
  const lost = await activeForward(world, losing.client, { days: 20 })
  await shift(1_000)
  world.advance(61_000)
  const asked = await becomes(covering.client, kept.id, 'awaiting_deposit')
  const missing = BigInt(asked.deposit!.required.amountMinor) - BigInt(asked.deposit!.received.amountMinor)
  t.ok(missing > 175_000n && missing < 190_000n, `a tenth of the dollars' worth is gone: ${missing}`)
  t.equal(
    (await notices('forward_deposit_due', kept.id)).length > 0,
    (await world.query('select from membership where tenant_id = $1', [covering.client.tenantId])).length > 0,
  )
  t.equal(
    (await covering.client.post<Exchange>(`/forward-contracts/${kept.id}/deposit`, { balanceId: covering.from })).body
      .status,
    'active',
  )
  await becomes(losing.client, lost.id, 'awaiting_deposit')
  world.advance(4 * DAY_MS)
  const closed = await becomes(losing.client, lost.id, 'closed_out')
  t.match(closed.deposit, { status: 'forfeited' })
  const [, deposit, loss] = await rules(world, lost.id)
  t.equal(deposit, 'L44 fx_deposit nostro 100000')
  t.match(loss, /^L44 cust nostro 8\d{4}$/)
  t.equal(
    await book(losing.client, losing.from),
    10_000n - BigInt(loss!.split(' ')[3]!),
    'below zero, because it is owed',
  )
  t.equal((await read(covering.client, kept.id)).status, 'active', 'what was paid for goes on')
  await shift(0)
})

await t.test('no money on the last day: overdue, completed when it comes, closed out when it does not', async (t) => {
  const waiting = await activeForward(world, poor.client, { days: 5 })
  const forgotten = await activeForward(world, short.client, { days: 5 })
  const won = await activeForward(world, gaining.client, { days: 5 })
  advanceTo(world, `${waiting.settlementDate}T10:00:01Z`)
  for (const [{ client }, { id }] of [
    [poor, waiting],
    [short, forgotten],
    [gaining, won],
  ] as const)
    await becomes(client, id, 'overdue')
  t.match((await draw(poor.client, waiting, { amount: eur(5) })).problem, {
    code: 'invalid-transition',
    currentStatus: 'overdue',
    allowed: ['active', 'partially_drawn'],
  })
  await pay(poor.client, { balanceId: poor.from, amount: eur(1_900_000) })
  await until('the money is there', async () => (await book(poor.client, poor.from)) > 1_000_000n)
  world.advance(11_000)
  await becomes(poor.client, waiting.id, 'completed')
  t.strictSame(await updates(world, waiting.id), ['awaiting_deposit', 'active', 'overdue', 'completed'])
  world.advance(6_000)
  const [rest] = (await drawdowns(poor.client, waiting)) as [Exchange]
  t.match(await becomes(poor.client, rest.id, 'completed'), { createdVia: 'system', sellAmount: eur(2_000_000) })

  await shift(-500)
  world.advance(4 * DAY_MS)
  await becomes(gaining.client, won.id, 'closed_out')
  t.match((await rules(world, won.id)).slice(1), [/^L45 nostro cust \d+$/, 'L45 fx_deposit cust 100000'])
  t.ok((await book(gaining.client, gaining.from)) > 200_000n, 'what the market has given is its customer’s')
  t.match(await becomes(short.client, forgotten.id, 'closed_out'), { deposit: { status: 'released' } })
  t.match((await short.client.post(`/forward-contracts/${forgotten.id}/deposit`, { balanceId: short.from })).problem, {
    code: 'invalid-transition',
    currentStatus: 'closed_out',
  })
})

await t.test('a partner that keeps deposits itself has them, uses them, gives them back', async (t) => {
  await world.query(`update provider_connection set config = config || '{"keepsFxDeposits": true}'`)
  const contract = await activeForward(world, covering.client, {
    amount: 1_000_000,
    forwardType: 'open',
    drawdownFrom: dayFromNow(world, 0),
  })
  t.strictSame(await rules(world, contract.id), ['L40 cust fx_deposit 50000', 'L41 partner_deposit nostro 50000'])
  const drawn = (await draw(covering.client, contract, { amount: eur(1_000_000) })).body
  world.advance(6_000)
  await becomes(covering.client, drawn.id, 'completed')
  t.match((await rules(world, drawn.id)).filter((rule) => rule.startsWith('L31')).sort(), [
    'L31 fx_clearing nostro 950000',
    'L31 fx_clearing partner_deposit 50000',
  ])
  const given = await forward(world, covering.client, { amount: 1_000_000 })
  await covering.client.post(`/forward-contracts/${given.id}/deposit`, {
    balanceId: covering.from,
    amount: eur(10_000),
  })
  t.equal((await covering.client.post<Exchange>(`/exchanges/${given.id}/cancel`, {})).body.status, 'cancelled')
  t.strictSame(await rules(world, given.id), [
    'L40 cust fx_deposit 10000',
    'L41 partner_deposit nostro 10000',
    'L41 nostro partner_deposit 10000',
    'L42 fx_deposit cust 10000',
  ])
})
