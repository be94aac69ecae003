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
  type Section,
  type VersionRow,
} from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { Collection } from './collection-entity.ts'

export const EXTERNAL_IDS_OF_COLLECTIONS = externalIds('collection')

const COLUMNS = columns(Collection)

const MOVED = [
  'statusReason',
  'fileId',
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
  },
)

const COLLECTION_STALE = commandConflict('collection_stale')

/** Locks the collections that change, after their mandates, and compares their versions. */
export const COLLECTION_FENCES = {
  ...fence<VersionRow, ReturnType<typeof COLLECTION_STALE.of>>(
    COLLECTION_STALE,
    'collection_fence',
    { turn: 'integer', id: 'uuid', version: 'integer' },
    (source) => `${NO_DETAIL} from ${source} left join locked_collection l on l.id = u.id
  where l.version is distinct from u.version`,
  ),
  lock: {
    name: 'locked_collection',
    sql: (ids: string, after: readonly string[]) => `
  select c.id, c.version from collection c where c.id = any(${ids}) ${waitsFor(after)} order by c.id for update`,
  },
}
