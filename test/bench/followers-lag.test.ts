/** How far followers are behind, read from a real database. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { BenchDatabase } from '../../bench/database.ts'
import { FollowersWatch, isCaughtUp, readLeft } from '../../bench/followers-lag.ts'
import { FOLLOWERS, type Follower } from '../../storage/outbox/followers.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

async function open(t: Test): Promise<BenchDatabase & { readonly client: pg.Client }> {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await drop()
  })
  const unused = async () => {
    throw new Error('not used here')
  }
  return {
    client,
    url,
    query: async (text) => (await client.query(text)).rows,
    checkpoint: unused,
    audit: unused,
    [Symbol.asyncDispose]: unused,
  }
}

/** Writes an event of some seconds ago. */
async function write({ client }: { readonly client: pg.Client }, secondsAgo: number): Promise<void> {
  await client.query(
    `insert into outbox (id, created_at, operator_id, shard, type, object, object_id, status)
      values ($1, clock_timestamp() - make_interval(secs => $2), $1, 0, 'x', 'x', $1, 'x')`,
    [randomUUID(), secondsAgo],
  )
}

/** Moves a follower past all events. */
async function follow({ client }: { readonly client: pg.Client }, follower: Follower): Promise<void> {
  await client.query(`update ${follower} set position = pg_snapshot_xmax(pg_current_snapshot()), moved_at = now()`)
}

const TABLES = Object.keys(FOLLOWERS) as Follower[]

t.test('the lag of a follower is the age of the oldest event that it has not followed', async (t) => {
  const database = await open(t)
  for (const follower of TABLES) await follow(database, follower)
  t.match(await readLeft(database), { transaction_following: 0, webhook_relay: 0, waiting: 0, under_way: 0 })
  t.ok(isCaughtUp(await readLeft(database)))

  await write(database, 60)
  await write(database, 20)
  const left = await readLeft(database)
  for (const follower of TABLES) {
    t.ok(left[follower] >= 60, `${follower} ${left[follower]}`)
    t.ok(left[follower] < 60 + 600, 'in seconds')
  }
  t.notOk(isCaughtUp(left))

  await follow(database, 'transaction_following')
  const later = await readLeft(database)
  t.equal(later.transaction_following, 0)
  t.ok(later.webhook_relay >= 60)
  t.notOk(isCaughtUp(later), 'one that is behind is enough')
  for (const follower of TABLES) await follow(database, follower)
  t.ok(isCaughtUp(await readLeft(database)))
})

/** A watch of a quick beat, and how to wait for its readings. */
function watched(database: BenchDatabase) {
  let readings = 0
  const counted: BenchDatabase = {
    ...database,
    query: async <Row>(text: string) => {
      const rows = await database.query<Row>(text)
      readings += 1
      return rows
    },
  }
  const watch = new FollowersWatch(counted, 5)
  /** One more than that many: a reading may be under way. */
  const more = async (count: number) => {
    const before = readings
    await until(`${count} readings`, () => readings > before + count)
  }
  return { watch, more }
}

const EVENT_FOLLOWERS = [
  'funds requests',
  'payment follow-up',
  'pending transactions',
  'scheduled payments',
  'transactions',
  'webhooks',
]

t.test('the watch reads again and again, and what was read outside the measurement does not count', async (t) => {
  const database = await open(t)
  for (const follower of TABLES) await follow(database, follower)
  await write(database, 100)
  const { watch, more } = watched(database)
  await more(1)
  watch.onMoment('warm')
  for (const follower of TABLES) await follow(database, follower)
  watch.onMoment('begin')
  await more(2)
  watch.onMoment('end')
  await write(database, 50)
  await more(1)
  watch.end()
  const { lags, underWay } = await watch.result()
  t.ok(underWay.length >= 2, `${underWay.length} readings`)
  t.same(lags['transactions'], { begin: 0, end: 0, most: 0 })
  t.same(Object.keys(lags).toSorted(), EVENT_FOLLOWERS, 'the chain may not have made a pass in so short a time')
})

t.test('an event that stays is a lag, and a longer measurement has one of the chain', async (t) => {
  const database = await open(t)
  for (const follower of TABLES) await follow(database, follower)
  await write(database, 100)
  await follow(database, 'webhook_relay')
  const { watch, more } = watched(database)
  watch.onMoment('begin')
  await more(20)
  watch.onMoment('end')
  watch.end()
  const { lags } = await watch.result()
  t.ok(lags['transactions']!.end >= 100)
  t.ok(lags['transactions']!.most >= lags['transactions']!.begin)
  t.same(lags['webhooks'], { begin: 0, end: 0, most: 0 })
  t.same(Object.keys(lags).toSorted(), [...EVENT_FOLLOWERS, 'journal chain'].toSorted())
})
