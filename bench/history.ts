/**
 * A past for a ledger: as many journal lines as are asked for, written by a few statements instead of by requests, with
 * everything that belongs to them (transfers, their updates and events), so that the books are right.
 *
 * Two balances of a customer pass one cent to and fro, often. An even number of times, so that every balance ends with what
 * it had and only its sequence has moved on.
 */
import type { BenchDatabase } from './database.ts'

/** Transfers in one statement: large enough to be quick, small enough to be held in memory. */
const CHUNK_TRANSFERS = 100_000
/** The past lies between so many days ago and the day before yesterday, a partition of events for each day. */
const DAYS = 20

/** Writes `lines` journal lines over all balances in euro, or a few more to make it come out even. @returns how many */
export async function loadHistory(database: BenchDatabase, lines: number, log: (line: string) => void): Promise<number> {
  const begin = performance.now()
  await database.query('set synchronous_commit = off; set work_mem = \'256MB\'; set jit = off')
  await database.query(`create temporary table pair as
    select customer_id, operator_id, shard, one, other, one_posted, other_posted, one_sequence, other_sequence, row_number() over (order by one) as nth from (
      select customer_id, operator_id, shard, id as one, posted as one_posted, sequence as one_sequence, row_number() over mine as place,
        lead(id) over mine as other, lead(posted) over mine as other_posted, lead(sequence) over mine as other_sequence
      from balance where currency = 'EUR' window mine as (partition by customer_id order by id)) b
    where place % 2 = 1 and other is not null and one_posted > 0`)
  const [counted] = await database.query<{ pairs: number }>('select count(*)::int as pairs from pair')
  const { pairs } = counted as { pairs: number }
  const rounds = Math.ceil(lines / pairs / 4) * 2
  for (let day = DAYS; day >= 1; day--) {
    await database.query(`do $$ declare day date := current_date - ${day + 1}; begin
      execute format('create table if not exists outbox_%s partition of outbox for values from (%L) to (%L)', to_char(day, 'YYYYMMDD'), day, day + 1); end $$`)
  }
  const step = Math.max(1, Math.floor(CHUNK_TRANSFERS / pairs))
  for (let from = 1; from <= rounds; from += step) await database.query(chunk(from, Math.min(from + step - 1, rounds), rounds))
  await database.query(`update balance b set sequence = b.sequence + ${rounds} from pair p where b.id in (p.one, p.other)`)
  await database.query('drop table pair')
  for (const table of ['balance', 'transfer', 'posting', 'status_update', 'outbox']) await database.query(`vacuum (analyze, parallel 0) ${table}`)
  await database.query('reset synchronous_commit')
  const written = rounds * pairs * 2
  log(`  ${written} journal lines written in ${((performance.now() - begin) / 1000).toFixed(0)} s`)
  return written
}

/** The transfers of some rounds: in odd ones the one balance pays the other, in even ones it gets the cent back. */
function chunk(from: number, to: number, rounds: number): string {
  const at = `(current_date - ${DAYS + 1})::timestamptz + ((round - 1)::float8 / ${rounds}) * ${DAYS} * interval '1 day'`
  return `with made as materialized (
      select p.*, round, round % 2 = 1 as forth, uuidv7(${at} - now()) as id, uuidv7(${at} - now()) as entry_id, ${at} as at
      from generate_series(${from}, ${to}) round cross join pair p),
    transfers as (
      insert into transfer (id, customer_id, operator_id, shard, number, status, version, from_balance_id, to_balance_id, currency, amount,
        created_by, created_via, completed_at, created_at, updated_at)
      select id, customer_id, operator_id, shard, 'PAST-' || nth || '-' || round, 'completed', 1, case when forth then one else other end,
        case when forth then other else one end, 'EUR', 1, customer_id, 'api_key', at, at, at from made),
    updates as (
      insert into status_update (object_id, version, customer_id, status, message, actor, at)
      select id, 1, customer_id, 'completed', 'Transfer completed.', 'system', at from made),
    events as (
      insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status, amount, currency)
      select uuidv7(at - now()), at, customer_id, operator_id, shard, 'transfer.completed', 'transfer', id, 'completed', 1, 'EUR' from made)
    insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount, debit_account, credit_account,
      debit_sequence, debit_balance, credit_sequence, credit_balance, description, booked_at, value_date)
    select entry_id, 0, customer_id, 'L20', 1, 'transfer', id, 'EUR', 1, case when forth then one else other end, case when forth then other else one end,
      case when forth then one_sequence else other_sequence end + round, case when forth then one_posted - 1 else other_posted end,
      case when forth then other_sequence else one_sequence end + round, case when forth then other_posted + 1 else one_posted end,
      'Transfer', at, at::date from made`
}
