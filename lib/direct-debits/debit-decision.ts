/**
 * The decisions of a mandate: about itself, and about its collections. Pure.
 *
 * The state is the mandate alone; a command about a collection carries it as its use case read it. The commit compares
 * the versions of both. Each move of a collection changes the mandate too (its counts decide the next sequence, and
 * whether it can be cancelled), so a decision that ends a mandate cannot miss a collection that was made meanwhile.
 */
import { problemBody, problemStatus } from '../base/problem-document.ts'
import type { FieldError, Problem } from '../base/problems.ts'
import type { Recorded, Refused } from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import { together } from '../decisions/merge.ts'
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { intoSuspense } from '../incoming-payments/suspense.ts'
import type { DirectDebitMessageType } from '../providers/messages.ts'
import { collectionRefusal, failedWithMandate, moveCollection, type CollectionMove } from './collection-moves.ts'
import { MANDATE_CANCELLED, MANDATE_FAILED, type CollectionRecord } from './collection.ts'
import { collectionJson } from './collection-view.ts'
import { moneyOf, withCashOfCollection, type DebitContext } from './collection-money.ts'
import { mandateChange, mandateEvent, mandateUpdate, movedRows, type DebitRowContext } from './debit-rows.ts'
import { isOpenMandate, type MandateRecord } from './mandate.ts'
import { timedCollection, timedMandate } from './timers.ts'
import { amendmentAfter, MANDATE_MOVES, moveMandate, pendingAfter, type MandateMove } from './mandate-moves.ts'
import { mandateJson } from './mandate-view.ts'
import type { Period } from './dates.ts'
import { collectionReason } from './schemes.ts'

/** The message of a bank that asks for a move; it is recorded with the move, once under its id. */
export interface DebitEvent {
  readonly id: string
  readonly type: DirectDebitMessageType
  readonly connectionId: string
  readonly code: string | null
}

/** Moves a mandate. `pending` are its pending collections, where the move ends it; else empty. */
export interface MoveMandate extends Partial<Recorded> {
  readonly kind: 'move_mandate'
  readonly move: MandateMove
  readonly pending: readonly CollectionRecord[]
  readonly event: DebitEvent | null
  /** Replaces the message of the table in the update log. */
  readonly message?: string
  /** The notice of the mandate's scheme, for the answer that is recorded under a key. */
  readonly notice?: Period
  readonly context: DebitRowContext
}

/** Moves a collection. `pending` are the other pending collections of its mandate, where the move may end the mandate. */
export interface MoveCollection extends Partial<Recorded> {
  readonly kind: 'move_collection'
  readonly collection: CollectionRecord
  readonly move: CollectionMove
  readonly pending: readonly CollectionRecord[]
  readonly event: DebitEvent | null
  readonly context: DebitContext
  /** The id of the suspense item; given only when the balance accepts no money any more. */
  readonly suspenseId?: string
}

export type DebitReply =
  | {
      readonly kind: 'moved'
      readonly mandate: MandateRecord
      /** The collection that was moved or made; null: the mandate alone. */
      readonly collection: CollectionRecord | null
    }
  /** The command's collections do not fit the mandate any more: read again. */
  | { readonly kind: 'stale' }
  /** The message fits no row of the tables. */
  | { readonly kind: 'ignored'; readonly status: string | null }
  | Refused

export interface DebitDecision {
  readonly state: MandateRecord | null
  readonly reply: DebitReply
  readonly effects: Effects | null
  readonly refused?: boolean
}

/** Refuses a command, and records the refusal under its key. */
export function refuseDebit(
  mandate: MandateRecord | null,
  { key, problemRequest }: Partial<Recorded>,
  problem: Problem,
  now: number,
): DebitDecision {
  if (key === undefined || key === null || problemRequest === undefined)
    return { state: mandate, reply: { kind: 'refused', problem, body: null }, effects: null, refused: true }
  const body = problemBody(problem, problemRequest)
  return {
    state: mandate,
    reply: { kind: 'refused', problem, body },
    effects: outcomeRecord(key, problemStatus(problem), null, body, now),
    refused: true,
  }
}

/** Refuses a command because of a field, and records nothing: the client corrects the field under the same key. */
export function invalidDebit(mandate: MandateRecord | null, error: FieldError): DebitDecision {
  return {
    state: mandate,
    reply: {
      kind: 'refused',
      problem: { slug: 'validation-error', detail: error.message, errors: [error] },
      body: null,
    },
    effects: null,
    refused: true,
  }
}

const ignored = (state: MandateRecord | null, status: string | null): DebitDecision => ({
  state,
  reply: { kind: 'ignored', status },
  effects: null,
  refused: true,
})

const stale = (state: MandateRecord): DebitDecision => ({
  state,
  reply: { kind: 'stale' },
  effects: null,
  refused: true,
})

/** Decides a move of a mandate. A refused move of a message is `ignored`: it is kept, and changes nothing. */
export function decideMandate(mandate: MandateRecord | null, command: MoveMandate, now: number): DebitDecision {
  if (mandate === null) return ignored(null, null)
  const { move, event, context } = command
  const made = moveMandate(mandate, move, now)
  if ('refused' in made)
    return event === null ? refuseDebit(mandate, command, made.refused, now) : ignored(mandate, mandate.status)
  const ends = endOfPending(made.mandate, MANDATE_MOVES[move.kind].pending, command, now)
  if (ends === null) return stale(mandate)
  const next = timedMandate(ends.mandate)
  const effects = together(
    together(ends.effects, {
      mandateChanges: [mandateChange(mandate, next)],
      statusUpdates: [
        mandateUpdate(next, mandate.status, command.message ?? MANDATE_MOVES[move.kind].message, context.by, now),
      ],
      events: next.status === mandate.status ? [] : [mandateEvent(next, mandate.status, context.ids, now)],
      ...received(event, mandate.id, now),
    }),
    outcomeRecord(
      command.key ?? null,
      200,
      { type: 'mandate', id: mandate.id },
      answerOfMandate(command, next, now),
      now,
    ),
  )
  return { state: next, reply: { kind: 'moved', mandate: next, collection: null }, effects }
}

const answerOfMandate = ({ key, notice }: MoveMandate, mandate: MandateRecord, now: number): string | null =>
  key === undefined || key === null
    ? null
    : JSON.stringify(mandateJson(mandate, { nextCollectionDate: null, notice: notice ?? null, now }))

/**
 * Ends the pending collections of a mandate that ends.
 *
 * @returns null when the command does not carry all of them
 */
function endOfPending(
  after: MandateRecord,
  pending: 'go on' | 'cancelled' | 'failed',
  { pending: collections, context }: Pick<MoveMandate, 'pending' | 'context'>,
  now: number,
): { readonly mandate: MandateRecord; readonly effects: Effects } | null {
  if (pending === 'go on') return { mandate: after, effects: {} }
  if (collections.length !== after.pendingCount || collections.some(({ status }) => status !== 'pending')) return null
  let effects: Effects = {}
  for (const collection of collections) {
    const ended =
      pending === 'failed'
        ? { collection: failedWithMandate(collection, MANDATE_FAILED, now) }
        : moveCollection(collection, { kind: 'cancel', reason: MANDATE_CANCELLED }, now)
    if ('refused' in ended) return null
    const message = pending === 'failed' ? 'Its mandate failed.' : 'Its mandate ended.'
    effects = together(effects, movedRows(collection, ended.collection, message, { ...context, by: 'system' }, now))
  }
  const mandate = {
    ...after,
    pendingCount: 0,
    presentedCount: after.presentedCount - collections.length,
    dueAt: isOpenMandate(after) ? after.dueAt : null,
  }
  return { mandate, effects }
}

/** Decides a move of a collection, with what follows for its mandate. */
export function decideCollection(mandate: MandateRecord | null, command: MoveCollection, now: number): DebitDecision {
  if (mandate === null || command.collection.mandateId !== mandate.id) return ignored(mandate, null)
  const { collection: before, move, event, context } = command
  // What is sent has a mandate that allows it at that moment.
  const isBlocked = (move.kind === 'submit' || move.kind === 'retry') && mandate.status !== 'active'
  const made = isBlocked ? { refused: collectionRefusal(before, move.kind) } : moveCollection(before, move, now)
  if ('refused' in made)
    return event === null ? refuseDebit(mandate, command, made.refused, now) : ignored(mandate, before.status)
  const presented = { ...made.collection, amendment: amendmentAfter(mandate, before, move) }
  const { name: counterparty } = mandate.counterparty
  const money = moneyOf(before, presented, move, { ...reserveOf(command), counterparty }, now)
  const after = timedCollection(money.collection)
  const follows = mandateAfter(mandate, after, command, now)
  if (follows === null) return stale(mandate)
  const rows = together(
    movedRows(before, after, MESSAGES[move.kind], context, now),
    together(money.effects, received(event, before.id, now)),
  )
  const settled = command.suspenseId === undefined ? rows : inSuspense(rows, command, command.suspenseId, now)
  const effects = together(
    together(withCashOfCollection(settled, before, context, now), follows.effects),
    outcomeRecord(command.key ?? null, 200, { type: 'collection', id: before.id }, answerOf(command, after), now),
  )
  return {
    state: follows.mandate,
    reply: { kind: 'moved', mandate: follows.mandate, collection: after },
    effects,
  }
}

const answerOf = ({ key }: MoveCollection, collection: CollectionRecord): string | null =>
  key === undefined || key === null ? null : JSON.stringify(collectionJson(collection))

/** Money that goes to suspense is no reserve of a balance. */
const reserveOf = ({ context, suspenseId }: MoveCollection): DebitContext =>
  suspenseId === undefined ? context : { ...context, reserveUntil: null }

const MESSAGES: Readonly<Record<CollectionMove['kind'], string>> = {
  cancel: 'Collection cancelled.',
  submit: 'Collection submitted.',
  fail: 'Collection failed.',
  collect: 'Collection collected.',
  return: 'Collection returned.',
  reinstate: 'Returned money collected again.',
  reverse: 'Collection sent back to the payer.',
  confirm_reversal: 'The bank has sent the money back.',
  refuse_reversal: 'The bank has refused the reversal.',
  doubt: 'The bank has not told the outcome.',
  retry: 'Collection waits to be presented again.',
  notify: 'The payer was told of the collection.',
  release_reserve: 'The reserve has ended.',
  end_exposure: 'The time for a refund is over.',
}

/** Puts collected money into suspense, where it waits for its owner. */
function inSuspense(rows: Effects, { collection, context }: MoveCollection, id: string, now: number): Effects {
  const { operatorId, connectionId, shard, id: originId, number } = collection
  return intoSuspense(
    rows,
    {
      id,
      operatorId,
      connectionId,
      shard,
      originId,
      payerName: null,
      reference: `Collection ${number}`,
      rail: null,
      valueDate: context.valueDate,
      receivedAt: now,
    },
    context.accounts,
  )
}

/** The change of the mandate's counts with a move of one of its collections. */
const COUNTS: Readonly<
  Record<CollectionMove['kind'], { readonly pending: number; readonly submitted: number; readonly presented: number }>
> = {
  cancel: { pending: -1, submitted: 0, presented: -1 },
  submit: { pending: -1, submitted: 1, presented: 0 },
  fail: { pending: 0, submitted: -1, presented: -1 },
  collect: { pending: 0, submitted: -1, presented: 0 },
  return: { pending: 0, submitted: 0, presented: 0 },
  reinstate: { pending: 0, submitted: 0, presented: 0 },
  reverse: { pending: 0, submitted: 0, presented: 0 },
  confirm_reversal: { pending: 0, submitted: 0, presented: 0 },
  refuse_reversal: { pending: 0, submitted: 0, presented: 0 },
  doubt: { pending: 0, submitted: 0, presented: 0 },
  retry: { pending: 1, submitted: 0, presented: 0 },
  notify: { pending: 0, submitted: 0, presented: 0 },
  release_reserve: { pending: 0, submitted: 0, presented: 0 },
  end_exposure: { pending: 0, submitted: 0, presented: 0 },
}

/** The change of the counts; a failed collection that is presented again goes on to count as presented. */
function countsOf({ collection: { status }, move }: Pick<MoveCollection, 'collection' | 'move'>) {
  const counts = COUNTS[move.kind]
  if (move.kind === 'return' && status === 'exception') return { ...counts, submitted: -1 }
  if (move.kind === 'retry' && status === 'failed') return { ...counts, presented: 1 }
  return counts
}

/**
 * Decides what a move of a collection changes in its mandate: its counts, its last collection, and its end, when the one
 * collection of a mandate was collected (M11), or when the reason of a return ends the mandate (M8).
 *
 * @returns null when the command does not carry all pending collections of a mandate that ends
 */
function mandateAfter(
  before: MandateRecord,
  after: CollectionRecord,
  command: MoveCollection,
  now: number,
): { readonly mandate: MandateRecord; readonly effects: Effects } | null {
  const { move, context } = command
  const counts = countsOf(command)
  const counted: MandateRecord = {
    ...before,
    pendingCount: before.pendingCount + counts.pending,
    submittedCount: before.submittedCount + counts.submitted,
    presentedCount: before.presentedCount + counts.presented,
    pendingAmendment: pendingAfter(before, command.collection, move),
    ...(move.kind === 'submit' ? { lastPresentedAt: now } : {}),
    ...(move.kind === 'collect' || move.kind === 'reinstate' ? { lastCollectionAt: now } : {}),
    updatedAt: now,
  }
  const end = endOfMandate(before, after, move)
  const moved = end === null ? null : moveMandate(counted, end, now)
  // A mandate that has ended meanwhile, or is suspended, stays as it is.
  if (end === null || moved === null || 'refused' in moved) {
    const mandate = timedMandate({ ...counted, version: before.version + 1 })
    return { mandate, effects: { mandateChanges: [mandateChange(before, mandate)] } }
  }
  const row = MANDATE_MOVES[end.kind]
  const ends = endOfPending(moved.mandate, row.pending, command, now)
  if (ends === null) return null
  const mandate = timedMandate(ends.mandate)
  return {
    mandate,
    effects: together(ends.effects, {
      mandateChanges: [mandateChange(before, mandate)],
      statusUpdates: [mandateUpdate(mandate, before.status, row.message, context.by, now)],
      events: [mandateEvent(mandate, before.status, context.ids, now)],
    }),
  }
}

/** The move that ends the mandate with a move of its collection; null: it goes on. */
export function endOfMandate(
  { sequenceType, scheme }: Pick<MandateRecord, 'sequenceType' | 'scheme'>,
  { statusReason }: Pick<CollectionRecord, 'statusReason'>,
  move: CollectionMove,
): MandateMove | null {
  switch (move.kind) {
    case 'collect':
      return sequenceType === 'one_off' ? { kind: 'consume' } : null
    case 'fail':
    case 'return':
      return move.reasonCode !== null && collectionReason(scheme, move.reasonCode, move.rType)?.endsMandate === true
        ? { kind: 'payer_cancel', reason: statusReason }
        : null
    default:
      return null
  }
}

/** Records the message of a bank. */
function received(event: DebitEvent | null, objectId: string, now: number): Effects {
  return event === null
    ? {}
    : {
        providerEvents: [
          {
            id: event.id,
            connectionId: event.connectionId,
            type: event.type,
            objectId,
            code: event.code,
            receivedAt: now,
          },
        ],
      }
}
