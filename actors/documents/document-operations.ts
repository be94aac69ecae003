/** The reads and commands of documents and attachments. */
import { refuseTransition } from '../../lib/base/problems.ts'
import { DOCUMENT_STATUSES, type DocumentRecord } from '../../lib/documents/document.ts'
import { findDocument, isOfCase, isUsed } from '../../storage/documents/documents.ts'
import { listAttachments, listDocuments, listTransactionAttachments } from '../../storage/documents/document-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  Attachment,
  attachmentList,
  Document,
  documentList,
  transactionAttachmentList,
} from '../../lib/documents/document-schema.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import type { ReadUpload } from './uploads.ts'
import type { CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { runChange } from '../commands/changes.ts'
import {
  removeFile,
  shownAttachment,
  shownDocument,
  linkToFile,
  lockFile,
  type DocumentDeps,
  type Uploading,
} from './stored-documents.ts'
import { attachFile, deleteAttachment } from './attach-file.ts'
import { uploadDocument } from './upload-document.ts'

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
  upload(by: Caller, command: Uploading, read: ReadUpload): Promise<CommandAnswer<Document, 201>>
  attach(
    by: Caller,
    transactionId: string,
    command: Uploading,
    read: ReadUpload,
  ): Promise<CommandAnswer<Attachment, 201>>
  delete(by: Caller, id: string, expected: number | bigint | null): Promise<void>
  deleteAttachment(by: Caller, id: string, expected: number | bigint | null): Promise<void>
}

/** Creates the reads and commands of documents and attachments. */
export function createDocuments(deps: DocumentDeps): {
  readonly reads: DocumentReads
  readonly commands: DocumentCommands
} {
  return {
    reads: createReads(deps),
    commands: {
      upload: (by, command, read) => uploadDocument(deps, by, command, read),
      attach: (by, transactionId, command, read) => attachFile(deps, by, transactionId, command, read),
      delete: (by, id, expected) => removeDocument(deps, by, id, expected),
      deleteAttachment: (by, id, expected) => deleteAttachment(deps, by, id, expected),
    },
  }
}

function createReads({ database, downloads, transactions }: DocumentDeps): DocumentReads {
  const db = readDatabase(database)
  /** Documents of a KYB case are read as parts of the case. */
  async function readable(kind: 'document' | 'attachment', tenant: Tenant, id: string): Promise<DocumentRecord | null> {
    const record = await findDocument(database.pool, kind, tenant.id, id)
    return record === null || (await isOfCase(database.pool, id)) ? null : record
  }
  return {
    list: (query) => listDocuments(db, query),
    async get(tenant, id) {
      const record = await readable('document', tenant, id)
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
      const record = await readable(kind, tenant, id)
      return record === null ? null : linkToFile(downloads, record)
    },
  }
}

/**
 * Deletes a document, unless another resource refers to it.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `invalid-transition`
 */
async function removeDocument(
  deps: DocumentDeps,
  by: Caller,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  await runChange(deps, async (tx) => {
    const { client } = tx
    const record = await lockFile(tx, by.tenant.id, 'document', id, expected)
    if (await isUsed(client, id))
      refuseTransition(
        'Something refers to the document.',
        record.status,
        DOCUMENT_STATUSES.filter((status) => status !== 'deleted'),
      )
    await removeFile(tx, by, record)
  })
}
