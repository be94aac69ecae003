/** Settings documents of customers and users: each has a name, a version, and the fields of its schema. */
import { timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'

export interface StoredSetting {
  /** Zero before the document is first set. */
  readonly version: number
  readonly value: unknown
  readonly updatedBy: string
  readonly updatedAt: number
}

/** Reads a document; null when it was never set. `lock` keeps others from writing it until the transaction ends. */
export async function readSetting(
  client: Pick<TransactionClient, 'query'>,
  ownerId: string,
  name: string,
  lock = false,
): Promise<StoredSetting | null> {
  if (lock)
    await client.query({
      name: 'lock_setting',
      text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
      values: [`setting ${name} of ${ownerId}`],
    })
  const {
    rows: [row],
  } = await client.query<{ version: number; value: unknown; updated_by: string; updated_ms: number }>({
    name: 'read_setting',
    text: 'select version, value, updated_by, (extract(epoch from updated_at) * 1000)::float8 as updated_ms from setting where owner_id = $1 and name = $2',
    values: [ownerId, name],
  })
  return row === undefined
    ? null
    : { version: row.version, value: row.value, updatedBy: row.updated_by, updatedAt: row.updated_ms }
}

export async function writeSetting(
  client: TransactionClient,
  {
    ownerId,
    name,
    value,
    by,
    now,
  }: {
    readonly ownerId: string
    readonly name: string
    readonly value: object
    readonly by: string
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'write_setting',
    text: `insert into setting (owner_id, name, version, value, updated_by, updated_at) values ($1, $2, 1, $3, $4, $5)
      on conflict (owner_id, name) do update set version = setting.version + 1, value = excluded.value, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
    values: [ownerId, name, JSON.stringify(value), by, timestamp(now)],
  })
}
