/**
 * The movements of the books by day: for each account of the chart and each posting rule the debits and credits of a
 * day that has ended. What is known of the days before makes balances of internal accounts and lists of entries quick:
 * only the postings since the last of these days are read, and days without a match are skipped.
 *
 * A day is added by one statement, on one node at a time, when none of its decisions can be committed any more. Postings
 * never change, so a day that was added stays right.
 */
import { DAY_MS, MINUTE_MS, timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import { inTransaction, type TransactionClient } from '../db/transaction.ts'

/** The advisory lock of a pass; any fixed number works, this one spells "days" in ASCII. */
const LOCK = 0x64617973
/**
 * Wait after the end of a day: no decision is committed this long after its time, because it is dropped after seconds,
 * and clocks of nodes are a minute apart at most.
 */
const COMMITTED_AFTER_MS = 5 * MINUTE_MS
/** Days of one statement, at most. */
const DAYS_MAX = 31

/** SQL of the time from which on postings are in no added day. */
export const SINCE_DAYS = `coalesce((select (day + 1)::timestamp at time zone 'UTC' from ledger_day_last), '-infinity')`

/** One side of the postings of the days, with the account of the chart that it is on. */
const side = (name: 'debit' | 'credit', debit: string, credit: string): string => `
  select coalesce(a.operator_id, b.operator_id) as operator_id, (p.booked_at at time zone 'UTC')::date as day, coalesce(a.key, 'cust') as key, p.currency,
    a.id as account_id, p.rule, ${debit} as debit, ${credit} as credit, p.amount
  from posting p left join account a on a.id = p.${name}_account left join balance b on b.id = p.${name}_account
  where p.booked_at >= $1::timestamptz and p.booked_at < $2::timestamptz`

const ADD = `insert into ledger_day (operator_id, day, key, currency, account_id, rule, debits, credits, amount_least, amount_most)
  select operator_id, day, key, currency, account_id, rule, sum(debit), sum(credit), min(amount), max(amount)
  from (${side('debit', 'p.amount', '0')} union all ${side('credit', '0', 'p.amount')}) s group by 1, 2, 3, 4, 5, 6`

/**
 * Adds the days that have ended, oldest first. `now` is epoch milliseconds; `added` runs in the same transaction, with the
 * first day that was added.
 *
 * @returns whether more days wait
 * @throws the driver's errors and those of `added`; then nothing was added
 */
export async function addLedgerDays(
  database: Database,
  now: number,
  added: (client: TransactionClient, from: string) => Promise<void>,
): Promise<boolean> {
  return await inTransaction(database, async (client) => {
    const {
      rows: [lock],
    } = await client.query<{ taken: boolean }>({
      name: 'ledger_days_lock',
      text: `select pg_try_advisory_xact_lock(${LOCK}) as taken`,
    })
    if (lock?.taken !== true) return false
    const from = await firstMissing(client)
    const end = Date.parse(timestamp(now - COMMITTED_AFTER_MS).slice(0, 10))
    if (from === null || from >= end) return false
    const until = Math.min(end, from + DAYS_MAX * DAY_MS)
    await client.query({ name: 'ledger_days_add', text: ADD, values: [timestamp(from), timestamp(until)] })
    await client.query({
      name: 'ledger_days_added',
      values: [timestamp(until - DAY_MS).slice(0, 10)],
      text: 'insert into ledger_day_last (day) values ($1) on conflict (only_row) do update set day = excluded.day',
    })
    await added(client, timestamp(from).slice(0, 10))
    return until < end
  })
}

/** The first day that is not added, epoch milliseconds; null while there are no postings. */
async function firstMissing(client: TransactionClient): Promise<number | null> {
  const {
    rows: [row],
  } = await client.query<{ day: string | null }>({
    name: 'ledger_days_missing',
    text: `select coalesce((select day + 1 from ledger_day_last), (select (min(booked_at) at time zone 'UTC')::date from posting))::text as day`,
  })
  return row?.day == null ? null : Date.parse(row.day)
}

/** The filter by which a list of entries reads the days; null for anything. */
export interface SoughtDays {
  readonly operatorId: string
  readonly accountIds: readonly string[] | null
  readonly keys: readonly string[] | null
  readonly rules: readonly string[] | null
  readonly currencies: readonly string[] | null
  readonly amountFrom: bigint | null
  readonly amountTo: bigint | null
}

const NEAREST = (order: 'asc' | 'desc'): string => `select day::text from ledger_day
  where operator_id = $1 and day between $2::date and $3::date and ($4::uuid[] is null or account_id = any($4)) and ($5::text[] is null or key = any($5))
    and ($6::text[] is null or rule = any($6)) and ($7::text[] is null or currency = any($7::bpchar[]))
    and ($8::bigint is null or amount_most >= $8) and ($9::bigint is null or amount_least <= $9)
  order by day ${order} limit 1`

/**
 * Finds the first day in reading order, from `from` to `to` (`YYYY-MM-DD`), that can have a match; null where none has.
 *
 * @throws DatabaseUnavailable
 */
export async function nearestDay(
  database: Database,
  sought: SoughtDays,
  { from, to, newestFirst }: { readonly from: string; readonly to: string; readonly newestFirst: boolean },
): Promise<string | null> {
  const rows = await database.query<[string]>({
    name: newestFirst ? 'ledger_day_before' : 'ledger_day_after',
    text: NEAREST(newestFirst ? 'desc' : 'asc'),
    values: [
      sought.operatorId,
      from,
      to,
      sought.accountIds,
      sought.keys,
      sought.rules,
      sought.currencies,
      sought.amountFrom,
      sought.amountTo,
    ],
  })
  return rows[0]?.[0] ?? null
}

/** The facts that a list of entries needs before it reads a page. Times are epoch milliseconds. */
export interface LedgerEdges {
  /** The time from which on postings are in no added day; null where no day is added. */
  readonly addedUntil: number | null
  /** A time before the operator's first posting, and one after the last. */
  readonly begin: number
  readonly end: number
  /** Those of the accounts that are customers' balances, of which the days know no more than the sum of all. */
  readonly balanceIds: readonly string[]
}

/**
 * The lines of balances have no index by time, so their first and last may lie outside of the times that are read: the
 * first by as much as money waits on a balance before it is paid, the last by the difference of the nodes' clocks.
 */
const BEFORE_MS = 31 * DAY_MS
const AFTER_MS = 10 * MINUTE_MS

/** Reads the edges of an operator's books, and which of the accounts are balances. @throws DatabaseUnavailable */
export async function ledgerEdges(
  database: Database,
  operatorId: string,
  { accountIds, now }: { readonly accountIds: readonly string[]; readonly now: number },
): Promise<LedgerEdges> {
  const [row] = await database.query<[string | null, number | null, number | null, readonly string[]]>({
    name: 'ledger_edges',
    values: [operatorId, accountIds],
    text: `select (select day::text from ledger_day_last),
      extract(epoch from least((select created_at from operator where id = $1), (select min(booked_at) from posting where debit_sequence is null and credit_sequence is null),
        (select min(day)::timestamp at time zone 'UTC' from ledger_day where operator_id = $1)))::float8 * 1000,
      extract(epoch from (select max(booked_at) from posting where debit_sequence is null and credit_sequence is null))::float8 * 1000,
      array(select id from balance where id = any($2::uuid[]))`,
  })
  const [added, first, last, balanceIds] = row as [string | null, number | null, number | null, readonly string[]]
  return {
    addedUntil: added === null ? null : Date.parse(added) + DAY_MS,
    begin: Math.floor(first ?? now) - BEFORE_MS,
    end: Math.ceil(Math.max(now, last ?? now)) + AFTER_MS,
    balanceIds,
  }
}
