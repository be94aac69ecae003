/**
 * The journal of a balance: the postings that debit it and those that credit it, in one order. Each side has an index
 * by account and sequence. A page merges at most one page of each side, so the last page costs as much as the first.
 *
 * Figures, as multiples of the cost of a page without filters (a page of 25 out of 300 000 to a million lines on one
 * balance, at both ends and in the middle, both sorts, on a busy machine): filter by direction 1; by booking time 1; by
 * a type that two thirds of the lines have 1 to 2 (10 to 30 when both sides were read to their ends); by amounts that
 * every hundredth line has 1 to 2. An index for rare lines would cost two more entries for every posting, so there is
 * none. Ranges of lines that cannot match are skipped (storage/journal/journal-search.ts); the others are read.
 */
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import { MINUTE_MS, LAST_MS, timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { journalMarks, type JournalSide } from '../../lib/ledger/journal-line.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { BalanceReader } from './balance-reader.ts'
import type { Database } from '../db/database.ts'
import { likelyStretches, type Sought } from '../journal/journal-search.ts'
import {
  bookedLine,
  firstLineSince,
  isArrival,
  lineColumns,
  markedCause,
  linesFrom,
  SIDES,
  type LineRow,
} from '../journal/journal-lines.ts'
import { getBalance, type ReadBalance } from './balance-queries.ts'
import type { CursorKey, ListResult, RowQuery } from '../../lib/contract/list.ts'
import { Conditions, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'

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

export type JournalListQuery = RowQuery<JournalFilters, '-sequence' | 'sequence'> & { readonly balanceId: string }

interface JournalRow extends LineRow {
  readonly transaction_id: string
}

type JournalPage = ListResult<ReturnType<typeof lineJson>>

/** Pages in the cache; each takes some 30 kB with the values derived from it. */
const KEPT_MAX = 1_000

/**
 * Reads journals. Lines never change, so a page read without filters stays valid until its balance has more lines, and
 * is returned as the same object. A client that polls an unchanged journal costs one read of its balance.
 */
export class JournalReader {
  readonly #database: Database
  readonly #db: ReadDatabase
  readonly #balances: BalanceReader<ReadBalance>
  readonly #stretch: bigint
  readonly #kept = new LRUCache<string, { readonly sequence: bigint; readonly page: JournalPage }>(atMost(KEPT_MAX))

  /** `stretch`: lines that a search reads at first. */
  constructor(database: Database, db: ReadDatabase, balances: BalanceReader<ReadBalance>, stretch = STRETCH) {
    this.#stretch = stretch
    this.#database = database
    this.#db = db
    this.#balances = balances
  }

  /** Lists lines of a balance's journal; null when the balance is not the tenant's. */
  async list(query: JournalListQuery): Promise<JournalPage | null> {
    const balance = await getBalance(this.#balances, query.tenant, query.balanceId)
    if (balance === null) return null
    const key = keyOf(query)
    const known = key === null ? undefined : this.#kept.get(key)
    if (known?.sequence === balance.sequence) return known.page
    const page = await this.#read(query, balance.view.currency, balance.sequence)
    // Lines added meanwhile are in the page; the next read of the balance has a higher sequence and replaces the page.
    if (key !== null) this.#kept.set(key, { sequence: balance.sequence, page })
    return page
  }

  async #read(query: JournalListQuery, currency: string, sequence: bigint): Promise<JournalPage> {
    const span = await bookedSpan(this.#database, query)
    const { rows, ...page } = isSearch(query)
      ? await this.#search(query, span, sequence)
      : await readPage<JournalRow>(this.#db, journalBranches(query, span), query)
    return { ...page, rows: rows.map((row) => lineJson(row, { balanceId: query.balanceId, currency })) }
  }

  /**
   * Reads a page of lines that no index finds. Where lines can match, the journal is read in ranges from the start of
   * the page, each eight times as long as the one before it, until the page is full. Otherwise, when one side has no
   * match and the other has many, the side without a match would be read to its end.
   */
  async #search(
    query: JournalListQuery,
    { from, before }: Span,
    sequence: bigint,
  ): Promise<Awaited<ReturnType<typeof readPage<JournalRow>>>> {
    const { sort, position, limit } = query
    const backwards = position?.direction === 'before'
    const descending = (sort === '-sequence') !== backwards
    const edge = position === null ? null : BigInt(String(position.keys[0]))
    const low = max(BigInt(from ?? 1), descending || edge === null ? 1n : edge + 1n)
    const high = min(
      before === null ? sequence + 1n : BigInt(before),
      descending && edge !== null ? edge : sequence + 1n,
    )
    const found: { row: JournalRow; key: readonly CursorKey[] }[] = []
    const likely =
      low < high
        ? await likelyStretches(this.#database, query.balanceId, { from: low, before: high }, soughtBy(query))
        : []
    let length = this.#stretch
    for (const whole of descending ? likely.reverse() : likely) {
      for (let rest = whole; rest.from < rest.before && found.length <= limit; length *= 8n) {
        const part = descending
          ? { from: max(rest.from, rest.before - length), before: rest.before }
          : { from: rest.from, before: min(rest.before, rest.from + length) }
        rest = descending ? { ...rest, before: part.from } : { ...rest, from: part.before }
        const { rows, keys } = await readPage<JournalRow>(
          this.#db,
          journalBranches(query, { from: String(part.from), before: String(part.before) }),
          { limit: limit + 1, position, withTotal: false },
        )
        const lines = rows.map((row, nth) => ({ row, key: keys[nth] as readonly CursorKey[] }))
        // In reading order.
        found.push(...(backwards ? lines.reverse() : lines))
      }
    }
    const shown = found.slice(0, limit)
    if (backwards) shown.reverse()
    return { rows: shown.map(({ row }) => row), keys: shown.map(({ key }) => key), hasMore: found.length > limit }
  }
}

/** Lines in the first range that a search reads: some milliseconds. */
const STRETCH = 4_096n
const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** Whether a filter names a field that no index has. */
function isSearch({
  filters: { type, valueFrom, valueTo, amountFrom, amountTo, transactionId },
  withTotal,
}: JournalListQuery): boolean {
  return (
    !withTotal &&
    transactionId === undefined &&
    [type, valueFrom, valueTo, amountFrom, amountTo].some((filter) => filter !== undefined)
  )
}

/** The conditions that all lines of a search meet. */
function soughtBy({
  filters: { type, direction, amountFrom, amountTo, valueFrom, valueTo },
}: JournalListQuery): Sought {
  const sides: readonly string[] = direction ?? SIDES
  const kinds =
    type === undefined
      ? null
      : [
          ...new Set(
            journalMarks(type)
              .map((mark) => mark.split('/') as [string, string])
              .filter(([, side]) => sides.includes(side))
              .map(([rule, side]) => `${rule}/${side}`),
          ),
        ]
  return {
    kinds,
    amountFrom: amountFrom ?? null,
    amountTo: amountTo ?? null,
    valueFrom: valueFrom ?? null,
    valueTo: valueTo ?? null,
  }
}

/** The cache key of a page; null for queries that rarely repeat. */
function keyOf({ balanceId, filters, sort, limit, position, withTotal }: JournalListQuery): string | null {
  if (withTotal || Object.values(filters).some((value) => value !== undefined)) return null
  return `${balanceId} ${sort} ${limit} ${position === null ? '' : `${position.direction} ${position.keys.join()}`}`
}

/** The range of sequences in which the lines of a time can be; null where it has no limit. */
export interface Span {
  readonly from: string | null
  readonly before: string | null
}

const EVERYTHING: Span = { from: null, before: null }

/** One branch for each requested side; exported so that a test can check their plan. */
export function journalBranches(
  { balanceId, filters, sort }: JournalListQuery,
  span: Span = EVERYTHING,
): readonly Branch[] {
  return SIDES.filter((side) => filters.direction?.includes(side) ?? true).map((side) => branchOf(side))

  function branchOf(side: JournalSide): Branch {
    const sequence = sql.ref(`p.${side}_sequence`)
    const transaction = sql`transaction_of_line(p.rule, ${sql.lit(side)}, p.source_id, p.entry_id, p.ordinal)`
    const where = new Conditions()
      .add(sql`${sql.ref(`p.${side}_account`)} = ${balanceId}::uuid`)
      // Written as in the index's own condition; otherwise Postgres cannot use the index.
      .add(sql`${sequence} is not null`)
      .during(sql`p.booked_at`, filters.bookedFrom, filters.bookedTo)
      .days(sql`p.value_date`, filters.valueFrom, filters.valueTo)
      .amounts(sql`p.amount`, filters.amountFrom, filters.amountTo)
    if (span.from !== null) where.add(sql`${sequence} >= ${span.from}::bigint`)
    if (span.before !== null) where.add(sql`${sequence} < ${span.before}::bigint`)
    if (filters.type !== undefined) {
      const mark = sql`p.rule || ${`/${side}/`} || coalesce(a.key, 'cust') || ${sql.raw(markedCause('p'))}`
      const marks = journalMarks(filters.type)
      // This condition follows from the marks, and saves the read of the other account for lines of other rules.
      where.add(sql`p.rule = any(${[...new Set(marks.map((each) => each.slice(0, each.indexOf('/'))))]}::text[])`)
      where.add(sql`${mark} = any(${marks}::text[])`)
    }
    if (filters.transactionId !== undefined) {
      // Selects the transactions' causes first, because they have an index. A cause that was never followed has its own
      // id as transaction id.
      where.add(
        sql`p.source_id = any(array(select t.source_id from account_transaction t where t.id = any(${filters.transactionId}::uuid[])) || ${filters.transactionId}::uuid[])`,
      )
      where.add(sql`${transaction} = any(${filters.transactionId}::uuid[])`)
    }
    return {
      columns: sql`${sql.raw(lineColumns(side))}, ${transaction} as transaction_id`,
      from: sql.raw(linesFrom(side)),
      where: where.list,
      order: { keys: [{ expression: sequence, type: 'bigint' }], descending: sort === '-sequence' },
    }
  }
}

/** Maximum deviation from booking order: the skew between the clocks of two nodes, milliseconds. */
const SKEW_MS = MINUTE_MS

/**
 * The number of the first line booked at `ms` or later, as text for conditions. Null for a journal with a gap; then all
 * lines are read, and the audit reports the gap.
 */
async function firstAfter(database: Database, balanceId: string, ms: number): Promise<string | null> {
  // Bounded to the range of times that lines can have.
  return (await firstLineSince(database.pool, balanceId, Math.min(Math.max(ms, 0), LAST_MS)))?.toString() ?? null
}

async function bookedSpan(
  database: Database,
  { balanceId, filters: { bookedFrom, bookedTo } }: JournalListQuery,
): Promise<Span> {
  const [from, before] = await Promise.all([
    bookedFrom === undefined ? null : firstAfter(database, balanceId, Date.parse(bookedFrom) - SKEW_MS),
    bookedTo === undefined ? null : firstAfter(database, balanceId, Date.parse(bookedTo.before) + SKEW_MS),
  ])
  return { from, before }
}

/** Reads the lines of one transaction in booking order; `sourceId` is the id of the transaction's cause. */
export async function linesOfTransaction(
  db: ReadDatabase,
  { id, sourceId }: { readonly id: string; readonly sourceId: string },
  balance: { readonly balanceId: string; readonly currency: string },
) {
  const query: JournalListQuery = {
    tenant: { id: '', kind: 'customer' },
    filters: { transactionId: [id] },
    metadata: [],
    sort: 'sequence',
    limit: LINES_MAX,
    position: null,
    withTotal: false,
    q: null,
    balanceId: balance.balanceId,
  }
  const branches = journalBranches(query).map((branch) => ({
    ...branch,
    where: [sql`p.source_id = ${sourceId}::uuid`, ...branch.where],
  }))
  const { rows } = await readPage<JournalRow>(db, branches, query)
  return rows.map((row) => lineJson(row, balance))
}

/** More lines than any transaction has. */
const LINES_MAX = 100

function lineJson(row: JournalRow, { balanceId, currency }: { readonly balanceId: string; readonly currency: string }) {
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: currency as CurrencyCode })
  const {
    id,
    sequence,
    entryId,
    direction,
    amount,
    running,
    type,
    description,
    reference,
    counterparty,
    bookedAt,
    valueDate,
    reversalOf,
  } = bookedLine(row)
  return {
    id,
    balanceId,
    sequence,
    entryId,
    direction,
    amount: money(amount),
    runningBalance: money(running),
    type,
    description,
    reference,
    counterpartyName: counterparty,
    transactionId: row.transaction_id,
    source: isArrival(row)
      ? { object: 'incoming_payment', id: row.transaction_id }
      : { object: row.source_object, id: row.source_id },
    bookedAt: timestamp(bookedAt),
    valueDate,
    reversalOfEntryId: reversalOf,
  }
}
