/** What a payment's moves write once the partner has it, or is to have it. */
import { timestamp } from '../base/clock.ts'
import { endsException, opensException, type ExceptionKind } from '../compliance/exception.ts'
import type { Effects } from '../decisions/effects.ts'
import type { Posting } from '../ledger/posting.ts'
import { entry } from '../ledger/entry.ts'
import { intoSuspense, suspenseItem, type SuspenseItem } from '../incoming-payments/suspense.ts'
import { failureFor } from '../rails/failure-codes.ts'
import { changeEvents, heldBy, moved, outflowReturn, ownBalance, received, recallEvent, UNCHANGED, update } from './move-parts.ts'
import { partnerCharge, returnCharges } from './payment-charges.ts'
import { answeredRecall, type PaymentReturn, type StatusReason } from './payment.ts'
import type { MoveContext, PartnerMessage, PaymentCommand, PaymentDecision, PaymentState } from './payment-state.ts'

/**
 * The entry of L10 has the payment's own id. A payment is handed over once, so no second entry can want it; and L12, which
 * may be decided days later by another process, can name the entry it takes back without reading it or remembering it.
 */
const handOverEntryId = ({ id }: PaymentState): string => id

/** P17: L10, the hold captured, `processing` gone. Committed before the partner is called. No event. */
export function handOver(payment: PaymentState, context: MoveContext, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, sent: true }
  const total = payment.amount + payment.fee
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'processing', sentAt: now, updatedAt: now }],
    holdResolutions: [{ id: heldBy(payment), balanceId: payment.payingBalanceId, amount: total, status: 'captured', capturedAmount: total, resolvedAt: now }],
    postings: entry({
      rule: 'L10', amounts: { A: payment.amount, F: payment.fee }, currency: payment.currency, accounts: context.accounts,
      balances: ownBalance(payment), entryId: handOverEntryId(payment),
      customerId: payment.customerId, source: { object: 'payment', id: payment.id }, description: `Payment ${payment.number}`,
      reference: payment.reference, counterparty: payment.recipientName, bookedAt: now, valueDate: context.valueDate,
    }),
    statusUpdates: [update(payment, next, 'Payment handed to the bank.', 'system', now)],
  })
}

/** P18, P22: L11. */
export function settle(payment: PaymentState, { context, event }: Extract<PaymentCommand, { kind: 'settled' | 'rejected' }>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'completed' }
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'completed', completedAt: now, updatedAt: now }],
    postings: [...confirmation(payment, context, now), ...partnerCharge(payment, context, now)],
    statusUpdates: [update(payment, next, 'Payment completed.', 'partner', now)],
    events: changeEvents(payment, next, context, now),
    instructionsDone: [payment.id],
    ...endsException(payment, 'completed', now),
    ...received(payment, event, null, now),
  })
}

/** L11: what was on its way has arrived. */
function confirmation(payment: PaymentState, context: MoveContext, now: number): Posting[] {
  return entry({
    rule: 'L11', amounts: { A: payment.amount }, currency: payment.currency, accounts: context.accounts,
    balances: ownBalance(payment), entryId: context.ids.next(),
    customerId: payment.customerId, source: { object: 'payment', id: payment.id }, description: `Payment ${payment.number}`,
    bookedAt: now, valueDate: context.valueDate,
  })
}

/**
 * P22, P23, P24: L13, and L11 before it where nobody had confirmed the payment yet. The money is back, so a recall that waited
 * for it has its answer, whatever brought it back. Where it came from takes no money any more, it waits for its owner (L03) like
 * whatever else comes to a closed balance, and nothing is charged for it or given back.
 */
export function giveBack(payment: PaymentState, { context, amount, schemeCode, event, suspenseId }: Extract<PaymentCommand, { kind: 'returned' }>, now: number): PaymentDecision {
  const recall = payment.recall?.status === 'requested' ? answeredRecall(payment.recall, 'accepted', schemeCode, now) : null
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'returned', recall: recall ?? payment.recall }
  const reason = returnReason(schemeCode)
  const suspended = suspenseId !== undefined
  const returnInfo: PaymentReturn = { amountMinor: String(amount), reasonCode: schemeCode, reason: reason.message, receivedAt: timestamp(now), ...(suspended ? { suspended } : {}) }
  return moved(next, {
    paymentDecisions: [{
      id: payment.id, version: payment.version, status: 'returned', statusReason: JSON.stringify(reason), exception: null, returnedAmount: amount,
      returnInfo: JSON.stringify(returnInfo), ...(recall === null ? {} : { recall: JSON.stringify(recall), recallDueAt: null }), updatedAt: now,
    }],
    postings: [
      ...(payment.status === 'completed' ? [] : [...confirmation(payment, context, now), ...partnerCharge(payment, context, now)]),
      ...entry({
        ...(suspended ? { rule: 'L03', amounts: { A: amount } } : { rule: 'L13', amounts: { R: amount } }), currency: payment.currency, accounts: context.accounts,
        balances: ownBalance(payment), entryId: context.ids.next(),
        customerId: payment.customerId, source: { object: 'payment', id: payment.id },
        description: `Payment ${payment.number} returned`, reference: payment.reference, counterparty: payment.recipientName,
        bookedAt: now, valueDate: context.valueDate,
      }),
      ...(suspended ? [] : returnCharges(payment, context, now)),
    ],
    ...(suspended ? { incomingPayments: [suspenseItem(itemOf(payment, { id: suspenseId, context, what: 'returned' }, now), { currency: payment.currency, amount })] } : {}),
    statusUpdates: [update(payment, next, `Payment returned. ${reason.message}`, 'partner', now)],
    events: [...changeEvents(payment, next, context, now), ...(recall === null ? [] : [recallEvent(next, 'requested', context, now)])],
    ...(payment.status === 'completed' ? {} : { instructionsDone: [payment.id] }),
    ...endsException(payment, 'returned', now),
    ...received(payment, event, schemeCode, now),
  })
}

/** What came back to a closed balance, as an item of the suspense list. */
function itemOf({ id: originId, operatorId, connectionId, shard, recipientName, number, rail }: PaymentState, { id, context: { valueDate }, what }: { readonly id: string; readonly context: MoveContext; readonly what: string }, now: number): SuspenseItem {
  return { id, operatorId, connectionId, shard, originId, payerName: recipientName, reference: `Payment ${number} ${what}`, rail, valueDate, receivedAt: now }
}

/** Why money came back, in the words of failures; the one for an unknown reason would say that it failed. */
function returnReason(schemeCode: string): StatusReason {
  const { code, message } = failureFor(schemeCode)
  return { code, message: code === 'unknown' ? 'The reason is not known.' : message }
}

/** P19, P20, P22: L12 takes L10 back, fee included. `suspenseId`: the balance takes no money any more, so all of it waits for its owner under this id. */
export function fail(
  payment: PaymentState, { context, schemeCode, event, suspenseId }: { readonly context: MoveContext; readonly schemeCode: string; readonly event: PartnerMessage | null; readonly suspenseId: string | undefined }, now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureFor(schemeCode), at: timestamp(now) }
  const effects: Effects = {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'failed', failure: JSON.stringify(failure), failedAt: now, updatedAt: now }],
    postings: entry({
      rule: 'L12', reverses: { rule: 'L10', entryId: handOverEntryId(payment) }, amounts: { A: payment.amount, F: payment.fee },
      currency: payment.currency, accounts: context.accounts,
      balances: ownBalance(payment), entryId: context.ids.next(),
      customerId: payment.customerId, source: { object: 'payment', id: payment.id },
      description: `Payment ${payment.number} failed`, reference: payment.reference, counterparty: payment.recipientName,
      bookedAt: now, valueDate: context.valueDate,
    }),
    statusUpdates: [update(payment, next, failure.message, 'partner', now)],
    events: changeEvents(payment, next, context, now),
    instructionsDone: [payment.id],
    outflowReturns: [outflowReturn(payment)],
    ...endsException(payment, 'failed', now),
    ...received(payment, event, schemeCode, now),
  }
  return moved(next, suspenseId === undefined ? effects : intoSuspense(effects, itemOf(payment, { id: suspenseId, context, what: 'failed' }, now), context.accounts))
}

/** Why nobody knows what became of a payment. */
export interface Doubt {
  readonly kind: ExceptionKind
  readonly message: string
}

export const TIMED_OUT: Doubt = { kind: 'provider_timeout', message: 'The bank did not answer in time.' }
export const UNCLEAR: Doubt = { kind: 'provider_state_unknown', message: 'The bank cannot say what became of it.' }

/** P21: the outcome is unknown. L10 stays, nothing is resent, the partner is asked (I7). */
export function suspend(
  payment: PaymentState, { context, askAgainAt, event }: Omit<Extract<PaymentCommand, { kind: 'unclear' }>, 'kind'>, { kind, message }: Doubt, now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'exception' }
  const exception = { kind, code: null, message, since: timestamp(now) }
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'exception', exception: JSON.stringify(exception), updatedAt: now }],
    statusUpdates: [update(payment, next, 'The outcome is being checked with the bank.', 'system', now)],
    events: changeEvents(payment, next, context, now),
    attention: [{ paymentId: payment.id, attentionAt: askAgainAt }],
    ...opensException('payment', next, { id: context.ids.next(), kind, message, at: now }),
    ...received(payment, event, null, now),
  })
}

/** P22: the partner has it after all. */
export function resume(payment: PaymentState, { context, event = null }: Extract<PaymentCommand, { kind: 'accepted' }>, now: number): PaymentDecision {
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
