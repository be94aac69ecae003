/** The events that P8 writes past the node: as many as asked for, and the relay is woken for them. */
import pg from 'pg'
import t from 'tap'
import { writeEvents } from '../../bench/scenarios/p8.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { createIdSource } from '../../lib/base/ids.ts'
import { WORK_CHANNEL } from '../../storage/db/due-work.ts'
import { Database } from '../../storage/db/database.ts'
import { createSandboxCustomers, createSandboxOperator } from '../../storage/seed/seed-customers.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

t.test('events are written, and the relay is woken once they are', async (t) => {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  t.teardown(drop)
  const database = new Database(url, 1)
  t.teardown(() => database.close())
  const world = { database, clock: systemClock, ids: createIdSource(systemClock) }
  const operator = await createSandboxOperator(world)
  const [customer] = await createSandboxCustomers({ ...world, ...operator }, [
    { legalName: 'Bench Ltd', number: 'BENCH', balances: [], recipients: false },
  ])
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const heard: string[] = []
  client.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await client.query(`listen ${WORK_CHANNEL}`)
  const events = async () => (await client.query('select count(*)::int as count from outbox')).rows[0].count as number
  const before = await events()

  heard.length = 0
  await writeEvents(
    { query: async (text) => (await client.query(text)).rows },
    { customerId: customer!.id, shard: 0 },
    7,
  )
  t.equal((await events()) - before, 7)
  await until('the wake', () => heard.includes('events'))
})
