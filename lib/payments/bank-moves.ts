/** Decides what the moves of a payment write from the hand-over to the partner on. */
import { timestamp } from '../base/clock.ts'
import { endsException, opensException, type ExceptionKind } from '../compliance/exception.ts'
import type { Effects } from '../decisions/effects.ts'
import type { Posting } from '../ledger/posting.ts'
import { entry, NO_BALANCE } from '../ledger/entry.ts'
import { intoSuspense, suspenseItem } from '../incoming-payments/suspense.ts'
import { failureFor } from '../rails/failure-codes.ts'
import {
  amountsOf,
  changeEvents,
  heldBy,
  itemOf,
  moved,
  outflowReturn,
  ownBalance,
  received,
  recallEvent,
  UNCHANGED,
  update,
} from './move-parts.ts'
import { cashOf, NO_CASH, partnerCharge, returnCharges } from './payment-charges.ts'
import { answeredRecall, type PaymentReturn, type StatusReason } from './payment.ts'
import type {
  PaymentMoveContext,
  PartnerMessage,
  PaymentCommand,
  PaymentDecision,
  PaymentState,
} from './payment-state.ts'

/**
 * The id of the L10 entry is the payment's own id. A payment is handed over once, so no second entry uses that id. L12,
 * which another process may decide days later, can therefore name the entry that it reverses without reading it.
 */
const handOverEntryId = ({ id }: PaymentState): string => id

/**
 * Hands the payment over: posts L10, captures the hold and ends its place in the queue (`processing` is no
 * longer shown). Committed before the partner is called. Writes no event. The commit refuses it while the paying balance
 * is stopped (`debit_refused`), and then writes nothing.
 */
export function handOver(payment: PaymentState, context: PaymentMoveContext, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, sent: true }
  const total = payment.amount + payment.fee
  return moved(next, {
    paymentChanges: [
      { ...UNCHANGED, id: payment.id, version: payment.version, status: 'processing', sentAt: now, updatedAt: now },
    ],
    holdResolutions: [
      {
        id: heldBy(payment),
        balanceId: payment.payingBalanceId,
        amount: total,
        status: 'captured',
        capturedAmount: total,
        resolvedAt: now,
      },
    ],
    postings: entry({
      rule: 'L10',
      amounts: amountsOf(payment),
      currency: payment.currency,
      accounts: context.accounts,
      balances: ownBalance(payment),
      entryId: handOverEntryId(payment),
      customerId: payment.customerId,
      source: { object: 'payment', id: payment.id },
      description: `Payment ${payment.number}`,
      reference: payment.reference,
      counterparty: payment.recipientName,
      bookedAt: now,
      valueDate: context.valueDate,
    }),
    debits: [{ balanceId: payment.payingBalanceId }],
    statusUpdates: [update(payment, next, 'Payment handed to the bank.', 'system', now)],
  })
}

/**
 * Sends the payment through another connection. Before its hand-over only the connection changes; after a definite
 * refusal, before the connection had accepted it, its money in transit moves along (L21). No event: its status stays.
 */
export function reroute(
  payment: PaymentState,
  { to, context }: Extract<PaymentCommand, { kind: 'reroute' }>,
  now: number,
): PaymentDecision {
  const { connectionId, routing } = to
  const next: PaymentState = { ...payment, version: payment.version + 1, connectionId }
  return moved(next, {
    paymentReroutes: [
      { id: payment.id, version: payment.version, status: payment.status, connectionId, routing, updatedAt: now },
    ],
    postings: !to.afterRefusal
      ? []
      : entry({
          rule: 'L21',
          variant: 'in_transit',
          amounts: { A: payment.amount },
          currency: payment.currency,
          accounts: context.accounts,
          toAccounts: to.accounts,
          balances: NO_BALANCE,
          entryId: context.ids.next(),
          customerId: payment.customerId,
          source: { object: 'payment', id: payment.id },
          occurrence: to.occurrence,
          description: `Payment ${payment.number} by another bank`,
          bookedAt: now,
          valueDate: context.valueDate,
        }),
    statusUpdates: [update(payment, next, 'Payment sent through another bank.', 'system', now)],
  })
}

/**
 * Completes the payment, also out of `exception`, and posts L11. The cash of a payment that left through another
 * connection than that of its balance follows (L21): the balance's connection owes it.
 */
export function settle(
  payment: PaymentState,
  { context, event }: Extract<PaymentCommand, { kind: 'settled' | 'rejected' }>,
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'completed' }
  const cash = cashOf(payment, 'out', payment.amount, context, now)
  return moved(next, {
    paymentChanges: [
      { ...UNCHANGED, id: payment.id, version: payment.version, status: 'completed', completedAt: now, updatedAt: now },
    ],
    postings: [...confirmation(payment, context, now), ...partnerCharge(payment, context, now), ...cash.postings],
    ...(cash.cashOrders === undefined ? {} : { cashOrders: cash.cashOrders }),
    statusUpdates: [update(payment, next, 'Payment completed.', 'partner', now)],
    events: changeEvents(payment, next, context, now),
    instructionsDone: [payment.id],
    ...endsException(payment, 'completed', now),
    ...received(payment, event, null, now),
  })
}

/** Posts L11: moves the amount out of transit, because the recipient has it. */
function confirmation(payment: PaymentState, context: PaymentMoveContext, now: number): Posting[] {
  return entry({
    rule: 'L11',
    amounts: { A: payment.amount },
    currency: payment.currency,
    accounts: context.accounts,
    balances: ownBalance(payment),
    entryId: context.ids.next(),
    customerId: payment.customerId,
    source: { object: 'payment', id: payment.id },
    description: `Payment ${payment.number}`,
    bookedAt: now,
    valueDate: context.valueDate,
  })
}

/**
 * Returns the payment: posts L13, and before it L11 where the partner had not confirmed the payment
 * yet. A recall that is still `requested` is answered `accepted`, whatever caused the return. When the paying balance
 * is closed (`suspenseId`), the money is posted to suspense (L03) until its owner is found, and no fee is charged or
 * given back. The cash goes to where the balance is now, which may have moved since the payment left: the commit
 * compares its place (`fact_stale`). Money in suspense stays where it is.
 */
export function giveBack(
  payment: PaymentState,
  { context, amount, schemeCode, event, suspenseId }: Extract<PaymentCommand, { kind: 'returned' }>,
  now: number,
): PaymentDecision {
  const recall =
    payment.recall?.status === 'requested' ? answeredRecall(payment.recall, 'accepted', schemeCode, now) : null
  const next: PaymentState = {
    ...payment,
    version: payment.version + 1,
    status: 'returned',
    recall: recall ?? payment.recall,
  }
  const reason = returnReason(schemeCode)
  const suspended = suspenseId !== undefined
  const out = payment.status === 'completed' ? NO_CASH : cashOf(payment, 'out', payment.amount, context, now)
  const back = suspended ? NO_CASH : cashOf(payment, 'back', amount, context, now)
  const returnInfo: PaymentReturn = {
    amountMinor: String(amount),
    reasonCode: schemeCode,
    reason: reason.message,
    receivedAt: timestamp(now),
    ...(suspended ? { suspended } : {}),
  }
  return moved(next, {
    paymentDecisions: [
      {
        id: payment.id,
        version: payment.version,
        status: 'returned',
        statusReason: JSON.stringify(reason),
        exception: null,
        returnedAmount: amount,
        returnInfo: JSON.stringify(returnInfo),
        ...(recall === null ? {} : { recall: JSON.stringify(recall), recallDueAt: null }),
        updatedAt: now,
      },
    ],
    postings: [
      ...(payment.status === 'completed'
        ? []
        : [...confirmation(payment, context, now), ...partnerCharge(payment, context, now)]),
      ...entry({
        ...(suspended ? { rule: 'L03', amounts: { A: amount } } : { rule: 'L13', amounts: { R: amount } }),
        currency: payment.currency,
        accounts: context.accounts,
        balances: ownBalance(payment),
        entryId: context.ids.next(),
        customerId: payment.customerId,
        source: { object: 'payment', id: payment.id },
        description: `Payment ${payment.number} returned`,
        reference: payment.reference,
        counterparty: payment.recipientName,
        bookedAt: now,
        valueDate: context.valueDate,
      }),
      ...(suspended ? [] : returnCharges(payment, context, now)),
      ...out.postings,
      ...back.postings,
    ],
    cashOrders: [...(out.cashOrders ?? []), ...(back.cashOrders ?? [])],
    ...(suspended
      ? {}
      : {
          places: [
            { balanceId: payment.payingBalanceId, connectionId: context.home?.connectionId ?? payment.connectionId },
          ],
        }),
    ...(suspended
      ? {
          incomingPayments: [
            suspenseItem(itemOf(payment, { id: suspenseId, context, what: 'returned' }, now), {
              currency: payment.currency,
              amount,
            }),
          ],
        }
      : {}),
    statusUpdates: [update(payment, next, `Payment returned. ${reason.message}`, 'partner', now)],
    events: [
      ...changeEvents(payment, next, context, now),
      ...(recall === null ? [] : [recallEvent(next, 'requested', context, now)]),
    ],
    ...(payment.status === 'completed' ? {} : { instructionsDone: [payment.id] }),
    ...endsException(payment, 'returned', now),
    ...received(payment, event, schemeCode, now),
  })
}

/**
 * Reads the reason of a return from the table of failures, except for an unknown code: that text would say that the
 * payment failed.
 */
function returnReason(schemeCode: string): StatusReason {
  const { code, message } = failureFor(schemeCode)
  return { code, message: code === 'unknown' ? 'The reason is not known.' : message }
}

/**
 * Fails the payment: L12 reverses L10, the fee included. With `suspenseId` the paying balance is
 * closed, and the whole amount waits in suspense under this id.
 */
export function fail(
  payment: PaymentState,
  {
    context,
    schemeCode,
    event,
    suspenseId,
  }: {
    readonly context: PaymentMoveContext
    readonly schemeCode: string
    readonly event: PartnerMessage | null
    readonly suspenseId: string | undefined
  },
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureFor(schemeCode), at: timestamp(now) }
  const effects: Effects = {
    paymentChanges: [
      {
        ...UNCHANGED,
        id: payment.id,
        version: payment.version,
        status: 'failed',
        failure: JSON.stringify(failure),
        failedAt: now,
        updatedAt: now,
      },
    ],
    postings: entry({
      rule: 'L12',
      reverses: { rule: 'L10', entryId: handOverEntryId(payment) },
      amounts: amountsOf(payment),
      currency: payment.currency,
      accounts: context.accounts,
      balances: ownBalance(payment),
      entryId: context.ids.next(),
      customerId: payment.customerId,
      source: { object: 'payment', id: payment.id },
      description: `Payment ${payment.number} failed`,
      reference: payment.reference,
      counterparty: payment.recipientName,
      bookedAt: now,
      valueDate: context.valueDate,
    }),
    statusUpdates: [update(payment, next, failure.message, 'partner', now)],
    events: changeEvents(payment, next, context, now),
    instructionsDone: [payment.id],
    outflowReturns: [outflowReturn(payment)],
    ...endsException(payment, 'failed', now),
    ...received(payment, event, schemeCode, now),
  }
  return moved(
    next,
    suspenseId === undefined
      ? effects
      : intoSuspense(effects, itemOf(payment, { id: suspenseId, context, what: 'failed' }, now), context.accounts),
  )
}

/** The reason why the outcome of a payment is unknown. */
export interface Doubt {
  readonly kind: ExceptionKind
  readonly message: string
}

export const TIMED_OUT: Doubt = { kind: 'provider_timeout', message: 'The bank did not answer in time.' }
export const UNCLEAR: Doubt = { kind: 'provider_state_unknown', message: 'The bank cannot say what became of it.' }

/**
 * Puts the payment into `exception` because its outcome is unknown: L10 stays, the payment is not sent again, and
 * the partner is asked about it (I7).
 */
export function suspend(
  payment: PaymentState,
  { context, askAgainAt, event }: Omit<Extract<PaymentCommand, { kind: 'unclear' }>, 'kind'>,
  { kind, message }: Doubt,
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'exception' }
  const exception = { kind, code: null, message, since: timestamp(now) }
  return moved(next, {
    paymentChanges: [
      {
        ...UNCHANGED,
        id: payment.id,
        version: payment.version,
        status: 'exception',
        exception: JSON.stringify(exception),
        updatedAt: now,
      },
    ],
    statusUpdates: [update(payment, next, 'The outcome is being checked with the bank.', 'system', now)],
    events: changeEvents(payment, next, context, now),
    attention: [{ paymentId: payment.id, attentionAt: askAgainAt }],
    ...opensException('payment', next, { id: context.ids.next(), kind, message, at: now }),
    ...received(payment, event, null, now),
  })
}

/** Ends the exception: the partner has confirmed that it has the payment. */
export function resume(
  payment: PaymentState,
  { context, event = null }: Extract<PaymentCommand, { kind: 'accepted' }>,
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'processing' }
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'processing', updatedAt: now }],
    statusUpdates: [update(payment, next, 'The bank has the payment.', 'system', now)],
    events: changeEvents(payment, next, context, now),
    attention: [{ paymentId: payment.id, attentionAt: null }],
    ...endsException(payment, 'processing', now),
    ...received(payment, event, null, now),
  })
}
