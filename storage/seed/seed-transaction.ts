/** The transaction of a seed, and the insertion of its rows. */
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { InternalAccountCache } from '../journal/internal-account-cache.ts'
import { through } from '../db/transaction.ts'

export interface SeedDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  /** Random bytes for keys; replaced only by tests that need repeatable keys. */
  readonly random?: (bytes: number) => Uint8Array
}

/** Rows of one statement when many are made: beyond this, larger statements are not faster. */
export const CHUNK_ROWS = 1_000

export interface SeedTransaction {
  readonly client: pg.PoolClient
  readonly ids: IdSource
  readonly now: number
  /** The source of a tenant's keys: random bytes, or bytes derived from the service's secret. */
  readonly keyBytes: (tenantId: string) => (bytes: number) => Uint8Array
  readonly accounts: InternalAccountCache
}

/** A source of bytes that are the same at every start. */
function derivedBytes(secrets: Pick<SecretBox, 'derive'>, tenantId: string): (bytes: number) => Uint8Array {
  let nth = 0
  return (bytes) => secrets.derive(`sandbox key of ${tenantId} ${nth++}`, bytes)
}

export type Row = Readonly<Record<string, string | number | bigint | boolean>>

/** Types of the inserted columns, which are the types of the bound arrays. */
const COLUMN_TYPES: Readonly<Record<string, string>> = {
  id: 'uuid',
  operator_id: 'uuid',
  customer_id: 'uuid',
  connection_id: 'uuid',
  tenant_id: 'uuid',
  balance_id: 'uuid',
  created_by: 'uuid',
  shard: 'smallint',
  is_default: 'boolean',
  sha256: 'bytea',
  amount: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  approved_at: 'timestamptz',
  received_at: 'timestamptz',
  credited_at: 'timestamptz',
  value_date: 'date',
  bank: 'jsonb',
  address: 'jsonb',
}

/** Inserts rows with the same columns, a thousand per statement. */
export async function insertRows(client: pg.PoolClient, table: string, rows: readonly Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
    const chunk = rows.slice(from, from + CHUNK_ROWS)
    const names = Object.keys(chunk[0]!)
    const arrays = names.map((name) => {
      const values = chunk.map((row) => String(row[name]))
      return COLUMN_TYPES[name] === undefined || COLUMN_TYPES[name] === 'jsonb' || COLUMN_TYPES[name] === 'bytea'
        ? textArray(values)
        : plainArray(values)
    })
    const types = names.map((name, index) => `$${index + 1}::${COLUMN_TYPES[name] ?? 'text'}[]`)
    // `unnest` would flatten an array of arrays, so the scopes of keys are bound as the text of an array.
    const selected = names.map((name) => (name === 'scopes' ? 'u.scopes::text[]' : `u.${name}`))
    await client.query(
      `insert into ${table} (${names.join(', ')}) select ${selected.join(', ')} from unnest(${types.join(', ')}) as u(${names.join(', ')})`,
      arrays,
    )
  }
}

export async function inTransaction<Result>(
  deps: SeedDeps & { readonly secrets?: Pick<SecretBox, 'derive'> },
  work: (tx: SeedTransaction) => Promise<Result>,
): Promise<Result> {
  const { database, clock, ids, secrets, random = randomBytes } = deps
  const keyBytes = (tenantId: string) => (secrets === undefined ? random : derivedBytes(secrets, tenantId))
  return await database.hold(async (client, broken) => {
    // Accounts are made within the same transaction, at their first use.
    const within = { ...through(client), assertFree: () => undefined }
    try {
      await client.query('begin')
      const result = await work({
        client,
        ids,
        now: clock.now(),
        keyBytes,
        accounts: new InternalAccountCache(within, ids),
      })
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(() => {
        /* The connection is lost, and the transaction with it. */
      })
      broken(error as Error)
      throw error
    }
  })
}
