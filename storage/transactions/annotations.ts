/**
 * Rows of annotations, written together with the count in their transaction's row. That row belongs to the follower of
 * events, which writes many at once, so its counts are changed by statements of their own.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { without } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { entitiesOf } from '../db/entities.ts'
import { from, select } from '../db/select.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Annotation } from './account-transaction-entity.ts'

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

/** The columns of an annotation in lists. */
export const ANNOTATION = select(without(from(Annotation, 'a'), ['customerId']))

/** Annotations shown with a transaction, at most; their own list has all of them. */
const SHOWN_MAX = 100

export function annotationRecord({
  id,
  transactionId,
  text,
  authorId,
  authorName,
  version,
  createdAt,
  updatedAt,
}: ReturnType<typeof ANNOTATION.readNamed>): AnnotationRecord {
  return {
    id,
    transactionId,
    text,
    author: { id: authorId, name: authorName },
    version: BigInt(version),
    createdAt,
    updatedAt,
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
  const rows = await database.query({
    name: 'annotations_of',
    text: `select ${ANNOTATION.sql} from annotation a where a.transaction_id = $1 order by a.id desc limit ${SHOWN_MAX}`,
    values: [transactionId],
  })
  return rows.map((row) => annotationJson(annotationRecord(ANNOTATION.read(row))))
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
  const row = await entitiesOf(client, { customerId }).lock(Annotation, { id, transactionId })
  return row === null ? null : annotationRecord(row)
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
  await entitiesOf(client, { customerId }).insert(Annotation, {
    id,
    transactionId,
    customerId,
    text,
    authorId: author.id,
    authorName: author.name,
    createdAt,
    updatedAt: createdAt,
  })
  return true
}

/** Replaces the text of an annotation that this transaction has locked. `now` is epoch milliseconds. */
export async function rewriteAnnotation(
  client: TransactionClient,
  customerId: string,
  { id, transactionId }: AnnotationRecord,
  text: string,
  now: number,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  Object.assign(await rows.get(Annotation, id), { text, updatedAt: now })
  await rows.save()
  await client.query({
    name: 'annotated_changed',
    text: 'update account_transaction set version = version + 1 where id = $1',
    values: [transactionId],
  })
}

/** Deletes an annotation that this transaction has locked. */
export async function deleteAnnotation(
  client: TransactionClient,
  customerId: string,
  { id, transactionId }: AnnotationRecord,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  await rows.remove(await rows.get(Annotation, id))
  await client.query({
    name: 'annotation_uncounted',
    text: 'update account_transaction set annotation_count = annotation_count - 1, version = version + 1 where id = $1',
    values: [transactionId],
  })
}
