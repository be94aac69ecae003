/** Rows of documents and attachments, and of the objects that use them. Statements only; rules are in lib/documents. */
import { timestamp } from '../../lib/base/clock.ts'
import type { DocumentPurpose, DocumentRecord, DocumentStatus } from '../../lib/documents/document.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'

export interface DocumentRow {
  readonly id: string
  readonly customer_id: string
  readonly transaction_id: string | null
  readonly purpose: DocumentPurpose | null
  readonly file_id: string
  readonly file_name: string
  readonly content_type: string
  readonly size_bytes: string
  readonly sha256: string
  readonly status: DocumentStatus
  readonly created_by: string
  readonly created_by_name: string
  readonly version: string
  readonly created_ms: number
}

export const DOCUMENT_COLUMNS = `d.id, d.customer_id, d.transaction_id, d.purpose, d.file_id, d.file_name, d.content_type, d.size_bytes, encode(d.sha256, 'hex') as sha256, d.status,
  d.created_by, d.created_by_name, d.version, (extract(epoch from d.created_at) * 1000)::float8 as created_ms`

export function documentRecord(row: DocumentRow): DocumentRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    transactionId: row.transaction_id,
    purpose: row.purpose,
    fileId: row.file_id,
    fileName: row.file_name,
    contentType: row.content_type,
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256,
    status: row.status,
    createdBy: row.created_by,
    createdByName: row.created_by_name,
    version: BigInt(row.version),
    createdAt: row.created_ms,
  }
}

type Asking = Pick<TransactionClient, 'query'>

/** Writes a new document. Its scan is due at `scanDueAt`, epoch milliseconds; null for a document that needs none. */
export async function insertDocument(
  client: Asking,
  document: DocumentRecord & { readonly shard: number; readonly scanDueAt: number | null },
): Promise<void> {
  await client.query({
    name: 'document_insert',
    text: `insert into document (id, customer_id, shard, transaction_id, purpose, file_id, file_name, content_type, size_bytes, sha256, status, scan_due_at, created_by, created_by_name, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, decode($10, 'hex'), $11, $12, $13, $14, $15, $15)`,
    values: [
      document.id,
      document.customerId,
      document.shard,
      document.transactionId,
      document.purpose,
      document.fileId,
      document.fileName,
      document.contentType,
      document.sizeBytes,
      document.sha256,
      document.status,
      document.scanDueAt === null ? null : timestamp(document.scanDueAt),
      document.createdBy,
      document.createdByName,
      timestamp(document.createdAt),
    ],
  })
}

/** Finds a customer's document or attachment, as `kind` states; null when it does not exist. */
export async function findDocument(
  client: Asking,
  kind: 'document' | 'attachment',
  customerId: string,
  id: string,
  lock = false,
): Promise<DocumentRecord | null> {
  const {
    rows: [row],
  } = await client.query<DocumentRow>({
    name: `${kind}_find${lock ? '_lock' : ''}`,
    values: [id, customerId],
    text: `select ${DOCUMENT_COLUMNS} from document d where d.id = $1 and d.customer_id = $2 and d.${kind === 'document' ? 'purpose' : 'transaction_id'} is not null${lock ? ' for update' : ''}`,
  })
  return row === undefined ? null : documentRecord(row)
}

/** Lists the attachments of a transaction, oldest first. */
export async function attachmentsOf(database: Database, transactionId: string): Promise<DocumentRecord[]> {
  const { rows } = await database.pool.query<DocumentRow>({
    name: 'attachments_of',
    text: `select ${DOCUMENT_COLUMNS} from document d where d.transaction_id = $1 order by d.id`,
    values: [transactionId],
  })
  return rows.map(documentRecord)
}

/**
 * Changes the number of attachments of a customer's transaction, whose row stays locked until the SQL transaction ends.
 *
 * @returns the new number; null when the transaction is not the customer's
 */
export async function countAttachment(
  client: Asking,
  customerId: string,
  transactionId: string,
  change: 1 | -1,
): Promise<number | null> {
  const {
    rows: [row],
  } = await client.query<{ attachment_count: number }>({
    name: 'attachment_count',
    values: [transactionId, customerId, change],
    text: 'update account_transaction set attachment_count = attachment_count + $3, version = version + 1 where id = $1 and customer_id = $2 returning attachment_count',
  })
  return row?.attachment_count ?? null
}

export async function deleteDocument(client: Asking, id: string): Promise<void> {
  await client.query({ name: 'document_delete', text: 'delete from document where id = $1', values: [id] })
}

/** Reads the shard of a customer. */
export async function shardOfCustomer(client: Asking, customerId: string): Promise<number> {
  const {
    rows: [row],
  } = await client.query<{ shard: number }>({
    name: 'document_shard',
    text: 'select shard from customer where id = $1',
    values: [customerId],
  })
  if (row === undefined) throw new Error(`The customer ${customerId} does not exist.`)
  return row.shard
}

// ── Uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether any object uses the document. */
export async function isUsed(client: Asking, id: string): Promise<boolean> {
  return (
    (
      await client.query({
        name: 'document_used',
        text: 'select from document_use where document_id = $1 limit 1',
        values: [id],
      })
    ).rowCount !== 0
  )
}

/** Reads the statuses of the customer's own documents; other ids are absent. */
export async function statusesOf(
  client: Asking,
  customerId: string,
  ids: readonly string[],
): Promise<Map<string, DocumentStatus>> {
  const { rows } = await client.query<{ id: string; status: DocumentStatus }>({
    name: 'document_statuses',
    text: 'select id, status from document where id = any($1::uuid[]) and customer_id = $2 and purpose is not null',
    values: [ids, customerId],
  })
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Deletes an object's uses of all documents except these. */
export async function keepUses(client: Asking, objectId: string, ids: readonly string[]): Promise<void> {
  await client.query({
    name: 'document_uses_kept',
    text: 'delete from document_use where object_id = $1 and document_id <> all($2::uuid[])',
    values: [objectId, ids],
  })
}

// ── Scans ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A file whose scan is due. */
export interface DueScan {
  readonly id: string
  readonly fileId: string
  readonly fileName: string
  readonly sizeBytes: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly attempts: number
}

/**
 * Leases files whose scan is due; no other node takes them before `until`. `shards` is null where all are this node's.
 */
export async function takeDueScans(
  database: Database,
  {
    now,
    until,
    shards,
    max,
  }: { readonly now: number; readonly until: number; readonly shards: string | null; readonly max: number },
): Promise<DueScan[]> {
  const rows = await database.query<[string, string, string, string, number, number]>({
    name: 'scans_take',
    values: [timestamp(now), timestamp(until), shards, max],
    text: `update document d set scan_due_at = $2, attempts = least(d.attempts + 1, 32000) from (
        select id from document where scan_due_at <= $1 and ($3::smallint[] is null or shard = any($3::smallint[])) order by scan_due_at limit $4 for update skip locked) due
      where d.id = due.id returning d.id, d.file_id, d.file_name, d.size_bytes, (extract(epoch from d.created_at) * 1000)::float8, d.attempts`,
  })
  return rows.map(([id, fileId, fileName, sizeBytes, createdAt, attempts]) => ({
    id,
    fileId,
    fileName,
    sizeBytes: Number(sizeBytes),
    createdAt,
    attempts,
  }))
}

/** Sets when the scan is tried again. */
export async function scanAgainAt(database: Database, id: string, at: number): Promise<void> {
  await database.query({
    name: 'scan_again',
    text: `update document set scan_due_at = $2 where id = $1 and status = 'pending_scan'`,
    values: [id, timestamp(at)],
  })
}

/** Records the outcome of a scan; an outcome that was recorded before stays. */
export async function endScan(
  database: Database,
  id: string,
  status: 'clean' | 'infected',
  now: number,
): Promise<void> {
  await database.query({
    name: 'scan_end',
    values: [id, status, timestamp(now)],
    text: `with ended as (update document set status = $2, scan_due_at = null, version = version + 1, updated_at = $3 where id = $1 and status = 'pending_scan' returning transaction_id)
      update account_transaction t set version = t.version + 1 from ended e where t.id = e.transaction_id`,
  })
}
