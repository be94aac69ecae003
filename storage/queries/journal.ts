/**
 * The journal of a balance: the postings that debit it and those that credit it, in one order. Each side has an index by
 * account and sequence; a page is the merge of at most a page of each, so the last page costs what the first one does.
 *
 * Figures (a page of 25 of 300 000 to a million lines on one balance, at both ends and in the middle, both sorts, as multiples of a page without
 * filters, on a busy machine): direction 1, booked 1, a type that two thirds of the lines have 1 to 2 (10 to 30 when both sides were read to
 * their ends), amounts that every hundredth has 1 to 2. What only a few lines of a million have reads them all, in one to two seconds there;
 * an index for it would be two more entries for every posting, so there is none.
 */
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { timestamp } from '../../lib/clock.ts'
import type { CurrencyCode } from '../../lib/currency.ts'
import { journalDescription, journalLineId, journalMarks, journalType, type JournalSide } from '../../lib/ledger/journal-line.ts'
import { moneyJson } from '../../lib/money.ts'
import type { BalanceReader } from '../balance-reader.ts'
import type { Database } from '../database.ts'
import { getBalance, type ReadBalance } from './balances.ts'
import { Conditions, epochMs, readPage, type Branch, type CursorKey, type ListQuery, type ListResult, type ReadDatabase, type TimeTo } from './page.ts'

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
  readonly transaction_id: string
}

type JournalPage = ListResult<ReturnType<typeof lineJson>>

/** Pages in memory, some 30 kB each with what was made of them. */
const KEPT_MAX = 1_000

/**
 * Reads journals. Lines never change, so a page that was read without filters is the page until its balance has more lines, and
 * comes back as the same object: whoever polls a journal to which nothing was added costs a look at its balance.
 */
export class JournalReader {
  readonly #database: Database
  readonly #db: ReadDatabase
  readonly #balances: BalanceReader<ReadBalance>
  readonly #stretch: bigint
  readonly #kept = new LRUCache<string, { readonly sequence: string; readonly page: JournalPage }>({ max: KEPT_MAX })

  /** `stretch`: lines that a search reads at first. */
  constructor(database: Database, db: ReadDatabase, balances: BalanceReader<ReadBalance>, stretch = STRETCH) {
    this.#stretch = stretch
    this.#database = database
    this.#db = db
    this.#balances = balances
  }

  /** Null when the balance is not the tenant's. */
  async list(query: JournalListQuery): Promise<JournalPage | null> {
    const balance = await getBalance(this.#balances, query.tenant, query.balanceId)
    if (balance === null) return null
    const key = keyOf(query)
    const known = key === null ? undefined : this.#kept.get(key)
    if (known?.sequence === balance.sequence) return known.page
    const page = await this.#read(query, balance.view.currency, BigInt(balance.sequence))
    // Lines that came meanwhile are in the page; the balance that will say so has another sequence.
    if (key !== null) this.#kept.set(key, { sequence: balance.sequence, page })
    return page
  }

  async #read(query: JournalListQuery, currency: string, sequence: bigint): Promise<JournalPage> {
    const span = await bookedSpan(this.#database, query)
    const { rows, ...page } = isSearch(query) ? await this.#search(query, span, sequence) : await readPage<LineRow>(this.#db, journalBranches(query, span), query)
    return { ...page, rows: rows.map((row) => lineJson(row, { balanceId: query.balanceId, currency })) }
  }

  /**
   * A page of lines that no index finds: the journal is read in stretches from where the page begins, each eight times as long as the one
   * before it, until there are enough. Otherwise the side that has none of them would be read to its end, while the other has many.
   */
  async #search(query: JournalListQuery, { from, before }: Span, sequence: bigint): Promise<Awaited<ReturnType<typeof readPage<LineRow>>>> {
    const { sort, position, limit } = query
    const backwards = position?.direction === 'before'
    const descending = (sort === '-sequence') !== backwards
    const edge = position === null ? null : BigInt(String(position.keys[0]))
    let low = max(BigInt(from ?? 1), descending || edge === null ? 1n : edge + 1n)
    let high = min(before === null ? sequence + 1n : BigInt(before), descending && edge !== null ? edge : sequence + 1n)
    const found: { row: LineRow; key: readonly CursorKey[] }[] = []
    for (let length = this.#stretch; low < high && found.length <= limit; length *= 8n) {
      const stretch = descending ? { from: max(low, high - length), before: high } : { from: low, before: min(high, low + length) }
      const { rows, keys } = await readPage<LineRow>(this.#db, journalBranches(query, { from: String(stretch.from), before: String(stretch.before) }), { limit: limit + 1, position, withTotal: false })
      const lines = rows.map((row, nth) => ({ row, key: keys[nth] as readonly CursorKey[] }))
      // In the order in which they are met.
      found.push(...backwards ? lines.reverse() : lines)
      if (descending) high = stretch.from
      else low = stretch.before
    }
    const shown = found.slice(0, limit)
    if (backwards) shown.reverse()
    return { rows: shown.map(({ row }) => row), keys: shown.map(({ key }) => key), hasMore: found.length > limit }
  }
}

/** The first stretch of a search: some milliseconds. */
const STRETCH = 4_096n
const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** Whether lines are asked for by what no index knows. */
function isSearch({ filters: { type, valueFrom, valueTo, amountFrom, amountTo, transactionId }, withTotal }: JournalListQuery): boolean {
  return !withTotal && transactionId === undefined && [type, valueFrom, valueTo, amountFrom, amountTo].some((filter) => filter !== undefined)
}

/** What a page is kept under; null for questions that are hardly ever asked twice. */
function keyOf({ balanceId, filters, sort, limit, position, withTotal }: JournalListQuery): string | null {
  if (withTotal || Object.values(filters).some((value) => value !== undefined)) return null
  return `${balanceId} ${sort} ${limit} ${position === null ? '' : `${position.direction} ${position.keys.join()}`}`
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
    const transaction = sql`transaction_of_line(p.rule, ${sql.lit(side)}, p.source_id, p.entry_id, p.ordinal)`
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
      const marks = journalMarks(filters.type)
      // Follows from the marks, and spares the look at the other account where the rule is another.
      where.add(sql`p.rule = any(${[...new Set(marks.map((each) => each.slice(0, each.indexOf('/'))))]}::text[])`)
      where.add(sql`${mark} = any(${marks}::text[])`)
    }
    if (filters.transactionId !== undefined) {
      // Their causes first, which have an index; what was never followed has the id of its cause.
      where.add(sql`p.source_id = any(array(select t.source_id from account_transaction t where t.id = any(${filters.transactionId}::uuid[])) || ${filters.transactionId}::uuid[])`)
      where.add(sql`${transaction} = any(${filters.transactionId}::uuid[])`)
    }
    return {
      columns: sql`${sql.lit(side)} as side, p.entry_id, p.ordinal, ${sequence} as sequence, ${sql.ref(`p.${side}_balance`)} as running,
        p.amount, p.rule, coalesce(a.key, 'cust') as counterpart, p.source_object, p.source_id, p.description, p.reference,
        p.counterparty, p.reversal_of, ${epochMs('p.booked_at')} as booked_ms, p.value_date::text as value_day, ${transaction} as transaction_id`,
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

/** The lines of one transaction in the order in which they were booked; `sourceId` is what made it. */
export async function linesOfTransaction(db: ReadDatabase, { id, sourceId }: { readonly id: string; readonly sourceId: string }, balance: { readonly balanceId: string; readonly currency: string }) {
  const query: JournalListQuery = { tenant: { id: '', kind: 'customer' }, filters: { transactionId: [id] }, metadata: [], sort: 'sequence', limit: LINES_MAX, position: null, withTotal: false, q: null, balanceId: balance.balanceId }
  const branches = journalBranches(query).map((branch) => ({ ...branch, where: [sql`p.source_id = ${sourceId}::uuid`, ...branch.where] }))
  const { rows } = await readPage<LineRow>(db, branches, query)
  return rows.map((row) => lineJson(row, balance))
}

/** No transaction has more lines than a handful. */
const LINES_MAX = 100

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
    transactionId: row.transaction_id,
    source: { object: row.source_object, id: row.source_id },
    bookedAt: timestamp(row.booked_ms),
    valueDate: row.value_day,
    reversalOfEntryId: row.reversal_of,
  }
}
