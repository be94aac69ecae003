/** The first operator: of many calls at the same moment one makes it. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { initOperator } from '../../../actors/operators/init-operator.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { Database } from '../../../storage/db/database.ts'
import { createTestDatabase } from '../../support/postgres.ts'

const AT_ONCE = 10

t.test('of many calls at the same moment one makes the operator', async (t) => {
  await using made = await createTestDatabase()
  const database = new Database(made.url, AT_ONCE)
  const deps = { database, clock: systemClock, ids: createIdSource(systemClock), random: randomBytes }
  const entry = { operator: 'Acme Bank', email: 'ann@acme.example', name: 'Ann' }
  // All connections are open before the first call, so that no call is over before another begins.
  await Promise.all(Array.from({ length: AT_ONCE }, () => database.pool.query('select pg_sleep(0.1)', [])))
  const results = await Promise.all(Array.from({ length: AT_ONCE }, () => initOperator(deps, entry)))
  const rows = await database.query<[number, number]>({
    name: 'made',
    text: 'select (select count(*) from operator)::int, (select count(*) from invitation)::int',
    values: [],
  })
  await database.close()
  t.strictSame(rows, [[1, 1]])
  t.equal(results.filter((result) => result !== null).length, 1)
})
