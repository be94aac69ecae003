/** Reads collections from their rows: for decisions and for display. */
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { from, select } from '../db/select.ts'
import { Collection } from './collection-entity.ts'

/** All columns of a row `c`. */
export const COLLECTION = select(from(Collection, 'c'))

/** Converts a row to a record. */
export const collectionRecord = (row: ReturnType<typeof COLLECTION.read>): CollectionRecord => ({
  ...row,
  metadata: row.metadata ?? {},
})

const fromArray = (row: readonly unknown[]): CollectionRecord => collectionRecord(COLLECTION.read(row))

/** Finds a collection by its id, of any customer; null when it does not exist. */
export async function findCollection(database: Pick<Database, 'query'>, id: string): Promise<CollectionRecord | null> {
  const [row] = await database.query({
    name: 'find_collection',
    text: `select ${COLLECTION.sql} from collection c where c.id = $1`,
    values: [id],
  })
  return row === undefined ? null : fromArray(row)
}

/** Finds collections by their ids; a collection that does not exist is absent. */
export async function findCollections(
  database: Pick<Database, 'query'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CollectionRecord>> {
  const rows = await database.query({
    name: 'find_collections',
    text: `select ${COLLECTION.sql} from collection c where c.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return new Map(rows.map(fromArray).map((record) => [record.id, record]))
}

/** Reads the pending collections of a mandate, oldest first; at most as many as a mandate may have. */
export async function pendingCollections(
  database: Pick<Database, 'query'>,
  mandateId: string,
): Promise<readonly CollectionRecord[]> {
  const rows = await database.query({
    name: 'pending_collections',
    text: `select ${COLLECTION.sql} from collection c where c.mandate_id = $1 and c.status = 'pending' order by c.id`,
    values: [mandateId],
  })
  return rows.map(fromArray)
}
