/** Contracts that wait for people first, and the proof that people give before they agree on a forward. */
import t from 'tap'

import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import { createWorld } from '../../support/world.ts'
import { decide, setPolicy, tier } from '../approvals/people.ts'
import { dayFromNow, draw, eur, events, forward, heldRate, quote, read, rules } from './contracts-support.ts'

t.test('a contract waits for people with nothing of it running, and begins when they say yes', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  await setPolicy(t, owner, 'exchange', { tiers: [tier(1, 100_000, null)] })
  const [agreed, refused, held, withdrawn] = [
    await forward(world, client, { days: 20, depositBalanceId: balances.EUR }),
    await forward(world, client, { days: 20 }),
    await heldRate(client),
    await heldRate(client),
  ]
  for (const contract of [agreed, refused, held, withdrawn])
    t.match(contract, { status: 'pending_approval', approvalId: String }, contract.kind)
  t.match(agreed.deposit, { status: 'awaiting', received: eur(0), dueAt: null })
  t.equal(held.heldUntil, null)
  t.match((await client.post(`/forward-contracts/${agreed.id}/deposit`, { balanceId: balances.EUR })).problem, {
    code: 'invalid-transition',
    currentStatus: 'pending_approval',
    allowed: ['awaiting_deposit'],
  })
  t.match((await draw(client, held, { amount: eur(5) })).problem, { code: 'invalid-transition' })
  t.equal((await client.post<Exchange>(`/held-rates/${withdrawn.id}/cancel`, {})).body.status, 'cancelled')

  world.advance(31_000)
  for (const { approvalId } of [agreed, held])
    t.equal((await decide(approver, approvalId as string, { decision: 'approved' })).status, 200)
  t.equal(
    (await decide(approver, refused.approvalId as string, { decision: 'rejected', comment: 'Not this year' })).status,
    200,
  )
  t.match(
    await read(client, agreed.id),
    { status: 'awaiting_deposit', deposit: { status: 'awaiting', required: eur(100_000), dueAt: /Z$/ } },
    'at the rate that holds now',
  )
  t.match(await read(client, held.id), { status: 'active', heldUntil: /Z$/ })
  t.match(await read(client, refused.id), { status: 'rejected' })
  t.match((await client.post<Exchange>(`/forward-contracts/${agreed.id}/deposit`, { balanceId: balances.EUR })).body, {
    status: 'active',
  })
  t.strictSame(await rules(world, agreed.id), ['L40 cust fx_deposit 100000'])
  t.strictSame(await events(world, agreed.id), [
    'exchange.status_changed null pending_approval',
    'exchange.status_changed pending_approval awaiting_deposit',
    'exchange.status_changed awaiting_deposit active',
  ])

  const preparer = await world.person('preparer').signIn()
  const body = { quoteId: await quote(client, { settlementDate: dayFromNow(world, 20) }), acceptTerms: true }
  t.match((await preparer.post('/forward-contracts', body)).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'exchange.above_threshold',
  })
  await preparer.stepUp('exchange.above_threshold')
  t.equal((await preparer.post('/forward-contracts', body, { 'idempotency-key': 'once' })).status, 201)
  t.equal((await approver.post('/forward-contracts', body)).status, 403, 'who only approves makes none')
})
