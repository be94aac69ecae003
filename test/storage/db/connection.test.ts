/** The connections of a node, when Postgres goes away at the worst moment. */
import t from 'tap'
import { Connection, DatabaseUnavailable } from '../../../storage/db/connection.ts'
import { Database } from '../../../storage/db/database.ts'
import { OrderNumbers } from '../../../storage/payments/order-numbers.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { DatabaseProxy } from '../../support/proxy.ts'

async function setUp(t: { teardown: (end: () => Promise<void>) => void }): Promise<DatabaseProxy> {
  const database = await createTestDatabase()
  const proxy = await DatabaseProxy.open(database.url)
  t.teardown(async () => {
    await proxy.close()
    await database[Symbol.asyncDispose]()
  })
  return proxy
}

t.test('a connection that is lost before it is set up is unavailable, and no error goes astray', async (t) => {
  const proxy = await setUp(t)
  proxy.cutWhenAsked('plan_cache_mode')
  await t.rejects(Connection.open(proxy.url, 'test'), DatabaseUnavailable)
  proxy.cutNextAnswer()
  await t.rejects(Connection.open(proxy.url, 'test'), DatabaseUnavailable)
  const connection = await Connection.open(proxy.url, 'test')
  t.equal(connection.lost, false)
  await connection.close()
})

t.test('a connection that is lost in the middle of a statement says so, and knows it is lost', async (t) => {
  const proxy = await setUp(t)
  const connection = await Connection.open(proxy.url, 'test')
  proxy.cutWhenAsked('select 42')
  await t.rejects(connection.query({ name: 'answer', text: 'select 42', values: [] }))
  t.equal(connection.lost, true)
  await connection.close()
})

t.test('order numbers come again after a fetch has failed', async (t) => {
  const proxy = await setUp(t)
  const database = new Database(proxy.url)
  t.teardown(() => database.close())
  const numbers = new OrderNumbers(database)
  proxy.cutWhenAsked('order_number_block')
  const [first, second] = await Promise.allSettled([numbers.take(), numbers.take()])
  t.strictSame([first.status, second.status], ['rejected', 'rejected'], 'everybody who waited for it is told')
  const taken = await Promise.all(Array.from({ length: 100 }, () => numbers.take()))
  t.equal(new Set(taken).size, 100)
})

t.test('two sources never give the same order number', async (t) => {
  const proxy = await setUp(t)
  const database = new Database(proxy.url)
  t.teardown(() => database.close())
  const sources = [new OrderNumbers(database), new OrderNumbers(database)]
  const taken = await Promise.all(Array.from({ length: 40_000 }, (_, nth) => sources[nth % 2]!.take()))
  t.equal(new Set(taken).size, taken.length)
})

t.test(
  'a transaction whose connection is lost while it thinks fails at its next statement, and nothing else does',
  async (t) => {
    const proxy = await setUp(t)
    const database = new Database(proxy.url, 1)
    t.teardown(() => database.close())
    await t.rejects(
      inTransaction(database, async (client) => {
        await client.query('select 1')
        const ended = new Promise((resolve) => client.once('end', resolve))
        proxy.cut()
        await ended
        await client.query('select 2')
      }),
      DatabaseUnavailable,
    )
    proxy.mend()
    t.strictSame(await database.query({ name: 'again', text: 'select 3', values: [] }), [[3]], 'the pool goes on')
  },
)
