/** Mandates and collections that are due, and the postponement of those that cannot be moved yet. */
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, plainArrayOrNull } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** The tables with timers of direct debits. */
export type DebitTable = 'mandate' | 'collection'

/** Finds the rows of these shards (null: all) that are due, the earliest first. */
export async function dueDebits(
  database: Pick<Database, 'query'>,
  table: DebitTable,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: `due_${table}s`,
    text: `select id from ${table} where due_at <= $1::timestamptz and ($2::smallint[] is null or shard = any($2)) order by due_at limit $3`,
    values: [timestamp(now), plainArrayOrNull(owned), max],
  })
  return rows.map(([id]) => id)
}

/** Sets when rows are looked at again that are still due; their versions stay. */
export async function postponeDebits(
  database: Pick<Database, 'query'>,
  table: DebitTable,
  { ids, now, until }: { readonly ids: readonly string[]; readonly now: number; readonly until: number },
): Promise<void> {
  await database.query({
    name: `postpone_${table}s`,
    text: `update ${table} set due_at = $3 where id = any($1::uuid[]) and due_at <= $2::timestamptz`,
    values: [plainArray(ids), timestamp(now), timestamp(until)],
  })
}
