/** The rows that decisions about card transactions write. */
import type { EventType } from '../base/event-types.ts'
import type { Effects, HoldResolution, OutboxEvent } from '../decisions/effects.ts'
import type { CardTransactionChange, CardTransactionRow, CardUseChange } from './effects.ts'
import { useToJson } from './card-json.ts'
import type { CardUse } from './card-limits.ts'
import type { CardMessage } from './card-message.ts'
import type { CardMoney, CardTransactionState } from './card-transaction.ts'
import type { CardRecord } from './card.ts'

/** Makes the row of a transaction that begins. */
export function newTransaction(
  { version: _, ...transaction }: CardTransactionState,
  { merchantAmount, merchantCurrency, rate }: CardMessage,
  relatedTransactionId: string | null,
  now: number,
): CardTransactionRow {
  return {
    ...transaction,
    merchantAmount,
    merchantCurrency,
    rate,
    relatedTransactionId,
    createdAt: now,
  }
}

/** Makes the change of a transaction; `before` gives the version that was decided on. */
export function changedTransaction(
  { version }: CardTransactionState,
  next: CardTransactionState,
  now: number,
): CardTransactionChange {
  const { id, authorised, reversed, cleared, refunded, disputed, recovered, held, markup, status, holdId, expiresAt } =
    next
  return {
    id,
    version,
    authorised,
    reversed,
    cleared,
    refunded,
    disputed,
    recovered,
    held,
    markup,
    status,
    holdId,
    expiresAt,
    updatedAt: now,
  }
}

/**
 * Makes the change of a card that was used. A card that is to end after a number of payments is closed by the last.
 *
 * @param payments 1 for a payment more, -1 for one that was reversed in full, 0 otherwise
 */
export function usedCard(card: CardRecord, used: CardUse, payments: number, now: number): CardUseChange {
  const count = Math.max(0, card.payments + payments)
  const isOver = card.cancelAfterPayments !== null && payments > 0 && count >= card.cancelAfterPayments
  return {
    id: card.id,
    version: card.version,
    status: isOver && card.status === 'active' ? 'closed' : card.status,
    payments: count,
    used: JSON.stringify(useToJson(used)),
    updatedAt: now,
  }
}

/**
 * Makes the rows by which the reserved amount changes: a hold has one amount for its whole life, so a change ends it and
 * places another. Money that a clearing takes is captured, what a reversal frees is released, the rest expires.
 */
export function heldChange(
  before: CardTransactionState | null,
  next: CardTransactionState,
  money: CardMoney,
  now: number,
): Pick<Effects, 'holds' | 'holdResolutions'> {
  if (before !== null && before.held === next.held) return {}
  const placed =
    next.holdId === null
      ? []
      : [
          {
            id: next.holdId,
            balanceId: next.balanceId,
            customerId: next.customerId,
            amount: next.held,
            subjectType: 'card_authorisation' as const,
            subjectId: next.id,
            description: `Card payment, ${next.merchantName}`,
            createdAt: now,
          },
        ]
  return {
    holds: placed,
    holdResolutions: before === null || before.holdId === null ? [] : [ended(before, before.holdId, next, money, now)],
  }
}

function ended(
  { held, balanceId }: CardTransactionState,
  id: string,
  next: CardTransactionState,
  money: CardMoney,
  now: number,
): HoldResolution {
  const captured = money.kind === 'pay' ? (money.amount < held ? money.amount : held) : null
  return {
    id,
    balanceId,
    amount: held,
    status: captured !== null ? 'captured' : next.status === 'expired' ? 'expired' : 'released',
    capturedAmount: captured,
    resolvedAt: now,
  }
}

/** Makes the event of a message that was decided. */
export function cardTransactionEvent(
  before: CardTransactionState | null,
  next: CardTransactionState,
  id: string,
  now: number,
): OutboxEvent {
  const type: EventType = before === null ? 'card_transaction.created' : 'card_transaction.updated'
  return {
    id,
    createdAt: now,
    customerId: next.customerId,
    operatorId: next.operatorId,
    shard: next.shard,
    type,
    object: 'card_transaction',
    objectId: next.id,
    status: next.status,
    previousStatus: before?.status ?? null,
    amount: next.cleared > 0n ? next.cleared : next.authorised > 0n ? next.authorised : next.refunded,
    currency: next.currency,
  }
}
