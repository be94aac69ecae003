/** The errors of a pool: a database that is gone, a wrong statement, and code that would take two connections. */
import t from 'tap'
import { DatabaseUnavailable } from '../../../storage/db/connection.ts'
import { Database, SecondConnection } from '../../../storage/db/database.ts'
import { InternalAccountCache } from '../../../storage/journal/internal-account-cache.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { inTransaction, through } from '../../../storage/db/transaction.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { createEmptyDatabase, createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

t.test('whoever asks a pool is told that the database is gone', async (t) => {
  await using empty = await createEmptyDatabase()
  const [database, other] = [new Database(empty.url, 1), new Database(empty.url, 1)]
  t.teardown(() => Promise.all([database.close(), other.close()]))
  const cut = async (asked: Promise<unknown>) => {
    let over = false
    const refused = t.rejects(asked, { name: 'DatabaseUnavailable' }).then(() => {
      over = true
    })
    await until('it is cut', async () => {
      await other.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      )
      return over
    })
    await refused
  }
  await cut(database.pool.query('select pg_sleep(10)'))
  await cut(database.pool.query({ name: 'sleep', text: 'select pg_sleep($1)', values: [10] }))
  await cut(database.query({ name: 'sleep', text: 'select pg_sleep($1)', values: [10] }))
  t.strictSame((await database.pool.query('select 1 as one')).rows, [{ one: 1 }], 'and it is back at once')
  t.strictSame(await database.query({ name: 'one', text: 'select 1', values: [] }), [[1]])
})

t.test('and that it was never there', async (t) => {
  const nobody = new Database('postgres://nobody@127.0.0.1:1/nothing')
  t.teardown(() => nobody.close())
  await t.rejects(nobody.pool.query('select 1'), DatabaseUnavailable)
  await t.rejects(nobody.pool.connect(), DatabaseUnavailable)
})

t.test('a statement that is wrong is a bug', async (t) => {
  await using empty = await createEmptyDatabase()
  const database = new Database(empty.url, 1)
  t.teardown(() => database.close())
  await t.rejects(database.pool.query('select nonsense'), { code: '42703' })
  const client = await database.pool.connect()
  await t.rejects(client.query('select nonsense'), { code: '42703' })
  client.release()
})

const ONE = { name: 'one', text: 'select 1', values: [] }

t.test('within a transaction the pool is not asked for a second connection', async (t) => {
  await using empty = await createEmptyDatabase()
  const database = new Database(empty.url, 2)
  t.teardown(() => database.close())
  const asks: Readonly<Record<string, () => Promise<unknown>>> = {
    'by a statement': () => database.query(ONE),
    'by the driver': () => database.pool.query('select 1'),
    'for a connection': () => database.pool.connect(),
    'for another transaction': () => inTransaction(database, async () => undefined),
    'for a list': () =>
      readDatabase(database)
        .kysely.selectNoFrom((it) => it.val(1).as('one'))
        .execute(),
    'by a step further down': async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return await database.query(ONE)
    },
  }
  for (const [how, ask] of Object.entries(asks)) await t.rejects(inTransaction(database, ask), SecondConnection, how)
  t.strictSame(
    await inTransaction(database, (client) => through(client).query(ONE)),
    [[1]],
    'its own connection answers',
  )
  t.strictSame(await database.query(ONE), [[1]], 'and so does the pool when it is over')
})

t.test('what a transaction has started may ask the pool when the transaction is over', async (t) => {
  await using empty = await createEmptyDatabase()
  const database = new Database(empty.url, 1)
  t.teardown(() => database.close())
  const over = Promise.withResolvers<void>()
  let later: Promise<unknown> = Promise.resolve()
  await inTransaction(database, async () => {
    later = over.promise.then(() => database.query(ONE))
  })
  over.resolve()
  t.strictSame(await later, [[1]])
})

t.test('a transaction of one pool may ask another pool, and not its own through that', async (t) => {
  await using empty = await createEmptyDatabase()
  const [database, other] = [new Database(empty.url, 1), new Database(empty.url, 1)]
  t.teardown(() => Promise.all([database.close(), other.close()]))
  t.strictSame(await inTransaction(database, () => other.query(ONE)), [[1]])
  await t.rejects(
    inTransaction(database, () => inTransaction(other, () => database.query(ONE))),
    SecondConnection,
  )
})

t.test('what is remembered hides nothing', async (t) => {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  const database = new Database(url, 2)
  t.teardown(async () => {
    await database.close()
    await drop()
  })
  const ids = createIdSource(systemClock)
  const accounts = new InternalAccountCache(database, ids)
  const scope = { operatorId: ids.next(), connectionId: ids.next(), currency: 'EUR' }
  const undone = await inTransaction(database, async (client) => {
    const made = await accounts.within(client).accounts(scope)
    await client.query('rollback')
    return made
  })
  const known = await accounts.accounts(scope)
  t.not(known.nostro, undone.nostro, 'accounts that were rolled back are not remembered')
  await t.rejects(
    inTransaction(database, () => accounts.accounts(scope)),
    SecondConnection,
    'although nothing would be read',
  )
  t.strictSame(await inTransaction(database, (client) => accounts.within(client).accounts(scope)), known)
})

t.test('where it is only reported, the second connection is given', async (t) => {
  await using empty = await createEmptyDatabase()
  const reported: SecondConnection[] = []
  const database = new Database(empty.url, 2, (error) => {
    reported.push(error)
  })
  t.teardown(() => database.close())
  t.strictSame(await inTransaction(database, () => database.query(ONE)), [[1]])
  t.equal(reported.length, 1)
})
