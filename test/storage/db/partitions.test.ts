/**
 * Partitions: rows that are there before their partition, tables that cannot be locked, and rows whose time is over.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { addDays } from '../../../lib/base/clock.ts'
import { Database } from '../../../storage/db/database.ts'
import { maintainPartitions, makePartitions } from '../../../storage/db/partitions.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const NOW = Date.UTC(2031, 4, 6, 12)
const DAY_MS = 86_400_000
const AHEAD = addDays('2031-05-06', 8)
const partition = (table: string, day: string) => `${table}_${day.replaceAll('-', '')}`

async function open(t: Test) {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  const database = new Database(url, 4)
  t.teardown(async () => {
    await database.close()
    await drop()
  })
  const event = async (at: string) => {
    const id = randomUUID()
    await database.pool.query(
      `insert into outbox (id, created_at, operator_id, shard, type, object, object_id, status) values ($1, $2, $1, 0, 'x', 'x', $1, 'x')`,
      [id, at],
    )
    return id
  }
  const whereIs = async (id: string) =>
    (
      await database.query<[string]>({
        name: 'where',
        text: 'select tableoid::regclass::text from outbox where id = $1',
        values: [id],
      })
    ).map(([table]) => table)
  const exists = async (name: string) =>
    (
      await database.query<[boolean]>({ name: 'exists', text: 'select to_regclass($1) is not null', values: [name] })
    )[0]![0]
  return { database, event, whereIs, exists }
}

t.test('a row that is dated ahead of all partitions is moved into its own when that is made', async (t) => {
  const { database, event, whereIs, exists } = await open(t)
  await makePartitions(database, NOW)
  const [ahead, further] = [await event(`${AHEAD}T10:00:00Z`), await event(`${addDays(AHEAD, 300)}T10:00:00Z`)]
  const [written] = await database.query<[string]>({
    name: 'written',
    text: 'select written_in::text from outbox where id = $1',
    values: [ahead],
  })
  t.strictSame(await whereIs(ahead), ['outbox_default'])
  const moved: object[] = []
  await makePartitions(database, NOW + DAY_MS, {
    moved: (what) => moved.push(what),
    failed: (error) => {
      throw error
    },
  })
  t.strictSame(moved, [{ table: 'outbox', day: AHEAD, rows: 1 }])
  t.strictSame(await whereIs(ahead), [partition('outbox', AHEAD)])
  t.strictSame(
    await database.query<[string]>({
      name: 'written',
      text: 'select written_in::text from outbox where id = $1',
      values: [ahead],
    }),
    [written],
    'followers find it where it was',
  )
  t.strictSame(await whereIs(further), ['outbox_default'], 'what is further ahead stays')
  for (const table of ['idempotency', 'request_log', 'quote', 'webhook_delivery'])
    t.ok(await exists(partition(table, AHEAD)), table)
})

t.test('a partition that is attached has what its table has', async (t) => {
  const { database, event } = await open(t)
  await makePartitions(database, NOW)
  const today = partition('outbox', '2031-05-06')
  const of = async (table: string) =>
    database.query<[string]>({
      name: `indexes_${table}`,
      values: [table],
      text: `select replace(pg_get_indexdef(indexrelid), indexrelid::regclass::text, '') from pg_index where indrelid = $1::regclass order by 1`,
    })
  t.equal((await of(today)).length, (await of('outbox')).length)
  const [orphan] = await database.query({
    name: 'orphans',
    values: [today],
    text: `select 1 from pg_index i where i.indrelid = $1::regclass and not exists (select from pg_inherits h where h.inhrelid = i.indexrelid)`,
  })
  t.equal(orphan, undefined, 'each index belongs to one of the table')
  const id = await event('2031-05-06T01:00:00Z')
  await t.rejects(database.pool.query('insert into outbox select * from outbox where id = $1', [id]), { code: '23505' })
})

t.test('a table that somebody holds is reported, and the others are looked after', async (t) => {
  const { database, event, exists, whereIs } = await open(t)
  await makePartitions(database, NOW)
  const id = await event(`${AHEAD}T10:00:00Z`)
  const holder = await database.pool.connect()
  await holder.query('begin; select from outbox_default')
  const failed: string[] = []
  const report = {
    moved: () => undefined,
    failed: (error: unknown, table: string) => {
      failed.push(`${table} ${(error as { code: string }).code}`)
    },
  }
  await maintainPartitions(database, NOW + DAY_MS, report)
  t.match(failed, ['outbox 55P03'])
  t.notOk(await exists(partition('outbox', AHEAD)))
  for (const table of ['idempotency', 'request_log', 'quote', 'webhook_delivery'])
    t.ok(await exists(partition(table, AHEAD)), table)
  await holder.query('rollback')
  holder.release()
  await maintainPartitions(database, NOW + DAY_MS)
  t.strictSame(await whereIs(id), [partition('outbox', AHEAD)], 'the next maintenance makes up for it')
})

t.test('a query that waits for the move finds the rows that were moved', async (t) => {
  const { database, event, whereIs } = await open(t)
  await makePartitions(database, NOW)
  const id = await event(`${AHEAD}T10:00:00Z`)
  const holder = await database.pool.connect()
  await holder.query('begin; select from outbox_default')
  const waiting = async (count: number) =>
    await until(
      'the queries wait',
      async () =>
        (await holder.query('select from pg_locks where not granted and locktype = $1', ['relation'])).rowCount ===
        count,
    )
  const making = makePartitions(database, NOW + DAY_MS)
  await waiting(1)
  const found = whereIs(id)
  await waiting(2)
  await holder.query('rollback')
  holder.release()
  await making
  t.strictSame(await found, [partition('outbox', AHEAD)])
})

t.test('two nodes at once make each partition once', async (t) => {
  const { database, event, whereIs } = await open(t)
  const id = await event('2031-05-06T10:00:00Z')
  const moved: object[] = []
  const report = {
    moved: (what: object) => {
      moved.push(what)
    },
    failed: (error: unknown) => {
      throw error
    },
  }
  await Promise.all([makePartitions(database, NOW, report), makePartitions(database, NOW, report)])
  t.strictSame(moved, [{ table: 'outbox', day: '2031-05-06', rows: 1 }])
  t.strictSame(await whereIs(id), [partition('outbox', '2031-05-06')])
})

t.test('rows of the default partition go when their time is over, like the others', async (t) => {
  const { database, event, whereIs } = await open(t)
  const [old, kept] = [await event('2031-03-01T10:00:00Z'), await event('2031-05-01T10:00:00Z')]
  await maintainPartitions(database, NOW)
  t.strictSame(await whereIs(old), [])
  t.strictSame(await whereIs(kept), ['outbox_default'])
  t.strictSame(
    await database.query({ name: 'kept_from', text: 'select kept_from::date::text from event_retention', values: [] }),
    [['2031-04-03']],
    'the audit knows how far back events go',
  )
})
