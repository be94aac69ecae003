/**
 * The moves of a transfer that the partner makes: the effect of the partner's messages on the transfer, its money and
 * its hold.
 *
 *   processing ──confirm──▶ completed    L20 (and L21 between two connections), the hold captured
 *    │   └─────refuse─────▶ failed       the hold released
 *    └──timeout──▶ exception             the hold stays: the outcome is unknown, or staff move the cash (to_staff)
 *                   ├──confirm──▶ completed
 *                   └──refuse───▶ failed
 *
 * The review comes before these moves (transfer-review.ts). Every other message changes nothing, because messages of
 * the partner may be repeated or late.
 */
import { timestamp } from '../base/clock.ts'
import { endsException, opensException } from '../compliance/exception.ts'
import type { EventType } from '../base/event-types.ts'
import type { Effects } from '../decisions/effects.ts'
import { entry } from '../ledger/entry.ts'
import { intoSuspense } from '../incoming-payments/suspense.ts'
import { failureFor } from '../rails/failure-codes.ts'
import { reviewTransfer, type TransferReviewMove } from './transfer-review.ts'
import type { TransferRecord } from './transfer.ts'
import type { MovedTransfer, TransferMoveContext, TransferState } from './transfer-state.ts'

export type TransferMove =
  /**
   * Confirms the transfer. `valueDate`: the value date of the postings. `suspenseId`: the receiving balance is closed,
   * so the money waits in suspense under this id.
   */
  | { readonly kind: 'confirm'; readonly valueDate: string; readonly suspenseId?: string | undefined }
  | { readonly kind: 'refuse'; readonly schemeCode: string }
  | { readonly kind: 'timeout' | 'to_staff' }
  | TransferReviewMove

/** Decides one move; null when the status does not allow it. */
export function moveTransfer(
  transfer: TransferState,
  move: TransferMove,
  context: TransferMoveContext,
): MovedTransfer | null {
  if (move.kind === 'hold' || move.kind === 'release' || move.kind === 'block')
    return reviewTransfer(transfer, move, context)
  const { status } = transfer
  if (status !== 'processing' && (status !== 'exception' || move.kind === 'timeout' || move.kind === 'to_staff'))
    return null
  switch (move.kind) {
    case 'confirm':
      return confirmed(transfer, move, context)
    case 'refuse':
      return refused(transfer, move.schemeCode, context)
    case 'timeout':
    case 'to_staff':
      return suspended(transfer, move.kind, context)
    default:
      return move satisfies never
  }
}

function confirmed(
  transfer: TransferState,
  { valueDate, suspenseId }: Extract<TransferMove, { kind: 'confirm' }>,
  { ids, accounts, now }: TransferMoveContext,
): MovedTransfer {
  const common = {
    amounts: { A: transfer.amount },
    currency: transfer.currency,
    accounts: accounts.from,
    toAccounts: accounts.to,
    balances: { from: transfer.fromBalanceId, to: { id: transfer.toBalanceId, fence: 'open' } },
    customerId: transfer.customerId,
    source: { object: 'transfer', id: transfer.id },
    description: `Transfer ${transfer.number}`,
    reference: transfer.reference,
    bookedAt: now,
    valueDate,
  } as const
  const crosses = transfer.fromConnectionId !== transfer.toConnectionId
  const effects: Effects = {
    postings: [
      ...entry({ ...common, rule: 'L20', entryId: ids.next() }),
      ...(crosses ? entry({ ...common, rule: 'L21', entryId: ids.next() }) : []),
    ],
    holdResolutions: [{ ...holdOf(transfer), status: 'captured', capturedAmount: transfer.amount, resolvedAt: now }],
    ...told(transfer, 'completed', 'Transfer completed.', ['transfer.status_changed', 'transfer.completed'], {
      ids,
      now,
    }),
    ...endsException(transfer, 'completed', now),
  }
  const item = {
    operatorId: transfer.operatorId,
    connectionId: transfer.toConnectionId,
    shard: transfer.shard,
    originId: transfer.id,
    payerName: null,
    reference: `Transfer ${transfer.number}`,
    rail: null,
    valueDate,
    receivedAt: now,
  }
  return {
    change: { status: 'completed', version: transfer.version + 1, failure: null, completedAt: now },
    over: true,
    effects: suspenseId === undefined ? effects : intoSuspense(effects, { ...item, id: suspenseId }, accounts.to),
  }
}

function refused(transfer: TransferState, schemeCode: string, { ids, now }: TransferMoveContext): MovedTransfer {
  const failure = { ...failureFor(schemeCode), at: timestamp(now) }
  return {
    change: { status: 'failed', version: transfer.version + 1, failure, completedAt: null },
    over: true,
    effects: {
      holdResolutions: [{ ...holdOf(transfer), status: 'released', capturedAmount: null, resolvedAt: now }],
      ...told(transfer, 'failed', failure.message, ['transfer.status_changed'], { ids, now }),
      ...endsException(transfer, 'failed', now),
    },
  }
}

/** The reasons of exceptions: the message for the customer, and the kind and the message for staff. */
const EXCEPTIONS = {
  timeout: {
    shown: 'The bank did not answer; its answer is being looked for.',
    kind: 'provider_timeout',
    message: 'The partner did not answer in time.',
  },
  to_staff: {
    shown: 'The transfer is made by hand.',
    kind: 'provider_state_unknown',
    message: 'No partner moves cash between the two connections: move it, and resolve the exception as completed.',
  },
} as const

function suspended(
  transfer: TransferState,
  reason: keyof typeof EXCEPTIONS,
  { ids, now }: TransferMoveContext,
): MovedTransfer {
  const { shown, kind, message } = EXCEPTIONS[reason]
  return {
    change: { status: 'exception', version: transfer.version + 1, failure: null, completedAt: null },
    over: false,
    effects: {
      ...told(transfer, 'exception', shown, ['transfer.status_changed'], { ids, now }),
      ...opensException('transfer', { ...transfer, status: 'exception' }, { id: ids.next(), kind, message, at: now }),
    },
  }
}

const holdOf = ({ holdId, fromBalanceId, amount }: TransferState) => ({ id: holdId, balanceId: fromBalanceId, amount })

/** Makes the update and the events of a change. */
function told(
  transfer: TransferState,
  status: TransferRecord['status'],
  message: string,
  types: readonly EventType[],
  { ids, now }: Pick<TransferMoveContext, 'ids' | 'now'>,
): Pick<Effects, 'statusUpdates' | 'events'> {
  const { id: objectId, customerId, operatorId, shard, status: previousStatus, amount, currency } = transfer
  return {
    statusUpdates: [
      {
        objectId,
        version: transfer.version + 1,
        customerId,
        status,
        previousStatus,
        message,
        actor: 'partner',
        at: now,
      },
    ],
    events: types.map((type) => ({
      id: ids.next(),
      createdAt: now,
      customerId,
      operatorId,
      shard,
      type,
      object: 'transfer',
      objectId,
      status,
      previousStatus,
      amount,
      currency,
    })),
  }
}
