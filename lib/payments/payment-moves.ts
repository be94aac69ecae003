/**
 * The moves of a payment after it was made.
 *
 *   pending_approval ──approve──▶ processing (queued), scheduled
 *          └──withdraw──▶ rejected, cancelled        processing (queued), scheduled ──withdraw──▶ cancelled
 *
 *   processing (waits for its exchange, conversion.ts) ──funded──▶ processing (queued)
 *                                          └──────────unfunded──▶ failed
 *
 *   draft ──▶ and scheduled ──▶ processing (queued), failed: decided by the paying balance (create-payment.ts, release-payment.ts)
 *
 *   processing (queued) ──hold──▶ on_hold ──release──▶ processing (queued)
 *                                    └──────block────▶ failed
 *
 *   processing (queued) ──hand_over──▶ processing (submitted) ──settled──▶ completed ──returned──▶ returned
 *                                        │   │ ├─────────────rejected──▶ failed
 *                                        │   │ └─────────────returned──▶ returned
 *                                        │   └──timeout, unclear──▶ exception ──settled──▶ completed
 *                                        │                              ├──────rejected──▶ failed
 *                                        │                              ├──────returned──▶ returned
 *                                        │                              └──────accepted──▶ processing (the partner has it)
 *                                        └──refused (definite, before acceptance)──▶ failed
 *
 * A message that fits no row changes nothing: partners repeat themselves, are late, and contradict themselves.
 */
import { endsException, opensException, type ExceptionKind } from '../compliance/exception.ts'
import { opensComplianceHold, UNDER_REVIEW } from '../compliance/hold.ts'
import type { ScreeningHit } from '../compliance/screening.ts'
import type { CommandKey } from '../ledger/decision.ts'
import type { Effects, HoldResolution, HoldRow, OutboxEvent, PaymentDue, Posting } from '../ledger/effects.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import { dateIn, timestamp } from '../clock.ts'
import type { Conversion } from './conversion.ts'
import { failureFor, failureOf } from './failure-codes.ts'
import type { PaymentCharges } from './fees.ts'
import { partnerCharge, returnCharges } from './payment-charges.ts'
import { answeredRecall, type PaymentRecall, type PaymentReturn, type PaymentStatus, type StatusReason } from './payment.ts'

/** What the payment's actor remembers. */
export interface PaymentState {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly number: string
  readonly status: PaymentStatus
  readonly version: number
  readonly sent: boolean
  readonly sourceBalanceId: string
  /** What its money is held by; null while it waits for its day. */
  readonly holdId: string | null
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  readonly rail: string
  readonly reference: string
  readonly recipientName: string
  /** When its money was set aside, and counted against limits: at its creation, or on its day. Epoch milliseconds. */
  readonly createdAt: number
  readonly recall: PaymentRecall | null
  /** What it may cost beside its fee. */
  readonly charges?: PaymentCharges | undefined
  /** The exchange that buys what is paid. */
  readonly conversion?: Conversion | undefined
}

/** What a move needs beside the state: ids made outside, the accounts, the business day. */
export interface MoveContext {
  readonly accounts: InternalAccounts
  readonly ids: { next(): string }
  /** The business day the money counts for. */
  readonly valueDate: string
}

/** How people, or a clock, end a payment before the partner has it. */
export interface Withdrawal {
  readonly status: 'rejected' | 'cancelled'
  readonly reason: StatusReason
  readonly by: 'member' | 'system'
}

/** The exchange of a payment is booked with its approval, at what it costs then. `details` is the JSON text of the payment's. */
export interface Bought {
  readonly conversion: Conversion
  readonly details: string
}

export type PaymentCommand =
  /** Everybody whom it waited for has approved. `due`: when its day is, where its money is set aside only then. */
  | { readonly kind: 'approve'; readonly context: Pick<MoveContext, 'ids'> & { readonly due?: Pick<PaymentDue, 'dueAt' | 'until'> | undefined; readonly notBefore?: number | undefined; readonly bought?: Bought | undefined } }
  /** `from`: what it must be waiting for, people, its day or the partner. */
  | { readonly kind: 'withdraw'; readonly from: 'pending_approval' | 'scheduled' | 'processing'; readonly withdrawal: Withdrawal; readonly context: Pick<MoveContext, 'ids'>; readonly key?: CommandKey | null }
  /** What it pays was bought: it is set aside, and the bank is next. */
  | { readonly kind: 'funded'; readonly context: Pick<MoveContext, 'ids'> & { readonly notBefore?: number | undefined } }
  /** What it was to pay could not be bought. */
  | { readonly kind: 'unfunded'; readonly context: Pick<MoveContext, 'ids'> }
  /** The gate has found something before the partner has it. */
  | { readonly kind: 'hold'; readonly hit: ScreeningHit; readonly context: Pick<MoveContext, 'ids'> }
  | { readonly kind: 'release'; readonly context: Pick<MoveContext, 'ids'> }
  /** `freezeFunds`: by order of an authority its money stays reserved. */
  | { readonly kind: 'block'; readonly freezeFunds: boolean; readonly context: Pick<MoveContext, 'ids'> }
  | { readonly kind: 'hand_over'; readonly context: MoveContext }
  | { readonly kind: 'refused'; readonly context: MoveContext; readonly schemeCode: string }
  | { readonly kind: 'timeout'; readonly context: MoveContext; readonly askAgainAt: number }
  /** The partner says that it cannot say. */
  | { readonly kind: 'unclear'; readonly context: MoveContext; readonly askAgainAt: number; readonly event: PartnerMessage | null }
  /** The partner has it: it was there all along, or the same reference was sent again after the partner did not know it. */
  | { readonly kind: 'accepted'; readonly context: MoveContext; readonly event?: PartnerMessage | null }
  /** Asked and still not known. */
  | { readonly kind: 'still_unknown'; readonly askAgainAt: number }
  | { readonly kind: 'settled' | 'rejected'; readonly context: MoveContext; readonly schemeCode: string | null; readonly event: PartnerMessage | null }
  /** The money is back, all of it or what was left of it. `amount` is minor units. */
  | { readonly kind: 'returned'; readonly context: MoveContext; readonly amount: bigint; readonly schemeCode: string; readonly event: PartnerMessage | null }

/** A message of the partner, to be logged once under the partner's own id. */
export interface PartnerMessage {
  readonly id: string
  readonly type: string
}

export type PaymentReply =
  | { readonly kind: 'moved'; readonly state: PaymentState }
  | { readonly kind: 'ignored'; readonly status: PaymentStatus | null }

export interface PaymentDecision {
  readonly state: PaymentState | null
  readonly reply: PaymentReply
  readonly effects: Effects | null
  readonly refused?: boolean
}

/** Decides one move. Pure: `now` is epoch milliseconds. */
export function movePayment(payment: PaymentState | null, command: PaymentCommand, now: number): PaymentDecision {
  if (payment === null) return { state: null, reply: { kind: 'ignored', status: null }, effects: null, refused: true }
  switch (command.kind) {
    case 'approve':
      return payment.status === 'pending_approval' ? approve(payment, command.context, now) : ignored(payment)
    case 'withdraw':
      return payment.status === command.from && !payment.sent ? withdraw(payment, command, now) : ignored(payment)
    case 'funded':
      return awaitsExchange(payment) ? fund(payment, command.context, now) : ignored(payment)
    case 'unfunded':
      return awaitsExchange(payment) ? giveUp(payment, command.context, now) : ignored(payment)
    case 'hold':
      return payment.status === 'processing' && !payment.sent && !awaitsExchange(payment) ? hold(payment, command, now) : ignored(payment)
    case 'release':
      return payment.status === 'on_hold' ? release(payment, command.context, now) : ignored(payment)
    case 'block':
      return payment.status === 'on_hold' ? block(payment, command, now) : ignored(payment)
    case 'hand_over':
      return payment.status === 'processing' && !payment.sent && !awaitsExchange(payment) ? handOver(payment, command.context, now) : ignored(payment)
    case 'settled':
      return payment.sent && isUnsettled(payment) ? settle(payment, command, now) : ignored(payment)
    case 'rejected':
      return payment.sent && isUnsettled(payment) ? fail(payment, command.context, command.schemeCode ?? 'NARR', command.event, now) : ignored(payment)
    case 'refused':
      return payment.sent && payment.status === 'processing' ? fail(payment, command.context, command.schemeCode, null, now) : ignored(payment)
    case 'timeout':
      return payment.sent && payment.status === 'processing' ? suspend(payment, { ...command, event: null }, TIMED_OUT, now) : ignored(payment)
    case 'unclear':
      return payment.sent && payment.status === 'processing' ? suspend(payment, command, UNCLEAR, now) : ignored(payment)
    case 'returned':
      return payment.sent && (isUnsettled(payment) || payment.status === 'completed') && command.amount > 0n && command.amount <= payment.amount
        ? giveBack(payment, command, now) : ignored(payment)
    case 'accepted':
      return payment.status === 'exception' ? resume(payment, command, now) : ignored(payment)
    case 'still_unknown':
      return payment.status === 'exception'
        ? { state: payment, reply: { kind: 'moved', state: payment }, effects: { attention: [{ paymentId: payment.id, attentionAt: command.askAgainAt }] } }
        : ignored(payment)
    default:
      return command satisfies never
  }
}

/**
 * The entry of L10 has the payment's own id. A payment is handed over once, so no second entry can want it; and L12, which
 * may be decided days later by another process, can name the entry it takes back without reading it or remembering it.
 */
const handOverEntryId = ({ id }: PaymentState): string => id

const isUnsettled = ({ status }: PaymentState): boolean => status === 'processing' || status === 'exception'

/**
 * Final only on fresh state (I4): another node may have handed the payment over since it was read here, and a message that
 * is ignored is acknowledged, so the bank would not repeat it.
 */
const ignored = (payment: PaymentState): PaymentDecision =>
  ({ state: payment, reply: { kind: 'ignored', status: payment.status }, effects: null, refused: true })

/** P7: it takes its place in the queue, and the hold stays; or it waits for its day. */
function approve(payment: PaymentState, context: Extract<PaymentCommand, { kind: 'approve' }>['context'], now: number): PaymentDecision {
  const { due, notBefore, bought } = context
  if (payment.conversion !== undefined) return buy(payment, bought, context, now)
  if (payment.holdId === null && due === undefined) throw new Error(`The payment ${payment.id} has no hold and no day.`)
  const next: PaymentState = { ...payment, version: payment.version + 1, status: payment.holdId === null ? 'scheduled' : 'processing' }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: next.status, approvedAt: now, updatedAt: now }],
    statusUpdates: [update(payment, next, 'Payment approved.', 'member', now)],
    events: changeEvents(payment, next, context, now),
    ...(next.status === 'scheduled'
      ? { paymentsDue: [{ paymentId: payment.id, shard: payment.shard, ...due! }] }
      : { instructions: [{ paymentId: payment.id, shard: payment.shard, ...(notBefore === undefined ? {} : { notBefore }) }] }),
  })
}

/** P7 of a payment whose money is still to be bought: it waits for that. */
function buy(payment: PaymentState, bought: Bought | undefined, context: Pick<MoveContext, 'ids'>, now: number): PaymentDecision {
  if (bought === undefined) throw new Error(`The payment ${payment.id} is approved without its exchange.`)
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'processing', conversion: bought.conversion }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: next.status, details: bought.details, approvedAt: now, updatedAt: now }],
    statusUpdates: [update(payment, next, 'Payment approved.', 'member', now)],
    events: changeEvents(payment, next, context, now),
  })
}

/** P8, P9, P12, P13: the money is free again, if it was held. */
function withdraw(payment: PaymentState, { withdrawal: { status, reason, by }, context, key = null }: Extract<PaymentCommand, { kind: 'withdraw' }>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status, statusReason: JSON.stringify(reason), ...(status === 'cancelled' ? { cancelledAt: now } : {}), updatedAt: now }],
    ...(payment.holdId === null ? {} : { holdResolutions: [holdReleased(payment, now)] }),
    ...(payment.holdId === null && payment.conversion === undefined ? {} : { outflowReturns: [outflowReturn(payment)] }),
    statusUpdates: [update(payment, next, reason.message, by, now)],
    events: changeEvents(payment, next, context, now),
    ...(payment.status === 'processing' ? { instructionsDone: [payment.id] } : {}),
    ...(payment.status === 'scheduled' ? { paymentsDueDone: [payment.id] } : {}),
    ...(key === null ? {} : { idempotency: { ...key, status: 200, resourceId: payment.id, answer: null, createdAt: now } }),
  })
}

/** P14: it leaves the queue and is under review; the customer reads no more than that. */
function hold(payment: PaymentState, { hit, context }: Extract<PaymentCommand, { kind: 'hold' }>, now: number): PaymentDecision {
  const reviewHoldId = context.ids.next()
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'on_hold', holdId: reviewHoldId }
  const opened = opensComplianceHold({
    id: context.ids.next(), kind: 'outbound_screening', provider: hit.provider, subjectType: 'payment', subjectId: payment.id,
    customerId: payment.customerId, operatorId: payment.operatorId, shard: payment.shard, currency: payment.currency, amount: payment.amount,
    counterparty: payment.recipientName, findings: hit.findings,
    decides: hit.decides === null ? null : { decision: hit.decides.decision, at: now + hit.decides.afterMs }, createdAt: now,
  }, context.ids.next())
  const exception = { kind: 'compliance_hold', code: null, message: 'Held by the compliance gate.', since: timestamp(now) } as const
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: 'on_hold', holdId: reviewHoldId, exception: JSON.stringify(exception), updatedAt: now }],
    ...holdReplaced(payment, { id: reviewHoldId, subjectType: 'payment_review', subjectId: reviewHoldId, description: UNDER_REVIEW }, now),
    statusUpdates: [update(payment, next, `${UNDER_REVIEW}.`, 'system', now)],
    events: [...changeEvents(payment, next, context, now), ...opened.events ?? []],
    instructionsDone: [payment.id],
    ...(opened.complianceHolds === undefined ? {} : { complianceHolds: opened.complianceHolds }),
    ...opensException('payment', next, { id: context.ids.next(), kind: exception.kind, message: exception.message, at: now }),
  })
}

/** P15: it waits for the partner again. */
function release(payment: PaymentState, context: Pick<MoveContext, 'ids'>, now: number): PaymentDecision {
  const holdId = context.ids.next()
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'processing', holdId }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: 'processing', holdId, exception: null, updatedAt: now }],
    ...holdReplaced(payment, { id: holdId, subjectType: 'payment', subjectId: payment.id, description: `Payment ${payment.number}` }, now),
    statusUpdates: [update(payment, next, 'The payment continues.', 'system', now)],
    events: changeEvents(payment, next, context, now),
    instructions: [{ paymentId: payment.id, shard: payment.shard }],
    ...endsException(payment, 'released', now),
  })
}

/** P16: it will not leave. Frozen money stays reserved by a hold that is no longer the payment's own. */
function block(payment: PaymentState, { freezeFunds, context }: Extract<PaymentCommand, { kind: 'block' }>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureOf('declined'), at: timestamp(now) }
  const frozen = freezeFunds ? context.ids.next() : null
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: 'failed', failure: JSON.stringify(failure), exception: null, failedAt: now, updatedAt: now }],
    ...(frozen === null
      ? { holdResolutions: [holdReleased(payment, now)] }
      : holdReplaced(payment, { id: frozen, subjectType: 'legal_order', subjectId: frozen, description: UNDER_REVIEW }, now)),
    statusUpdates: [update(payment, next, failure.message, 'system', now)],
    events: changeEvents(payment, next, context, now),
    outflowReturns: [outflowReturn(payment)],
    ...endsException(payment, 'blocked', now),
  })
}

/** Its hold gives way to another one of the same amount. */
function holdReplaced(payment: PaymentState, hold: Pick<HoldRow, 'id' | 'subjectType' | 'subjectId' | 'description'>, now: number): Pick<Effects, 'holds' | 'holdResolutions'> {
  return {
    holdResolutions: [holdReleased(payment, now)],
    holds: [{ ...hold, ...heldMoney(payment), customerId: payment.customerId, createdAt: now }],
  }
}

const holdReleased = (payment: PaymentState, now: number): HoldResolution =>
  ({ id: heldBy(payment), ...heldMoney(payment), status: 'released', capturedAmount: null, resolvedAt: now })

/** The hold of a payment that has one: every payment but a draft and one that waits for its day. */
function heldBy({ id, holdId }: PaymentState): string {
  if (holdId === null) throw new Error(`The payment ${id} has no hold.`)
  return holdId
}

/** The balance that pays: what is bought is paid from where it comes to. */
export const payingBalance = ({ sourceBalanceId, conversion }: Pick<PaymentState, 'sourceBalanceId' | 'conversion'>): string => conversion?.buyBalanceId ?? sourceBalanceId

const ownBalance = (payment: PaymentState) => ({ from: payingBalance(payment), to: payingBalance(payment) })

/** What its hold reserves, and where. */
const heldMoney = (payment: PaymentState): Pick<HoldRow, 'balanceId' | 'amount'> => ({ balanceId: payingBalance(payment), amount: payment.amount + payment.fee })

/** What it pays is being bought: nothing is set aside for it, and the bank has not been told. */
export const awaitsExchange = ({ status, sent, holdId, conversion }: Pick<PaymentState, 'status' | 'sent' | 'holdId' | 'conversion'>): boolean =>
  conversion !== undefined && status === 'processing' && !sent && holdId === null

/** What was bought for it is set aside, and it takes its place in the queue. Its status stays. */
function fund(payment: PaymentState, { ids, notBefore }: Extract<PaymentCommand, { kind: 'funded' }>['context'], now: number): PaymentDecision {
  const holdId = ids.next()
  const next: PaymentState = { ...payment, version: payment.version + 1, holdId }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: payment.status, holdId, updatedAt: now }],
    holds: [{ id: holdId, ...heldMoney(next), customerId: payment.customerId, subjectType: 'payment', subjectId: payment.id, description: `Payment ${payment.number}`, createdAt: now }],
    statusUpdates: [update(payment, next, 'What it pays was bought.', 'system', now)],
    instructions: [{ paymentId: payment.id, shard: payment.shard, ...(notBefore === undefined ? {} : { notBefore }) }],
  })
}

/** The exchange has failed, and what was sold is given back with it. */
function giveUp(payment: PaymentState, context: Pick<MoveContext, 'ids'>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureOf('technical_error'), message: 'The currency could not be bought.', at: timestamp(now) }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: 'failed', failure: JSON.stringify(failure), failedAt: now, updatedAt: now }],
    statusUpdates: [update(payment, next, failure.message, 'system', now)],
    events: changeEvents(payment, next, context, now),
    outflowReturns: [outflowReturn(payment)],
  })
}

/** P17: L10, the hold captured, `processing` gone. Committed before the partner is called. No event. */
function handOver(payment: PaymentState, context: MoveContext, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, sent: true }
  const total = payment.amount + payment.fee
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'processing', sentAt: now, updatedAt: now }],
    holdResolutions: [{ id: heldBy(payment), balanceId: payingBalance(payment), amount: total, status: 'captured', capturedAmount: total, resolvedAt: now }],
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
function settle(payment: PaymentState, { context, event }: Extract<PaymentCommand, { kind: 'settled' | 'rejected' }>, now: number): PaymentDecision {
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
 * for it has its answer, whatever brought it back.
 */
function giveBack(payment: PaymentState, { context, amount, schemeCode, event }: Extract<PaymentCommand, { kind: 'returned' }>, now: number): PaymentDecision {
  const recall = payment.recall?.status === 'requested' ? answeredRecall(payment.recall, 'accepted', schemeCode, now) : null
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'returned', recall: recall ?? payment.recall }
  const reason = returnReason(schemeCode)
  const returnInfo: PaymentReturn = { amountMinor: String(amount), reasonCode: schemeCode, reason: reason.message, receivedAt: timestamp(now) }
  return moved(next, {
    paymentDecisions: [{
      id: payment.id, version: payment.version, status: 'returned', statusReason: JSON.stringify(reason), exception: null, returnedAmount: amount,
      returnInfo: JSON.stringify(returnInfo), ...(recall === null ? {} : { recall: JSON.stringify(recall), recallDueAt: null }), updatedAt: now,
    }],
    postings: [
      ...(payment.status === 'completed' ? [] : [...confirmation(payment, context, now), ...partnerCharge(payment, context, now)]),
      ...entry({
        rule: 'L13', amounts: { R: amount }, currency: payment.currency, accounts: context.accounts,
        balances: ownBalance(payment), entryId: context.ids.next(),
        customerId: payment.customerId, source: { object: 'payment', id: payment.id },
        description: `Payment ${payment.number} returned`, reference: payment.reference, counterparty: payment.recipientName,
        bookedAt: now, valueDate: context.valueDate,
      }),
      ...returnCharges(payment, context, now),
    ],
    statusUpdates: [update(payment, next, `Payment returned. ${reason.message}`, 'partner', now)],
    events: [...changeEvents(payment, next, context, now), ...(recall === null ? [] : [recallEvent(next, 'requested', context, now)])],
    ...(payment.status === 'completed' ? {} : { instructionsDone: [payment.id] }),
    ...endsException(payment, 'returned', now),
    ...received(payment, event, schemeCode, now),
  })
}

/** Why money came back, in the words of failures; the one for an unknown reason would say that it failed. */
function returnReason(schemeCode: string): StatusReason {
  const { code, message } = failureFor(schemeCode)
  return { code, message: code === 'unknown' ? 'The reason is not known.' : message }
}

/** P19, P20, P22: L12 takes L10 back, fee included. */
function fail(payment: PaymentState, context: MoveContext, schemeCode: string, event: PartnerMessage | null, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureFor(schemeCode), at: timestamp(now) }
  return moved(next, {
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
  })
}

/** Why nobody knows what became of a payment. */
interface Doubt {
  readonly kind: ExceptionKind
  readonly message: string
}

const TIMED_OUT: Doubt = { kind: 'provider_timeout', message: 'The bank did not answer in time.' }
const UNCLEAR: Doubt = { kind: 'provider_state_unknown', message: 'The bank cannot say what became of it.' }

/** P21: the outcome is unknown. L10 stays, nothing is resent, the partner is asked (I7). */
function suspend(
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
function resume(payment: PaymentState, { context, event = null }: Extract<PaymentCommand, { kind: 'accepted' }>, now: number): PaymentDecision {
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

/** What it counted against a limit is free again. */
const outflowReturn = ({ customerId, currency, amount, conversion, createdAt }: PaymentState) => ({
  customerId, currency: conversion?.sellCurrency ?? currency, day: dateIn(createdAt, 'UTC'), amount: conversion === undefined ? amount : BigInt(conversion.sellMinor),
})

const UNCHANGED = { providerRef: null, failure: null, exception: null, sentAt: null, completedAt: null, failedAt: null } as const

const moved = (state: PaymentState, effects: Effects): PaymentDecision => ({ state, reply: { kind: 'moved', state }, effects })

function update(before: PaymentState, after: PaymentState, message: string, actor: 'system' | 'partner' | 'member', now: number) {
  return { objectId: after.id, version: after.version, customerId: after.customerId, status: after.status, previousStatus: before.status, message, actor, at: now }
}

/** What an event tells of a payment. */
export type ChangedPayment = Pick<PaymentState, 'id' | 'customerId' | 'operatorId' | 'shard' | 'status' | 'amount' | 'currency'>

/** `payment.status_changed`, and beside it the event of a terminal status. */
export function changeEvents(before: ChangedPayment, after: ChangedPayment, { ids }: Pick<MoveContext, 'ids'>, now: number) {
  const event = (type: string) => ({
    id: ids.next(), createdAt: now, customerId: after.customerId, operatorId: after.operatorId, shard: after.shard, type,
    object: 'payment', objectId: after.id, status: after.status, previousStatus: before.status, amount: after.amount, currency: after.currency,
  })
  const terminal = after.status === 'completed' || after.status === 'failed' || after.status === 'returned'
  return terminal ? [event('payment.status_changed'), event(`payment.${after.status}`)] : [event('payment.status_changed')]
}

/** `payment.recall_updated` speaks of the recall: its status now, and the one before. */
export function recallEvent(payment: PaymentState, previousStatus: PaymentRecall['status'] | null, { ids }: Pick<MoveContext, 'ids'>, now: number): OutboxEvent {
  return {
    id: ids.next(), createdAt: now, customerId: payment.customerId, operatorId: payment.operatorId, shard: payment.shard, type: 'payment.recall_updated',
    object: 'payment', objectId: payment.id, status: payment.recall?.status ?? null, previousStatus, amount: payment.amount, currency: payment.currency,
  }
}

function received(payment: PaymentState, event: PartnerMessage | null, code: string | null, now: number): Pick<Effects, 'providerEvents'> {
  return event === null ? {} : { providerEvents: [{ id: event.id, connectionId: payment.connectionId, type: event.type, objectId: payment.id, code, receivedAt: now }] }
}
