/**
 * Effects: the plain rows that a decision writes, named as in the schema. A decision returns them, the committer
 * gathers those of many decisions into one SQL statement (storage/commit/commit.ts), and no other code writes these
 * tables.
 *
 * Amounts are bigint minor units; times are epoch milliseconds of the clock that was passed in.
 */
import type { EventObject, EventType } from '../base/event-types.ts'
import type { ResourceType } from '../base/resource-types.ts'
import type { Posting } from '../ledger/posting.ts'

export interface HoldRow {
  readonly id: string
  readonly balanceId: string
  readonly customerId: string
  readonly amount: bigint
  readonly subjectType: HoldSubjectType
  readonly subjectId: string
  readonly description: string
  readonly createdAt: number
}

/** Ends a hold: the balance's held amount falls by `amount`, whichever part of it was captured. */
export interface HoldResolution {
  readonly id: string
  readonly balanceId: string
  readonly amount: bigint
  readonly status: 'captured' | 'released' | 'expired'
  readonly capturedAmount: bigint | null
  readonly resolvedAt: number
}

/** The kinds of objects that holds are placed for. */
export const HOLD_SUBJECT_TYPES = [
  'payment',
  'payment_review',
  'exchange',
  'forward_deposit',
  'card_authorisation',
  'collection_reserve',
  'recall',
  'legal_order',
  'manual',
  'transfer',
] as const
export type HoldSubjectType = (typeof HOLD_SUBJECT_TYPES)[number]

/** The statuses of the objects that have a history, by object; each noun adds its own in its `effects.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: the nouns add its members.
export interface ObjectStatuses {}
export type ObjectStatus = ObjectStatuses[keyof ObjectStatuses]

export interface StatusUpdate {
  readonly objectId: string
  readonly version: number
  readonly customerId: string
  readonly status: ObjectStatus
  readonly previousStatus: ObjectStatus | null
  readonly message: string
  readonly actor: 'system' | 'member' | 'partner'
  readonly at: number
}

export interface OutboxEvent {
  readonly id: string
  readonly createdAt: number
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly type: EventType
  readonly object: EventObject
  readonly objectId: string
  /**
   * The object's status after the event, or the kind of its change. Free text, because a simulated event may show any.
   */
  readonly status: string | null
  readonly previousStatus: string | null
  readonly amount: bigint | null
  readonly currency: string | null
  /** More members of the payload, as JSON text of an object; absent: none. */
  readonly details?: string | null
}

export interface IdempotencyRow {
  readonly id: string
  readonly fingerprint: string
  readonly status: number
  /** The resource that the command made or changed; null for both members where there is none. */
  readonly resourceType: ResourceType | null
  readonly resourceId: string | null
  readonly answer: string | null
  readonly createdAt: number
}

/**
 * All rows that one decision writes. Absent members write nothing. The amounts of a balance follow from the rows:
 * postings change the posted amount, holds and their resolutions change the held amount, and there is no other way to
 * change either.
 *
 * The members here are those that every kind of decision may write. Each noun adds its own in its `effects.ts`
 * (`declare module`), beside the types of its rows, so that the engine knows no noun.
 */
export interface Effects {
  readonly postings?: readonly Posting[]
  readonly holds?: readonly HoldRow[]
  readonly holdResolutions?: readonly HoldResolution[]
  readonly statusUpdates?: readonly StatusUpdate[]
  readonly events?: readonly OutboxEvent[]
  readonly idempotency?: IdempotencyRow
  /**
   * Balances that a later decision will credit: they must be open and of this currency. A credit made by this decision
   * is fenced by its own posting.
   */
  readonly credits?: readonly { readonly balanceId: string; readonly currency: string }[]
  /**
   * Balances that money leaves without their own decision, on a hold: the commit refuses the decision while one of them
   * is frozen, or its customer does not pay (`debit_refused`). What a balance owes is debited without this fence.
   */
  readonly debits?: readonly { readonly balanceId: string }[]
  /**
   * Balances whose connection the decision rests on: a balance that has moved to another connection since it was read
   * makes the decision stale (`fact_stale`).
   */
  readonly places?: readonly { readonly balanceId: string; readonly connectionId: string }[]
}
