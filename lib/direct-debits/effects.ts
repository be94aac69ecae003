/**
 * Rows of direct debits that a decision writes; see lib/decisions/effects.ts. Amounts are bigint minor units, times epoch
 * milliseconds; members in JSON are text.
 */
import type { CollectionRecord, CollectionStatus } from './collection.ts'
import type { ExposureChange } from './exposure.ts'
import type { MandateRecord, MandateStatus } from './mandate.ts'

type MandateJson = 'counterparty' | 'history' | 'pendingAmendment' | 'metadata'
type CollectionJson =
  | 'preNotification'
  | 'retry'
  | 'attempts'
  | 'rTransactions'
  | 'exception'
  | 'amendment'
  | 'reversal'
  | 'metadata'

/** A mandate as it is first written. When its reference is taken in its scheme, the commit refuses it. */
export interface MandateRow
  extends Omit<
    MandateRecord,
    | MandateJson
    | 'version'
    | 'termsVersion'
    | 'lastCollectionAt'
    | 'lastPresentedAt'
    | 'presentedCount'
    | 'pendingCount'
    | 'submittedCount'
    | 'cancelledAt'
    | 'endDueAt'
    | 'updatedAt'
  > {
  /** JSON text. */
  readonly counterparty: string
  readonly history: string
  readonly metadata: string | null
}

/** The columns that a move of a mandate writes. An absent member leaves its column as it is; null clears it. */
export interface MandateChange {
  readonly id: string
  /** The version that the decision was based on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: MandateStatus
  readonly updatedAt: number
  readonly termsVersion?: number
  readonly balanceId?: string
  readonly connectionId?: string
  readonly amountLimit?: bigint | null
  readonly noticeDays?: number | null
  readonly signedAt?: number | null
  readonly providerRef?: string | null
  readonly statusReason?: string | null
  readonly submittedAt?: number | null
  readonly activatedAt?: number | null
  readonly cancelledAt?: number | null
  readonly endDueAt?: number | null
  readonly lastCollectionAt?: number | null
  readonly lastPresentedAt?: number | null
  readonly presentedCount?: number
  readonly pendingCount?: number
  readonly submittedCount?: number
  readonly dueAt?: number | null
  /** JSON text. */
  readonly counterparty?: string
  readonly history?: string
  readonly pendingAmendment?: string | null
  readonly metadata?: string | null
}

/** A collection as it is first written; its externalId is checked as that of a payment is. */
export interface CollectionRow
  extends Omit<
    CollectionRecord,
    | CollectionJson
    | 'version'
    | 'statusReason'
    | 'fileId'
    | 'providerRef'
    | 'nextAttemptAt'
    | 'returnedAmount'
    | 'refundableUntil'
    | 'reserveHoldId'
    | 'reserveUntil'
    | 'exposedUntil'
    | 'submittedAt'
    | 'collectedAt'
    | 'returnedAt'
    | 'failedAt'
    | 'cancelledAt'
    | 'reversedAt'
    | 'reversalStatus'
    | 'reversalSentAt'
    | 'reversalRef'
    | 'updatedAt'
  > {
  /** JSON text. */
  readonly preNotification: string | null
  readonly retry: string | null
  readonly metadata: string | null
}

/** The columns that a move of a collection writes. An absent member leaves its column as it is; null clears it. */
export interface CollectionChange {
  readonly id: string
  /** The version that the decision was based on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: CollectionStatus
  readonly updatedAt: number
  readonly dueDate?: string
  readonly submissionDeadline?: number
  readonly sequenceType?: CollectionRecord['sequenceType']
  readonly statusReason?: string | null
  readonly fileId?: string | null
  readonly providerRef?: string | null
  readonly nextAttemptAt?: number | null
  readonly returnedAmount?: bigint
  readonly refundableUntil?: string | null
  readonly reserveHoldId?: string | null
  readonly reserveUntil?: number | null
  readonly exposedUntil?: number | null
  readonly submittedAt?: number | null
  readonly collectedAt?: number | null
  readonly returnedAt?: number | null
  readonly failedAt?: number | null
  readonly cancelledAt?: number | null
  readonly reversedAt?: number | null
  readonly reversalStatus?: CollectionRecord['reversalStatus']
  readonly reversalSentAt?: number | null
  readonly reversalRef?: string | null
  readonly dueAt?: number | null
  /** JSON text. */
  readonly preNotification?: string | null
  readonly attempts?: string
  readonly rTransactions?: string
  readonly exception?: string | null
  readonly amendment?: string | null
  readonly reversal?: string | null
  readonly metadata?: string | null
}

declare module '../decisions/effects.ts' {
  interface ObjectStatuses {
    readonly mandate: MandateStatus
    readonly collection: CollectionStatus
  }
  interface Effects {
    readonly mandates?: readonly MandateRow[]
    readonly mandateChanges?: readonly MandateChange[]
    readonly collections?: readonly CollectionRow[]
    readonly collectionChanges?: readonly CollectionChange[]
    readonly exposureChanges?: readonly ExposureChange[]
  }
}
