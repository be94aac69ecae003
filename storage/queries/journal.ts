/**
 * The journal of a balance: the postings that debit it and those that credit it, in one order. Each side has an index by
 * account and sequence; a page is the merge of at most a page of each, so the last page costs what the first one does.
 */
import { sql } from 'kysely'
import { timestamp } from '../../lib/clock.ts'
import type { CurrencyCode } from '../../lib/currency.ts'
import { journalDescription, journalLineId, journalMarks, journalType, type JournalSide } from '../../lib/ledger/journal-line.ts'
import { moneyJson } from '../../lib/money.ts'
import type { Database } from '../database.ts'
import { balanceCurrency } from './balances.ts'
import { Conditions, epochMs, NEVER, readPage, type Branch, type ListQuery, type ListResult, type ReadDatabase, type TimeTo } from './page.ts'

export interface JournalFilters {
  readonly direction?: readonly string[]
  readonly type?: readonly string[]
  readonly bookedFrom?: string
  readonly bookedTo?: TimeTo
  readonly valueFrom?: string
  readonly valueTo?: string
  readonly amountFrom?: bigint
  readonly amountTo?: bigint
  readonly transactionId?: readonly string[]
}

export type JournalListQuery = ListQuery<JournalFilters, '-sequence' | 'sequence'> & { readonly balanceId: string }

interface LineRow {
  readonly side: JournalSide
  readonly entry_id: string
  readonly ordinal: number
  readonly sequence: string
  readonly running: string
  readonly amount: string
  readonly rule: string
  readonly counterpart: string
  readonly source_object: string
  readonly source_id: string
  readonly description: string | null
  readonly reference: string | null
  readonly counterparty: string | null
  readonly reversal_of: string | null
  readonly booked_ms: number
  readonly value_day: string
}

/** Null when the balance is not the tenant's. */
export async function listJournal(
  database: Database,
  db: ReadDatabase,
  query: JournalListQuery,
): Promise<ListResult<ReturnType<typeof lineJson>> | null> {
  const currency = await balanceCurrency(database, query.tenant, query.balanceId)
  if (currency === null) return null
  const span = await bookedSpan(database, query)
  const { rows, ...page } = await readPage<LineRow>(db, journalBranches(query, span), query)
  return { ...page, rows: rows.map((row) => lineJson(row, { balanceId: query.balanceId, currency })) }
}

/** Sequences between which the lines of a time can be; null where that side is open. */
export interface Span {
  readonly from: string | null
  readonly before: string | null
}

const EVERYTHING: Span = { from: null, before: null }

/** One branch for each side that is asked for; exported so that a test can look at their plan. */
export function journalBranches({ balanceId, filters, sort }: JournalListQuery, span: Span = EVERYTHING): readonly Branch[] {
  const sides: readonly JournalSide[] = ['debit', 'credit']
  return sides.filter((side) => filters.direction?.includes(side) ?? true).map((side) => branchOf(side))

  function branchOf(side: JournalSide): Branch {
    const sequence = sql.ref(`p.${side}_sequence`)
    const other = sql.ref(side === 'debit' ? 'p.credit_account' : 'p.debit_account')
    const where = new Conditions()
      .add(sql`${sql.ref(`p.${side}_account`)} = ${balanceId}::uuid`)
      // As the index says it, or it cannot be used.
      .add(sql`${sequence} is not null`)
      .during(sql`p.booked_at`, filters.bookedFrom, filters.bookedTo)
      .days(sql`p.value_date`, filters.valueFrom, filters.valueTo)
      .amounts(sql`p.amount`, filters.amountFrom, filters.amountTo)
    if (span.from !== null) where.add(sql`${sequence} >= ${span.from}::bigint`)
    if (span.before !== null) where.add(sql`${sequence} < ${span.before}::bigint`)
    if (filters.type !== undefined) {
      const mark = sql`p.rule || ${`/${side}/`} || coalesce(a.key, 'cust')
        || case when p.rule = 'L20' and p.source_object = 'payment' then '/payment' else '' end`
      where.add(sql`${mark} = any(${journalMarks(filters.type)}::text[])`)
    }
    // Lines are not linked with transactions yet.
    if (filters.transactionId !== undefined) where.add(NEVER)
    return {
      columns: sql`${sql.lit(side)} as side, p.entry_id, p.ordinal, ${sequence} as sequence, ${sql.ref(`p.${side}_balance`)} as running,
        p.amount, p.rule, coalesce(a.key, 'cust') as counterpart, p.source_object, p.source_id, p.description, p.reference,
        p.counterparty, p.reversal_of, ${epochMs('p.booked_at')} as booked_ms, p.value_date::text as value_day`,
      from: sql`posting p left join account a on a.id = ${other}`,
      where: where.list,
      order: { keys: [{ expression: sequence, type: 'bigint' }], descending: sort === '-sequence' },
    }
  }
}

/**
 * Lines of one balance are booked in order, but for the skew between the clocks of two nodes; so the lines of a time are
 * found by halving the journal, 20 probes of an index for a million lines, instead of reading up to them.
 */
const SKEW_MS = 60_000

const FIRST_AFTER = `with recursive search(low, high) as (
    select 1::bigint, (select sequence + 1 from balance where id = $1)
    union all
    select case when line.booked_at < $2::timestamptz then middle + 1 else low end,
      case when line.booked_at < $2::timestamptz then high else middle end
    from search cross join lateral (select (low + high) / 2 as middle) m
    cross join lateral (
      (select booked_at from posting where debit_account = $1 and debit_sequence = middle)
      union all
      (select booked_at from posting where credit_account = $1 and credit_sequence = middle)
      limit 1) line
    where low < high)
  select low::text from search where low = high`

async function firstAfter(database: Database, balanceId: string, ms: number): Promise<string | null> {
  const [row] = await database.query<[string]>({ name: 'journal_first_after', text: FIRST_AFTER, values: [balanceId, timestamp(ms)] })
  // A journal with a hole has no answer; then everything is read, and the audit tells of the hole.
  return row === undefined ? null : row[0]
}

async function bookedSpan(database: Database, { balanceId, filters: { bookedFrom, bookedTo } }: JournalListQuery): Promise<Span> {
  const [from, before] = await Promise.all([
    bookedFrom === undefined ? null : firstAfter(database, balanceId, Date.parse(bookedFrom) - SKEW_MS),
    bookedTo === undefined ? null : firstAfter(database, balanceId, Date.parse(bookedTo.before) + SKEW_MS),
  ])
  return { from, before }
}

function lineJson(row: LineRow, { balanceId, currency }: { readonly balanceId: string; readonly currency: string }) {
  const money = (amount: string) => moneyJson({ amountMinor: BigInt(amount), currency: currency as CurrencyCode })
  const type = journalType({ rule: row.rule, side: row.side, counterpart: row.counterpart, sourceObject: row.source_object })
  return {
    id: journalLineId(row.entry_id, row.ordinal, row.side),
    balanceId,
    // Far below 2^53: at a thousand lines a second it takes 285 000 years to get there.
    sequence: Number(row.sequence),
    entryId: row.entry_id,
    direction: row.side,
    amount: money(row.amount),
    runningBalance: money(row.running),
    type,
    description: row.description ?? journalDescription(type),
    reference: row.reference,
    counterpartyName: row.counterparty,
    transactionId: null,
    source: { object: row.source_object, id: row.source_id },
    bookedAt: timestamp(row.booked_ms),
    valueDate: row.value_day,
    reversalOfEntryId: row.reversal_of,
  }
}
