/** Settings documents of customers, operators and users: each has a name, a version, and the fields of its schema. */
import type { InferEntity } from '@mikro-orm/core'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Setting } from './setting-entity.ts'

export interface StoredSetting {
  /** Zero before the document is first set. */
  readonly version: number
  readonly value: unknown
  readonly updatedBy: string
  readonly updatedAt: number
}

/** Reads a document; null when it was never set. `lock` keeps others from writing it until the transaction ends. */
export async function readSetting(
  client: StatementRunner,
  ownerId: string,
  name: string,
  lock = false,
): Promise<StoredSetting | null> {
  return lock
    ? await lockSetting(client, ownerId, name)
    : await entitiesOf(client, { ownerId }).findOne(Setting, { name })
}

/** Writes a document as its next version. */
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
  const rows = entitiesOf(client, { ownerId })
  const found = await lockSetting(client, ownerId, name)
  const written = { value, updatedBy: by, updatedAt: now }
  if (found === null) await rows.insert(Setting, { ...written, ownerId, name })
  else Object.assign(found, written)
  await rows.save()
}

/** Locks a document until the transaction ends, one that was never set included. */
async function lockSetting(
  client: StatementRunner,
  ownerId: string,
  name: string,
): Promise<InferEntity<typeof Setting> | null> {
  await client.query({
    name: 'lock_setting',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [`setting ${name} of ${ownerId}`],
  })
  return await entitiesOf(client, { ownerId }).lock(Setting, { name })
}
