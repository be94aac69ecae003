/** Files of direct debits as staff see them. Statements only. */
import { sql } from 'kysely'
import { timestamp } from '../../../lib/base/clock.ts'
import type { ListResult, RowQuery } from '../../../lib/contract/list.ts'
import type { CollectionFileRecord, CollectionFileStatus } from '../../../lib/direct-debits/files/collection-file.ts'
import type { Database } from '../../db/database.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../../db/page.ts'
import { from, select } from '../../db/select.ts'
import { through, type TransactionClient } from '../../db/transaction.ts'
import { CollectionFile } from './collection-file-entity.ts'

type Queries = Pick<Database, 'query'>

const FILE = select(from(CollectionFile, 'f'))

const fileRecord = ({ lineCount, dueAt: _, ...row }: ReturnType<typeof FILE.read>): CollectionFileRecord => ({
  ...row,
  count: lineCount,
})

/** Finds a file by its id, of any operator; null when there is none. */
export async function findCollectionFile(database: Queries, id: string): Promise<CollectionFileRecord | null> {
  const [row] = await database.query({
    name: 'find_collection_file',
    text: `select ${FILE.sql} from collection_file f where f.id = $1`,
    values: [id],
  })
  return row === undefined ? null : fileRecord(FILE.read(row))
}

/** Locks a file until the transaction ends; null when there is none. */
export async function lockCollectionFile(client: TransactionClient, id: string): Promise<CollectionFileRecord | null> {
  const [row] = await through(client).query({
    name: 'lock_collection_file_row',
    text: `select ${FILE.sql} from collection_file f where f.id = $1 for update`,
    values: [id],
  })
  return row === undefined ? null : fileRecord(FILE.read(row))
}

/** Sets the status of a file; `downloadedAt` keeps its first time. */
export async function setFileStatus(
  client: Pick<TransactionClient, 'query'>,
  { id, from: before, to, now }: { id: string; from: CollectionFileStatus; to: CollectionFileStatus; now: number },
): Promise<void> {
  await client.query({
    name: 'collection_file_status',
    values: [id, before, to, timestamp(now)],
    text: `update collection_file set status = $3, downloaded_at = coalesce(downloaded_at, case when $3 = 'downloaded' then $4::timestamptz end) where id = $1 and status = $2`,
  })
}

export interface CollectionFileFilters {
  readonly scheme?: readonly string[]
  readonly status?: readonly string[]
  readonly connectionId?: readonly string[]
  readonly settlementFrom?: string
  readonly settlementTo?: string
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

/** Lists the files of an operator that are written, by pages. @throws DatabaseUnavailable */
export async function listCollectionFiles(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RowQuery<CollectionFileFilters, '-createdAt' | 'createdAt'>,
): Promise<ListResult<CollectionFileRecord>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`f.operator_id = ${tenant.id}::uuid`)
    .add(sql`f.status <> 'gathering'`)
    .anyOf(sql`f.scheme`, filters.scheme, 'text')
    .anyOf(sql`f.status`, filters.status, 'text')
    .anyOf(sql`f.connection_id`, filters.connectionId, 'uuid')
    .created('f', filters.createdFrom, filters.createdTo)
  if (filters.settlementFrom !== undefined) where.add(sql`f.settlement_date >= ${filters.settlementFrom}::date`)
  if (filters.settlementTo !== undefined) where.add(sql`f.settlement_date <= ${filters.settlementTo}::date`)
  const branch = {
    columns: sql.raw(FILE.named),
    from: sql`collection_file f`,
    where: where.list,
    order: { keys: [{ expression: sql`f.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<object>(db, [branch], query)
  return { ...page, rows: rows.map((row) => fileRecord(FILE.readNamed(row))) }
}
