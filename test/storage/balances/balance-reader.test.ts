/**
 * Reads of balances that go in one statement: each is as new as its question, and unchanged rows are the same object.
 */
import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { BalanceReader } from '../../../storage/balances/balance-reader.ts'
import type { SqlStatement } from '../../../storage/db/connection.ts'
import { Database } from '../../../storage/db/database.ts'
import { createTestDatabase } from '../../support/postgres.ts'

async function open(t: Test) {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  const database = new Database(url)
  t.teardown(async () => {
    await database.close()
    await drop()
  })
  const ids = Array.from({ length: 300 }, () => randomUUID())
  await database.pool.query(
    `insert into balance (id, customer_id, operator_id, connection_id, shard, currency, name, type, status, is_default, created_at, updated_at)
    select id, id, id, id, 0, 'EUR', 'Balance', 'main', 'active', true, now(), now() from unnest($1::uuid[]) id`,
    [ids],
  )
  let statements = 0
  const counting = {
    assertFree: () => undefined,
    query: <Row extends unknown[]>(statement: SqlStatement): Promise<Row[]> => {
      statements += 1
      return database.query<Row>(statement)
    },
  }
  const reader = new BalanceReader({
    database: counting,
    columns: 'b.id, b.posted',
    keep: ([id, posted]) => ({ id: id as string, posted: posted as string }),
  })
  return { database, ids, reader, statements: () => statements }
}

t.test('many at once are few statements, each with its own answer', async (t) => {
  const { ids, reader, statements } = await open(t)
  const found = await Promise.all([...ids, ...ids, randomUUID()].map((id) => reader.find(id)))
  t.strictSame(
    found.slice(0, 600).map((one) => one?.id),
    [...ids, ...ids],
  )
  t.equal(found[600], null, 'there is none')
  t.ok(statements() <= 3, `${statements()} statements`)
})

t.test('the same row is the same object, a changed one is not', async (t) => {
  const {
    database,
    ids: [id],
    reader,
  } = await open(t)
  const before = await reader.find(id!)
  t.equal(await reader.find(id!), before)
  await database.pool.query('update balance set posted = 5 where id = $1', [id])
  const after = await reader.find(id!)
  t.strictSame(after, { id, posted: '5' })
  t.equal(await reader.find(id!), after)
  await database.pool.query('select from balance where id = $1 for update', [id])
  t.equal(await reader.find(id!), after, 'a lock changes nothing')
  await database.pool.query('delete from balance where id = $1', [id])
  t.equal(await reader.find(id!), null)
})

t.test('whoever has written reads it, however many read beside them', async (t) => {
  const { database, ids, reader } = await open(t)
  let going = true
  const others = Promise.all(
    Array.from({ length: 50 }, async (_, nth) => {
      while (going) await reader.find(ids[nth % 5]!)
    }),
  )
  for (let posted = 1; posted <= 40; posted++) {
    await database.pool.query('update balance set posted = $2 where id = $1', [ids[posted % 5], posted])
    t.equal((await reader.find(ids[posted % 5]!))?.posted, String(posted))
  }
  going = false
  await others
})

t.test("an error is everybody's who asked, and nobody's after that", async (t) => {
  const {
    database,
    ids: [id],
  } = await open(t)
  let broken = true
  const reader = new BalanceReader({
    columns: 'b.posted',
    keep: ([posted]) => ({ posted }),
    database: {
      assertFree: () => undefined,
      query: async <Row extends unknown[]>(statement: SqlStatement): Promise<Row[]> => {
        if (broken) throw new Error('gone')
        return await database.query<Row>(statement)
      },
    },
  })
  const both = await Promise.allSettled([reader.find(id!), reader.find(id!)])
  t.strictSame(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  broken = false
  t.strictSame(await reader.find(id!), { posted: '0' })
})
