/**
 * The operations on documents and attachments for the HTTP layer. A file is stored as it arrives, before the
 * transaction that writes its row and its trail entry. When an error comes in between, the temporary file expires.
 */
import {
  ATTACHMENTS_MAX,
  attachmentJson,
  CONTENT_TYPES,
  DOCUMENT_TYPES,
  documentJson,
  KEY_PURPOSES,
  maxBytesOf,
  PURPOSES,
  typesOf,
  type DocumentPurpose,
  type DocumentRecord,
} from '../../lib/documents/document.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  countAttachment,
  deleteDocument,
  findDocument,
  insertDocument,
  isUsed,
  shardOfCustomer,
} from '../../storage/documents/documents.ts'
import { dropFile, keepFile, writeFile, type StoredFile } from '../../storage/documents/files.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { listAttachments, listDocuments, listTransactionAttachments } from '../../storage/documents/document-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { DownloadReads } from './downloads.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  Attachment,
  attachmentList,
  Document,
  documentList,
  transactionAttachmentList,
} from '../../lib/documents/document-schema.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import type { ArrivingFile, ReadUpload } from './uploads.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The reads. Null means: no such row in this tenant. */
export interface DocumentReads {
  list(query: ListQuery<typeof documentList>): Promise<ListResult<Document>>
  get(tenant: Tenant, id: string): Promise<Versioned<Document> | null>
  listAttachments(query: ListQuery<typeof attachmentList>): Promise<ListResult<Attachment>>
  listTransactionAttachments(
    query: ListQuery<typeof transactionAttachmentList> & { readonly transactionId: string },
  ): Promise<ListResult<Attachment> | null>
  getAttachment(tenant: Tenant, id: string): Promise<Versioned<Attachment> | null>
  /** Creates a link to a file that was found clean. @throws ProblemError `document-not-ready`, `document-not-clean` */
  download(kind: 'document' | 'attachment', tenant: Tenant, id: string): Promise<DownloadLink | null>
}

/** The writes. Every refusal is thrown as a problem. */
export interface DocumentCommands {
  upload(by: ByCaller, read: ReadUpload): Promise<Versioned<Document>>
  attach(by: ByCaller, transactionId: string, read: ReadUpload): Promise<Versioned<Attachment>>
  delete(by: ByCaller, id: string, expected: number | bigint | null): Promise<void>
  deleteAttachment(by: ByCaller, id: string, expected: number | bigint | null): Promise<void>
}

export interface DocumentDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly ids: IdSource
  readonly downloads: DownloadReads
  /** Checks whether a transaction is the tenant's. */
  readonly transactions: { exists(tenant: Tenant, transactionId: string): Promise<boolean> }
}

const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')
const shownDocument = (record: DocumentRecord): Versioned<Document> => ({
  version: record.version,
  view: documentJson(record),
})
const shownAttachment = (record: DocumentRecord): Versioned<Attachment> => ({
  version: record.version,
  view: attachmentJson(record),
})

export function createDocuments({ database, clock, ids, downloads, transactions }: DocumentDeps): {
  readonly reads: DocumentReads
  readonly commands: DocumentCommands
} {
  const db = readDatabase(database)

  const reads: DocumentReads = {
    list: (query) => listDocuments(db, query),
    async get(tenant, id) {
      const record = await findDocument(database.pool, 'document', tenant.id, id)
      return record === null ? null : shownDocument(record)
    },
    listAttachments: (query) => listAttachments(db, query),
    listTransactionAttachments: async (query) =>
      (await transactions.exists(query.tenant, query.transactionId))
        ? await listTransactionAttachments(db, query)
        : null,
    async getAttachment(tenant, id) {
      const record = await findDocument(database.pool, 'attachment', tenant.id, id)
      return record === null ? null : shownAttachment(record)
    },
    async download(kind, tenant, id) {
      const record = await findDocument(database.pool, kind, tenant.id, id)
      if (record === null) return null
      if (record.status === 'pending_scan')
        refuse('document-not-ready', 'The file is still being checked.', { retryAfterSeconds: 1 })
      if (record.status !== 'clean')
        refuse('document-not-clean', 'The file has failed its check.', { extra: { documentIds: [id] } })
      return downloads.link({ id: record.fileId, contentType: record.contentType, fileName: record.fileName })
    },
  }

  const keep =
    (tenantId: string) =>
    async ({ fileName, contentType, maxBytes, bytes }: ArrivingFile): Promise<StoredFile> =>
      await writeFile(database, bytes, { id: ids.next(), tenantId, fileName, contentType, maxBytes, now: clock.now() })

  /** Writes the row of an uploaded file, and keeps the file with it. */
  async function register(
    client: TransactionClient,
    by: ByCaller,
    file: StoredFile,
    belongs: Pick<DocumentRecord, 'transactionId' | 'purpose'>,
  ): Promise<DocumentRecord> {
    const now = clock.now()
    const record: DocumentRecord = {
      ...belongs,
      id: ids.next(),
      customerId: by.tenant.id,
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
    await trail(client, by, now, record, 'uploaded')
    return record
  }

  async function trail(
    client: TransactionClient,
    by: ByCaller,
    now: number,
    record: DocumentRecord,
    what: 'uploaded' | 'deleted',
  ): Promise<void> {
    const { id, fileName, contentType, sizeBytes, sha256, purpose, transactionId } = record
    const type = purpose === null ? 'attachment' : 'document'
    const state = { fileName, contentType, sizeBytes, sha256, ...(purpose === null ? { transactionId } : { purpose }) }
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: by.tenant.id,
      at: now,
      action: `${type}.${what}`,
      object: { type, id },
      before: what === 'deleted' ? state : null,
      after: what === 'deleted' ? null : state,
    })
  }

  async function lockedDocument(
    client: TransactionClient,
    by: ByCaller,
    kind: 'document' | 'attachment',
    id: string,
    expected: number | bigint | null,
  ): Promise<DocumentRecord> {
    const record = (await findDocument(client, kind, by.tenant.id, id, true)) ?? gone()
    if (expected !== null && BigInt(expected) !== record.version)
      refuse('precondition-failed', 'The resource has changed since it was read.')
    return record
  }

  async function remove(client: TransactionClient, by: ByCaller, record: DocumentRecord): Promise<void> {
    const now = clock.now()
    await deleteDocument(client, record.id)
    await dropFile(client, record.fileId, now)
    await trail(client, by, now, record, 'deleted')
  }

  const commands: DocumentCommands = {
    async upload(by, read) {
      // The purpose may follow the file, so the widest terms apply until it is known.
      const {
        file,
        fields: { purpose },
      } = await read({ maxBytes: maxBytesOf('kyb'), types: CONTENT_TYPES, fields: ['purpose'] }, keep(by.tenant.id))
      checkPurpose(purpose, by)
      if (file.sizeBytes > maxBytesOf(purpose))
        refuse('payload-too-large', `The file may have at most ${maxBytesOf(purpose)} bytes.`, {
          extra: { maxBytes: maxBytesOf(purpose) },
        })
      if (!(typesOf(purpose) as readonly string[]).includes(file.contentType))
        refuseField('/file', 'invalid_type', `A file for ${purpose} must be one of ${DOCUMENT_TYPES.join(', ')}.`)
      return shownDocument(
        await inTransaction(database, (client) => register(client, by, file, { transactionId: null, purpose })),
      )
    },
    async attach(by, transactionId, read) {
      if (!(await transactions.exists(by.tenant, transactionId))) gone()
      const { file } = await read(
        { maxBytes: maxBytesOf('transaction_attachment'), types: CONTENT_TYPES, fields: [] },
        keep(by.tenant.id),
      )
      return shownAttachment(
        await inTransaction(database, async (client) => {
          const count = (await countAttachment(client, by.tenant.id, transactionId, 1)) ?? gone()
          if (count > ATTACHMENTS_MAX)
            refuse('limit-reached', `A transaction may have at most ${ATTACHMENTS_MAX} attachments.`, {
              extra: { limit: ATTACHMENTS_MAX, resource: 'attachment' },
            })
          return await register(client, by, file, { transactionId, purpose: null })
        }),
      )
    },
    async delete(by, id, expected) {
      await inTransaction(database, async (client) => {
        const record = await lockedDocument(client, by, 'document', id, expected)
        if (await isUsed(client, id))
          refuse('invalid-transition', 'Something refers to the document.', {
            extra: { currentStatus: record.status, allowed: [] },
          })
        await remove(client, by, record)
      })
    },
    async deleteAttachment(by, id, expected) {
      await inTransaction(database, async (client) => {
        // Lock order: the transaction before the file, as when a file is attached.
        const found = (await findDocument(client, 'attachment', by.tenant.id, id)) ?? gone()
        await countAttachment(client, by.tenant.id, found.transactionId as string, -1)
        await remove(client, by, await lockedDocument(client, by, 'attachment', id, expected))
      })
    },
  }
  return { reads, commands }
}

/** Checks the purpose of a document. @throws ProblemError `validation-error`, `insufficient-scope` */
function checkPurpose(purpose: string | undefined, { principal }: ByCaller): asserts purpose is DocumentPurpose {
  if (purpose === undefined) refuseField('/purpose', 'required', 'Is required.')
  if (!(PURPOSES as readonly string[]).includes(purpose))
    refuseField('/purpose', 'invalid_value', `Must be one of ${PURPOSES.join(', ')}.`)
  if (principal.kind === 'key' && !KEY_PURPOSES.has(purpose as DocumentPurpose)) {
    refuse('insufficient-scope', `Keys upload documents for ${[...KEY_PURPOSES].join(', ')} alone.`)
  }
}
