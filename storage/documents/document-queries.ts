/** Documents and attachments as the API shows them. */
import { sql } from 'kysely'
import { attachmentJson, documentJson } from '../../lib/documents/document.ts'
import { DOCUMENT, documentRecord } from './documents.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { Conditions, EMPTY, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'

interface CreatedFilters {
  readonly status?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type DocumentListQuery = RowQuery<
  CreatedFilters & { readonly purpose?: readonly string[] },
  '-createdAt' | 'createdAt'
>
export type AttachmentListQuery = RowQuery<
  CreatedFilters & {
    readonly transactionId?: readonly string[]
    readonly balanceId?: readonly string[]
    readonly contentType?: readonly string[]
    readonly uploadedBy?: readonly string[]
  },
  '-createdAt'
>
export type TransactionAttachmentQuery = RowQuery<object, 'createdAt' | '-createdAt'> & {
  readonly transactionId: string
}

const branch = (where: Conditions, descending: boolean): Branch => ({
  columns: sql.raw(DOCUMENT.named),
  from: sql`document d`,
  where: where.list,
  order: { keys: [{ expression: sql`d.id`, type: 'uuid' }], descending },
})

/**
 * Lists the documents of a customer but for those of its KYB case, which fewer people may read. Operators have none of
 * their own.
 */
export async function listDocuments(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: DocumentListQuery,
): Promise<ListResult<ReturnType<typeof documentJson>>> {
  if (tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`d.customer_id = ${tenant.id}::uuid`)
    .add(sql`d.purpose is not null`)
    .add(sql`not exists (select from document_use u where u.document_id = d.id and u.object = 'kyb_case')`)
    .anyOf(sql`d.purpose`, filters.purpose, 'text')
    .anyOf(sql`d.status`, filters.status, 'text')
    .created('d', filters.createdFrom, filters.createdTo)
  const { rows, ...page } = await readPage<object>(db, [branch(where, sort === '-createdAt')], query)
  return { ...page, rows: rows.map((row) => documentJson(documentRecord(DOCUMENT.readNamed(row)))) }
}

/** Lists the attachments of all transactions of a customer. */
export async function listAttachments(
  db: ReadDatabase,
  { tenant, filters, ...query }: AttachmentListQuery,
): Promise<ListResult<ReturnType<typeof attachmentJson>>> {
  if (tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`d.customer_id = ${tenant.id}::uuid`)
    .add(sql`d.transaction_id is not null`)
    .anyOf(sql`d.transaction_id`, filters.transactionId, 'uuid')
    .anyOf(sql`d.content_type`, filters.contentType, 'text')
    .anyOf(sql`d.created_by`, filters.uploadedBy, 'uuid')
    .anyOf(sql`d.status`, filters.status, 'text')
    .created('d', filters.createdFrom, filters.createdTo)
  const { balanceId } = filters
  if (balanceId !== undefined)
    where.add(
      sql`exists (select from account_transaction t where t.id = d.transaction_id and t.balance_id = any(${balanceId}::uuid[]))`,
    )
  const { rows, ...page } = await readPage<object>(db, [branch(where, true)], query)
  return { ...page, rows: rows.map((row) => attachmentJson(documentRecord(DOCUMENT.readNamed(row)))) }
}

/** Lists the attachments of one transaction. The caller has checked that the transaction is the tenant's. */
export async function listTransactionAttachments(
  db: ReadDatabase,
  query: TransactionAttachmentQuery,
): Promise<ListResult<ReturnType<typeof attachmentJson>>> {
  const where = new Conditions().add(sql`d.transaction_id = ${query.transactionId}::uuid`)
  const { rows, ...page } = await readPage<object>(db, [branch(where, query.sort === '-createdAt')], query)
  return { ...page, rows: rows.map((row) => attachmentJson(documentRecord(DOCUMENT.readNamed(row)))) }
}
