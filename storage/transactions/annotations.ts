/** Rows of annotations, written together with the count in their transaction's row. Statements only. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** A user's note. Times are epoch milliseconds. */
export interface AnnotationRecord {
  readonly id: string
  readonly transactionId: string
  readonly text: string
  readonly author: { readonly id: string; readonly name: string }
  readonly version: bigint
  readonly createdAt: number
  readonly updatedAt: number
}

export interface AnnotationRow {
  readonly id: string
  readonly transaction_id: string
  readonly text: string
  readonly author_id: string
  readonly author_name: string
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
}

export const ANNOTATION_COLUMNS = `a.id, a.transaction_id, a.text, a.author_id, a.author_name, a.version,
  (extract(epoch from a.created_at) * 1000)::float8 as created_ms, (extract(epoch from a.updated_at) * 1000)::float8 as updated_ms`
/** Annotations shown with a transaction, at most; their own list has all of them. */
const SHOWN_MAX = 100

export function annotationRecord(row: AnnotationRow): AnnotationRecord {
  return {
    id: row.id,
    transactionId: row.transaction_id,
    text: row.text,
    author: { id: row.author_id, name: row.author_name },
    version: BigInt(row.version),
    createdAt: row.created_ms,
    updatedAt: row.updated_ms,
  }
}

/** The annotation as the API shows it. */
export function annotationJson({ id, transactionId, text, author, createdAt, updatedAt }: AnnotationRecord) {
  return { id, transactionId, text, author, createdAt: timestamp(createdAt), updatedAt: timestamp(updatedAt) }
}

/** Reads the newest annotations of a transaction, newest first. */
export async function annotationsOf(
  database: Database,
  transactionId: string,
): Promise<ReturnType<typeof annotationJson>[]> {
  const { rows } = await database.pool.query<AnnotationRow>({
    name: 'annotations_of',
    text: `select ${ANNOTATION_COLUMNS} from annotation a where a.transaction_id = $1 order by a.id desc limit ${SHOWN_MAX}`,
    values: [transactionId],
  })
  return rows.map((row) => annotationJson(annotationRecord(row)))
}

/** Locks one note on a customer's transaction until the transaction ends; null when it does not exist. */
export async function lockAnnotation(
  client: TransactionClient,
  {
    customerId,
    transactionId,
    id,
  }: { readonly customerId: string; readonly transactionId: string; readonly id: string },
): Promise<AnnotationRecord | null> {
  const {
    rows: [row],
  } = await client.query<AnnotationRow>({
    name: 'annotation_lock',
    values: [id, transactionId, customerId],
    text: `select ${ANNOTATION_COLUMNS} from annotation a where a.id = $1 and a.transaction_id = $2 and a.customer_id = $3 for update`,
  })
  return row === undefined ? null : annotationRecord(row)
}

/** Writes a new annotation and counts it. @returns whether its transaction is the customer's */
export async function insertAnnotation(
  client: TransactionClient,
  customerId: string,
  { id, transactionId, text, author, createdAt }: AnnotationRecord,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'annotation_counted',
    text: 'update account_transaction set annotation_count = annotation_count + 1, version = version + 1 where id = $1 and customer_id = $2',
    values: [transactionId, customerId],
  })
  if (rowCount !== 1) return false
  await client.query({
    name: 'annotation_insert',
    values: [id, transactionId, customerId, text, author.id, author.name, timestamp(createdAt)],
    text: 'insert into annotation (id, transaction_id, customer_id, text, author_id, author_name, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $7)',
  })
  return true
}

/** Replaces the text of an annotation. `now` is epoch milliseconds. */
export async function rewriteAnnotation(
  client: TransactionClient,
  { id, transactionId }: AnnotationRecord,
  text: string,
  now: number,
): Promise<void> {
  await client.query({
    name: 'annotation_rewrite',
    text: 'update annotation set text = $2, version = version + 1, updated_at = $3 where id = $1',
    values: [id, text, timestamp(now)],
  })
  await client.query({
    name: 'annotated_changed',
    text: 'update account_transaction set version = version + 1 where id = $1',
    values: [transactionId],
  })
}

export async function deleteAnnotation(
  client: TransactionClient,
  { id, transactionId }: AnnotationRecord,
): Promise<void> {
  await client.query({ name: 'annotation_delete', text: 'delete from annotation where id = $1', values: [id] })
  await client.query({
    name: 'annotation_uncounted',
    text: 'update account_transaction set annotation_count = annotation_count - 1, version = version + 1 where id = $1',
    values: [transactionId],
  })
}
