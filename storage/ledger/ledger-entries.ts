/**
 * Entries of an operator's ledger, by pages in the order of their time.
 *
 * Postings have no index by time that keeps an order, because every payment would pay for it. A page is read in
 * stretches of time instead, from its beginning on: a stretch is a range of the summary of pages (`posting_booked`), each
 * is four times as long as the one before, and in days that have ended the stretches skip what cannot match
 * (ledger-days.ts).
 *
 * Figures (a million postings of a year, one backend of a busy machine of two cores): a page of all entries, of one
 * internal account or of one object 7 to 50 ms, wherever it is in the year; one entry 13 ms; three entries of a rule or
 * an account in the whole year 80 ms, a rule without entries 35 ms; a balance of half of all lines 0.2 s, one with a
 * single line 60 ms; a filter that the days do not know (customer, kind of object) and that matches nothing 1 s. A
 * million postings are added to the days in 9 s, a day of three thousand in 30 ms.
 */
import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS, timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { accountOf, type AccountKey } from '../../lib/ledger/chart.ts'
import type { LedgerEntry } from '../../lib/ledger/ledger-schema.ts'
import type { SourceObject } from '../../lib/ledger/posting.ts'
import { RULES, type RuleId } from '../../lib/ledger/postings.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { all, Conditions, EMPTY, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { asUnavailable } from '../db/pool.ts'
import { ledgerEdges, nearestDay, type LedgerEdges, type SoughtDays } from './ledger-days.ts'

export interface LedgerEntryFilters {
  readonly accountId?: readonly string[]
  readonly key?: readonly string[]
  readonly rule?: readonly string[]
  readonly currency?: readonly string[]
  readonly customerId?: readonly string[]
  readonly sourceObject?: readonly string[]
  readonly sourceId?: readonly string[]
  readonly bookedFrom?: string
  readonly bookedTo?: TimeTo
  readonly amountFrom?: bigint
  readonly amountTo?: bigint
}
export type LedgerEntryQuery = RowQuery<LedgerEntryFilters, 'bookedAt' | '-bookedAt'>

/** The length of the first stretch; each later one is `WIDER` times as long. */
const FIRST_MS = 15 * MINUTE_MS
const WIDER = 4

/** SQL of the time of a posting `p` as RFC 3339 with microseconds, as cursors keep it. */
const BOOKED_AT = `to_char(p.booked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as booked_at`

/** The unique key of an entry (G2), and its place in the order. */
interface EntryKey {
  readonly source_id: string
  readonly rule: RuleId
  readonly occurrence: number
  readonly booked_at: string
  readonly entry_id: string
}

/** Lists entries of an operator. A total is never counted. @throws DatabaseUnavailable */
export async function listLedgerEntries(
  db: ReadDatabase,
  database: Database,
  { tenant, filters, sort, limit, position, now }: LedgerEntryQuery & { readonly now: number },
): Promise<ListResult<LedgerEntry>> {
  if (tenant.kind !== 'operator') return EMPTY
  const newestFirst = (sort === '-bookedAt') !== (position?.direction === 'before')
  const edges = await ledgerEdges(database, tenant.id, { accountIds: filters.accountId ?? [], now })
  const where = conditionsOf({ operatorId: tenant.id, filters, position, newestFirst, balanceIds: edges.balanceIds })
  const found: EntryKey[] = []
  const stretches =
    filters.sourceId === undefined
      ? stretchesOf(database, edges, { operatorId: tenant.id, filters, position, newestFirst })
      : // A source has few entries, and an index finds them.
        [null]
  for await (const stretch of stretches) {
    found.push(...(await keysOf(db, where, stretch, { newestFirst, limit: limit + 1 - found.length })))
    if (found.length > limit) break
  }
  const keys = found.slice(0, limit)
  if (position?.direction === 'before') keys.reverse()
  return {
    rows: await readEntries(database, keys),
    keys: keys.map((key) => [key.booked_at, key.entry_id]),
    hasMore: found.length > limit,
  }
}

/** Reads one entry; null when the operator has none with this id. @throws DatabaseUnavailable */
export async function findLedgerEntry(database: Database, operatorId: string, id: string): Promise<LedgerEntry | null> {
  const { rows } = await database.pool.query<EntryKey>({
    name: 'ledger_entry_find',
    values: [id, operatorId],
    text: `select p.source_id, p.rule, p.occurrence, ${BOOKED_AT}, p.entry_id from posting p
      where p.entry_id = $1 and (p.customer_id = $2 or exists (select from customer k where k.id = p.customer_id and k.operator_id = $2)) limit 1`,
  })
  return (await readEntries(database, rows))[0] ?? null
}

/** A stretch of time: from one moment up to, and excluding, another; epoch milliseconds. */
interface Stretch {
  readonly from: number
  readonly before: number
}

/** Yields the stretches of a page in reading order, without days that have no match. */
async function* stretchesOf(
  database: Database,
  { begin, end, addedUntil, balanceIds }: LedgerEdges,
  {
    operatorId,
    filters,
    position,
    newestFirst,
  }: Pick<LedgerEntryQuery, 'filters' | 'position'> & {
    readonly operatorId: string
    readonly newestFirst: boolean
  },
): AsyncGenerator<Stretch> {
  const at = position === null ? null : Date.parse(position.keys[0] as string)
  let from = filters.bookedFrom === undefined ? begin : Math.max(begin, Date.parse(filters.bookedFrom))
  let before = end
  if (filters.bookedTo !== undefined) before = Math.min(before, Date.parse(filters.bookedTo.before))
  if (at !== null && newestFirst) before = Math.min(before, at + 1)
  else if (at !== null) from = Math.max(from, at)
  const sought = soughtOf(operatorId, filters)
  for (let width = FIRST_MS; from < before; width *= WIDER) {
    if (addedUntil !== null && balanceIds.length === 0 && (newestFirst ? before - 1 : from) < addedUntil) {
      const days = daysOf(from, Math.min(before, addedUntil))
      const day = await nearestDay(database, sought, { ...days, newestFirst })
      const edge = newestFirst ? before : from
      if (newestFirst) before = day === null ? from : Math.min(before, Date.parse(day) + DAY_MS)
      else from = day === null ? addedUntil : Math.max(from, Date.parse(day))
      if (from >= before) return
      // Where days are skipped, matches are rare, and this day is read alone.
      if (edge !== (newestFirst ? before : from)) width = DAY_MS
    }
    const stretch = newestFirst
      ? { from: Math.max(from, before - width), before }
      : { from, before: Math.min(before, from + width) }
    yield stretch
    if (newestFirst) before = stretch.from
    else from = stretch.before
  }
}

const daysOf = (from: number, before: number): { readonly from: string; readonly to: string } => ({
  from: timestamp(from).slice(0, 10),
  to: timestamp(before - 1).slice(0, 10),
})

/** The conditions that the days know. */
const soughtOf = (
  operatorId: string,
  { accountId, key, rule, currency, amountFrom, amountTo }: LedgerEntryFilters,
): SoughtDays => ({
  operatorId,
  accountIds: accountId ?? null,
  keys: key ?? null,
  rules: rule ?? null,
  currencies: currency ?? null,
  amountFrom: amountFrom ?? null,
  amountTo: amountTo ?? null,
})

/** The conditions on a posting `p` of an entry. */
function conditionsOf({
  operatorId,
  filters,
  position,
  newestFirst,
  balanceIds,
}: Pick<LedgerEntryQuery, 'filters' | 'position'> & {
  readonly operatorId: string
  readonly newestFirst: boolean
  readonly balanceIds: readonly string[]
}): Conditions {
  const { accountId, key } = filters
  const where = new Conditions()
    .add(
      sql`(p.customer_id = ${operatorId}::uuid or exists (select from customer k where k.id = p.customer_id and k.operator_id = ${operatorId}::uuid))`,
    )
    .anyOf(sql`p.rule`, filters.rule, 'text')
    .anyOf(sql`p.currency`, filters.currency, 'bpchar')
    .anyOf(sql`p.customer_id`, filters.customerId, 'uuid')
    .anyOf(sql`p.source_object`, filters.sourceObject, 'text')
    .anyOf(sql`p.source_id`, filters.sourceId, 'uuid')
    .amounts(sql`p.amount`, filters.amountFrom, filters.amountTo)
    .during(sql`p.booked_at`, filters.bookedFrom, filters.bookedTo)
  if (accountId !== undefined) {
    const internal = accountId.filter((id) => !balanceIds.includes(id))
    // The indexes of the journal have the lines of balances alone.
    where.add(
      sql`((p.debit_account = any(${balanceIds}::uuid[]) and p.debit_sequence is not null) or (p.credit_account = any(${balanceIds}::uuid[]) and p.credit_sequence is not null)
        ${internal.length === 0 ? sql`` : sql`or p.debit_account = any(${internal}::uuid[]) or p.credit_account = any(${internal}::uuid[])`})`,
    )
  }
  if (key !== undefined) {
    const internal = key.filter((name) => name !== 'cust')
    const named = sql`select a.id from account a where a.operator_id = ${operatorId}::uuid and a.key = any(${internal}::text[])`
    const balances = key.includes('cust')
      ? sql` or p.debit_sequence is not null or p.credit_sequence is not null`
      : sql``
    where.add(sql`(p.debit_account in (${named}) or p.credit_account in (${named})${balances})`)
  }
  if (position !== null) {
    const [at, id] = position.keys
    const sign = newestFirst ? sql`<` : sql`>`
    where.add(sql`(p.booked_at, p.entry_id) ${sign} (${at}::timestamptz, ${id}::uuid)`)
  }
  return where
}

/** Reads the keys of the entries in a stretch (null: at any time), in reading order. */
async function keysOf(
  db: ReadDatabase,
  where: Conditions,
  stretch: Stretch | null,
  { newestFirst, limit }: { readonly newestFirst: boolean; readonly limit: number },
): Promise<readonly EntryKey[]> {
  const within =
    stretch === null
      ? sql`true`
      : sql`p.booked_at >= ${timestamp(stretch.from)}::timestamptz and p.booked_at < ${timestamp(stretch.before)}::timestamptz`
  const order = sql.raw(newestFirst ? 'desc' : 'asc')
  const statement = sql<EntryKey>`select p.source_id, p.rule, p.occurrence, ${sql.raw(BOOKED_AT)}, p.entry_id from posting p
    where ${within} and ${all(where.list)} group by p.booked_at, p.entry_id, p.source_id, p.rule, p.occurrence
    order by p.booked_at ${order}, p.entry_id ${order} limit ${sql.lit(limit)}`
  try {
    return (await statement.execute(db.kysely)).rows
  } catch (error) {
    throw asUnavailable(error)
  }
}

interface PairRow {
  readonly nth: string
  readonly entry_id: string
  readonly rule: RuleId
  readonly occurrence: number
  readonly source_object: SourceObject
  readonly source_id: string
  readonly customer_id: string | null
  readonly currency: CurrencyCode
  readonly amount: string
  readonly description: string | null
  readonly reference: string | null
  readonly counterparty: string | null
  readonly reversal_of: string | null
  readonly booked_ms: number
  readonly value_day: string
  readonly debit_account: string
  readonly debit_key: AccountKey
  readonly debit_connection: string | null
  readonly debit_customer: string | null
  readonly credit_account: string
  readonly credit_key: AccountKey
  readonly credit_connection: string | null
  readonly credit_customer: string | null
}

const sideColumns = (side: 'debit' | 'credit', internal: string, balance: string): string =>
  `p.${side}_account, coalesce(${internal}.key, 'cust') as ${side}_key, coalesce(${internal}.connection_id, ${balance}.connection_id) as ${side}_connection,
    coalesce(${internal}.customer_id, ${balance}.customer_id) as ${side}_customer`

const PAIRS = `select f.nth, p.entry_id, p.rule, p.occurrence, p.source_object, p.source_id, k.id as customer_id, p.currency, p.amount, p.description, p.reference,
    p.counterparty, p.reversal_of, (extract(epoch from p.booked_at) * 1000)::float8 as booked_ms, p.value_date::text as value_day,
    ${sideColumns('debit', 'da', 'db')}, ${sideColumns('credit', 'ca', 'cb')}
  from unnest($1::uuid[], $2::text[], $3::smallint[]) with ordinality f(source_id, rule, occurrence, nth)
  join posting p on p.source_id = f.source_id and p.rule = f.rule and p.occurrence = f.occurrence
  left join customer k on k.id = p.customer_id
  left join account da on da.id = p.debit_account left join balance db on db.id = p.debit_account
  left join account ca on ca.id = p.credit_account left join balance cb on cb.id = p.credit_account
  order by f.nth, p.ordinal`

/** Reads entries by their keys, in their order. */
async function readEntries(database: Database, keys: readonly EntryKey[]): Promise<LedgerEntry[]> {
  if (keys.length === 0) return []
  const { rows } = await database.pool.query<PairRow>({
    name: 'ledger_entries',
    text: PAIRS,
    values: [
      plainArray(keys.map(({ source_id }) => source_id)),
      textArray(keys.map(({ rule }) => rule)),
      plainArray(keys.map(({ occurrence }) => occurrence)),
    ],
  })
  return [...Map.groupBy(rows, ({ nth }) => nth).values()].map(entryJson)
}

function entryJson(pairs: readonly PairRow[]): LedgerEntry {
  const first = pairs[0] as PairRow
  const moved = new Map<CurrencyCode, bigint>()
  for (const { currency, amount } of pairs) moved.set(currency, (moved.get(currency) ?? 0n) + BigInt(amount))
  return {
    id: first.entry_id,
    rule: first.rule,
    event: RULES[first.rule].event,
    source: { object: first.source_object, id: first.source_id },
    occurrence: first.occurrence,
    customerId: first.customer_id,
    amounts: Array.from(moved, ([currency, amountMinor]) => moneyJson({ amountMinor, currency })),
    description: first.description,
    reference: first.reference,
    counterpartyName: first.counterparty,
    reversalOfEntryId: first.reversal_of,
    lines: pairs.flatMap((pair) => {
      const amount = moneyJson({ amountMinor: BigInt(pair.amount), currency: pair.currency })
      return [
        {
          accountId: pair.debit_account,
          code: accountOf(pair.debit_key).code,
          key: pair.debit_key,
          direction: 'debit' as const,
          amount,
          connectionId: pair.debit_connection,
          customerId: pair.debit_customer,
        },
        {
          accountId: pair.credit_account,
          code: accountOf(pair.credit_key).code,
          key: pair.credit_key,
          direction: 'credit' as const,
          amount,
          connectionId: pair.credit_connection,
          customerId: pair.credit_customer,
        },
      ]
    }),
    bookedAt: timestamp(first.booked_ms),
    valueDate: first.value_day,
  }
}
