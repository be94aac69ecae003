/**
 * Transactions: every movement of money as its customer sees it, one row each, made from the rows that cause movements
 * (payments, transfers, incoming payments, exchanges) and the postings that book them.
 *
 * - A row has no facts of its own: it is derived from the present state of its cause and lines, and made again whenever
 *   an event reports a change. So it may be made twice, by two nodes, or late, and is still right.
 * - Every line of a balance belongs to exactly one transaction (the function `transaction_of_line`), and their sums
 *   agree; the audit checks both.
 * - A read includes all commits before it: causes that the followers have not reached yet are made first (`catchUp`).
 * - A payment under way is left for PENDING_AFTER_MS: a second cursor follows the same events that much later
 *   (`followPending`), and finds that most of their payments have ended and have been made once, as they ended. A row
 *   that is made at the payment's creation and changed at its end costs a backend twice as much, some 75 us a payment.
 *
 * Why a table and a follower of the events:
 * - A view over causes and postings has no index for the sorts by amount and booking or for the search, so a page would
 *   sort all rows; and the payments' own table cannot have those indexes without a cost for every payment.
 * - Written by the commit, it would be one more insert and one more update in each payment's life, with a dozen
 *   indexes.
 * - Beside the commits it costs them only processor time.
 *
 * Figures, on two cores that thirty other processes used too, so to be compared only with each other. One customer with
 * a million: the first page by creation, booking or amount 6 to 21 ms, a page behind 980 000 others 4 to 36 ms; one
 * recipient, one status, a range of amounts or days 5 to 19 ms; a word that all have 10 ms, that two hundred have 190
 * ms, that none has 4 ms; a filter without an index and without matches 1.2 s, an exact count 1.0 s. A cause takes
 * 73 us of a backend's CPU to make, 75 to change and 16 when its row is that of the present version (measured by the
 * backend's own account, 500 a pass); an operator on `details` each for four fields, and a function that could not be put
 * into the statement, had made that 100, 106 and 65. The table takes 1.1 kB a row with all indexes; the
 * search index takes five sixths of the time to build them.
 */
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import { inTransaction, type TransactionClient } from '../db/transaction.ts'
import { makeTransactions } from './make-transactions.ts'

/** Events of one pass over payments under way: most have ended, and are only looked at. */
const PENDING_EVENTS_MAX = 2_048
/** Causes of one pass over rows from before the follower began. */
const BACKFILL_MAX = 2_000
/** Causes that a read makes at most, in statements of so many; a follower that is further behind catches up by itself. */
const CATCH_UP_MAX = 10_000
const CATCH_UP_STEP = 1_000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Clocks of nodes differ by less than this, so older partitions of the events need not be read. */
const CLOCK_SLACK_MS = 2 * DAY_MS

/**
 * A payment under way has this time to end before its transaction is made: instant payments have ended by then, and
 * their rows are made once. Milliseconds.
 */
export const PENDING_AFTER_MS = 3_000
/** SQL condition: event `o` leaves its payment with the bank, or on its way there. */
const UNDER_WAY = `o.object = 'payment' and o.status = 'processing'`

/** Transfers that the partner has not executed yet: their first event is their end. Few at any time. */
const TRANSFERS_BEGUN = `select o.transfer_id from transfer_order o
  where o.due_at is not null and not exists (select from account_transaction t where t.id = o.transfer_id)`

/** The result of a pass. */
export interface Followed {
  /** Whether more events wait. */
  readonly more: boolean
  /**
   * Age of the oldest event of the pass, milliseconds; zero where there was none. Null where another node makes the
   * pass.
   */
  readonly lagMs: number | null
  /** Age of the youngest event of the pass, milliseconds, so the events that wait are hardly older; zero when none wait. */
  readonly leftMs: number
}

/**
 * Makes one pass: `eventsMax` events or a few more, and some rows from before the follower began. Payments under way
 * are left to `followPending`. `now` is epoch milliseconds.
 *
 * @throws DatabaseUnavailable, OutcomeUnknown and the driver's errors; the next pass resumes where the last committed
 * pass ended
 */
export async function followTransactions(database: Database, now: number, eventsMax: number): Promise<Followed> {
  return await inTransaction(database, async (client) => {
    const place = await OutboxCursor.take(client, 'transaction_following', now)
    if (place === null) return { more: false, lagMs: null, leftMs: 0 }
    // A server crash loses the last rows together with the cursor's position, so they are made again.
    await client.query('set local synchronous_commit = off')
    const stretch = await place.next(eventsMax)
    let [lagMs, leftMs] = [0, 0]
    if (stretch !== null) {
      const { rows } = await client.query<[string, number, number, boolean]>({
        name: 'transactions_followed',
        rowMode: 'array',
        values: [...stretch.bounds],
        text: `select o.object_id, min(extract(epoch from o.created_at) * 1000)::float8, max(extract(epoch from o.created_at) * 1000)::float8,
            bool_and(${UNDER_WAY})
          from outbox o where ${IN_EVENT_RANGE} and not o.sandbox group by 1`,
      })
      lagMs = Math.max(0, now - rows.reduce((first, [, at]) => Math.min(first, at), now))
      leftMs = Math.max(0, now - rows.reduce((last, [, , at]) => Math.max(last, at), now - lagMs))
      await makeTransactions(
        client,
        rows.filter(([, , , underWay]) => !underWay).map(([id]) => id),
      )
      await place.move(stretch)
    }
    const { rows: begun } = await client.query<[string]>({
      name: 'transfers_begun',
      text: TRANSFERS_BEGUN,
      rowMode: 'array',
      values: [],
    })
    await makeTransactions(
      client,
      begun.map(([id]) => id),
    )
    const behind = await backfill(client)
    return { more: stretch?.more === true || behind, lagMs, leftMs: stretch?.more === true ? leftMs : 0 }
  })
}

/**
 * Makes one pass over the events of payments under way that are older than PENDING_AFTER_MS: makes the transactions of
 * those payments from their present state. `now` is epoch milliseconds.
 *
 * @returns whether more events wait, and the age of the oldest beyond PENDING_AFTER_MS
 * @throws DatabaseUnavailable, OutcomeUnknown and the driver's errors; the next pass resumes where the last committed
 * pass ended
 */
export async function followPending(database: Database, now: number): Promise<Omit<Followed, 'leftMs'>> {
  return await inTransaction(database, async (client) => {
    const place = await OutboxCursor.take(client, 'pending_transaction_following', now)
    if (place === null) return { more: false, lagMs: null }
    const stretch = await place.next(PENDING_EVENTS_MAX, now - PENDING_AFTER_MS)
    if (stretch === null) return { more: false, lagMs: 0 }
    await client.query('set local synchronous_commit = off')
    const { rows } = await client.query<[string, number]>({
      name: 'transactions_pending',
      rowMode: 'array',
      values: [...stretch.bounds],
      text: `select o.object_id, min(extract(epoch from o.created_at) * 1000)::float8 from outbox o
        where ${IN_EVENT_RANGE} and ${UNDER_WAY} and not o.sandbox group by 1`,
    })
    await makeTransactions(
      client,
      rows.map(([id]) => id),
    )
    await place.move(stretch)
    const oldest = rows.reduce((first, [, at]) => Math.min(first, at), now - PENDING_AFTER_MS)
    return { more: stretch.more, lagMs: now - PENDING_AFTER_MS - oldest }
  })
}

/**
 * Makes transactions of causes from before the follower began, in the order of their ids. @returns whether there is
 * more
 */
async function backfill(client: TransactionClient): Promise<boolean> {
  const {
    rows: [next],
  } = await client.query<[string, string]>({
    name: 'transactions_backfill',
    text: 'select object, after_id from transaction_backfill order by object limit 1',
    rowMode: 'array',
    values: [],
  })
  if (next === undefined) return false
  const [object, after] = next
  const { rows } = await client.query<[string]>({
    name: `transactions_before_${object}`,
    text: `select id from ${object} where id > $1 order by id limit ${BACKFILL_MAX}`,
    values: [after],
    rowMode: 'array',
  })
  await makeTransactions(
    client,
    rows.map(([id]) => id),
  )
  const last = rows.at(-1)?.[0]
  if (rows.length < BACKFILL_MAX || last === undefined)
    await client.query('delete from transaction_backfill where object = $1', [object])
  else await client.query('update transaction_backfill set after_id = $2 where object = $1', [object, last])
  return true
}

/**
 * Makes the transactions of one customer that the followers have not reached yet, so that clients find their own
 * changes.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function catchUp(database: Database, customerId: string, now: number): Promise<void> {
  let after = FIRST_ID
  for (let made = 0; made < CATCH_UP_MAX; made += CATCH_UP_STEP) {
    // The oldest first, so that a list has no gaps meanwhile.
    const rows = await database.query<[string]>({
      name: 'transactions_behind',
      values: [customerId, timestamp(now - CLOCK_SLACK_MS), after, CATCH_UP_STEP],
      text: `with place as materialized (select f.position as followed, least(f.position, p.position) as pending
          from transaction_following f, pending_transaction_following p)
        select id from (
          select distinct o.object_id as id from outbox o
          where o.written_in >= (select pending from place) and (o.written_in >= (select followed from place) or (${UNDER_WAY}))
            and o.created_at >= $2 and o.customer_id = $1 and not o.sandbox
          union select b.transfer_id from (${TRANSFERS_BEGUN}) b join transfer t on t.id = b.transfer_id and t.customer_id = $1) behind
        where id > $3 order by id limit $4`,
    })
    await makeTransactions(
      database.pool,
      rows.map(([id]) => id),
    )
    const last = rows.at(-1)?.[0]
    if (rows.length < CATCH_UP_STEP || last === undefined) return
    after = last
  }
}

/**
 * Sets the category of a transaction. `expected` is the version that it must have, null for any.
 *
 * @returns the category before; `stale` when it has another version, null when it is not the customer's
 */
export async function setCategory(
  client: TransactionClient,
  {
    customerId,
    id,
    category,
    expected,
  }: {
    readonly customerId: string
    readonly id: string
    readonly category: string | null
    readonly expected: bigint | null
  },
): Promise<{ readonly category: string | null } | 'stale' | null> {
  const {
    rows: [row],
  } = await client.query<{ category: string | null; version: string }>({
    name: 'transaction_lock',
    text: 'select category, version from account_transaction where id = $1 and customer_id = $2 for update',
    values: [id, customerId],
  })
  if (row === undefined) return null
  if (expected !== null && BigInt(row.version) !== expected) return 'stale'
  if (row.category !== category)
    await client.query({
      name: 'transaction_category',
      text: 'update account_transaction set category = $2, version = version + 1 where id = $1',
      values: [id, category],
    })
  return { category: row.category }
}
