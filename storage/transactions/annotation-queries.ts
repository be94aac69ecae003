/** Reads users' notes on transactions. */
import { sql } from 'kysely'
import { ANNOTATION, annotationJson, annotationRecord, type AnnotationRecord } from './annotations.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { readPage, type ReadDatabase } from '../db/page.ts'

export type AnnotationListQuery = RowQuery<object, 'createdAt' | '-createdAt'> & { readonly transactionId: string }

/** Lists the notes on a transaction. The caller has checked that the transaction is the tenant's. */
export async function listAnnotations(
  db: ReadDatabase,
  query: AnnotationListQuery,
): Promise<ListResult<ReturnType<typeof annotationJson>>> {
  const { rows, ...page } = await readPage<object>(
    db,
    [
      {
        columns: sql.raw(ANNOTATION.named),
        from: sql`annotation a`,
        where: [sql`a.transaction_id = ${query.transactionId}::uuid`],
        order: { keys: [{ expression: sql`a.id`, type: 'uuid' }], descending: query.sort === '-createdAt' },
      },
    ],
    query,
  )
  return { ...page, rows: rows.map((row) => annotationJson(annotationRecord(ANNOTATION.readNamed(row)))) }
}

/** Finds one note on a customer's transaction; null when it does not exist. */
export async function findAnnotation(
  db: ReadDatabase,
  {
    customerId,
    transactionId,
    id,
  }: { readonly customerId: string; readonly transactionId: string; readonly id: string },
): Promise<AnnotationRecord | null> {
  const {
    rows: [row],
  } = await sql<object>`select ${sql.raw(ANNOTATION.named)} from annotation a
    where a.id = ${id}::uuid and a.transaction_id = ${transactionId}::uuid and a.customer_id = ${customerId}::uuid`.execute(
    db.kysely,
  )
  return row === undefined ? null : annotationRecord(ANNOTATION.readNamed(row))
}
