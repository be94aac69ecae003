import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { SqlStatement } from '../../../storage/db/connection.ts'
import { Database } from '../../../storage/db/database.ts'
import { findIdempotencyRecord, recordedAnswer } from '../../../storage/replay/recorded-commands.ts'
import { openBooks, type Books } from '../../support/books.ts'

/** A database that notes the names of the statements that are read through it. */
class NotingDatabase extends Database {
  readonly names: string[] = []

  override async query<Row extends unknown[]>(statement: SqlStatement): Promise<Row[]> {
    this.names.push(statement.name)
    return await super.query<Row>(statement)
  }
}

const TYPES = `select id, resource_type, status from idempotency where resource_id = $1`

async function recordOf(books: Books, resourceId: string) {
  const { rows } = await books.client.query<{ id: string; resource_type: string; status: number }>(TYPES, [resourceId])
  return rows[0]!
}

t.test('a repeat reads the resource that its record names, and no other', async (t) => {
  const books = await openBooks(t)
  const payment = await books.pay()
  const transfer = await books.transfer(await books.openBalance('Savings'), 5n)
  const database = new NotingDatabase(books.url, 2)
  t.teardown(() => database.close())
  for (const [id, kind, statement] of [
    [payment, 'payment', 'get_payment'],
    [transfer, 'transfer', 'get_transfer'],
  ] as const) {
    const record = await recordOf(books, id)
    t.equal(record.resource_type, kind)
    database.names.length = 0
    const found = await findIdempotencyRecord(database, record.id, books.clock.now())
    t.match(found, { status: 201, answer: null, resource: { kind, [kind]: { id } } })
    t.strictSame(database.names, ['find_idempotency', statement])
    database.names.length = 0
    await recordedAnswer(database, { answer: null, resourceType: kind, resourceId: id })
    t.strictSame(database.names, [statement], 'a commit has found the record already')
  }
})

t.test('a stored answer reads no resource', async (t) => {
  const books = await openBooks(t)
  const database = new NotingDatabase(books.url, 2)
  t.teardown(() => database.close())
  const id = books.ids.next()
  const stored = await recordedAnswer(database, { answer: '{}', resourceType: 'job', resourceId: id })
  t.strictSame(stored, { answer: '{}', resource: { type: 'job', id } })
  const refused = await recordedAnswer(database, { answer: '{}', resourceType: null, resourceId: null })
  t.strictSame(refused, { answer: '{}', resource: null })
  t.strictSame(database.names, [])
  await t.rejects(
    recordedAnswer(database, { answer: null, resourceType: 'transfer', resourceId: id }),
    /does not exist/,
  )
})

t.test('records from before the column are given their types by the migration', async (t) => {
  const books = await openBooks(t)
  const payment = await books.pay()
  const transfer = await books.transfer(await books.openBalance('Savings'), 5n)
  const refusal = books.ids.next()
  await books.client.query(
    `insert into idempotency (id, day, fingerprint, status, answer, created_at) select $1, day, $1, 409, '{}', created_at from idempotency limit 1`,
    [refusal],
  )
  const all = async () =>
    (await books.client.query('select id, resource_type from idempotency order by id')).rows as unknown[]
  const before = await all()
  await books.client.query('alter table idempotency drop column resource_type')
  const file = join(import.meta.dirname, '../../../storage/migrations/0047_recorded_resources.sql')
  await books.client.query(await readFile(file, 'utf8'))
  t.strictSame(await all(), before)
  t.equal((await recordOf(books, payment)).resource_type, 'payment')
  t.equal((await recordOf(books, transfer)).resource_type, 'transfer')
})
