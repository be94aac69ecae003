/** What a pool says of a database that is gone, and of a statement that is wrong. */
import t from 'tap'
import { DatabaseUnavailable } from '../../storage/connection.ts'
import { Database } from '../../storage/database.ts'
import { createEmptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

t.test('whoever asks a pool is told that the database is gone', async (t) => {
  await using empty = await createEmptyDatabase()
  const [database, other] = [new Database(empty.url, 1), new Database(empty.url, 1)]
  t.teardown(() => Promise.all([database.close(), other.close()]))
  const cut = async (asked: Promise<unknown>) => {
    let over = false
    const refused = t.rejects(asked, { name: 'DatabaseUnavailable' }).then(() => { over = true })
    await until('it is cut', async () => {
      await other.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
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
