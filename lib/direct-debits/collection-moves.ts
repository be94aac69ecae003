/**
 * The moves of a collection (C2 to C10), as one table, and what each of them changes in the row. Money and events follow
 * in collection-money.ts. Pure: times are epoch milliseconds, amounts minor units.
 *
 *   none ─create─▶ pending ─submit─▶ submitted ─collect─▶ collected ─return─▶ returned
 *                    ├─ cancel ─▶ cancelled  ├─ fail ─▶ failed     ▲ ▲  └─ reverse ─▶ reversed ─confirm─▶ reversed
 *                    └─ (its mandate fails) ─▶ failed              │ └────── refuse ─────┘
 *                                            │                     └──reinstate── returned
 *                                            └─ doubt ─▶ exception ─ collect, fail, return ─▶ as above
 *   failed, returned (for lack of funds) ─retry─▶ pending
 */
import { timestamp } from '../base/clock.ts'
import { transitionProblem, type Problem } from '../base/problems.ts'
import {
  missingOf,
  returnableOf,
  type CollectionAttempt,
  type CollectionRecord,
  type CollectionStatus,
  type PreNotification,
  type RTransaction,
} from './collection.ts'
import { exposedUntil } from './exposure.ts'
import { reversalEnded, reversed, type ReverseMove } from './reversal.ts'
import type { RTransactionType } from './reason-codes.ts'
import { collectionReason } from './schemes.ts'

export type CollectionMove =
  | { readonly kind: 'cancel'; readonly reason: string | null }
  /** `fileId` null: the bank was called. */
  | { readonly kind: 'submit'; readonly fileId: string | null; readonly providerRef: string | null }
  /** Refused before the settlement. `retryAt`: when it is presented again; null: it is not. */
  | {
      readonly kind: 'fail'
      readonly reasonCode: string | null
      readonly rType: RTransactionType
      readonly retryAt: number | null
    }
  | { readonly kind: 'collect'; readonly providerRef: string | null; readonly refundableUntil: string | null }
  /**
   * Came back after the settlement. `amount` may exceed that of the collection (compensation). `fee` (L53) is charged to
   * the customer; 0: none. `retryAt` as above.
   */
  | {
      readonly kind: 'return'
      readonly reasonCode: string | null
      readonly rType: RTransactionType
      readonly amount: bigint
      readonly fee: bigint
      readonly retryAt: number | null
      readonly challengeUntil: string | null
    }
  /** Returned money came again: `amount` of it. */
  | { readonly kind: 'reinstate'; readonly amount: bigint; readonly refundableUntil: string | null }
  | ReverseMove
  /** The bank has sent the money back to the payer. */
  | { readonly kind: 'confirm_reversal' }
  /** The bank does not send the money back: the customer has it again. */
  | { readonly kind: 'refuse_reversal'; readonly reasonCode: string | null }
  | { readonly kind: 'doubt'; readonly why: 'timeout' | 'unclear' }
  /** Waits to be presented again, on new dates. */
  | { readonly kind: 'retry'; readonly dueDate: string; readonly submissionDeadline: number; readonly sendBy: string }
  /** The payer was told of the amount and the date. `sentAt` is epoch milliseconds. */
  | { readonly kind: 'notify'; readonly channel: PreNotification['channel']; readonly sentAt: number }
  /** The reserve ends: the customer can use the money. */
  | { readonly kind: 'release_reserve' }
  /** The payer can have the money back no longer. */
  | { readonly kind: 'end_exposure' }

export type CollectionMoveKind = CollectionMove['kind']

interface CollectionMoveRow {
  /** The row of the contract's table. */
  readonly row: string
  readonly from: readonly CollectionStatus[]
  readonly to: CollectionStatus
  readonly message: string
}

export const COLLECTION_MOVES: Readonly<Record<CollectionMoveKind, CollectionMoveRow>> = {
  cancel: { row: 'C2, C4', from: ['pending'], to: 'cancelled', message: 'Collection cancelled.' },
  submit: { row: 'C3', from: ['pending'], to: 'submitted', message: 'Collection submitted.' },
  fail: { row: 'C5, C10', from: ['submitted', 'exception'], to: 'failed', message: 'Collection failed.' },
  collect: { row: 'C6, C10', from: ['submitted', 'exception'], to: 'collected', message: 'Collection collected.' },
  return: { row: 'C7, C10', from: ['collected', 'exception'], to: 'returned', message: 'Collection returned.' },
  reinstate: { row: 'C7', from: ['returned'], to: 'collected', message: 'Returned money collected again.' },
  reverse: { row: 'C8', from: ['collected'], to: 'reversed', message: 'Collection sent back to the payer.' },
  confirm_reversal: { row: 'C8', from: ['reversed'], to: 'reversed', message: 'The bank has sent the money back.' },
  refuse_reversal: { row: 'C8', from: ['reversed'], to: 'collected', message: 'The bank has refused the reversal.' },
  doubt: { row: 'C9', from: ['submitted'], to: 'exception', message: 'The bank has not told the outcome.' },
  retry: { row: 'C3', from: ['failed', 'returned'], to: 'pending', message: 'Collection waits to be presented again.' },
  notify: { row: 'C1', from: ['pending'], to: 'pending', message: 'The payer was told of the collection.' },
  release_reserve: { row: 'C6', from: ['collected'], to: 'collected', message: 'The reserve has ended.' },
  end_exposure: { row: 'C6', from: ['collected'], to: 'collected', message: 'The time for a refund is over.' },
}

export type CollectionMoved = { readonly collection: CollectionRecord } | { readonly refused: Problem }

/**
 * Whether the table has a row for a move. A collection is presented again only while `nextAttemptAt` says so, and a
 * reversal ends once.
 */
export function collectionMoves(collection: CollectionRecord, kind: CollectionMoveKind): boolean {
  if (!COLLECTION_MOVES[kind].from.includes(collection.status)) return false
  if (kind === 'retry') return collection.nextAttemptAt !== null
  return (kind !== 'confirm_reversal' && kind !== 'refuse_reversal') || collection.reversalStatus === 'pending'
}

/** Decides one move. */
export function moveCollection(collection: CollectionRecord, move: CollectionMove, now: number): CollectionMoved {
  if (!collectionMoves(collection, move.kind)) return { refused: collectionRefusal(collection, move.kind) }
  const same: CollectionRecord = {
    ...collection,
    status: COLLECTION_MOVES[move.kind].to,
    version: collection.version + 1,
    statusReason: null,
    updatedAt: now,
  }
  switch (move.kind) {
    case 'cancel':
      return { collection: { ...same, statusReason: move.reason, cancelledAt: now, dueAt: null } }
    case 'submit':
      return { collection: submitted(collection, same, move, now) }
    case 'fail':
      return { collection: failed(same, move, now) }
    case 'collect':
      return {
        collection: {
          ...same,
          providerRef: move.providerRef ?? collection.providerRef,
          refundableUntil: move.refundableUntil,
          exposedUntil: exposedUntil(collection, move.refundableUntil),
          // What came back before a presentation that now succeeds is made up for.
          returnedAmount: 0n,
          collectedAt: now,
          exception: null,
          dueAt: null,
          attempts: ended(collection.attempts, 'collected', null),
        },
      }
    case 'return':
      return { collection: returned(collection, same, move, now) }
    case 'reinstate':
      return { collection: reinstated(collection, same, move, now) }
    case 'reverse':
      return { collection: reversed(collection, same, move, now) }
    case 'confirm_reversal':
      return { collection: reversalEnded(collection, same, { refusalCode: null, isConfirmed: true }, now) }
    case 'refuse_reversal':
      return { collection: reversalEnded(collection, same, { refusalCode: move.reasonCode, isConfirmed: false }, now) }
    case 'doubt':
      return {
        collection: {
          ...same,
          dueAt: null,
          exception: { ...DOUBTS[move.why], since: timestamp(now) },
        },
      }
    case 'retry':
      return {
        collection: {
          ...same,
          dueDate: move.dueDate,
          submissionDeadline: move.submissionDeadline,
          nextAttemptAt: null,
          // The next presentation has a file, or a reference of its bank, of its own.
          fileId: null,
          providerRef: null,
          preNotification: asked(collection.preNotification, move),
        },
      }
    case 'notify':
    case 'release_reserve':
    case 'end_exposure':
      return { collection: quietly(collection, same, move) }
    default:
      return move satisfies never
  }
}

/** Makes a move after which the status stays, with its reason. */
function quietly(
  { statusReason, preNotification }: CollectionRecord,
  same: CollectionRecord,
  move: Extract<CollectionMove, { kind: 'notify' | 'release_reserve' | 'end_exposure' }>,
): CollectionRecord {
  const next = { ...same, statusReason }
  if (move.kind === 'notify') return { ...next, preNotification: sent(preNotification, move) }
  if (move.kind === 'end_exposure') return { ...next, exposedUntil: null }
  return { ...next, reserveHoldId: null, reserveUntil: null }
}

const DOUBTS = {
  timeout: { kind: 'provider_timeout', message: 'The bank did not answer in time.' },
  unclear: { kind: 'provider_state_unknown', message: 'The bank cannot say what became of it.' },
} as const

/** Fails a collection that never left, because its mandate failed. */
export function failedWithMandate(collection: CollectionRecord, reason: string, now: number): CollectionRecord {
  return {
    ...collection,
    status: 'failed',
    version: collection.version + 1,
    statusReason: reason,
    failedAt: now,
    dueAt: null,
    updatedAt: now,
  }
}

/** Builds the 409 of a move that the present state does not allow. */
export function collectionRefusal({ status }: Pick<CollectionRecord, 'status'>, kind: CollectionMoveKind): Problem {
  return kind === 'cancel'
    ? { slug: 'not-cancellable', detail: `The collection is ${status}.`, extra: { currentStatus: status } }
    : transitionProblem(`The collection is ${status}.`, status, COLLECTION_MOVES[kind].from)
}

function submitted(
  before: CollectionRecord,
  same: CollectionRecord,
  { fileId, providerRef }: Extract<CollectionMove, { kind: 'submit' }>,
  now: number,
): CollectionRecord {
  const attempt: CollectionAttempt = {
    number: before.attempts.length + 1,
    dueDate: before.dueDate,
    submittedAt: timestamp(now),
    outcome: 'submitted',
    reasonCode: null,
  }
  return {
    ...same,
    fileId,
    providerRef: providerRef ?? before.providerRef,
    submittedAt: now,
    dueAt: null,
    attempts: [...before.attempts, attempt],
  }
}

function failed(
  same: CollectionRecord,
  { reasonCode, rType, retryAt }: Extract<CollectionMove, { kind: 'fail' }>,
  now: number,
): CollectionRecord {
  return {
    ...same,
    statusReason: reasonCode,
    failedAt: now,
    exception: null,
    nextAttemptAt: retryAt,
    dueAt: retryAt,
    rTransactions: [...same.rTransactions, told(same, rType, reasonCode, now)],
    attempts: ended(same.attempts, 'failed', reasonCode),
  }
}

function returned(
  before: CollectionRecord,
  same: CollectionRecord,
  { reasonCode, rType, amount, fee, retryAt, challengeUntil }: Extract<CollectionMove, { kind: 'return' }>,
  now: number,
): CollectionRecord {
  const there = returnableOf(before)
  // A part that stays is collected already, so the whole is not presented again.
  const nextAttemptAt = amount < there ? null : retryAt
  return {
    ...same,
    statusReason: reasonCode,
    // From an exception it was collected, and came back, at once.
    collectedAt: before.collectedAt ?? now,
    returnedAt: now,
    returnedAmount: before.amount - there + amount,
    exposedUntil: null,
    reserveHoldId: null,
    reserveUntil: null,
    exception: null,
    nextAttemptAt,
    dueAt: nextAttemptAt,
    rTransactions: [
      ...before.rTransactions,
      told(before, rType, reasonCode, now, {
        amountMinor: String(amount),
        ...(fee > 0n ? { feeMinor: String(fee) } : {}),
        ...(challengeUntil === null ? {} : { challengeUntil }),
      }),
    ],
    attempts: ended(before.attempts, 'returned', reasonCode),
  }
}

/** Describes an R-transaction. */
function told(
  { scheme }: Pick<CollectionRecord, 'scheme'>,
  type: RTransactionType,
  reasonCode: string | null,
  now: number,
  more: Pick<RTransaction, 'amountMinor' | 'feeMinor' | 'challengeUntil'> = {},
): RTransaction {
  const known =
    reasonCode === null
      ? undefined
      : (collectionReason(scheme, reasonCode, type) ?? collectionReason(scheme, reasonCode))
  return { type, reasonCode, reason: known?.text ?? 'Reason not told', at: timestamp(now), ...more }
}

/** Collects returned money again. */
function reinstated(
  collection: CollectionRecord,
  same: CollectionRecord,
  move: Extract<CollectionMove, { kind: 'reinstate' }>,
  now: number,
): CollectionRecord {
  return {
    ...same,
    // Money that the bank took beyond the amount was never the customer's, and stays in the list of R-transactions.
    returnedAmount: missingOf(collection) - move.amount,
    refundableUntil: move.refundableUntil,
    exposedUntil: exposedUntil(collection, move.refundableUntil),
    collectedAt: now,
    nextAttemptAt: null,
    rTransactions: [
      ...collection.rTransactions,
      {
        type: 'reinstatement',
        reasonCode: null,
        reason: 'Reinstated',
        at: timestamp(now),
        amountMinor: String(move.amount),
      },
    ],
    attempts: ended(collection.attempts, 'collected', null),
  }
}

/** Ends the last presentation. */
const ended = (
  attempts: readonly CollectionAttempt[],
  outcome: CollectionAttempt['outcome'],
  reasonCode: string | null,
): readonly CollectionAttempt[] =>
  attempts.map((attempt, index) => (index < attempts.length - 1 ? attempt : { ...attempt, outcome, reasonCode }))

/** Marks a notice as sent. */
const sent = (
  notice: PreNotification | null,
  { channel, sentAt }: Extract<CollectionMove, { kind: 'notify' }>,
): PreNotification | null => (notice === null ? null : { ...notice, channel, sentAt: timestamp(sentAt) })

/** A notice of another date has to be sent again. */
const asked = (
  notice: PreNotification | null,
  { dueDate, sendBy }: Extract<CollectionMove, { kind: 'retry' }>,
): PreNotification | null =>
  notice === null || notice.dueDate === dueDate ? notice : { ...notice, dueDate, sendBy, sentAt: null }
