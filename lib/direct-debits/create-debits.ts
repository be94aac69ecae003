/**
 * The decisions that make mandates and collections, and the change of a mandate by people. Pure. The checks are in the
 * order of precedence that the API promises: body, state, limits.
 */
import { timestamp } from '../base/clock.ts'
import { formatMajor } from '../base/money.ts'
import { transitionProblem, type FieldError, type Problem } from '../base/problems.ts'
import type { Recorded } from '../balances/decision.ts'
import { together } from '../decisions/merge.ts'
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { collectionJson } from './collection-view.ts'
import type { CollectionRecord } from './collection.ts'
import {
  collectionEvent,
  collectionRow,
  collectionUpdate,
  mandateChange,
  mandateEvent,
  mandateRow,
  mandateUpdate,
  type DebitRowContext,
} from './debit-rows.ts'
import { invalidDebit, refuseDebit, type DebitDecision } from './debit-decision.ts'
import { isOpenMandate, type MandateCounterparty, type MandateRecord } from './mandate.ts'
import { MANDATE_MOVES, moveMandate, needsNoLodging } from './mandate-moves.ts'
import { mandateJson } from './mandate-view.ts'
import type { Period } from './dates.ts'
import { exposureChanges } from './exposure.ts'
import { timedCollection, timedMandate } from './timers.ts'
import type { SequenceType } from './schemes.ts'

/** Most pending collections of one mandate: a daily collection for two years. */
export const PENDING_MAX = 750

/** Makes a mandate. */
export interface CreateMandate extends Recorded {
  readonly kind: 'create_mandate'
  readonly mandate: MandateRecord
  /** The notice that payers of its collections get. */
  readonly notice: Period
  /** Found by a commit: the reference is taken. */
  readonly refusal: Problem | null
  /** Whether its bank is given each mandate by an order, and tells when it is active; absent: it is not. */
  readonly isOrdered?: boolean
  readonly context: DebitRowContext
}

/** Decides the creation of a mandate. A signed one that needs no lodging is active at once. */
export function createMandate(existing: MandateRecord | null, command: CreateMandate, now: number): DebitDecision {
  if (existing !== null) throw new Error(`The mandate ${existing.id} exists.`)
  const { mandate: wanted, notice, refusal, key, context } = command
  if (refusal !== null) return refuseDebit(null, command, refusal, now)
  const pending: MandateRecord = {
    ...wanted,
    history: [{ status: 'pending', at: timestamp(now), reason: null }],
    createdAt: now,
    updatedAt: now,
  }
  const isSigned = pending.signedAt !== null && needsNoLodging(pending) && command.isOrdered !== true
  const active = isSigned
    ? moveMandate(pending, { kind: 'sign', signedAt: pending.signedAt ?? now }, now)
    : { mandate: pending }
  if ('refused' in active) throw new Error(`A new mandate is not signed: ${active.refused.detail}`)
  const mandate = timedMandate({ ...active.mandate, version: 1 })
  return {
    state: mandate,
    reply: { kind: 'moved', mandate, collection: null },
    effects: together(
      {
        mandates: [mandateRow(mandate)],
        statusUpdates: [
          mandateUpdate(mandate, null, isSigned ? 'Mandate made and active.' : 'Mandate made.', context.by, now),
        ],
        events: [mandateEvent(mandate, null, context.ids, now)],
        ...(mandate.documentId === null
          ? {}
          : { documentUses: [{ documentId: mandate.documentId, object: 'mandate', objectId: mandate.id }] }),
      },
      outcomeRecord(
        key,
        201,
        { type: 'mandate', id: mandate.id },
        key === null ? null : JSON.stringify(mandateJson(mandate, { nextCollectionDate: null, notice, now })),
        now,
      ),
    ),
  }
}

/** A change of a mandate by people. Absent members stay. */
export interface MandatePatch {
  readonly metadata?: Readonly<Record<string, string>>
  readonly amountLimit?: bigint | null
  readonly balance?: { readonly id: string; readonly connectionId: string }
  readonly noticeDays?: number | null
  /** `email` null: the customer tells the payer from now on. */
  readonly counterparty?: Partial<Pick<MandateCounterparty, 'name' | 'address'>> & { readonly email?: string | null }
  readonly signedAt?: number
}

export interface PatchMandate extends Partial<Recorded> {
  readonly kind: 'patch_mandate'
  readonly patch: MandatePatch
  /** The version of the ETag that the client has seen. */
  readonly termsVersion: number
  readonly context: DebitRowContext
}

/** Decides a change of a mandate; a signature may make it active. */
export function patchMandate(mandate: MandateRecord | null, command: PatchMandate, now: number): DebitDecision {
  if (mandate === null) return { state: null, reply: { kind: 'ignored', status: null }, effects: null, refused: true }
  const { patch, context, termsVersion } = command
  if (mandate.termsVersion !== termsVersion)
    return refuseDebit(
      mandate,
      command,
      { slug: 'precondition-failed', detail: 'The mandate has changed since it was read.' },
      now,
    )
  if (!isOpenMandate(mandate) && Object.keys(patch).some((member) => member !== 'metadata'))
    return refuseDebit(
      mandate,
      command,
      transitionProblem(`The mandate is ${mandate.status}.`, mandate.status, MANDATE_MOVES.cancel.from),
      now,
    )
  if (patch.signedAt !== undefined && mandate.status !== 'pending')
    return refuseDebit(
      mandate,
      command,
      transitionProblem(`The mandate is ${mandate.status}.`, mandate.status, ['pending']),
      now,
    )
  const { balance, counterparty, ...plain } = patch
  const changed: MandateRecord = {
    ...mandate,
    ...plain,
    ...(balance === undefined ? {} : { balanceId: balance.id, connectionId: balance.connectionId }),
    ...(counterparty === undefined ? {} : { counterparty: patchedCounterparty(mandate.counterparty, counterparty) }),
    termsVersion: mandate.termsVersion + 1,
    version: mandate.version + 1,
    updatedAt: now,
  }
  const { signedAt } = patch
  const moved =
    signedAt !== undefined && needsNoLodging(mandate)
      ? moveMandate({ ...changed, version: mandate.version }, { kind: 'sign', signedAt }, now)
      : { mandate: changed }
  if ('refused' in moved) return refuseDebit(mandate, command, moved.refused, now)
  const next = timedMandate(moved.mandate)
  const hasMoved = next.status !== mandate.status
  return {
    state: next,
    reply: { kind: 'moved', mandate: next, collection: null },
    effects: {
      mandateChanges: [mandateChange(mandate, next)],
      statusUpdates: [
        mandateUpdate(
          next,
          mandate.status,
          hasMoved ? MANDATE_MOVES.sign.message : 'Mandate changed.',
          context.by,
          now,
        ),
      ],
      events: hasMoved ? [mandateEvent(next, mandate.status, context.ids, now)] : [],
    },
  }
}

function patchedCounterparty(
  { email: former, ...before }: MandateCounterparty,
  { email = former ?? null, ...change }: NonNullable<MandatePatch['counterparty']>,
): MandateCounterparty {
  return { ...before, ...change, ...(email === null ? {} : { email }) }
}

/** Makes a collection. Its sequence is decided here, of the collections that the mandate has had. */
export interface CreateCollection extends Recorded {
  readonly kind: 'create_collection'
  readonly customerId: string
  readonly collection: Omit<CollectionRecord, 'sequenceType'>
  /** A fault of the due date, by the calendar of the scheme as the use case found it. */
  readonly fault: FieldError | null
  /** Found by a commit or by a limit: the externalId is taken, the exposure is used up. */
  readonly refusal: Problem | null
  /** The largest exposure of the customer, minor units; null or absent: no limit. */
  readonly maxExposure?: bigint | null
  readonly context: DebitRowContext
}

/** Returns the sequence of a mandate's next collection. */
export function nextSequence({
  sequenceType,
  presentedCount,
}: Pick<MandateRecord, 'sequenceType' | 'presentedCount'>): SequenceType {
  if (sequenceType === 'one_off' || sequenceType === 'final') return sequenceType
  return presentedCount === 0 ? 'first' : 'recurring'
}

/** Decides the creation of a collection. */
export function createCollection(mandate: MandateRecord | null, command: CreateCollection, now: number): DebitDecision {
  const { collection: wanted, customerId, fault, refusal, key, context, maxExposure = null } = command
  if (mandate === null || mandate.customerId !== customerId)
    return invalidDebit(mandate, { field: '/mandateId', code: 'not_found', message: 'No such mandate.' })
  const error = faultOf(mandate, wanted) ?? fault
  if (error !== null) return invalidDebit(mandate, error)
  const problem = problemOf(mandate) ?? refusal
  if (problem !== null) return refuseDebit(mandate, command, problem, now)
  const collection = timedCollection({
    ...wanted,
    balanceId: mandate.balanceId,
    connectionId: mandate.connectionId,
    sequenceType: nextSequence(mandate),
    createdAt: now,
    updatedAt: now,
  })
  const next: MandateRecord = {
    ...mandate,
    version: mandate.version + 1,
    pendingCount: mandate.pendingCount + 1,
    presentedCount: mandate.presentedCount + 1,
    updatedAt: now,
  }
  return {
    state: next,
    reply: { kind: 'moved', mandate: next, collection },
    effects: together(
      {
        collections: [collectionRow(collection)],
        mandateChanges: [mandateChange(mandate, next)],
        statusUpdates: [collectionUpdate(collection, null, 'Collection made.', context.by, now)],
        events: [collectionEvent(collection, null, context.ids, now)],
        ...exposureChanges(null, collection, maxExposure),
      },
      outcomeRecord(
        key,
        201,
        { type: 'collection', id: collection.id },
        key === null ? null : JSON.stringify(collectionJson(collection)),
        now,
      ),
    ),
  }
}

/** Finds what of a collection does not fit its mandate. */
function faultOf(mandate: MandateRecord, { amount, currency }: Pick<CollectionRecord, 'amount' | 'currency'>) {
  const { direction, amountLimit } = mandate
  if (direction !== 'collect')
    return {
      field: '/mandateId',
      code: 'not_applicable' as const,
      message: 'The counterparty collects by this mandate.',
    }
  if (currency !== mandate.currency)
    return {
      field: '/amount/currency',
      code: 'currency_mismatch' as const,
      message: `The mandate is in ${mandate.currency}.`,
    }
  if (amountLimit !== null && amount > amountLimit)
    return {
      field: '/amount/amountMinor',
      code: 'too_large' as const,
      message: `The mandate allows ${formatMajor(amountLimit, mandate.currency)} ${mandate.currency} at most.`,
      params: { max: String(amountLimit) },
    }
  return null
}

/** Finds the state of a mandate that takes no collection. */
function problemOf({ status, sequenceType, presentedCount, pendingCount }: MandateRecord): Problem | null {
  if (status !== 'active' && status !== 'pending' && status !== 'submitted')
    return transitionProblem(`The mandate is ${status}.`, status, ['pending', 'submitted', 'active'])
  if (sequenceType === 'one_off' && presentedCount > 0)
    return transitionProblem('The mandate is for one collection, which it has.', status, [])
  if (pendingCount >= PENDING_MAX)
    return {
      slug: 'limit-reached',
      detail: `A mandate has ${PENDING_MAX} pending collections at most.`,
      extra: { limit: PENDING_MAX, resource: 'collection' },
    }
  return null
}
