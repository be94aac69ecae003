/**
 * Databases that were restored into another cluster: every event is followed once, whatever the numbers of transactions
 * there.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { systemClock } from '../../../lib/base/clock.ts'
import { Database } from '../../../storage/db/database.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import type { Follower } from '../../../storage/outbox/followers.ts'
import { IN_EVENT_RANGE, OutboxCursor } from '../../../storage/outbox/outbox-cursor.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const INSERT = `insert into outbox (id, created_at, operator_id, shard, type, object, object_id, status) values ($1, now(), $1, 0, 'x', 'x', $1, 'x')`

async function open(t: Test) {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  const database = new Database(url, 4)
  t.teardown(async () => {
    await database.close()
    await drop()
  })
  const write = async () => {
    const id = randomUUID()
    await database.pool.query(INSERT, [id])
    return id
  }
  let renumbered = 0
  /** Makes a pass of a follower over at most `max` transactions. */
  const pass = (follower: Follower, max: number) =>
    inTransaction(database, async (client) => {
      const cursor = await OutboxCursor.take(client, follower, systemClock.now(), () => {
        renumbered += 1
      })
      const range = await cursor?.next(max)
      if (cursor == null || range == null) return []
      const { rows } = await client.query<{ id: string }>(
        `select o.id from outbox o where ${IN_EVENT_RANGE} order by o.written_in, o.created_at`,
        [...range.bounds],
      )
      await cursor.move(range)
      return rows.map(({ id }) => id)
    })
  /**
   * Passes until so many events were followed: transactions of other tests in the cluster may hold single passes up.
   */
  const follow = async (follower: Follower, max: number, count = max) => {
    const followed: string[] = []
    await until(`${follower} has followed ${count}`, async () => {
      followed.push(...(await pass(follower, Math.min(max, count - followed.length))))
      return followed.length >= count
    })
    return followed
  }
  /** Passes that find nothing more. */
  const rest = async (follower: Follower) => [
    ...(await pass(follower, 10)),
    ...(await pass(follower, 10)),
    ...(await pass(follower, 10)),
  ]
  /**
   * Every number of the old cluster was `by` higher than here: what a dump keeps of it, and its rows are written by
   * other transactions.
   */
  const restore = async (by: number) => {
    for (const table of ['webhook_relay', 'transaction_following']) {
      await database.pool.query(
        `update ${table} set position = (position::text::bigint + $1)::text::xid8 where position > '0'::xid8`,
        [by],
      )
    }
    await database.pool.query('update outbox set written_in = (written_in::text::bigint + $1)::text::xid8', [by])
  }
  return { database, write, pass, follow, rest, restore, renumbered: () => renumbered }
}

t.test('into lower numbers: what was followed is not followed again, what was not is followed', async (t) => {
  const { database, write, follow, rest, restore, renumbered } = await open(t)
  const [a, b, c, d] = [await write(), await write(), await write(), await write()]
  t.strictSame(await follow('webhook_relay', 3), [a, b, c])
  t.strictSame(await follow('transaction_following', 1), [a])
  const operator = randomUUID()
  await database.pool.query(`insert into operator (id, name, created_at) values ($1, 'Operator', now())`, [operator])
  await database.pool.query(
    `insert into webhook_endpoint (id, level, tenant_id, operator_id, shard, url, events, status, secret, secret_hint, api_version, created_by,
        created_at, updated_at)
      values ($1, 'operator', $1, $1, 0, 'https://hooks.example', '{}', 'active', '', '', 'v1', $1, now(), now())`,
    [operator],
  )
  const snapshots = async () =>
    (
      await database.pool.query<{ known: boolean }>(
        'select created_snapshot is not null as known from webhook_endpoint',
      )
    ).rows
  t.strictSame(await snapshots(), [{ known: true }])
  await restore(1_000_000)
  const e = await write()
  t.strictSame(
    [...(await follow('webhook_relay', 1)), ...(await follow('webhook_relay', 1))],
    [d, e],
    'first the one that was left, then the new one',
  )
  t.strictSame(
    (await follow('transaction_following', 10, 4)).toSorted(),
    [b, c, d, e].toSorted(),
    'another follower has its own place',
  )
  t.strictSame([await rest('webhook_relay'), await rest('transaction_following')], [[], []])
  t.equal(renumbered(), 1, 'once for all followers')
  t.strictSame(await snapshots(), [{ known: false }], 'the numbers of the old cluster hide no event from an endpoint')
  const {
    rows: [late],
  } = await database.pool.query<{ count: string }>(
    'select count(*) from outbox where written_in > pg_current_xact_id()',
  )
  t.equal(late!.count, '0', 'and no number is left that transactions will come to')
  const f = await write()
  t.strictSame([await follow('webhook_relay', 10, 1), await follow('transaction_following', 10, 1)], [[f], [f]])
})

t.test('into higher numbers nothing is to be done', async (t) => {
  const { write, follow, rest, restore, renumbered } = await open(t)
  const [a, b, c] = [await write(), await write(), await write()]
  t.strictSame(await follow('webhook_relay', 2), [a, b])
  await restore(-500)
  const d = await write()
  t.strictSame(await follow('webhook_relay', 10, 2), [c, d])
  t.strictSame(await rest('webhook_relay'), [])
  t.equal(renumbered(), 0)
})

t.test('two followers that find a restored database at once renumber it once', async (t) => {
  const { write, pass, follow, restore, renumbered } = await open(t)
  const events = [await write(), await write(), await write()]
  await follow('webhook_relay', 1)
  await follow('transaction_following', 2)
  await restore(1_000_000)
  const found = { webhook_relay: [] as string[], transaction_following: [] as string[] }
  await until('both have followed the rest', async () => {
    await Promise.all(
      (['webhook_relay', 'transaction_following'] as const).map(async (follower) => {
        found[follower].push(...(await pass(follower, 10)))
      }),
    )
    return found.webhook_relay.length >= 2 && found.transaction_following.length >= 1
  })
  t.strictSame(found, { webhook_relay: events.slice(1), transaction_following: events.slice(2) })
  t.equal(renumbered(), 1)
})
