/** The rows of mandates and collections: new ones, their changes, updates and events. Pure: times are epoch milliseconds. */
import type { Effects, OutboxEvent, StatusUpdate } from '../decisions/effects.ts'
import { timestamp } from '../base/clock.ts'
import type { EventDetails } from '../webhooks/envelope.ts'
import type { IdSource } from '../base/ids.ts'
import type { CollectionRecord, CollectionStatus } from './collection.ts'
import type { CollectionChange, CollectionRow, MandateChange, MandateRow } from './effects.ts'
import { exposureChanges } from './exposure.ts'
import type { MandateRecord, MandateStatus } from './mandate.ts'

/** The source of ids, and who moves. */
export interface DebitRowContext {
  readonly ids: IdSource
  readonly by: StatusUpdate['actor']
}

// ── Mandates
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Builds the row of a new mandate. */
export function mandateRow(mandate: MandateRecord): MandateRow {
  const {
    version: _version,
    termsVersion: _terms,
    lastCollectionAt: _last,
    lastPresentedAt: _presented,
    presentedCount: _count,
    pendingCount: _pending,
    submittedCount: _submitted,
    cancelledAt: _cancelled,
    endDueAt: _end,
    updatedAt: _updated,
    pendingAmendment: _amendment,
    ...row
  } = mandate
  return {
    ...row,
    counterparty: JSON.stringify(mandate.counterparty),
    history: JSON.stringify(mandate.history),
    metadata: metadataText(mandate.metadata),
  }
}

const metadataText = (metadata: Readonly<Record<string, string>>): string | null =>
  Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata)

const PLAIN_OF_MANDATE = [
  'termsVersion',
  'balanceId',
  'connectionId',
  'amountLimit',
  'noticeDays',
  'signedAt',
  'providerRef',
  'statusReason',
  'submittedAt',
  'activatedAt',
  'cancelledAt',
  'endDueAt',
  'lastCollectionAt',
  'lastPresentedAt',
  'presentedCount',
  'pendingCount',
  'submittedCount',
  'dueAt',
] as const satisfies readonly (keyof MandateChange & keyof MandateRecord)[]

/** Builds the change that turns one state of a mandate into the next; `before` carries the version that it rests on. */
export function mandateChange(before: MandateRecord, after: MandateRecord): MandateChange {
  const changed = Object.fromEntries(
    PLAIN_OF_MANDATE.filter((field) => before[field] !== after[field]).map((field) => [field, after[field]]),
  )
  return {
    id: before.id,
    version: before.version,
    status: after.status,
    updatedAt: after.updatedAt,
    ...changed,
    ...(before.counterparty === after.counterparty ? {} : { counterparty: JSON.stringify(after.counterparty) }),
    ...(before.history === after.history ? {} : { history: JSON.stringify(after.history) }),
    ...(before.pendingAmendment === after.pendingAmendment
      ? {}
      : { pendingAmendment: after.pendingAmendment === null ? null : JSON.stringify(after.pendingAmendment) }),
    ...(before.metadata === after.metadata ? {} : { metadata: metadataText(after.metadata) }),
  }
}

/** Builds the update of a mandate's status. */
export function mandateUpdate(
  mandate: MandateRecord,
  previousStatus: MandateStatus | null,
  message: string,
  actor: StatusUpdate['actor'],
  at: number,
): StatusUpdate {
  const { id: objectId, version, customerId, status } = mandate
  return { objectId, version, customerId, status, previousStatus, message, actor, at }
}

/** Builds the event of a mandate's status. */
export function mandateEvent(
  mandate: MandateRecord,
  previousStatus: MandateStatus | null,
  ids: IdSource,
  now: number,
): OutboxEvent {
  const { customerId, operatorId, shard, id: objectId, status } = mandate
  return {
    id: ids.next(),
    createdAt: now,
    customerId,
    operatorId,
    shard,
    type: 'mandate.status_changed',
    object: 'mandate',
    objectId,
    status,
    previousStatus,
    amount: null,
    currency: null,
  }
}

// ── Collections
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Builds the row of a new collection. */
export function collectionRow(collection: CollectionRecord): CollectionRow {
  const { id, customerId, operatorId, connectionId, shard, number, externalId, mandateId, balanceId } = collection
  const { scheme, currency, amount, status, dueDate, submissionDeadline, sequenceType, reference } = collection
  const { endToEndId, dueAt, createdBy, createdVia, createdAt, preNotification, retry, metadata } = collection
  return {
    id,
    customerId,
    operatorId,
    connectionId,
    shard,
    number,
    externalId,
    mandateId,
    balanceId,
    scheme,
    currency,
    amount,
    status,
    dueDate,
    submissionDeadline,
    sequenceType,
    reference,
    endToEndId,
    dueAt,
    createdBy,
    createdVia,
    createdAt,
    preNotification: preNotification === null ? null : JSON.stringify(preNotification),
    retry: retry === null ? null : JSON.stringify(retry),
    metadata: metadataText(metadata),
  }
}

const PLAIN_OF_COLLECTION = [
  'dueDate',
  'submissionDeadline',
  'sequenceType',
  'statusReason',
  'fileId',
  'providerRef',
  'nextAttemptAt',
  'returnedAmount',
  'refundableUntil',
  'reserveHoldId',
  'reserveUntil',
  'exposedUntil',
  'submittedAt',
  'collectedAt',
  'returnedAt',
  'failedAt',
  'cancelledAt',
  'reversedAt',
  'reversalStatus',
  'reversalSentAt',
  'reversalRef',
  'dueAt',
] as const satisfies readonly (keyof CollectionChange & keyof CollectionRecord)[]

const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

/** Builds the change that turns one state of a collection into the next. */
export function collectionChange(before: CollectionRecord, after: CollectionRecord): CollectionChange {
  const changed = Object.fromEntries(
    PLAIN_OF_COLLECTION.filter((field) => before[field] !== after[field]).map((field) => [field, after[field]]),
  )
  return {
    id: before.id,
    version: before.version,
    status: after.status,
    updatedAt: after.updatedAt,
    ...changed,
    ...(before.preNotification === after.preNotification ? {} : { preNotification: jsonOrNull(after.preNotification) }),
    ...(before.attempts === after.attempts ? {} : { attempts: JSON.stringify(after.attempts) }),
    ...(before.rTransactions === after.rTransactions ? {} : { rTransactions: JSON.stringify(after.rTransactions) }),
    ...(before.exception === after.exception ? {} : { exception: jsonOrNull(after.exception) }),
    ...(before.amendment === after.amendment ? {} : { amendment: jsonOrNull(after.amendment) }),
    ...(before.reversal === after.reversal ? {} : { reversal: jsonOrNull(after.reversal) }),
    ...(before.metadata === after.metadata ? {} : { metadata: metadataText(after.metadata) }),
  }
}

/** Builds the update of a collection's status. */
export function collectionUpdate(
  collection: CollectionRecord,
  previousStatus: CollectionStatus | null,
  message: string,
  actor: StatusUpdate['actor'],
  at: number,
): StatusUpdate {
  const { id: objectId, version, customerId, status } = collection
  return { objectId, version, customerId, status, previousStatus, message, actor, at }
}

/** Builds the event of a collection's status. */
export function collectionEvent(
  collection: CollectionRecord,
  previousStatus: CollectionStatus | null,
  ids: IdSource,
  now: number,
): OutboxEvent {
  const { customerId, operatorId, shard, id: objectId, status, amount, currency, nextAttemptAt } = collection
  const details: Required<EventDetails> = {
    late: status === 'returned',
    willRetry: nextAttemptAt !== null,
    nextAttemptAt: nextAttemptAt === null ? null : timestamp(nextAttemptAt),
  }
  return {
    id: ids.next(),
    createdAt: now,
    customerId,
    operatorId,
    shard,
    type: 'collection.status_changed',
    object: 'collection',
    objectId,
    status,
    previousStatus,
    amount,
    currency,
    details: JSON.stringify(details),
  }
}

/** The rows of one move of a collection, without its money. */
export function movedRows(
  before: CollectionRecord,
  after: CollectionRecord,
  message: string,
  { ids, by }: DebitRowContext,
  now: number,
): Effects {
  return {
    collectionChanges: [collectionChange(before, after)],
    statusUpdates: [collectionUpdate(after, before.status, message, by, now)],
    events: after.status === before.status ? [] : [collectionEvent(after, before.status, ids, now)],
    ...exposureChanges(before, after),
  }
}
