/** Parts that the moves of a payment share: money, events, update log. */
import { dateIn } from '../base/clock.ts'
import type { EventType } from '../base/event-types.ts'
import type { Effects, HoldResolution, HoldRow, OutboxEvent } from '../decisions/effects.ts'
import type { SuspenseOrigin } from '../incoming-payments/suspense.ts'
import type { EntryOptions } from '../ledger/entry.ts'
import type { Amounts } from '../ledger/postings.ts'
import { taxWithin } from '../pricing/fees.ts'
import type { PaymentRecall } from './payment.ts'
import type { PaymentMoveContext, PartnerMessage, PaymentDecision, PaymentState } from './payment-state.ts'

/**
 * Debits and credits go to the paying balance, which may have been closed since; the fence `open` refuses a credit
 * then.
 */
export const ownBalance = ({ payingBalanceId }: Pick<PaymentState, 'payingBalanceId'>): EntryOptions['balances'] => ({
  from: payingBalanceId,
  to: { id: payingBalanceId, fence: 'open' },
})

/** The amounts of the entry that takes the money of a payment, or gives all of it back: L10, L12, L20. */
export const amountsOf = ({ amount, fee, charges }: PaymentState): Amounts => ({
  A: amount,
  F: fee,
  T: taxWithin(charges),
})

/** The balance and the amount of the payment's hold. */
export const heldMoney = (payment: PaymentState): Pick<HoldRow, 'balanceId' | 'amount'> => ({
  balanceId: payment.payingBalanceId,
  amount: payment.amount + payment.fee,
})

/**
 * Returns the hold of a payment. A draft, a payment that waits for its day and one that waits for its exchange have
 * none. @throws Error without a hold
 */
export function heldBy({ id, holdId }: PaymentState): string {
  if (holdId === null) throw new Error(`The payment ${id} has no hold.`)
  return holdId
}

export const holdReleased = (payment: PaymentState, now: number): HoldResolution => ({
  id: heldBy(payment),
  ...heldMoney(payment),
  status: 'released',
  capturedAmount: null,
  resolvedAt: now,
})

/** Tells whether the payment waits for its exchange: it has no hold yet and was not handed over. */
export const awaitsExchange = ({
  status,
  sent,
  holdId,
  conversion,
}: Pick<PaymentState, 'status' | 'sent' | 'holdId' | 'conversion'>): boolean =>
  conversion !== undefined && status === 'processing' && !sent && holdId === null

/** Frees the amount that the payment counted against limits. */
export const outflowReturn = ({ customerId, spenderId, currency, amount, conversion, createdAt }: PaymentState) => ({
  customerId,
  spenderId,
  currency: conversion?.sellCurrency ?? currency,
  day: dateIn(createdAt, 'UTC'),
  amount: conversion === undefined ? amount : BigInt(conversion.sellMinor),
})

export const UNCHANGED = {
  providerRef: null,
  failure: null,
  exception: null,
  sentAt: null,
  completedAt: null,
  failedAt: null,
} as const

export const moved = (state: PaymentState, effects: Effects): PaymentDecision => ({
  state,
  reply: { kind: 'moved', state },
  effects,
})

export function update(
  before: PaymentState,
  after: PaymentState,
  message: string,
  actor: 'system' | 'partner' | 'member',
  now: number,
) {
  return {
    objectId: after.id,
    version: after.version,
    customerId: after.customerId,
    status: after.status,
    previousStatus: before.status,
    message,
    actor,
    at: now,
  }
}

/** The fields of a payment that its events carry. */
export type ChangedPayment = Pick<
  PaymentState,
  'id' | 'customerId' | 'operatorId' | 'shard' | 'status' | 'amount' | 'currency'
>

/** Makes `payment.status_changed`, and for a terminal status the event of that status. */
export function changeEvents(
  before: ChangedPayment,
  after: ChangedPayment,
  { ids }: Pick<PaymentMoveContext, 'ids'>,
  now: number,
) {
  const event = (type: EventType): OutboxEvent => ({
    id: ids.next(),
    createdAt: now,
    customerId: after.customerId,
    operatorId: after.operatorId,
    shard: after.shard,
    type,
    object: 'payment',
    objectId: after.id,
    status: after.status,
    previousStatus: before.status,
    amount: after.amount,
    currency: after.currency,
  })
  return after.status === 'completed' || after.status === 'failed' || after.status === 'returned'
    ? [event('payment.status_changed'), event(`payment.${after.status}`)]
    : [event('payment.status_changed')]
}

/** Makes `payment.recall_updated`; its status and previous status are those of the recall. */
export function recallEvent(
  payment: PaymentState,
  previousStatus: PaymentRecall['status'] | null,
  { ids }: Pick<PaymentMoveContext, 'ids'>,
  now: number,
): OutboxEvent {
  return {
    id: ids.next(),
    createdAt: now,
    customerId: payment.customerId,
    operatorId: payment.operatorId,
    shard: payment.shard,
    type: 'payment.recall_updated',
    object: 'payment',
    objectId: payment.id,
    status: payment.recall?.status ?? null,
    previousStatus,
    amount: payment.amount,
    currency: payment.currency,
  }
}

export function received(
  payment: PaymentState,
  event: PartnerMessage | null,
  code: string | null,
  now: number,
): Pick<Effects, 'providerEvents'> {
  return event === null
    ? {}
    : {
        providerEvents: [
          {
            id: event.id,
            connectionId: payment.connectionId,
            type: event.type,
            objectId: payment.id,
            code,
            receivedAt: now,
          },
        ],
      }
}

/** Makes the suspense item of money that came back to a closed balance. */
export function itemOf(
  { id: originId, operatorId, connectionId, shard, recipientName, number, rail }: PaymentState,
  {
    id,
    context: { valueDate },
    what,
  }: { readonly id: string; readonly context: PaymentMoveContext; readonly what: string },
  now: number,
): SuspenseOrigin {
  return {
    id,
    operatorId,
    connectionId,
    shard,
    originId,
    payerName: recipientName,
    reference: `Payment ${number} ${what}`,
    rail,
    valueDate,
    receivedAt: now,
  }
}
