/** A payment's transaction is made once when the payment ends soon, and a list has every payment all the same. */
import t from 'tap'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { listTransactions } from '../../../storage/transactions/transaction-queries.ts'
import { followPending, followTransactions, PENDING_AFTER_MS } from '../../../storage/transactions/transactions.ts'
import { findKinds } from '../../../storage/integration/id-kinds.ts'
import { audit } from '../../../storage/audit/audit.ts'
import { eventsSeen } from '../../support/events-seen.ts'
import { openBooks, type Books } from '../../support/books.ts'

const EVENTS = 1_000
const MORE_THAN_A_STEP = 1_500

/** Books whose own transactions have been made, with those from before the followers began. */
async function open(t: Parameters<typeof openBooks>[0]): Promise<Books> {
  const books = await openBooks(t)
  await follow(books)
  books.clock.advance(2 * PENDING_AFTER_MS)
  await followOld(books)
  return books
}

const seen = (client: Books['client']): Promise<void> =>
  eventsSeen(async (sql) => (await client.query<{ seen: boolean }>(sql)).rows[0]!.seen)

/** All passes that are due. */
async function follow({ client, database, clock }: Books): Promise<void> {
  await seen(client)
  while ((await followTransactions(database, clock.now(), EVENTS)).more);
}
async function followOld({ client, database, clock }: Books): Promise<void> {
  await seen(client)
  while ((await followPending(database, clock.now())).more);
}

/** The row of a transaction; undefined: none was made. */
async function rowOf({ client }: Books, id: string) {
  const { rows } = await client.query<{ status: string; version: string; source_version: string }>(
    'select status, version, source_version from account_transaction where id = $1',
    [id],
  )
  return rows[0]
}

async function list({ database, tenant, clock }: Books, limit = 100) {
  const { rows } = await listTransactions(
    database,
    readDatabase(database),
    { tenant, filters: {}, metadata: [], sort: 'createdAt', limit, position: null, withTotal: false, q: null },
    clock.now(),
  )
  return rows
}

async function auditIsClean(t: Parameters<typeof openBooks>[0], { client }: Books): Promise<void> {
  const { checks } = await audit(client)
  t.strictSame(
    checks.filter(({ disagreeing }) => disagreeing > 0).map(({ name, rows }) => [name, rows[0]]),
    [],
  )
}

t.test('a payment that ends soon is written once, as it ended', async (t) => {
  const books = await open(t)
  const id = await books.pay()
  await books.handOver(id)
  await follow(books)
  await followOld(books)
  t.equal(await rowOf(books, id), undefined, 'nothing is written while it may end')
  await auditIsClean(t, books)
  books.clock.advance(2_000)
  await books.settle(id)
  await follow(books)
  t.match(await rowOf(books, id), { status: 'completed', version: '1', source_version: '3' })
  books.clock.advance(PENDING_AFTER_MS)
  await followOld(books)
  t.match(await rowOf(books, id), { status: 'completed', version: '1' }, 'and not again')
  await auditIsClean(t, books)
})

t.test('the lag of payments under way counts from the moment in which they are due in the list', async (t) => {
  const books = await open(t)
  await books.pay()
  const made = books.clock.now()
  books.clock.advance(PENDING_AFTER_MS)
  await seen(books.client)
  const pass = (late: number) => {
    books.clock.advance(made + PENDING_AFTER_MS + late - books.clock.now())
    return followPending(books.database, books.clock.now())
  }
  t.match(await pass(0), { lagMs: 0 })
  t.match(await pass(5_000), { more: false, lagMs: 5_000 })
  t.match(await pass(6_000), { more: false, lagMs: 0 }, 'nothing is left')
})

t.test('a payment that does not end is written as pending after three seconds, to the millisecond', async (t) => {
  const books = await open(t)
  const id = await books.pay()
  const made = books.clock.now()
  await follow(books)
  books.clock.advance(made + PENDING_AFTER_MS - books.clock.now())
  await followOld(books)
  t.equal(await rowOf(books, id), undefined)
  books.clock.advance(1)
  await followOld(books)
  t.match(await rowOf(books, id), { status: 'pending', version: '1', source_version: '1' })
  await books.handOver(id)
  await books.settle(id)
  await follow(books)
  t.match(await rowOf(books, id), { status: 'completed', source_version: '3' })
  await auditIsClean(t, books)
})

t.test('what else becomes of a payment is written at once', async (t) => {
  const books = await open(t)
  const [held, refused] = [await books.pay(), await books.pay()]
  await books.hold(held)
  await books.handOver(refused)
  await books.reject(refused)
  const moved = await books.transfer(await books.openBalance('Savings'), 10n)
  await follow(books)
  t.match(await rowOf(books, held), { status: 'on_hold' })
  t.match(await rowOf(books, refused), { status: 'failed', version: '1' })
  t.match(await rowOf(books, moved), { status: 'completed' })
  await auditIsClean(t, books)
})

t.test('a list has a payment from its commit on, with its present status, whoever has followed what', async (t) => {
  const books = await open(t)
  const statusIn = async (id: string) => (await list(books)).find((row) => row.id === id)?.status
  const [first, second] = [await books.pay(), await books.pay()]
  t.equal(await statusIn(first), 'pending')
  await follow(books)
  const third = await books.pay()
  t.strictSame(
    (await list(books)).map((row) => row.id).filter((id) => [first, second, third].includes(id)),
    [first, second, third],
    'no gap where one follower is ahead of the other',
  )
  await books.hold(second)
  await follow(books)
  t.equal(await statusIn(second), 'on_hold')
  await books.handOver(first)
  await follow(books)
  t.equal(await statusIn(first), 'pending')
  await books.settle(first)
  t.equal(await statusIn(first), 'completed')
  await follow(books)
  await followOld(books)
  t.equal(await statusIn(first), 'completed')
  await auditIsClean(t, books)
})

t.test('a payment under way is known by its id as a transaction, too', async (t) => {
  const books = await open(t)
  const id = await books.pay()
  await follow(books)
  t.strictSame((await findKinds(books.database, books.tenant.id, [id])).get(id), ['payment', 'transaction'])
  await books.handOver(id)
  await books.settle(id)
  await follow(books)
  t.strictSame((await findKinds(books.database, books.tenant.id, [id])).get(id), ['payment', 'transaction'])
})

t.test('a list that catches up with very many payments has no gap', async (t) => {
  const books = await open(t)
  const id = await books.pay()
  await follow(books)
  const before = (await list(books, 1_000)).length
  // Copies of the payment and its event, under ids of their own.
  await books.client.query(
    `with copy as materialized (select uuidv7() as id, nth from generate_series(1, ${MORE_THAN_A_STEP}) nth),
      paid as (insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', c.id, 'number', 'COPY-' || c.nth))).*
        from payment p, copy c where p.id = $1)
    insert into outbox select (jsonb_populate_record(o, jsonb_build_object('id', uuidv7(), 'object_id', c.id, 'written_in', pg_current_xact_id()::text))).*
      from outbox o, copy c where o.object_id = $1`,
    [id],
  )
  const rows = await list(books, 1_000)
  t.equal(rows.length, 1_000)
  const {
    rows: [count],
  } = await books.client.query<{ made: string }>('select count(*) as made from account_transaction')
  t.equal(Number(count!.made), before + MORE_THAN_A_STEP, 'all are there before a page is read')
})
