/** The sections of the commit statement for collections. */
import type { CollectionChange, CollectionRow } from '../../lib/direct-debits/effects.ts'
import type { Columns } from '../commit/columns.ts'
import {
  changed,
  commandConflict,
  externalIds,
  fence,
  gathered,
  insertInto,
  moves,
  NO_DETAIL,
  waitsFor,
  type Changeable,
  type CommandRef,
  type Section,
  versionFence,
} from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { Collection } from './collection-entity.ts'

export const EXTERNAL_IDS_OF_COLLECTIONS = externalIds('collection')

const COLUMNS = columns(Collection)

const MOVED = [
  'statusReason',
  'fileId',
  'amendment',
  'providerRef',
  'attempts',
  'nextAttemptAt',
  'rTransactions',
  'returnedAmount',
  'refundableUntil',
  'reserveHoldId',
  'reserveUntil',
  'exposedUntil',
  'exception',
  'submittedAt',
  'collectedAt',
  'returnedAt',
  'failedAt',
  'cancelledAt',
  'reversedAt',
  'reversal',
  'reversalStatus',
  'reversalSentAt',
  'reversalRef',
] as const

export const COLLECTIONS: Section<CollectionRow> = gathered(
  'collections',
  insertInto(Collection, without(COLUMNS, [...MOVED, 'version', 'updatedAt']) satisfies Columns<CollectionRow>, {
    version: '1',
    updated_at: 'u.created_at',
  }),
  (collection, batch) => {
    batch.add(COLLECTIONS, collection)
    const { externalId, customerId } = collection
    if (externalId !== null) batch.add(EXTERNAL_IDS_OF_COLLECTIONS, { command: batch.nth, externalId, customerId })
  },
)

const CHANGEABLE = pick(COLUMNS, [
  'dueDate',
  'submissionDeadline',
  'sequenceType',
  ...MOVED,
  'dueAt',
  'preNotification',
  'metadata',
]) satisfies Changeable<CollectionChange>

export const COLLECTION_CHANGES: Section<CollectionChange> = gathered(
  'collectionChanges',
  moves<CollectionChange>(
    'collection_changed',
    CHANGEABLE,
    (source, bound) => `collection_changed_written as (
  update collection c set status = u.status, version = c.version + 1, updated_at = u.updated_at, ${changed(CHANGEABLE, 'c')}
  from ${source} where c.id = u.id and c.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (change, batch) => {
    batch.add(COLLECTION_CHANGES, change)
    batch.change(COLLECTION_FENCES, change.id, change.version)
    const { fileId } = change
    if (fileId !== undefined && fileId !== null) batch.add(COLLECTION_FILE_FENCES, { command: batch.nth, id: fileId })
  },
)

const COLLECTION_STALE = commandConflict('collection_stale')

/** Locks the collections that change, after their mandates, and compares their versions. */
export const COLLECTION_FENCES = versionFence(COLLECTION_STALE, 'collection', 'c')

const FILE_WRITTEN = commandConflict('collection_file_written')

/**
 * Finds collections that join a file which is written already: a node that was slow must not add to it. The file is
 * locked until the end of the commit, so that it is not written meanwhile.
 */
export const COLLECTION_FILE_FENCES = {
  ...fence<CommandRef, ReturnType<typeof FILE_WRITTEN.of>>(
    FILE_WRITTEN,
    'collection_file_fence',
    { command: 'integer', id: 'uuid' },
    (source) => `${NO_DETAIL} from ${source} left join locked_collection_file l on l.id = u.id
  where l.status is distinct from 'gathering'`,
  ),
  lock: {
    name: 'locked_collection_file',
    sql: (ids: string, after: readonly string[]) => `
  select f.id, f.status from collection_file f where f.id = any(${ids}) ${waitsFor(after)} order by f.id for share`,
  },
}
