/** Contracts that wait for people first, and the proof that people give before they agree on a forward. */
import t from 'tap'

import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Client } from '../../support/client.ts'
import { createWorld, transferBody } from '../../support/world.ts'
import { decide, setPolicy, tier } from '../approvals/people.ts'
import { dayFromNow, draw, eur, events, forward, heldRate, quote, read, rules } from './contracts-support.ts'

const available = async (client: Client, id: string): Promise<bigint> =>
  BigInt((await client.balance(id)).availableBalance.amountMinor)

t.test('a contract waits for people with nothing of it running, and begins when they say yes', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  await setPolicy(t, owner, 'exchange', { tiers: [tier(1, 100_000, null)] })
  const poor = (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Poor' })).body
  const [agreed, later, unpaid, refused, held, withdrawn] = [
    await forward(world, client, { days: 20, depositBalanceId: balances.EUR }),
    await forward(world, client, { days: 20 }),
    await forward(world, client, { days: 20, depositBalanceId: balances.EUR }),
    await forward(world, client, { days: 20 }),
    await heldRate(client),
    await heldRate(client),
  ]
  for (const contract of [agreed, later, unpaid, refused, held, withdrawn])
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
  const before = await available(client, balances.EUR)
  for (const { approvalId } of [agreed, later, held])
    t.equal((await decide(approver, approvalId as string, { decision: 'approved' })).status, 200)
  t.equal(
    (await decide(approver, refused.approvalId as string, { decision: 'rejected', comment: 'Not this year' })).status,
    200,
  )
  t.match(
    await read(client, agreed.id),
    { status: 'active', deposit: { status: 'received', required: eur(100_000), received: eur(100_000) } },
    'the balance that was named pays the deposit at once',
  )
  t.equal(await available(client, balances.EUR), before - 100_000n)
  t.match(
    await read(client, later.id),
    { status: 'awaiting_deposit', deposit: { status: 'awaiting', required: eur(100_000), dueAt: /Z$/ } },
    'at the rate that holds now',
  )
  t.match(await read(client, held.id), { status: 'active', heldUntil: /Z$/ })
  t.match(await read(client, refused.id), { status: 'rejected' })
  t.match((await client.post<Exchange>(`/forward-contracts/${later.id}/deposit`, { balanceId: balances.EUR })).body, {
    status: 'active',
  })
  t.strictSame(await rules(world, agreed.id), ['L40 cust fx_deposit 100000'])
  t.strictSame(await rules(world, later.id), ['L40 cust fx_deposit 100000'])
  t.strictSame(await events(world, agreed.id), [
    'exchange.status_changed null pending_approval',
    'exchange.status_changed pending_approval active',
  ])
  t.strictSame(await events(world, later.id), [
    'exchange.status_changed null pending_approval',
    'exchange.status_changed pending_approval awaiting_deposit',
    'exchange.status_changed awaiting_deposit active',
  ])
  t.equal(
    (await client.createTransfer(transferBody(balances.EUR, poor.id, Number(await available(client, balances.EUR)))))
      .status,
    201,
  )
  t.equal((await decide(approver, unpaid.approvalId as string, { decision: 'approved' })).status, 200)
  t.match(
    await read(client, unpaid.id),
    { status: 'awaiting_deposit', deposit: { status: 'awaiting', received: eur(0), dueAt: /Z$/ } },
    'a balance with too little pays nothing, and the deposit is due',
  )
  t.strictSame(await rules(world, unpaid.id), [])
  t.equal((await client.createTransfer(transferBody(poor.id, balances.EUR, 5_000_000))).status, 201)

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
