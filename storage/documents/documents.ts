/**
 * Rows of documents and attachments, and of the objects that use them. Statements only; rules are in lib/documents.
 *
 * Statements about the uses of many documents, about counts in rows of transactions and about due scans of many
 * customers are written by hand.
 */
import type { InferEntity } from '@mikro-orm/core'
import { timestamp } from '../../lib/base/clock.ts'
import type { DocumentRecord, DocumentStatus } from '../../lib/documents/document.ts'
import type { DocumentUse } from '../../lib/documents/effects.ts'
import { pick, without } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import { expression, from, select } from '../db/select.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Document } from './document-entity.ts'

/** The columns of a document in lists. */
export const DOCUMENT = select({
  ...without(from(Document, 'd'), ['shard', 'scanDueAt', 'updatedAt']),
  sha256: expression<string>(`encode(d.sha256, 'hex')`),
})

type SelectedDocument = ReturnType<typeof DOCUMENT.readNamed>

/** Makes the record of a row. */
export function documentRecord(row: SelectedDocument): DocumentRecord {
  return { ...row, sizeBytes: Number(row.sizeBytes), version: BigInt(row.version) }
}

function recordOf(row: InferEntity<typeof Document>): DocumentRecord {
  return {
    id: row.id,
    customerId: row.customerId,
    transactionId: row.transactionId ?? null,
    purpose: row.purpose ?? null,
    fileId: row.fileId,
    fileName: row.fileName,
    contentType: row.contentType,
    sizeBytes: Number(row.sizeBytes),
    sha256: Buffer.from(row.sha256).toString('hex'),
    status: row.status,
    createdBy: row.createdBy,
    createdByName: row.createdByName,
    version: BigInt(row.version),
    createdAt: row.createdAt,
  }
}

type Asking = Pick<TransactionClient, 'query'>

/** Writes a new document. Its scan is due at `scanDueAt`, epoch milliseconds; null for a document that needs none. */
export async function insertDocument(
  client: TransactionClient,
  {
    version: _,
    sizeBytes,
    sha256,
    ...document
  }: DocumentRecord & { readonly shard: number; readonly scanDueAt: number | null },
): Promise<void> {
  await entitiesOf(client, { customerId: document.customerId }).insert(Document, {
    ...document,
    sizeBytes: BigInt(sizeBytes),
    sha256: Buffer.from(sha256, 'hex'),
    updatedAt: document.createdAt,
  })
}

/** Finds a customer's document or attachment, as `kind` states; null when it does not exist. */
export async function findDocument(
  client: StatementRunner,
  kind: 'document' | 'attachment',
  customerId: string,
  id: string,
  lock = false,
): Promise<DocumentRecord | null> {
  const rows = entitiesOf(client, { customerId })
  const where = { id, [kind === 'document' ? 'purpose' : 'transactionId']: { $ne: null } }
  const row = lock ? await rows.lock(Document, where) : await rows.findOne(Document, where)
  return row === null ? null : recordOf(row)
}

/** Lists the attachments of a transaction, oldest first. */
export async function attachmentsOf(database: Database, transactionId: string): Promise<DocumentRecord[]> {
  const rows = await database.query({
    name: 'attachments_of',
    text: `select ${DOCUMENT.sql} from document d where d.transaction_id = $1 order by d.id`,
    values: [transactionId],
  })
  return rows.map((row) => documentRecord(DOCUMENT.read(row)))
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

/** Deletes a document that this transaction has locked. */
export async function deleteDocument(
  client: TransactionClient,
  { customerId, id }: Pick<DocumentRecord, 'customerId' | 'id'>,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  await rows.remove(await rows.get(Document, id))
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

// ── Uses
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

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

/** Whether the document is one of a KYB case, which fewer people may read than the documents of payments. */
export async function isOfCase(client: Asking, id: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'document_of_case',
    text: `select from document_use where document_id = $1 and object = 'kyb_case'`,
    values: [id],
  })
  return rowCount !== 0
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

/**
 * Reads the statuses of the customer's own documents, which cannot be deleted until the transaction ends; other ids are
 * absent.
 */
export async function lockStatusesOf(
  client: TransactionClient,
  customerId: string,
  ids: readonly string[],
): Promise<Map<string, DocumentStatus>> {
  const { rows } = await client.query<{ id: string; status: DocumentStatus }>({
    name: 'document_statuses_locked',
    text: `select id, status from document where id = any($1::uuid[]) and customer_id = $2 and purpose is not null
      order by id for key share`,
    values: [ids, customerId],
  })
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Writes that an object uses documents that this transaction has locked. */
export async function insertUses(
  client: TransactionClient,
  { object, objectId }: Pick<DocumentUse, 'object' | 'objectId'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await client.query({
    name: 'document_uses_inserted',
    text: 'insert into document_use (document_id, object, object_id) select id, $2, $3 from unnest($1::uuid[]) id on conflict do nothing',
    values: [ids, object, objectId],
  })
}

/** Deletes the uses of a document by objects of one type. */
export async function deleteUses(
  client: Asking,
  documentId: string,
  { object }: Pick<DocumentUse, 'object'>,
): Promise<void> {
  await client.query({
    name: 'document_uses_deleted',
    text: 'delete from document_use where document_id = $1 and object = $2',
    values: [documentId, object],
  })
}

/** Deletes an object's uses of all documents except these. */
export async function keepUses(client: Asking, objectId: string, ids: readonly string[]): Promise<void> {
  await client.query({
    name: 'document_uses_kept',
    text: 'delete from document_use where object_id = $1 and document_id <> all($2::uuid[])',
    values: [objectId, ids],
  })
}

// ── Scans
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const DUE_SCAN = select(pick(from(Document, 'd'), ['id', 'fileId', 'fileName', 'sizeBytes', 'createdAt']))

/** A file to be scanned. */
export interface DueScan {
  readonly id: string
  readonly fileId: string
  readonly fileName: string
  readonly sizeBytes: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Finds a file that is to be scanned; null when it has been, or is gone. */
export async function findScan(database: Database, id: string): Promise<DueScan | null> {
  const [row] = await database.query({
    name: 'scan_find',
    values: [id],
    text: `select ${DUE_SCAN.sql} from document d where d.id = $1 and d.status = 'pending_scan'`,
  })
  if (row === undefined) return null
  const due = DUE_SCAN.read(row)
  return { ...due, sizeBytes: Number(due.sizeBytes) }
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
