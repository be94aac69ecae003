/**
 * Transfers under review: screening holds a transfer before the partner is told of it, and staff release or block it.
 *
 *   processing ──hold──▶ on_hold ──release──▶ processing    told to the partner again
 *                           └──────block────▶ failed
 *
 * Customers only see that the transfer is under review, or that it was declined.
 */
import { timestamp } from '../base/clock.ts'
import { endsException, opensException } from '../compliance/exception.ts'
import { opensComplianceHold, UNDER_REVIEW } from '../compliance/hold.ts'
import type { ScreeningHit } from '../compliance/screening.ts'
import type { IdSource } from '../base/ids.ts'
import type { Effects, HoldRow } from '../decisions/effects.ts'
import { failureOf } from '../rails/failure-codes.ts'
import type { MovedTransfer, TransferState } from './transfer-state.ts'

export type TransferReviewMove =
  | { readonly kind: 'hold'; readonly hit: ScreeningHit }
  | { readonly kind: 'release' }
  /** `freezeFunds`: by order of an authority, its money stays reserved. */
  | { readonly kind: 'block'; readonly freezeFunds: boolean }

interface ReviewContext {
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

/** Decides one move; null when the status does not allow it. */
export function reviewTransfer(
  transfer: TransferState,
  move: TransferReviewMove,
  context: ReviewContext,
): MovedTransfer | null {
  if (transfer.status !== (move.kind === 'hold' ? 'processing' : 'on_hold')) return null
  switch (move.kind) {
    case 'hold':
      return hold(transfer, move.hit, context)
    case 'release':
      return release(transfer, context)
    case 'block':
      return block(transfer, move.freezeFunds, context)
    default:
      return move satisfies never
  }
}

/** Puts the transfer on hold. */
function hold(
  transfer: TransferState,
  { provider, findings, decides }: ScreeningHit,
  { ids, now }: ReviewContext,
): MovedTransfer {
  const holdId = ids.next()
  const { id: subjectId, customerId, operatorId, shard, currency, amount } = transfer
  const { events = [], ...opened } = opensComplianceHold(
    {
      id: ids.next(),
      kind: 'outbound_screening',
      provider,
      subjectType: 'transfer',
      subjectId,
      customerId,
      operatorId,
      shard,
      currency,
      amount,
      counterparty: null,
      findings,
      decides: decides === null ? null : { decision: decides.decision, at: now + decides.afterMs },
      createdAt: now,
    },
    ids.next(),
  )
  const changed = told(transfer, 'on_hold', 'Transfer under review.', { ids, now })
  return {
    change: { status: 'on_hold', version: transfer.version + 1, failure: null, completedAt: null },
    over: true,
    order: { holdId, dueAt: null },
    effects: {
      ...opened,
      ...replaced(
        transfer,
        { id: holdId, subjectType: 'payment_review', subjectId: holdId, description: UNDER_REVIEW },
        now,
      ),
      statusUpdates: changed.statusUpdates,
      events: [...changed.events, ...events],
      ...opensException('transfer', transfer, {
        id: ids.next(),
        kind: 'compliance_hold',
        message: 'Held by the compliance gate.',
        at: now,
      }),
    },
  }
}

/** Releases the transfer from review: the partner is told as for a new transfer. */
function release(transfer: TransferState, { ids, now }: ReviewContext): MovedTransfer {
  const holdId = ids.next()
  return {
    change: { status: 'processing', version: transfer.version + 1, failure: null, completedAt: null },
    over: false,
    order: { holdId, dueAt: now },
    effects: {
      ...replaced(
        transfer,
        { id: holdId, subjectType: 'transfer', subjectId: transfer.id, description: `Transfer ${transfer.number}` },
        now,
      ),
      ...told(transfer, 'processing', 'The transfer continues.', { ids, now }),
      ...endsException(transfer, 'released', now),
    },
  }
}

/** Fails the transfer after review. Frozen money stays reserved by a hold that is no longer the transfer's own. */
function block(transfer: TransferState, freezeFunds: boolean, { ids, now }: ReviewContext): MovedTransfer {
  const failure = { ...failureOf('declined'), at: timestamp(now) }
  const frozen = freezeFunds ? ids.next() : null
  return {
    change: { status: 'failed', version: transfer.version + 1, failure, completedAt: null },
    over: true,
    effects: {
      ...(frozen === null
        ? { holdResolutions: [releasedHold(transfer, now)] }
        : replaced(
            transfer,
            { id: frozen, subjectType: 'legal_order', subjectId: frozen, description: UNDER_REVIEW },
            now,
          )),
      ...told(transfer, 'failed', 'The transfer was declined.', { ids, now }),
      ...endsException(transfer, 'blocked', now),
    },
  }
}

const releasedHold = ({ holdId, fromBalanceId, amount }: TransferState, now: number) =>
  ({ id: holdId, balanceId: fromBalanceId, amount, status: 'released', capturedAmount: null, resolvedAt: now }) as const

/** Replaces the transfer's hold by another of the same amount. */
function replaced(
  transfer: TransferState,
  hold: Pick<HoldRow, 'id' | 'subjectType' | 'subjectId' | 'description'>,
  now: number,
): Pick<Effects, 'holds' | 'holdResolutions'> {
  const { fromBalanceId: balanceId, customerId, amount } = transfer
  return {
    holdResolutions: [releasedHold(transfer, now)],
    holds: [{ ...hold, balanceId, customerId, amount, createdAt: now }],
  }
}

function told(transfer: TransferState, status: TransferState['status'], message: string, { ids, now }: ReviewContext) {
  const { id: objectId, customerId, operatorId, shard, status: previousStatus, amount, currency, version } = transfer
  return {
    statusUpdates: [
      {
        objectId,
        version: version + 1,
        customerId,
        status,
        previousStatus,
        message,
        actor: 'system' as const,
        at: now,
      },
    ],
    events: [
      {
        id: ids.next(),
        createdAt: now,
        customerId,
        operatorId,
        shard,
        type: 'transfer.status_changed' as const,
        object: 'transfer' as const,
        objectId,
        status,
        previousStatus,
        amount,
        currency,
      },
    ],
  }
}
