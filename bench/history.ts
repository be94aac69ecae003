/**
 * A past for a ledger: as many journal lines as are asked for, written by a few statements instead of by requests, with
 * everything that belongs to them (transfers, their updates and events, transactions, the journal's chain), so that the
 * books are right and nobody who follows them has to catch up.
 *
 * Two balances of a customer pass amounts to and fro, often: each goes there in one round and comes back in the next,
 * so every balance ends with what it had and only its sequence has moved on.
 */
import { Database } from '../storage/db/database.ts'
import { chainJournal } from '../storage/journal/journal-chain.ts'
import { followTransactions } from '../storage/transactions/transactions.ts'
import type { BenchDatabase } from './database.ts'

/** Transfers in one statement: large enough to be quick, small enough to be held in memory. */
const CHUNK_TRANSFERS = 100_000
/** Cents, from one upwards; a prime, so that neighbours differ. */
const AMOUNT_STEP = 7_919
const AMOUNT_MAX = 100_000
/** The amount and the word that few lines have, so that a search for them finds few. */
export const RARE = { every: 5_000, amount: 777_777, word: 'deposit' } as const
/** The tables with the positions of the followers of events. */
const FOLLOWERS = [
  'webhook_relay',
  'payment_follow_up',
  'funds_request_matching',
  'scheduled_payment_follow_up',
  'transaction_following',
  'pending_transaction_following',
] as const

export interface History {
  /** Journal lines over all balances; a few more are written to make it come out even. */
  readonly lines: number
  /** The past begins so many days before yesterday and ends with the day before it. */
  readonly days?: number
  /** Pairs of balances that it is spread over; absent: all balances in euro. */
  readonly pairs?: number
}

const DAYS = 20
const EVENTS_PER_PASS = 2_048
/** Events are kept for a month, and the audit looks for one of every change: what is older was told of late. */
const EVENT_DAYS = 20

/** Writes a past over balances in euro. @returns how many lines it has */
export async function loadHistory(
  database: BenchDatabase,
  { lines, days = DAYS, pairs: pairsMax }: History,
  log: (line: string) => void,
): Promise<number> {
  const begin = performance.now()
  const storage = new Database(database.url)
  try {
    // The existing events are followed first, so that the position can be moved past the events inserted next.
    while ((await followTransactions(storage, Date.now(), EVENTS_PER_PASS)).more);
    const written = await write(database, { lines, days, pairsMax: pairsMax ?? null })
    log(`  ${written} journal lines written in ${((performance.now() - begin) / 1000).toFixed(0)} s`)
    for (let lag = Number.POSITIVE_INFINITY; lag > 0; )
      ({ lag } = (await chainJournal(storage, { now: Date.now(), lookedAt: null }))!)
    log(`  and chained after ${((performance.now() - begin) / 1000).toFixed(0)} s`)
    return written
  } finally {
    await storage.close()
  }
}

async function write(
  database: BenchDatabase,
  { lines, days, pairsMax }: { readonly lines: number; readonly days: number; readonly pairsMax: number | null },
): Promise<number> {
  await database.query(
    "set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '512MB'; set jit = off",
  )
  await database.query(`create temporary table pair as
    select customer_id, operator_id, shard, one, other, one_name, other_name, one_posted, other_posted, one_sequence, other_sequence, row_number() over (order by one) as nth from (
      select customer_id, operator_id, shard, id as one, name as one_name, posted as one_posted, sequence as one_sequence, row_number() over mine as place,
        lead(id) over mine as other, lead(name) over mine as other_name, lead(posted) over mine as other_posted, lead(sequence) over mine as other_sequence
      from balance where currency = 'EUR' window mine as (partition by customer_id order by id)) b
    where place % 2 = 1 and other is not null and one_posted > ${RARE.amount} order by one ${pairsMax === null ? '' : `limit ${pairsMax}`}`)
  const [counted] = await database.query<{ pairs: number }>('select count(*)::int as pairs from pair')
  const { pairs } = counted as { pairs: number }
  const rounds = Math.ceil(lines / pairs / 4) * 2
  for (let day = Math.min(days, EVENT_DAYS); day >= 1; day--) {
    await database.query(`do $$ declare day date := current_date - ${day + 1}; begin
      execute format('create table if not exists outbox_%s partition of outbox for values from (%L) to (%L)', to_char(day, 'YYYYMMDD'), day, day + 1); end $$`)
  }
  // Their first money came before all of this.
  await database.query(`update posting p set booked_at = current_date - ${days + 2}, value_date = current_date - ${days + 2}
    from pair where p.credit_account in (one, other) and p.credit_sequence <= case p.credit_account when one then one_sequence else other_sequence end`)
  const indexes = await database.query<{
    name: string
    definition: string
  }>(`select indexname as name, indexdef as definition from pg_indexes
    where tablename = 'account_transaction' and indexname <> 'account_transaction_pkey'`)
  // Made once at the end: entry by entry they would take most of the time.
  for (const { name } of indexes) await database.query(`drop index ${name}`)
  const step = Math.max(1, Math.floor(CHUNK_TRANSFERS / pairs))
  for (let from = 1; from <= rounds; from += step)
    await database.query(chunk(from, Math.min(from + step - 1, rounds), { rounds, days }))
  for (const { definition } of indexes) await database.query(definition)
  await database.query(
    `update balance b set sequence = b.sequence + ${rounds} from pair p where b.id in (p.one, p.other)`,
  )
  await database.query('drop table pair')
  for (const follower of FOLLOWERS)
    await database.query(
      `update ${follower} set position = (pg_current_xact_id()::text::bigint + 1)::text::xid8, moved_at = now()`,
    )
  for (const table of ['balance', 'transfer', 'posting', 'status_update', 'outbox', 'account_transaction'])
    await database.query(`vacuum (analyze, parallel 0) ${table}`)
  await database.query('reset synchronous_commit')
  return rounds * pairs * 2
}

/**
 * The transfers of some rounds: in odd ones the one balance pays the other, in even ones it gets the same amount back.
 */
function chunk(from: number, to: number, { rounds, days }: { readonly rounds: number; readonly days: number }): string {
  const at = `(current_date - ${days + 1})::timestamptz + ((round - 1)::float8 / ${rounds}) * ${days} * interval '1 day'`
  const there = '((round + 1) / 2)'
  const transaction = (id: string, side: 'out' | 'in'): string => {
    const [balance, name, running] =
      side === 'out' ? ['payer', 'payee_name', 'payer_after'] : ['payee', 'payer_name', 'payee_after']
    return `select ${id}, customer_id, ${balance}, 'transfer_${side}', 'completed', '${side}', 'EUR', amount, 0, number, 'Transfer ${side === 'out' ? 'to' : 'from'} ' || ${name}, ${name}, reference,
      'transfer', id, 1, ${running}, at, at::date, at, at from made`
  }
  return `with made as materialized (
      select customer_id, operator_id, shard, 'PAST-' || nth || '-' || round as number, uuidv7(${at} - now()) as id, uuidv7(${at} - now()) as entry_id, ${at} as at, amount,
        case when ${there} % ${RARE.every} = 0 then 'Your ${RARE.word} ' || ${there} else 'Invoice ' || ${there} end as reference,
        case when forth then one else other end as payer, case when forth then other else one end as payee,
        case when forth then one_name else other_name end as payer_name, case when forth then other_name else one_name end as payee_name,
        case when forth then one_sequence else other_sequence end + round as payer_sequence, case when forth then other_sequence else one_sequence end + round as payee_sequence,
        case when forth then one_posted - amount else other_posted end as payer_after, case when forth then other_posted + amount else one_posted end as payee_after
      from generate_series(${from}, ${to}) round cross join pair cross join lateral (
        select round % 2 = 1 as forth, case when ${there} % ${RARE.every} = 0 then ${RARE.amount} else 1 + (${there}::bigint * ${AMOUNT_STEP}) % ${AMOUNT_MAX} end as amount) of_round),
    transfers as (
      insert into transfer (id, customer_id, operator_id, shard, number, status, version, from_balance_id, to_balance_id, currency, amount, reference,
        created_by, created_via, completed_at, created_at, updated_at)
      select id, customer_id, operator_id, shard, number, 'completed', 1, payer, payee, 'EUR', amount, reference, customer_id, 'api_key', at, at, at from made),
    updates as (
      insert into status_update (object_id, version, customer_id, status, message, actor, at)
      select id, 1, customer_id, 'completed', 'Transfer completed.', 'system', at from made),
    events as (
      insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status, amount, currency)
      select uuidv7(told - now()), told, customer_id, operator_id, shard, 'transfer.completed', 'transfer', id, 'completed', amount, 'EUR'
      from made cross join lateral (select greatest(at, (current_date - ${EVENT_DAYS + 1})::timestamptz) as told) of_event),
    transactions as (
      insert into account_transaction (id, customer_id, balance_id, type, status, direction, currency, amount, fee, order_id, description, counterparty_name, reference,
        source_object, source_id, source_version, running_balance, booked_at, value_date, created_at, updated_at)
      ${transaction('id', 'out')}
      union all
      ${transaction('marked_id(id, 1)', 'in')})
    insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount, debit_account, credit_account,
      debit_sequence, debit_balance, credit_sequence, credit_balance, description, reference, booked_at, value_date)
    select entry_id, 0, customer_id, 'L20', 1, 'transfer', id, 'EUR', amount, payer, payee, payer_sequence, payer_after, payee_sequence, payee_after,
      'Transfer', reference, at, at::date from made`
}
