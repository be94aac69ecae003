/** The bell between nodes: it rings where the shard is at home, once for many rings at once, and nowhere else. */
import t from 'tap'
import { ShardBell } from '../../../actors/runtime/shard-bell.ts'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { Database } from '../../../storage/db/database.ts'
import { PgListener } from '../../../storage/db/pg-listener.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

t.test('who is home to a shard hears of it from another node', async (t) => {
  await using made = await createTestDatabase()
  const errors: unknown[] = []
  const node = (home: (shard: number) => boolean) => {
    const database = new Database(made.url, 1)
    let rings = 0
    const shards = Object.assign(new InProcessShards('node'), { owns: home })
    const onError = (error: unknown) => errors.push(error)
    const listener = new PgListener({ url: made.url, onError })
    const bell = new ShardBell({
      listener,
      database,
      shards,
      channel: 'test_bell',
      onRing: () => {
        rings += 1
      },
      onError,
    })
    return {
      bell,
      start: () => listener.start(),
      rings: () => rings,
      stop: async () => {
        bell.stop()
        await listener.stop()
        await database.close()
      },
    }
  }
  const [even, odd] = [node((shard) => shard % 2 === 0), node((shard) => shard % 2 === 1)]
  await Promise.all([even.start(), odd.start()])
  const [before, beforeOdd] = [even.rings(), odd.rings()]
  for (let nth = 0; nth < 100; nth++) odd.bell.ring(4)
  await until('it has rung', async () => even.rings() > before)
  odd.bell.ring(5)
  even.bell.ring(7)
  await until('and there', async () => odd.rings() >= beforeOdd + 2)
  t.equal(even.rings(), before + 1, 'once for many')
  t.equal(odd.rings(), beforeOdd + 2, 'not where it is not at home')
  await Promise.all([even.stop(), odd.stop()])
  t.strictSame(errors, [])
})
