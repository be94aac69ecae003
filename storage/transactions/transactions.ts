/**
 * Transactions: every movement of money as its customer sees it, one row each, made from the rows that cause movements
 * (payments, transfers, incoming payments, exchanges) and the postings that book them.
 *
 * - A row has no facts of its own: it is derived from the present state of its cause and lines, and made again whenever
 *   an event reports a change. So it may be made twice, by two nodes, or late, and is still right.
 * - Every line of a balance belongs to exactly one transaction (the function `transaction_of_line`), and their sums
 *   agree; the audit checks both.
 * - A read includes all commits before it: causes that the follower has not reached yet are made first (`catchUp`).
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
 * ms, that none has 4 ms; a filter without an index and without matches 1.2 s, an exact count 1.0 s. A pass makes 1 500
 * new rows a second, updates 1 200, and finds 3 500 unchanged. The table takes 1.1 kB a row with all indexes; the
 * search index takes five sixths of the time to build them.
 */
import { JOURNAL_TYPES } from '../../lib/ledger/journal-line.ts'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import { inTransaction, type TransactionClient } from '../db/transaction.ts'

/** Events of one pass; it ends within half a second, and the next pass takes the rest. */
const EVENTS_MAX = 500
/** Causes of one pass over rows from before the follower began. */
const BACKFILL_MAX = 2_000
/** Causes that a read makes at most; a follower that is further behind catches up by itself. */
const CATCH_UP_MAX = 1_000
/** Clocks of nodes differ by less than this, so older partitions of the events need not be read. */
const CLOCK_SLACK_MS = 2 * DAY_MS

/** The status of a payment as the customer sees it. A scheduled payment is pending money. */
const PAYMENT_STATUS = `case p.status when 'completed' then 'completed' when 'failed' then 'failed' when 'rejected' then 'failed' when 'cancelled' then 'cancelled'
    when 'returned' then 'returned' when 'on_hold' then 'on_hold' else 'pending' end`
const TRANSFER_STATUS = `case t.status when 'completed' then 'completed' when 'failed' then 'failed' when 'on_hold' then 'on_hold' else 'pending' end`
const EXCHANGE_STATUS = `case x.status when 'completed' then 'completed' when 'failed' then 'failed' when 'rejected' then 'failed' when 'cancelled' then 'cancelled'
    when 'expired' then 'cancelled' else 'pending' end`

/** SQL of a row in the order of the columns of `made`; absent fields are null. */
const made = (row: Readonly<Record<string, string>>): string =>
  MADE.map((name) => `${row[name] ?? 'null'} as ${name}`).join(', ')
const MADE = [
  'id',
  'customer_id',
  'balance_id',
  'type',
  'status',
  'direction',
  'currency',
  'amount',
  'fee',
  'order_id',
  'description',
  'counterparty_name',
  'counterparty_identifier',
  'recipient_id',
  'reference',
  'rail',
  'source_object',
  'source_id',
  'source_version',
  'created_at',
  'updated_at',
] as const

const TRANSFER = {
  customer_id: 't.customer_id',
  status: TRANSFER_STATUS,
  currency: 't.currency',
  amount: 't.amount',
  fee: '0::bigint',
  order_id: 't.number',
  reference: 't.reference',
  source_object: `'transfer'`,
  source_id: 't.id',
  source_version: 't.version::bigint',
  created_at: 't.created_at',
  updated_at: 't.updated_at',
}
const EXCHANGE = {
  customer_id: 'x.customer_id',
  status: EXCHANGE_STATUS,
  order_id: 'x.number',
  reference: 'x.reference',
  source_object: `'exchange'`,
  source_id: 'x.id',
  source_version: 'x.version::bigint',
  created_at: 'x.created_at',
  updated_at: 'x.updated_at',
  description: `'Exchange ' || x.sell_currency || ' to ' || x.buy_currency`,
}

/**
 * The columns that a cause may change later. Users' additions to a transaction (its category and counts) are not among
 * them.
 */
const FOLLOWED = [
  'status',
  'amount',
  'fee',
  'description',
  'counterparty_name',
  'counterparty_identifier',
  'recipient_id',
  'reference',
  'rail',
  'balance_id',
  'currency',
  'running_balance',
  'booked_at',
  'value_date',
  'source_version',
  'updated_at',
] as const

/** SQL that makes the transactions of causes `$1`; `$2` and `$3` are the marks of lines and their types. */
const MAKE = `
with asked as materialized (select distinct id from unnest($1::uuid[]) id),
-- A payment within the platform and what it is for its payee have one posting, so they are made together.
wanted as materialized (
  select id from asked
  union
  select i.id from asked w join incoming_payment i on i.id = marked_id(w.id, 1) and i.origin_id = w.id
  union
  select i.origin_id from asked w join incoming_payment i on i.id = w.id and i.id = marked_id(i.origin_id, 1)),
line as materialized (
  select transaction_of_line(p.rule, l.side, p.source_id, p.entry_id, p.ordinal) as id, p.source_object, p.source_id, p.rule, p.amount, p.currency, p.description,
    p.reference, p.counterparty, p.booked_at, p.value_date, b.customer_id, l.side, l.balance_id, l.sequence, l.running, l.other
  from wanted w join posting p on p.source_id = w.id
  cross join lateral (values ('debit', p.debit_account, p.debit_sequence, p.debit_balance, p.credit_account),
    ('credit', p.credit_account, p.credit_sequence, p.credit_balance, p.debit_account)) l(side, balance_id, sequence, running, other)
  join balance b on b.id = l.balance_id
  where l.sequence is not null),
booked as (
  select id, min(booked_at) as booked_at, min(value_date) as value_date, (array_agg(running order by sequence desc))[1] as running_balance from line group by id),
caused as (
  select ${made({
    id: 'p.id',
    customer_id: 'p.customer_id',
    balance_id: 'p.paying_balance_id',
    type: `'outgoing_payment'`,
    status: PAYMENT_STATUS,
    direction: `'out'`,
    currency: 'p.currency',
    amount: 'p.amount',
    fee: 'p.fee',
    order_id: 'p.number',
    description: `'Payment to ' || (d.details->'recipient'->>'name')`,
    counterparty_name: `d.details->'recipient'->>'name'`,
    counterparty_identifier: `d.details->'recipient'->>'maskedIdentifier'`,
    recipient_id: 'p.recipient_id',
    reference: `d.details->>'reference'`,
    rail: 'p.rail',
    source_object: `'payment'`,
    source_id: 'p.id',
    source_version: 'p.version::bigint',
    created_at: 'p.created_at',
    updated_at: 'p.updated_at',
  })}
  from wanted w join payment p on p.id = w.id cross join lateral (select p.details::json as details) d
  -- A payment in another currency leaves the balance that its exchange has bought for.
  where p.status <> 'draft'
  union all
  select ${made({ ...TRANSFER, id: 't.id', balance_id: 't.from_balance_id', type: `'transfer_out'`, direction: `'out'`, description: `'Transfer to ' || b.name`, counterparty_name: 'b.name' })}
  from wanted w join transfer t on t.id = w.id join balance b on b.id = t.to_balance_id
  union all
  select ${made({ ...TRANSFER, id: 'marked_id(t.id, 1)', balance_id: 't.to_balance_id', type: `'transfer_in'`, direction: `'in'`, description: `'Transfer from ' || b.name`, counterparty_name: 'b.name' })}
  from wanted w join transfer t on t.id = w.id join balance b on b.id = t.from_balance_id
  union all
  select ${made({
    id: 'i.id',
    customer_id: 'i.customer_id',
    balance_id: 'i.balance_id',
    type: `'incoming_payment'`,
    status: `case when i.status = 'returned' then 'returned' else 'completed' end`,
    direction: `'in'`,
    currency: 'i.currency',
    amount: 'i.amount',
    fee: '0::bigint',
    description: `coalesce('Payment from ' || i.payer_name, 'Incoming payment')`,
    counterparty_name: 'i.payer_name',
    counterparty_identifier: 'i.payer_identifier',
    reference: 'i.reference',
    rail: 'i.rail',
    source_object: `'incoming_payment'`,
    source_id: 'i.id',
    source_version: 'i.version::bigint',
    created_at: 'i.credited_at',
    updated_at: 'greatest(i.updated_at, i.credited_at)',
  })}
  from wanted w join incoming_payment i on i.id = w.id where i.credited_at is not null
  union all
  select ${made({ ...EXCHANGE, id: 'x.id', balance_id: 'x.sell_balance_id', type: `'exchange_out'`, direction: `'out'`, currency: 'x.sell_currency', amount: 'x.sell_amount', fee: 'x.fee' })}
  from wanted w join exchange x on x.id = w.id where x.kind in ('spot', 'drawdown')
  union all
  select ${made({ ...EXCHANGE, id: 'marked_id(x.id, 1)', balance_id: 'x.buy_balance_id', type: `'exchange_in'`, direction: `'in'`, currency: 'x.buy_currency', amount: 'x.buy_amount', fee: '0::bigint' })}
  from wanted w join exchange x on x.id = w.id where x.kind in ('spot', 'drawdown')),
rest as (
  select ${made({
    id: 'l.id',
    customer_id: 'l.customer_id',
    balance_id: 'l.balance_id',
    type: 'max(m.type)',
    status: `'completed'`,
    direction: `case max(l.side) when 'debit' then 'out' else 'in' end`,
    currency: 'max(l.currency)',
    amount: 'sum(l.amount)::bigint',
    fee: '0::bigint',
    order_id: 'max(coalesce(p.number, t.number, x.number))',
    description: 'coalesce(max(l.description), initcap(max(m.type)))',
    counterparty_name: 'max(l.counterparty)',
    recipient_id: `case when bool_or(l.rule = 'L13') then (array_agg(p.recipient_id))[1] end`,
    reference: 'max(l.reference)',
    rail: `case when bool_or(l.rule in ('L13', 'L20')) then max(p.rail) end`,
    source_object: 'max(l.source_object)',
    source_id: 'l.source_id',
    source_version: '1::bigint',
    created_at: 'min(l.booked_at)',
    updated_at: 'min(l.booked_at)',
  })}
  from line l
  left join account a on a.id = l.other
  left join unnest($2::text[], $3::text[]) m(mark, type) on m.mark = l.rule || '/' || l.side || '/' || coalesce(a.key, 'cust')
    || case when l.rule = 'L20' and l.source_object = 'payment' then '/payment' else '' end
  left join payment p on p.id = l.source_id left join transfer t on t.id = l.source_id left join exchange x on x.id = l.source_id
  where not exists (select from caused c where c.id = l.id)
  group by l.id, l.customer_id, l.balance_id, l.source_id),
everything as (select * from caused union all select * from rest)
insert into account_transaction as t (${MADE.join(', ')}, running_balance, booked_at, value_date)
select ${MADE.map((name) => `e.${name}`).join(', ')},
  ${['running_balance', 'booked_at', 'value_date'].map((name) => `case when e.status in ('completed', 'returned') then b.${name} end`).join(', ')}
from everything e left join booked b on b.id = e.id
order by e.id
on conflict (id) do update set ${FOLLOWED.map((name) => `${name} = excluded.${name}`).join(', ')}, version = t.version + 1
where excluded.source_version >= t.source_version
  and (${FOLLOWED.map((name) => `t.${name}`).join(', ')}) is distinct from (${FOLLOWED.map((name) => `excluded.${name}`).join(', ')})`

/** Corrections are found by the mark of the corrected line: the same rule with debit and credit exchanged. */
const MARKS = new Map<string, string>()
for (const [mark, type] of JOURNAL_TYPES) {
  const [rule, side, ...rest] = mark.split('/') as [string, string, ...string[]]
  const reversed = [rule, side === 'debit' ? 'credit' : 'debit', ...rest].join('/')
  MARKS.set(mark, type)
  if (!JOURNAL_TYPES.has(reversed)) MARKS.set(reversed, type)
}
const MARK_NAMES = plainArray([...MARKS.keys()])
const MARK_TYPES = textArray([...MARKS.values()])

type Asking = Pick<TransactionClient, 'query'>

/** Makes or updates the transactions of these causes from their present state. @throws the driver's errors */
export async function makeTransactions(client: Asking, causes: readonly string[]): Promise<void> {
  if (causes.length === 0) return
  await client.query({ name: 'make_transactions', text: MAKE, values: [plainArray(causes), MARK_NAMES, MARK_TYPES] })
}

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
}

/**
 * Makes one pass: some events, and some rows from before the follower began. `now` is epoch milliseconds.
 *
 * @throws DatabaseUnavailable, OutcomeUnknown and the driver's errors; the next pass resumes where the last committed
 * pass ended
 */
export async function followTransactions(database: Database, now: number): Promise<Followed> {
  return await inTransaction(database, async (client) => {
    let restored = false
    const place = await OutboxCursor.take(client, 'transaction_following', now, () => {
      restored = true
    })
    if (place === null) return { more: false, lagMs: null }
    // A server crash loses the last rows together with the cursor's position, so they are made again.
    await client.query('set local synchronous_commit = off')
    const stretch = await place.next(EVENTS_MAX)
    if (restored) await beginBackfill(client)
    let lagMs = 0
    if (stretch !== null) {
      const { rows } = await client.query<[string, number]>({
        name: 'transactions_followed',
        rowMode: 'array',
        values: [...stretch.bounds],
        text: `select o.object_id, min(extract(epoch from o.created_at) * 1000)::float8 from outbox o where ${IN_EVENT_RANGE} and not o.sandbox group by 1`,
      })
      lagMs = Math.max(0, now - rows.reduce((oldest, [, at]) => Math.min(oldest, at), now))
      await makeTransactions(
        client,
        rows.map(([id]) => id),
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
    return { more: stretch?.more === true || behind, lagMs }
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

/** Queues all transactions to be made again after a restore, which leaves correct rows unchanged. */
async function beginBackfill(client: TransactionClient): Promise<void> {
  await client.query(`insert into transaction_backfill (object, after_id)
    select object, '00000000-0000-0000-0000-000000000000'::uuid from unnest(array['payment', 'transfer', 'incoming_payment', 'exchange']) object
    on conflict (object) do update set after_id = excluded.after_id`)
}

/**
 * Makes the transactions of one customer that the follower has not reached yet, so that clients find their own changes.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function catchUp(database: Database, customerId: string, now: number): Promise<void> {
  const rows = await database.query<[string]>({
    name: 'transactions_behind',
    values: [customerId, timestamp(now - CLOCK_SLACK_MS)],
    text: `select distinct object_id from (select o.object_id from outbox o
      where o.written_in >= (select position from transaction_following) and o.created_at >= $2 and o.customer_id = $1 and not o.sandbox limit ${CATCH_UP_MAX}) o
      union select b.transfer_id from (${TRANSFERS_BEGUN}) b join transfer t on t.id = b.transfer_id and t.customer_id = $1`,
  })
  await makeTransactions(
    database.pool,
    rows.map(([id]) => id),
  )
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
