/** Contracts with a due step of their own, and when they are due next. Statements only; rules are in lib/exchange. */
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, plainArrayOrNull } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** Finds contracts of these shards (null: all) that are due, the longest due first. */
export async function dueContracts(
  database: Database,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'due_contracts',
    text: `select id from exchange where due_at <= $1::timestamptz and ($2::smallint[] is null or shard = any($2)) order by due_at limit $3`,
    values: [timestamp(now), plainArrayOrNull(owned), max],
  })
  return rows.map(([id]) => id)
}

/**
 * Sets when contracts are due next, unless they have changed since they were read. `versions` are the versions read.
 */
export async function postponeContracts(
  database: Database,
  contracts: readonly { readonly id: string; readonly version: number; readonly dueAt: number }[],
): Promise<void> {
  await database.query({
    name: 'postpone_contracts',
    text: `update exchange e set due_at = u.due_at from unnest($1::uuid[], $2::integer[], $3::timestamptz[]) u(id, version, due_at)
      where e.id = u.id and e.version = u.version and e.due_at is not null`,
    values: [
      plainArray(contracts.map(({ id }) => id)),
      plainArray(contracts.map(({ version }) => version)),
      plainArray(contracts.map(({ dueAt }) => timestamp(dueAt))),
    ],
  })
}

/** Reads since when a contract has its present status, epoch milliseconds. */
export async function statusSince(database: Pick<Database, 'query'>, id: string): Promise<number> {
  const [row] = await database.query<[number]>({
    name: 'contract_status_since',
    text: `select (extract(epoch from at) * 1000)::float8 from status_update where object_id = $1 and previous_status is distinct from status order by version desc limit 1`,
    values: [id],
  })
  if (row === undefined) throw new Error(`The exchange ${id} has no updates.`)
  return row[0]
}

/** Whether a drawdown of a contract is still with the partner. */
export async function hasOpenDrawdown(database: Pick<Database, 'query'>, contractId: string): Promise<boolean> {
  const rows = await database.query({
    name: 'open_drawdown',
    text: `select from exchange where parent_exchange_id = $1 and status in ('processing', 'exception') limit 1`,
    values: [contractId],
  })
  return rows.length > 0
}

/** Whether the partner of a connection keeps the deposits of forwards itself. */
export async function partnerKeepsDeposits(database: Pick<Database, 'query'>, connectionId: string): Promise<boolean> {
  const [row] = await database.query<[boolean | null]>({
    name: 'partner_keeps_deposits',
    text: `select (config->>'keepsFxDeposits')::boolean from provider_connection where id = $1`,
    values: [connectionId],
  })
  return row?.[0] === true
}
