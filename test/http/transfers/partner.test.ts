/** Transfers that travel by the partner. */
import { randomUUID } from 'node:crypto'

import t from 'tap'

import { createWorld, transferBody } from '../../support/world.ts'
import { apart, becomes, eur, events, TWO_BALANCES, updates } from './support.ts'

t.test('between two connections the money is held, then moves with its cash', async (t) => {
  await using world = await createWorld()
  const { client, from, to, connection } = await apart(world)
  const key = randomUUID()
  const created = await client.createTransfer(
    { ...transferBody(from, to, 12_500), reference: 'To savings', externalId: 'T-1' },
    key,
  )
  t.equal(created.status, 201, created.text)
  t.match(created.body, { status: 'processing', completedAt: null, failure: null })
  t.match(await client.balance(from), {
    bookBalance: eur(50_000),
    heldBalance: eur(12_500),
    availableBalance: eur(37_500),
  })
  t.match((await client.list(`/balances/${from}/holds`)).body.data, [
    { subjectType: 'transfer', subjectId: created.body.id, amount: eur(12_500) },
  ])
  t.match(
    (await client.createTransfer(transferBody(from, to, 37_501))).problem,
    { code: 'insufficient-funds' },
    'what is held is not there',
  )

  const done = await becomes(client, created.body.id, 'completed')
  t.match(done, { completedAt: /Z$/, failure: null })
  t.match(await client.balance(from), { bookBalance: eur(37_500), heldBalance: eur(0), availableBalance: eur(37_500) })
  t.match(await client.balance(to), { bookBalance: eur(32_500), availableBalance: eur(32_500) })
  const source = { object: 'transfer', id: done.id }
  t.match((await client.journal(from))[0], {
    direction: 'debit',
    type: 'transfer_out',
    amount: eur(12_500),
    source,
    reference: 'To savings',
  })
  t.match((await client.journal(to))[0], { direction: 'credit', type: 'transfer_in', amount: eur(12_500), source })
  const cash = await world.query<{ debit: string; credit: string }>(
    `select d.connection_id as debit, c.connection_id as credit from posting p
    join account d on d.id = p.debit_account join account c on c.id = p.credit_account where p.source_id = $1 and p.rule = 'L21' and d.key = 'nostro' and c.key = 'nostro'`,
    [done.id],
  )
  t.equal(cash.length, 1)
  t.equal(cash[0]?.debit, connection, 'the cash arrives at the second bank')
  t.not(cash[0]?.credit, connection)
  t.strictSame(await events(world, done.id), [
    'transfer.status_changed processing completed',
    'transfer.completed processing completed',
  ])
  t.strictSame(await updates(world, done.id), ['processing', 'completed'])
  const again = await client.createTransfer(
    { ...transferBody(from, to, 12_500), reference: 'To savings', externalId: 'T-1' },
    key,
  )
  t.equal(again.text, created.text, 'the same key is the same bytes, whatever has become of it')
  t.equal(again.headers.get('etag'), created.headers.get('etag'))
  t.match((await client.get(`/transfers/${done.id}`)).headers.get('etag'), /^W\/"2-/)
})

t.test('what the bank refuses fails, and the money is free again', async (t) => {
  await using world = await createWorld()
  const customer = await world.customer(TWO_BALANCES)
  const [from, to] = customer.balanceIds as [string, string]
  const { client } = customer
  const made = (await client.createTransfer(transferBody(from, to, 1_301))).body
  t.equal(made.status, 'processing', 'the sandbox was told so by the amount, also on one connection')
  const failed = await becomes(client, made.id, 'failed')
  t.match(failed, {
    failure: { code: 'invalid_account_details', schemeCode: 'AC01', scheme: 'iso20022', at: /Z$/ },
    completedAt: null,
  })
  t.match(await client.balance(from), { bookBalance: eur(50_000), heldBalance: eur(0), availableBalance: eur(50_000) })
  t.strictSame(await events(world, made.id), ['transfer.status_changed processing failed'])
  t.strictSame(await updates(world, made.id), ['processing', 'failed'])
  t.equal((await client.createTransfer(transferBody(from, to, 50_000))).body.status, 'completed', 'all of it can move')
})
