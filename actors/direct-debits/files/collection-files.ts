/** The operations on files of direct debits: staff list them, and download them to give them to the bank. */
import { timestamp } from '../../../lib/base/clock.ts'
import { moneyJson } from '../../../lib/base/money.ts'
import { refuseNotFound } from '../../../lib/base/problems.ts'
import type { Tenant } from '../../../lib/commands/caller.ts'
import type { Versioned } from '../../../lib/commands/command.ts'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { ListQuery, ListResult } from '../../../lib/contract/list.ts'
import {
  collectionFileName,
  moveCollectionFile,
  type CollectionFileRecord,
} from '../../../lib/direct-debits/files/collection-file.ts'
import type { CollectionFile, collectionFileList } from '../../../lib/direct-debits/files/collection-file-schema.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type { Database } from '../../../storage/db/database.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import {
  findCollectionFile,
  listCollectionFiles,
  lockCollectionFile,
  setFileStatus,
} from '../../../storage/direct-debits/files/collection-files.ts'
import { findFile } from '../../../storage/documents/files.ts'
import { recordChange, runChange, type ChangeDeps } from '../../commands/changes.ts'
import { auditCaller } from '../../commands/trail.ts'
import type { DownloadReads } from '../../documents/downloads.ts'

export interface CollectionFileReads {
  list(query: ListQuery<typeof collectionFileList>): Promise<ListResult<CollectionFile>>
  /** Null when the operator has no such file. */
  get(tenant: Tenant, id: string): Promise<Versioned<CollectionFile> | null>
  /** Makes a link to the bytes, and notes that the file was fetched. @throws ProblemError `not-found` */
  download(by: Caller, id: string): Promise<DownloadLink>
}

export interface CollectionFileDeps extends ChangeDeps {
  readonly database: Database
  readonly downloads: DownloadReads
}

/** Creates the operations. */
export function createCollectionFiles(deps: CollectionFileDeps): CollectionFileReads {
  const { database } = deps
  const db = readDatabase(database)
  return {
    async list(query) {
      const { rows, ...page } = await listCollectionFiles(db, query)
      return { ...page, rows: rows.map(fileView) }
    },
    async get(tenant, id) {
      const file = await fileOf(database, tenant, id)
      return file === null ? null : { version: 1, view: fileView(file) }
    },
    download: (by, id) => download(deps, by, id),
  }
}

async function fileOf(database: Database, tenant: Tenant, id: string): Promise<CollectionFileRecord | null> {
  const file = await findCollectionFile(database, id)
  return file === null || file.operatorId !== tenant.id || file.status === 'gathering' ? null : file
}

async function download(deps: CollectionFileDeps, by: Caller, id: string): Promise<DownloadLink> {
  const { database, downloads, clock } = deps
  const file = (await fileOf(database, by.tenant, id)) ?? refuseNotFound()
  const stored = await findFile(database, file.storedFileId ?? id, clock.now())
  if (stored === null) refuseNotFound()
  await runChange(deps, async (tx) => {
    const { status } = (await lockCollectionFile(tx.client, id)) ?? refuseNotFound()
    const to = moveCollectionFile(status, 'downloaded') ?? status
    await setFileStatus(tx.client, { id, from: status, to, now: tx.now })
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: 'collection_file.downloaded',
      object: { type: 'collection_file', id },
      before: { status },
      after: { status: to },
    })
  })
  return downloads.link(stored)
}

/** Renders a file that is written. */
function fileView(file: CollectionFileRecord): CollectionFile {
  const { id, connectionId, kind, scheme, messageId, creditorId, settlementDate, sequenceType, count, currency } = file
  const { controlSum, sha256, status, createdAt, generatedAt, downloadedAt } = file
  return {
    id,
    connectionId,
    kind,
    scheme,
    messageId,
    creditorId,
    settlementDate,
    sequenceType,
    count,
    controlSum: moneyJson({ amountMinor: controlSum, currency }),
    sha256: sha256 ?? '',
    status: status as CollectionFile['status'],
    fileName: collectionFileName(file),
    createdAt: timestamp(createdAt),
    generatedAt: timestamp(generatedAt ?? createdAt),
    downloadedAt: downloadedAt === null ? null : timestamp(downloadedAt),
  }
}
