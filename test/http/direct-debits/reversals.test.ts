/** Collections that their creditors send back, over HTTP and at the sandbox bank. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import type { Transaction } from '../../../lib/transactions/transaction-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'

const world = await createWorld({ stillClock: true })
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})
const { client, balances } = world.seeded

const EUROS = { amountMinor: '2500', currency: 'EUR' } as const

async function to(moment: number): Promise<void> {
  world.advanceTo(moment)
  for (let round = 0; round < 2; round++) await world.pollOnce()
}

async function made<Body>(path: string, body: object, by: typeof client): Promise<Body> {
  const reply = await by.post<Body>(path, body)
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body
}

/** A collection that was collected ten seconds after it was made. */
async function collected(balanceId = balances.EUR, by = client): Promise<Collection> {
  const begun = world.now()
  const body = {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    reference: '',
    balanceId,
    counterparty: { name: 'Jane Payer', iban: 'NL77SBOX0100000001' },
  }
  const { id: mandateId } = await made<Mandate>('/mandates', body, by)
  const { id } = await made<Collection>('/collections', { mandateId, amount: EUROS, reference: 'Fee' }, by)
  for (const seconds of [0, 5, 10]) await to(begun + seconds * 1_000)
  return await read(id, by)
}
const read = async (id: string, by = client): Promise<Collection> =>
  (await by.get<Collection>(`/collections/${id}`)).body
const reverse = async (id: string, body: object = { reasonCode: 'DUPL' }, key: string = randomUUID()) =>
  await client.post<Collection>(`/collections/${id}/reverse`, body, key)
const available = async () =>
  BigInt((await client.get<Balance>(`/balances/${balances.EUR}`)).body.availableBalance.amountMinor)

t.test('a collection goes back, once, and the bank confirms it', async (t) => {
  const { id, status } = await collected()
  t.equal(status, 'collected')
  const before = await available()
  const key = randomUUID()
  const reply = await reverse(id, { reasonCode: 'DUPL', note: 'Invoice 42 twice' }, key)
  t.match(reply, {
    status: 200,
    body: {
      status: 'reversed',
      statusReason: 'DUPL',
      reversal: { status: 'pending', reasonCode: 'DUPL', note: 'Invoice 42 twice', amount: EUROS, decidedAt: null },
      rTransactions: [{ type: 'reversal', reasonCode: 'DUPL', reason: 'Duplicate collection', amount: EUROS }],
    },
  })
  t.equal(await available(), before - 2_500n)
  const again = await reverse(id, { reasonCode: 'DUPL', note: 'Invoice 42 twice' }, key)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.strictSame(again.body, reply.body)
  t.match((await reverse(id)).problem, { status: 409, code: 'invalid-transition', currentStatus: 'reversed' })
  await to(world.now() + 6_000)
  t.match(await read(id), { status: 'reversed', reversal: { status: 'confirmed', decidedAt: String } })
  t.equal(await available(), before - 2_500n)
  t.match(
    (await client.post(`/simulations/direct-debits/collections/${id}/status`, { status: 'collected' })).status,
    409,
  )
})

t.test('its lines are transactions that name the payer, and the collection names the first', async (t) => {
  const { id, transactionId } = await collected()
  t.equal((await reverse(id)).status, 200)
  const counterparty = { name: 'Jane Payer' }
  const source = { object: 'collection', id }
  const credit = await until('its transactions', async () => {
    const { body, status } = await client.get<Transaction>(`/transactions/${transactionId}`)
    return status === 200 && body
  })
  t.match(credit, { type: 'collection', direction: 'in', amount: EUROS, counterparty, source })
  const listed = await until('the way back', async () => {
    const { data } = (await client.list<Transaction>('/transactions', { limit: '3' })).body
    return data.some(({ type, source: { id: cause } }) => type === 'collection_return' && cause === id) && data
  })
  t.match(
    listed.find(({ source: { id: cause }, type }) => cause === id && type === 'collection_return'),
    { direction: 'out', amount: EUROS, counterparty },
  )
})

t.test('a reversal that the bank refuses gives the money back', async (t) => {
  const { id } = await collected()
  const before = await available()
  t.equal((await reverse(id)).status, 200)
  await world.pollOnce()
  const simulated = await client.post(`/simulations/direct-debits/collections/${id}/status`, {
    status: 'collected',
    reasonCode: 'AG01',
  })
  t.equal(simulated.status, 202, simulated.text)
  await to(world.now() + 6_000)
  t.match(await read(id), { status: 'collected', reversal: { status: 'refused', refusalCode: 'AG01' } })
  t.equal(await available(), before)
  t.equal((await reverse(id, { reasonCode: 'MS02' })).status, 200, 'and it can be asked for again')
  await to(world.now() + 6_000)
  t.match(await read(id), { status: 'reversed', reversal: { status: 'confirmed', reasonCode: 'MS02' } })
})

t.test('reversals that are refused at once change nothing', async (t) => {
  const { id } = await collected()
  t.match((await reverse(id, { reasonCode: 'AC04' })).problem, { status: 422, errors: [{ field: '/reasonCode' }] })
  t.equal((await reverse(randomUUID())).status, 404)
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  t.equal(
    (await other.client.post(`/collections/${id}/reverse`, { reasonCode: 'DUPL' })).status,
    404,
    'of another customer',
  )
  await to(world.now() + 9 * DAY_MS)
  t.match((await reverse(id)).problem, { status: 409, code: 'invalid-transition', currentStatus: 'collected' })
  t.match(await read(id), { status: 'collected', reversal: null })
})

t.test('without funds nothing goes back', async (t) => {
  const poor = await world.customer({
    balances: [
      { currency: 'EUR', amount: 0n },
      { currency: 'EUR', amount: 0n },
    ],
  })
  const [balanceId, otherId] = poor.balanceIds
  const { id } = await collected(balanceId, poor.client)
  const moved = await poor.client.createTransfer({
    fromBalanceId: balanceId as string,
    toBalanceId: otherId as string,
    amount: { amountMinor: '1', currency: 'EUR' },
  })
  t.equal(moved.status, 201, moved.text)
  const reply = await poor.client.post(`/collections/${id}/reverse`, { reasonCode: 'DUPL' })
  t.match(reply.problem, { code: 'insufficient-funds', available: { amountMinor: '2499' }, required: EUROS })
  t.match((await poor.client.get(`/collections/${id}`)).body, { status: 'collected', reversal: null })
})

t.test('a person proves itself anew before money goes back', async (t) => {
  const { id } = await collected()
  const owner = await world.person('owner').signIn()
  const reply = await owner.post(
    `/collections/${id}/reverse`,
    { reasonCode: 'DUPL' },
    { 'idempotency-key': randomUUID() },
  )
  t.match({ status: reply.status, code: reply.problem?.code }, { status: 403, code: 'step-up-required' })
})

t.test('the bank is told of a mandate that its customer cancels', async (t) => {
  const { mandateId } = await collected()
  const cancelled = await client.post(`/mandates/${mandateId}/cancel`, { reason: 'Contract ended' })
  t.equal(cancelled.status, 200, cancelled.text)
  const untold = () => world.query(`select from mandate where id = $1 and end_due_at is not null`, [mandateId])
  t.equal((await untold()).length, 1)
  await to(world.now())
  t.equal((await untold()).length, 0)
})
