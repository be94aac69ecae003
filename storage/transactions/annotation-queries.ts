/** What people wrote beside transactions. */
import { sql } from 'kysely'
import { ANNOTATION_COLUMNS, annotationJson, annotationRecord, type AnnotationRecord, type AnnotationRow } from './annotations.ts'
import { readPage, type ListQuery, type ListResult, type ReadDatabase } from '../db/page.ts'

export type AnnotationListQuery = ListQuery<object, 'createdAt' | '-createdAt'> & { readonly transactionId: string }

/** Those of a transaction, which the caller knows to be the tenant's. */
export async function listAnnotations(db: ReadDatabase, query: AnnotationListQuery): Promise<ListResult<ReturnType<typeof annotationJson>>> {
  const { rows, ...page } = await readPage<AnnotationRow>(db, [{
    columns: sql.raw(ANNOTATION_COLUMNS), from: sql`annotation a`, where: [sql`a.transaction_id = ${query.transactionId}::uuid`],
    order: { keys: [{ expression: sql`a.id`, type: 'uuid' }], descending: query.sort === '-createdAt' },
  }], query)
  return { ...page, rows: rows.map((row) => annotationJson(annotationRecord(row))) }
}

/** One of a customer's transaction; null when there is none. */
export async function findAnnotation(db: ReadDatabase, { customerId, transactionId, id }: { readonly customerId: string; readonly transactionId: string; readonly id: string }): Promise<AnnotationRecord | null> {
  const { rows: [row] } = await sql<AnnotationRow>`select ${sql.raw(ANNOTATION_COLUMNS)} from annotation a
    where a.id = ${id}::uuid and a.transaction_id = ${transactionId}::uuid and a.customer_id = ${customerId}::uuid`.execute(db.kysely)
  return row === undefined ? null : annotationRecord(row)
}
