/**
 * Followers of events and transactions that stay open: those of other databases hold nothing up, those of this one skip
 * nothing.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import { HorizonWatch } from '../../../actors/runtime/horizon-watch.ts'
import { ManualClock, systemClock } from '../../../lib/base/clock.ts'
import type { SqlStatement } from '../../../storage/db/connection.ts'
import { Database } from '../../../storage/db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../../../storage/outbox/outbox-cursor.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { createEmptyDatabase, createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const INSERT = `insert into outbox (id, created_at, operator_id, shard, type, object, object_id, status) values ($1, now(), $1, 0, 'x', 'x', $1, 'x')`

async function open(t: Test) {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  const database = new Database(url, 4)
  t.teardown(async () => {
    await database.close()
    await drop()
  })
  const clientOf = async (at: string) => {
    const client = new pg.Client({ connectionString: at })
    client.on('error', () => undefined)
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const write = async (client: Pick<pg.Client, 'query'>) => {
    const id = randomUUID()
    await client.query(INSERT, [id])
    return id
  }
  const followed: string[] = []
  /** Makes a pass of a follower. */
  const follow = (role?: string) =>
    inTransaction(database, async (client) => {
      if (role !== undefined) await client.query(`set local role ${role}`)
      const place = await OutboxCursor.take(client, 'webhook_relay', systemClock.now())
      const stretch = await place?.next(3)
      if (place == null || stretch == null) return
      const { rows } = await client.query<{ id: string }>(`select o.id from outbox o where ${IN_EVENT_RANGE}`, [
        ...stretch.bounds,
      ])
      followed.push(...rows.map(({ id }) => id))
      await place.move(stretch)
    })
  return { database, url, clientOf, write, followed, follow }
}

/**
 * A transaction with a number, left open in a database; others have come and gone since, or no snapshot would know of
 * it.
 */
async function begun(client: pg.Client): Promise<void> {
  await client.query('begin')
  await client.query('select pg_current_xact_id()')
}
const another = (database: Database) => database.pool.query('select pg_current_xact_id()')

for (const role of ['the owner', 'a role that may see nobody else']) {
  t.test(`a transaction that stays open in another database holds nothing up, seen by ${role}`, async (t) => {
    await using other = await createEmptyDatabase()
    const { database, url, clientOf, write, followed, follow } = await open(t)
    const stranger = await clientOf(other.url)
    let name: string | undefined
    if (role !== 'the owner') {
      name = `follower_${randomUUID().slice(0, 8)}`
      await database.pool.query(`create role ${name}; grant select, update on webhook_relay, outbox to ${name}`)
      t.teardown(async () => {
        const admin = await clientOf(url)
        await admin.query(`drop owned by ${name}; drop role ${name}`)
      })
    }
    await begun(stranger)
    const id = await write(await clientOf(url))
    await until('it is followed', async () => {
      await follow(name)
      return followed.includes(id)
    })
    await stranger.query('rollback')
    t.strictSame(followed, [id])
  })
}

t.test('a writing transaction that stays open in this database is waited for, and nothing is skipped', async (t) => {
  await using other = await createEmptyDatabase()
  const { url, clientOf, write, followed, follow } = await open(t)
  const [stranger, slow, quick] = [await clientOf(other.url), await clientOf(url), await clientOf(url)]
  await begun(stranger)
  const before = await write(quick)
  await begun(slow)
  const behind = await write(quick)
  for (let pass = 0; pass < 5; pass++) await follow()
  t.strictSame(followed, [before], 'what came after its beginning waits')
  const late = await write(slow)
  for (let pass = 0; pass < 5; pass++) await follow()
  t.strictSame(followed, [before])
  await slow.query('commit')
  await until('all are followed', async () => {
    await follow()
    return followed.length >= 3
  })
  t.strictSame(followed.toSorted(), [before, behind, late].toSorted())
  await stranger.query('rollback')
})

t.test('many writers here and elsewhere: each event is followed once', async (t) => {
  await using other = await createEmptyDatabase()
  const { url, clientOf, write, followed, follow } = await open(t)
  const written: string[] = []
  let going = true
  const strangers = Promise.all(
    Array.from({ length: 3 }, async () => {
      const client = await clientOf(other.url)
      while (going) {
        await begun(client)
        await client.query('select pg_sleep(0.02)')
        await client.query('commit')
      }
    }),
  )
  const following = (async () => {
    while (going) await follow()
  })()
  await Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      const client = await clientOf(url)
      for (let nth = 0; nth < 60; nth++) {
        await begun(client)
        const ids = [await write(client), await write(client)]
        if (nth % 7 === writer) await client.query('select pg_sleep(0.01)')
        await client.query(nth % 5 === 0 ? 'rollback' : 'commit')
        if (nth % 5 !== 0) written.push(...ids)
      }
    }),
  )
  await until('all are followed', () => followed.length >= written.length)
  going = false
  await Promise.all([strangers, following])
  await follow()
  t.strictSame(followed.toSorted(), written.toSorted())
})

t.test('a horizon that stands still is told of, with whose transaction it is', async (t) => {
  await using other = await createEmptyDatabase()
  const { database, url, clientOf } = await open(t)
  const clock = new ManualClock(systemClock.now())
  const told: object[] = []
  const watch = new HorizonWatch({
    database,
    clock,
    onError: (error) => {
      throw error
    },
    onStanding: (what) => told.push(what),
  })
  const [stranger, ours] = [await clientOf(other.url), await clientOf(url)]
  await begun(stranger)
  await another(database)
  await watch.poll()
  t.equal(watch.ageSeconds, 0, 'that of another database is none')
  await begun(ours)
  const {
    rows: [mine],
  } = await ours.query<{ pid: number; transaction: string }>(
    'select pg_backend_pid() as pid, pg_current_xact_id()::text as transaction',
  )
  await another(database)
  await watch.poll()
  t.ok(watch.ageSeconds > 0 && watch.ageSeconds < 30)
  t.strictSame(told, [])
  await ours.query('commit')
  await watch.poll()
  t.equal(watch.ageSeconds, 0)

  const blind = new Database(url, 1)
  t.teardown(() => blind.close())
  const read = blind.query.bind(blind)
  blind.query = async <Row extends unknown[]>(statement: SqlStatement) =>
    statement.name === 'horizon_age' ? [[null] as unknown as Row] : await read<Row>(statement)
  const aged = new HorizonWatch({
    database: blind,
    clock,
    onError: (error) => {
      throw error
    },
    onStanding: (what) => told.push(what),
  })
  await ours.query('begin; select pg_current_xact_id()')
  const {
    rows: [now],
  } = await ours.query<{ transaction: string }>('select pg_current_xact_id()::text as transaction')
  await another(database)
  await aged.poll()
  clock.advance(31_000)
  await aged.poll()
  await aged.poll()
  t.strictSame(
    told,
    [{ transaction: now!.transaction, pid: mine!.pid, ageMs: 31_000 }],
    'once a minute, also where nobody may see when it began',
  )
  await ours.query('rollback')
  await stranger.query('rollback')
})
