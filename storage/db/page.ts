/**
 * Pages by keyset. A page is a range of an index: it begins after the last row of the previous page, never at an
 * offset, so the thousandth page costs as much as the first. Paging backwards reads the same index in the other
 * direction.
 *
 * Order by creation is order by id, because ids are UUIDs of version 7.
 */
import { strict as assert } from 'node:assert'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { CursorKey, ListResult, Position } from '../../lib/contract/list.ts'
import { QUERY_CANCELED, sqlState } from './sqlstates.ts'
import { asUnavailable, type Pool } from './pool.ts'

/**
 * Connection for lists. Statements are written by hand and kysely only assembles them, so its database type has no
 * tables.
 */
export interface ReadDatabase {
  readonly pool: Pool
  readonly kysely: Kysely<unknown>
}

/** Computes the end of a range of time: the first instant that no longer matches. */
export interface TimeTo {
  readonly before: string
}

type Fragment = RawBuilder<unknown>

/** Sort order of rows: an indexed expression without nulls, then the id (unless the expression is unique by itself). */
export interface Order {
  readonly keys: readonly {
    readonly expression: Fragment
    readonly type: 'uuid' | 'bigint' | 'integer' | 'text' | 'bpchar' | 'date' | 'timestamptz'
  }[]
  readonly descending: boolean
  /**
   * The id, for an order without an index: rows are then sorted by their keys alone, and only the rows of the page are
   * read whole.
   */
  readonly sorted?: Fragment
}

/** A source of rows. A list of several branches is merged: each supplies at most one page, from its own index. */
export interface Branch {
  readonly columns: Fragment
  readonly from: Fragment
  readonly where: readonly Fragment[]
  /** The condition on search words, for tables that may have very many rows: see `searchPage`. */
  readonly search?: Fragment
  /** A condition that all rows of the page meet, and that only spares Postgres work: counts leave it out. */
  readonly bound?: Fragment
  readonly order: Order
}

/** All conditions on a row of a branch. */
export const conditionsOf = ({ where, search }: Branch): readonly Fragment[] =>
  search === undefined ? where : [...where, search]

/** Timeout of an exact count; after it, the list is returned without a total. Milliseconds. */
const COUNT_TIMEOUT_MS = 2_000

/** A page without rows. */
export const EMPTY: ListResult<never> = { rows: [], keys: [], hasMore: false }

/**
 * Reads one page. `branches` have the same columns and the same kinds of keys.
 *
 * @throws the driver's errors; a count that takes too long is left out instead.
 */
export async function readPage<Row>(
  db: ReadDatabase,
  branches: readonly Branch[],
  question: {
    readonly limit: number
    readonly position: Position | null
    readonly withTotal: boolean
    readonly q?: string | null
  },
): Promise<{
  readonly rows: readonly Row[]
  readonly keys: readonly (readonly CursorKey[])[]
  readonly hasMore: boolean
  readonly total?: number
}> {
  const { limit, position, withTotal, q = null } = question
  if (branches.length === 0) return withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const [page, total] = await Promise.all([
    branches[0]!.search === undefined
      ? run(db, pageStatement(branches, limit + 1, position), q === null)
      : searchPage(db, branches[0]!, limit + 1, position),
    withTotal ? count(db, branches) : undefined,
  ])
  const found = page as (Row & Record<string, CursorKey>)[]
  const hasMore = found.length > limit
  const rows = hasMore ? found.slice(0, limit) : found
  if (position?.direction === 'before') rows.reverse()
  const names = branches[0]!.order.keys.map((_, index) => `key_${index}`)
  const keys = rows.map((row) => names.map((name) => row[name] as CursorKey))
  return { rows, keys, hasMore, ...(total === undefined ? {} : { total }) }
}

/**
 * Statements of lists are prepared under names, as statements for single rows are: half of a page's time is planning.
 * The limit is part of the text, so that the plan can use it. Filters make many texts, and at most this many are kept
 * prepared. A search is planned each time: whether its index or the sort order is the better plan depends on how many
 * rows match, which a generic plan cannot know.
 */
const PREPARED_MAX = 200
const prepared = new Map<string, string>()

async function run(db: ReadDatabase, statement: Fragment, isPrepared: boolean): Promise<unknown[]> {
  const { sql: text, parameters } = statement.compile(db.kysely)
  let name = isPrepared ? prepared.get(text) : undefined
  if (isPrepared && name === undefined && prepared.size < PREPARED_MAX)
    prepared.set(text, (name = `page_${prepared.size}`))
  const { rows } = await db.pool.query<object>({
    text,
    values: [...parameters],
    ...(name === undefined ? {} : { name }),
  })
  return rows
}

/** Rows in sort order that a search reads first: at least `NEAR_MIN`, and `NEAR_PER_ROW` for each row of a page. */
const NEAR_MIN = 500
const NEAR_PER_ROW = 8

/**
 * Reads a page of a search. The number of matching rows is not known beforehand: Postgres estimates that a word without
 * rows is in every fiftieth row, and would read millions of rows in sort order for it. So the first rows in sort order
 * are searched, which finds frequent words. If they are too few, the word index is read and its rows are sorted: a word
 * of 400 rows among two million takes 12 ms instead of 15 s, and a word without rows takes no time.
 */
async function searchPage(
  db: ReadDatabase,
  branch: Branch,
  limit: number,
  position: Position | null,
): Promise<unknown[]> {
  const { search, where, order } = branch
  const plain: Branch = { columns: sql`1`, from: branch.from, where, order }
  const offset = Math.max(NEAR_MIN, NEAR_PER_ROW * limit)
  const [edge] = (await run(db, sql`${branchStatement(plain, 1, position)} offset ${sql.lit(offset)}`, true)) as Record<
    string,
    CursorKey
  >[]
  if (edge !== undefined) {
    const descending = reads(order, position) === 'descending'
    const near = compared(
      order,
      order.keys.map((_, index) => edge[`key_${index}`] as CursorKey),
      descending ? '>=' : '<=',
    )
    // `is true` keeps the condition from using the index: Postgres would fetch the million rows of a frequent word to
    // keep the few near ones.
    const found = await run(
      db,
      branchStatement({ ...branch, where: [...where, near, sql`(${search!}) is true`] }, limit, position),
      false,
    )
    if (found.length >= limit) return found
  }
  return await run(
    db,
    branchStatement({ ...branch, where: [...where, search!] }, limit, position, edge !== undefined),
    false,
  )
}

/** Makes an expression of the same value that the index does not have, so that Postgres sorts. */
const UNINDEXED: Partial<Record<Order['keys'][number]['type'], string>> = {
  timestamptz: ` + interval '0'`,
  bigint: ' + 0',
  integer: ' + 0',
  date: ' + 0',
  text: ` || ''`,
}

/** Builds the statement of a page; exported so that a test can check its plan. */
export function pageStatement(branches: readonly Branch[], limit: number, position: Position | null): Fragment {
  const [only] = branches
  if (branches.length === 1) return branchStatement(only!, limit, position)
  const direction = sql.raw(reads(only!.order, position) === 'descending' ? 'desc' : 'asc')
  const merged = sql.join(
    branches.map((branch) => sql`(${branchStatement(branch, limit, position)})`),
    sql` union all `,
  )
  const order = only!.order.keys.map((_, index) => sql`${sql.ref(`key_${index}`)} ${direction}`)
  return sql`${merged} order by ${sql.join(order)} limit ${sql.lit(limit)}`
}

function branchStatement(
  { columns, from, where, bound, order }: Branch,
  limit: number,
  position: Position | null,
  isSorted = false,
): Fragment {
  const descending = reads(order, position) === 'descending'
  const keys = order.keys.map(({ expression, type }, index) => {
    // The driver turns dates into local midnights; text returns unchanged.
    const shown = type === 'date' || type === 'timestamptz' ? sql`(${expression})::text` : expression
    return sql`${shown} as ${sql.ref(`key_${index}`)}`
  })
  const within = bound === undefined ? where : [...where, bound]
  const conditions = position === null ? within : [...within, beyond(order, position, descending)]
  const ordering = order.keys.map(
    ({ expression, type }) =>
      sql`${expression}${sql.raw(isSorted ? (UNINDEXED[type] ?? '') : '')} ${sql.raw(descending ? 'desc' : 'asc')}`,
  )
  const matching = sql`from ${from} where ${all(conditions)} order by ${sql.join(ordering)} limit ${sql.lit(limit)}`
  if (order.sorted === undefined) return sql`select ${columns}, ${sql.join(keys)} ${matching}`
  return sql`select ${columns}, ${sql.join(keys)} from ${from} where ${order.sorted} = any(array(select ${order.sorted} ${matching}))
    order by ${sql.join(ordering)}`
}

function reads(order: Order, position: Position | null): 'ascending' | 'descending' {
  return order.descending !== (position?.direction === 'before') ? 'descending' : 'ascending'
}

function beyond(order: Order, position: Position, descending: boolean): Fragment {
  return compared(order, position.keys, descending ? '<' : '>')
}

/** SQL comparison of whole rows, which Postgres turns into the start or the end of an index scan. */
function compared(order: Order, keys: readonly CursorKey[], operator: '<' | '>' | '<=' | '>='): Fragment {
  assert(keys.length === order.keys.length, 'a cursor of another sort')
  const expressions = order.keys.map(({ expression }) => expression)
  const values = order.keys.map(({ type }, index) => sql`${String(keys[index])}::${sql.raw(type)}`)
  return sql`(${sql.join(expressions)}) ${sql.raw(operator)} (${sql.join(values)})`
}

async function count(db: ReadDatabase, branches: readonly Branch[]): Promise<number | undefined> {
  const parts = branches.map((branch) => sql`(select count(*) from ${branch.from} where ${all(conditionsOf(branch))})`)
  try {
    return await db.kysely.transaction().execute(async (transaction) => {
      await sql`set local statement_timeout = ${sql.lit(COUNT_TIMEOUT_MS)}`.execute(transaction)
      const { rows } = await sql<{ total: string }>`select ${sql.join(parts, sql` + `)} as total`.execute(transaction)
      return Number(rows[0]!.total)
    })
  } catch (error) {
    if (sqlState(error) === QUERY_CANCELED) return undefined
    throw asUnavailable(error)
  }
}

// ── Conditions
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Joins conditions with `and`; true when there are none. */
export function all(conditions: readonly Fragment[]): Fragment {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}

/** A condition without matches, for filters on values that do not exist yet. */
export const NEVER = sql`false`

/** Collects the conditions of the filters that are set. */
export class Conditions {
  readonly list: Fragment[] = []

  add(condition: Fragment): this {
    this.list.push(condition)
    return this
  }

  /** Matches any of several values. `type` is the column's own type, so that its index can be used. */
  anyOf(column: Fragment, values: readonly string[] | undefined, type: 'uuid' | 'text' | 'bpchar'): this {
    if (values === undefined) return this
    // With an equality condition an index keeps its order.
    if (values.length === 1) return this.add(sql`${column} = ${values[0]}::${sql.raw(type)}`)
    return this.add(sql`${column} = any(${values}::${sql.raw(type)}[])`)
  }

  /** Adds a range of time: from an instant on, and before another. */
  during(column: Fragment, from: string | undefined, to: TimeTo | undefined): this {
    if (from !== undefined) this.add(sql`${column} >= ${from}::timestamptz`)
    if (to !== undefined) this.add(sql`${column} < ${to.before}::timestamptz`)
    return this
  }

  /** Adds a range of days, both ends included. */
  days(column: Fragment, from: string | undefined, to: string | undefined): this {
    if (from !== undefined) this.add(sql`${column} >= ${from}::date`)
    if (to !== undefined) this.add(sql`${column} <= ${to}::date`)
    return this
  }

  /** Adds a range of amounts in minor units, both ends included. */
  amounts(column: Fragment, from: bigint | undefined, to: bigint | undefined): this {
    if (from !== undefined) this.add(sql`${column} >= ${from.toString()}::bigint`)
    if (to !== undefined) this.add(sql`${column} <= ${to.toString()}::bigint`)
    return this
  }

  /** Adds a range of creation times. Ids contain the time too, so the index by id narrows the search first. */
  created(alias: string, from: string | undefined, to: TimeTo | undefined): this {
    const id = sql.ref(`${alias}.id`)
    if (from !== undefined) this.add(sql`${id} >= ${idAt(Date.parse(from) - ID_SLACK_MS)}::uuid`)
    if (to !== undefined) this.add(sql`${id} < ${idAt(Date.parse(to.before) + ID_SLACK_MS)}::uuid`)
    return this.during(sql.ref(`${alias}.created_at`), from, to)
  }

  /** Adds metadata pairs that must match exactly. */
  metadata(column: Fragment, pairs: readonly (readonly [string, string])[]): this {
    if (pairs.length === 0) return this
    return this.add(sql`${column} @> ${JSON.stringify(Object.fromEntries(pairs))}::jsonb`)
  }
}

/**
 * Maximum difference between the time in an id and its row's time, milliseconds: id sources run ahead of the clock, and
 * clocks are adjusted.
 */
const ID_SLACK_MS = 300_000
const UUID_TIME_MAX = 2 ** 48 - 1

/** Makes the smallest UUID of version 7 of a moment in epoch milliseconds. */
export function idAt(ms: number): string {
  const hex = Math.min(Math.max(ms, 0), UUID_TIME_MAX).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** SQL of a column as epoch milliseconds, null where the column is null: a number needs no parsing of dates. */
export function epochMs(column: string): Fragment {
  return sql`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`
}
