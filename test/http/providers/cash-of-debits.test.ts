/** The cash of direct debits whose balance has moved to another connection than that of the bank that books them. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Collection, CollectionReverse } from '../../../lib/direct-debits/collection-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { collect, dayAfter, money, reaching } from '../incoming-debits/support.ts'
import { connectTo, legsOf, putAt } from './cash-support.ts'

const homeOf = async (world: World, balanceId: string) =>
  (await world.query<{ id: string }>('select connection_id as id from balance where id = $1', [balanceId]))[0]!.id

t.test('cash follows a debit that is taken, and its refund', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer({ balances: [{ currency: 'EUR', amount: 5_000n }] })
  const [balanceId] = balanceIds as [string]
  const first = await homeOf(world, balanceId)
  const second = await connectTo(world, 'sandbox')
  const before = await collect(client, balanceId, {})
  await reaching(client, before, 'debited')
  t.strictSame(await legsOf(world, before), [], 'at one connection no cash moves')
  const id = await collect(client, balanceId, { dueDate: dayAfter(world.now(), 2) })
  await reaching(client, id, 'announced')
  await putAt(world, balanceId, second)
  world.advance(3 * 86_400_000)
  await reaching(client, id, 'debited')
  t.strictSame(await legsOf(world, id), [{ by: second, to: first, amount: 1_000 }])
  for (const each of [id, before])
    t.equal((await client.post(`/incoming-debits/${each}/refund`, { reasonCode: 'MD06' }, randomUUID())).status, 200)
  t.strictSame(await legsOf(world, id), [
    { by: second, to: first, amount: 1_000 },
    { by: first, to: second, amount: 1_000 },
  ])
  t.strictSame(await legsOf(world, before), [{ by: first, to: second, amount: 1_000 }], 'to where the balance is now')
  await world.audit()
  const refund = `from cash_order where subject_id = '${id}' and from_connection_id = '${first}'`
  await world.query(`create table taken as select * ${refund}; delete ${refund}`)
  await t.rejects(world.audit(), /cash between connections.*money and its cash/s)
  await world.query('insert into cash_order select * from taken; drop table taken')
})

t.test('cash follows a collection, its return and its reversal', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer({ balances: [{ currency: 'EUR', amount: 5_000n }] })
  const [balanceId] = balanceIds as [string]
  const first = await homeOf(world, balanceId)
  const second = await connectTo(world, 'sandbox')
  const made = async (path: string, body: object) => {
    const reply = await client.post<{ id: string }>(path, body)
    t.equal(reply.status, 201, reply.text)
    return reply.body.id
  }
  const mandateId = await made('/mandates', {
    ...{ direction: 'collect', scheme: 'sepa_dd_core', reference: '', balanceId },
    counterparty: { name: 'Jane Payer', iban: 'NL77SBOX0100000001' },
  })
  const collectionOf = () => made('/collections', { mandateId, amount: money(2_500), reference: 'Fee' })
  const become = async (id: string, status: Collection['status']) =>
    await until(`${id} is ${status}`, async () => {
      const { body } = await client.get<Collection>(`/collections/${id}`)
      return body.status === status
    })
  const simulate = async (id: string, body: object) =>
    t.equal((await client.post(`/simulations/direct-debits/collections/${id}/status`, body)).status, 202)
  const [reversed, returned] = [await collectionOf(), await collectionOf()]
  await putAt(world, balanceId, second)
  for (const id of [reversed, returned]) {
    await become(id, 'collected')
    t.strictSame(await legsOf(world, id), [{ by: first, to: second, amount: 2_500 }])
  }
  const reverse: CollectionReverse = { reasonCode: 'DUPL' }
  t.equal((await client.post(`/collections/${reversed}/reverse`, reverse, randomUUID())).status, 200)
  await simulate(returned, { status: 'returned', reasonCode: 'MD06' })
  await become(returned, 'returned')
  const both = [
    { by: first, to: second, amount: 2_500 },
    { by: second, to: first, amount: 2_500 },
  ]
  for (const id of [reversed, returned]) t.strictSame(await legsOf(world, id), both)
  await world.audit()
})
