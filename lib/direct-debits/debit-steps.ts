/**
 * The moves that a message asks for. A message may come before the one that it follows from (a credit before the bank has
 * confirmed the file); it proves that the other happened, so the moves in between are made first. Pure.
 */
import type { CollectionMove } from './collection-moves.ts'
import { missingOf, returnableOf, type CollectionRecord } from './collection.ts'
import { endOfPeriod } from './dates.ts'
import type { CollectionMessage, MandateMessage } from './debit-messages.ts'
import { needsNoLodging, type MandateMove } from './mandate-moves.ts'
import type { MandateRecord } from './mandate.ts'
import { DEBIT_SCHEMES, rTypeOf } from './schemes.ts'

/** Returns the moves of a mandate, in their order; empty where the message only informs. */
export function mandateSteps(
  mandate: Pick<MandateRecord, 'status' | 'management' | 'scheme'>,
  { type, reasonCode: reason, providerRef, signedAt = null, amendment }: MandateMessage,
  now: number,
): readonly MandateMove[] {
  const { status } = mandate
  switch (type) {
    case 'mandate.submitted':
      return [{ kind: 'lodge', providerRef }]
    case 'mandate.active':
      if (status === 'suspended') return [{ kind: 'reinstate', reason }]
      if (status === 'pending' && needsNoLodging(mandate)) return [{ kind: 'sign', signedAt: signedAt ?? now }]
      return [
        ...(status === 'pending' ? [{ kind: 'lodge', providerRef } as const] : []),
        { kind: 'activate', providerRef, signedAt },
      ]
    case 'mandate.failed':
      return [{ kind: 'fail', reason }]
    case 'mandate.cancelled':
      // Before it was active, its cancellation by the payer is a refusal.
      return [{ kind: status === 'pending' || status === 'submitted' ? 'fail' : 'payer_cancel', reason }]
    case 'mandate.suspended':
      return [{ kind: 'suspend', reason }]
    case 'mandate.reinstated':
      return [{ kind: 'reinstate', reason }]
    case 'mandate.expired':
      return [{ kind: 'expire' }]
    case 'mandate.amended':
      return amendment === undefined ? [] : [{ kind: 'amend', counterparty: amendment, reason }]
    default:
      return type satisfies never
  }
}

/** The fee of a return, and when a collection is presented again. */
export interface ReturnTerms {
  /** The fee that the customer pays for a return, minor units. */
  readonly fee: bigint
  /** When it is presented again, epoch milliseconds; null: it is not. */
  readonly retryAt: number | null
  readonly challengeUntil: string | null
}

/** Returns until when collected money can be refunded, `YYYY-MM-DD`; null: without end. */
export function refundableUntilOf(
  { scheme, dueDate }: Pick<CollectionRecord, 'scheme' | 'dueDate'>,
  { counterparty }: Pick<MandateRecord, 'counterparty'>,
): string | null {
  const window = DEBIT_SCHEMES[scheme].refundable[counterparty.kind]
  return window === 'unlimited' ? null : endOfPeriod(DEBIT_SCHEMES[scheme], dueDate, window)
}

/** Returns the moves of a collection, in their order. */
export function collectionSteps(
  collection: CollectionRecord,
  mandate: Pick<MandateRecord, 'counterparty'>,
  { type, reasonCode, rType, amount, providerRef, fileId = null }: CollectionMessage,
  { fee, retryAt, challengeUntil }: ReturnTerms,
): readonly CollectionMove[] {
  const { status, scheme } = collection
  const submit: CollectionMove = { kind: 'submit', fileId, providerRef }
  const before = status === 'pending' ? [submit] : []
  const collect: Extract<CollectionMove, { kind: 'collect' }> = {
    kind: 'collect',
    providerRef,
    refundableUntil: refundableUntilOf(collection, mandate),
  }
  switch (type) {
    case 'collection.submitted':
      return [submit]
    case 'collection.rejected':
      return [...before, { kind: 'fail', reasonCode, rType: rType ?? rTypeOf(scheme, reasonCode, false), retryAt }]
    case 'collection.collected':
      return [...before, collect]
    case 'collection.returned':
      return [
        ...before,
        ...(status === 'pending' || status === 'submitted' ? [collect] : []),
        {
          kind: 'return',
          reasonCode,
          rType: rType ?? rTypeOf(scheme, reasonCode, true),
          amount: amount ?? returnableOf(collection),
          fee,
          retryAt,
          challengeUntil,
        },
      ]
    case 'collection.reinstated': {
      const missing = missingOf(collection)
      return [
        {
          kind: 'reinstate',
          amount: amount === null || amount > missing ? missing : amount,
          refundableUntil: collect.refundableUntil,
        },
      ]
    }
    case 'collection.reversed':
      return [{ kind: 'confirm_reversal' }]
    case 'collection.reversal_refused':
      return [{ kind: 'refuse_reversal', reasonCode }]
    case 'collection.unclear':
      return [...before, { kind: 'doubt', why: 'unclear' }]
    default:
      return type satisfies never
  }
}
