/**
 * The storage steps that documents and attachments share. A file is stored as it arrives, before the transaction that
 * writes its row and its entry in the trail. When an error comes in between, the temporary file expires.
 */
import { attachmentJson, documentJson, type DocumentRecord } from '../../lib/documents/document.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import { deleteDocument, findDocument, insertDocument, shardOfCustomer } from '../../storage/documents/documents.ts'
import { dropFile, keepFile, writeFile, type StoredFile } from '../../storage/documents/files.ts'
import type { DownloadReads } from './downloads.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Attachment, Document } from '../../lib/documents/document-schema.ts'
import type { ArrivingFile } from './uploads.ts'
import type { Command, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import type { RunOnceDeps } from '../commands/run-once.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

export interface DocumentDeps extends RunOnceDeps {
  readonly ids: IdSource
  readonly downloads: DownloadReads
  /** Checks whether a transaction is the tenant's. */
  readonly transactions: { exists(tenant: Tenant, transactionId: string): Promise<boolean> }
}

/** The command of an upload, whose body is the form. */
export type Uploading = Pick<Command<null>, 'idempotency' | 'instance'>

/** Builds the view of a document. */
export const shownDocument = (record: DocumentRecord): Versioned<Document> => ({
  version: record.version,
  view: documentJson(record),
})

/** Builds the view of an attachment. */
export const shownAttachment = (record: DocumentRecord): Versioned<Attachment> => ({
  version: record.version,
  view: attachmentJson(record),
})

/** Returns the function that stores an arriving file for the tenant. */
export const keepUpload =
  ({ database, ids, clock }: Pick<DocumentDeps, 'database' | 'ids' | 'clock'>, tenantId: string) =>
  async ({ fileName, contentType, maxBytes, bytes }: ArrivingFile): Promise<StoredFile> =>
    await writeFile(database, bytes, { id: ids.next(), tenantId, fileName, contentType, maxBytes, now: clock.now() })

/** Writes the row of an uploaded file, and keeps the file with it. */
export async function registerFile(
  { client, ids, now }: ChangeTransaction,
  by: Caller,
  file: StoredFile,
  belongs: Pick<DocumentRecord, 'customerId' | 'transactionId' | 'purpose'>,
): Promise<DocumentRecord> {
  const record: DocumentRecord = {
    ...belongs,
    id: ids.next(),
    fileId: file.id,
    fileName: file.fileName,
    contentType: file.contentType,
    sizeBytes: file.sizeBytes,
    sha256: file.sha256,
    status: 'pending_scan',
    createdBy: by.principal.id,
    createdByName: by.principal.name,
    version: 1n,
    createdAt: now,
  }
  await keepFile(client, file.id, null)
  await insertDocument(client, { ...record, shard: await shardOfCustomer(client, record.customerId), scanDueAt: now })
  await recordFileChange({ client, ids, now }, by, record, 'uploaded')
  return record
}

/**
 * Makes a link to a file that was found clean.
 *
 * @throws ProblemError `document-not-ready`, `document-not-clean`
 */
export function linkToFile(downloads: Pick<DownloadReads, 'link'>, record: DocumentRecord): DownloadLink {
  if (record.status === 'pending_scan')
    refuse('document-not-ready', 'The file is still being checked.', { retryAfterSeconds: 1 })
  if (record.status !== 'clean')
    refuse('document-not-clean', 'The file has failed its scan.', { extra: { documentIds: [record.id] } })
  return downloads.link({ id: record.fileId, contentType: record.contentType, fileName: record.fileName })
}

/** Locks the row of a file until the transaction ends. @throws ProblemError `not-found`, `precondition-failed` */
export async function lockFile(
  { client }: ChangeTransaction,
  customerId: string,
  kind: 'document' | 'attachment',
  id: string,
  expected: number | bigint | null,
): Promise<DocumentRecord> {
  const record = (await findDocument(client, kind, customerId, id, true)) ?? refuseNotFound()
  checkVersion(record, expected)
  return record
}

/** Deletes the row of a file; the file itself is deleted later. */
export async function removeFile(tx: ChangeTransaction, by: Caller, record: DocumentRecord): Promise<void> {
  const { client, now } = tx
  await deleteDocument(client, record)
  await dropFile(client, record.fileId, now)
  await recordFileChange(tx, by, record, 'deleted')
}

async function recordFileChange(
  tx: ChangeTransaction,
  by: Caller,
  record: DocumentRecord,
  change: 'uploaded' | 'deleted',
): Promise<void> {
  const { id, fileName, contentType, sizeBytes, sha256, purpose, transactionId } = record
  const type = purpose === null ? 'attachment' : 'document'
  const state = { fileName, contentType, sizeBytes, sha256, ...(purpose === null ? { transactionId } : { purpose }) }
  await recordChange(tx, auditCaller(by), record.customerId, {
    action: `${type}.${change}`,
    object: { type, id },
    before: change === 'deleted' ? state : null,
    after: change === 'deleted' ? null : state,
  })
}
