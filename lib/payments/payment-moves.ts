/**
 * The moves of a payment after it was made.
 *
 *   pending_approval ──approve──▶ processing (queued)
 *          └──withdraw──▶ rejected, cancelled        processing (queued) ──withdraw──▶ cancelled
 *
 *   processing (queued) ──hand_over──▶ processing (submitted) ──settled──▶ completed
 *                                        │   │ └─────────────rejected──▶ failed
 *                                        │   └──timeout──▶ exception ──settled──▶ completed
 *                                        │                     ├──────rejected──▶ failed
 *                                        │                     └──────accepted──▶ processing (it had never arrived)
 *                                        └──refused (definite, before acceptance)──▶ failed
 *
 * A message that fits no row changes nothing: partners repeat themselves, are late, and contradict themselves.
 */
import type { CommandKey } from '../ledger/decision.ts'
import type { Effects } from '../ledger/effects.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import { dateIn, timestamp } from '../clock.ts'
import { failureFor } from './failure-codes.ts'
import type { PaymentStatus, StatusReason } from './payment.ts'

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
  readonly holdId: string
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  readonly rail: string
  readonly reference: string
  readonly recipientName: string
  /** Epoch milliseconds. */
  readonly createdAt: number
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

export type PaymentCommand =
  /** Everybody whom it waited for has approved. */
  | { readonly kind: 'approve'; readonly context: Pick<MoveContext, 'ids'> }
  /** `from`: what it must be waiting for, people or the partner. */
  | { readonly kind: 'withdraw'; readonly from: 'pending_approval' | 'processing'; readonly withdrawal: Withdrawal; readonly context: Pick<MoveContext, 'ids'>; readonly key?: CommandKey | null }
  | { readonly kind: 'hand_over'; readonly context: MoveContext }
  | { readonly kind: 'refused'; readonly context: MoveContext; readonly schemeCode: string }
  | { readonly kind: 'timeout'; readonly context: MoveContext; readonly askAgainAt: number }
  /** It had never arrived, and now it has: the same reference was sent again, after the partner said it did not know it. */
  | { readonly kind: 'accepted'; readonly context: MoveContext }
  /** Asked and still not known. */
  | { readonly kind: 'still_unknown'; readonly askAgainAt: number }
  | { readonly kind: 'settled' | 'rejected'; readonly context: MoveContext; readonly schemeCode: string | null; readonly event: PartnerMessage | null }

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
    case 'hand_over':
      return payment.status === 'processing' && !payment.sent ? handOver(payment, command.context, now) : ignored(payment)
    case 'settled':
      return payment.sent && isUnsettled(payment) ? settle(payment, command, now) : ignored(payment)
    case 'rejected':
      return payment.sent && isUnsettled(payment) ? fail(payment, command.context, command.schemeCode ?? 'NARR', command.event, now) : ignored(payment)
    case 'refused':
      return payment.sent && payment.status === 'processing' ? fail(payment, command.context, command.schemeCode, null, now) : ignored(payment)
    case 'timeout':
      return payment.sent && payment.status === 'processing' ? suspend(payment, command, now) : ignored(payment)
    case 'accepted':
      return payment.status === 'exception' ? resume(payment, command.context, now) : ignored(payment)
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

/** P7: it takes its place in the queue; the hold stays. */
function approve(payment: PaymentState, context: Pick<MoveContext, 'ids'>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'processing' }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: 'processing', statusReason: null, approvedAt: now, cancelledAt: null, updatedAt: now }],
    statusUpdates: [update(payment, next, 'Payment approved.', 'member', now)],
    events: changeEvents(payment, next, context, now),
    instructions: [{ paymentId: payment.id, shard: payment.shard }],
  })
}

/** P8, P9, P13: the money is free again. */
function withdraw(payment: PaymentState, { withdrawal: { status, reason, by }, context, key = null }: Extract<PaymentCommand, { kind: 'withdraw' }>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status }
  const cancelledAt = status === 'cancelled' ? now : null
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status, statusReason: JSON.stringify(reason), approvedAt: null, cancelledAt, updatedAt: now }],
    holdResolutions: [{ id: payment.holdId, balanceId: payment.sourceBalanceId, amount: payment.amount + payment.fee, status: 'released', capturedAmount: null, resolvedAt: now }],
    statusUpdates: [update(payment, next, reason.message, by, now)],
    events: changeEvents(payment, next, context, now),
    ...(payment.status === 'processing' ? { instructionsDone: [payment.id] } : {}),
    outflowReturns: [outflowReturn(payment)],
    ...(key === null ? {} : { idempotency: { ...key, status: 200, resourceId: payment.id, answer: null, createdAt: now } }),
  })
}

/** P17: L10, the hold captured, `processing` gone. Committed before the partner is called. No event. */
function handOver(payment: PaymentState, context: MoveContext, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, sent: true }
  const total = payment.amount + payment.fee
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'processing', sentAt: now, updatedAt: now }],
    holdResolutions: [{ id: payment.holdId, balanceId: payment.sourceBalanceId, amount: total, status: 'captured', capturedAmount: total, resolvedAt: now }],
    postings: entry({
      rule: 'L10', amounts: { A: payment.amount, F: payment.fee }, currency: payment.currency, accounts: context.accounts,
      balances: { from: payment.sourceBalanceId, to: payment.sourceBalanceId }, entryId: handOverEntryId(payment),
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
    postings: entry({
      rule: 'L11', amounts: { A: payment.amount }, currency: payment.currency, accounts: context.accounts,
      balances: { from: payment.sourceBalanceId, to: payment.sourceBalanceId }, entryId: context.ids.next(),
      customerId: payment.customerId, source: { object: 'payment', id: payment.id }, description: `Payment ${payment.number}`,
      bookedAt: now, valueDate: context.valueDate,
    }),
    statusUpdates: [update(payment, next, 'Payment completed.', 'partner', now)],
    events: changeEvents(payment, next, context, now),
    instructionsDone: [payment.id],
    ...received(payment, event, null, now),
  })
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
      balances: { from: payment.sourceBalanceId, to: payment.sourceBalanceId }, entryId: context.ids.next(),
      customerId: payment.customerId, source: { object: 'payment', id: payment.id },
      description: `Payment ${payment.number} failed`, reference: payment.reference, counterparty: payment.recipientName,
      bookedAt: now, valueDate: context.valueDate,
    }),
    statusUpdates: [update(payment, next, failure.message, 'partner', now)],
    events: changeEvents(payment, next, context, now),
    instructionsDone: [payment.id],
    outflowReturns: [outflowReturn(payment)],
    ...received(payment, event, schemeCode, now),
  })
}

/** P21: the outcome is unknown. L10 stays, nothing is resent, the partner is asked (I7). */
function suspend(payment: PaymentState, { context, askAgainAt }: Extract<PaymentCommand, { kind: 'timeout' }>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'exception' }
  const exception = { kind: 'provider_timeout', code: null, message: 'The bank did not answer in time.', since: timestamp(now) }
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'exception', exception: JSON.stringify(exception), updatedAt: now }],
    statusUpdates: [update(payment, next, 'The outcome is being checked with the bank.', 'system', now)],
    events: changeEvents(payment, next, context, now),
    attention: [{ paymentId: payment.id, attentionAt: askAgainAt }],
  })
}

/** P22: the partner has it after all. */
function resume(payment: PaymentState, context: MoveContext, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'processing' }
  return moved(next, {
    paymentChanges: [{ ...UNCHANGED, id: payment.id, version: payment.version, status: 'processing', updatedAt: now }],
    statusUpdates: [update(payment, next, 'The bank has the payment.', 'system', now)],
    events: changeEvents(payment, next, context, now),
    attention: [{ paymentId: payment.id, attentionAt: null }],
  })
}

/** What it counted against a limit is free again. */
const outflowReturn = ({ customerId, currency, amount, createdAt }: PaymentState) => ({ customerId, currency, day: dateIn(createdAt, 'UTC'), amount })

const UNCHANGED = { providerRef: null, failure: null, exception: null, sentAt: null, completedAt: null, failedAt: null } as const

const moved = (state: PaymentState, effects: Effects): PaymentDecision => ({ state, reply: { kind: 'moved', state }, effects })

function update(before: PaymentState, after: PaymentState, message: string, actor: 'system' | 'partner' | 'member', now: number) {
  return { objectId: after.id, version: after.version, customerId: after.customerId, status: after.status, previousStatus: before.status, message, actor, at: now }
}

/** `payment.status_changed`, and beside it the event of a terminal status. */
function changeEvents(before: PaymentState, after: PaymentState, { ids }: Pick<MoveContext, 'ids'>, now: number) {
  const event = (type: string) => ({
    id: ids.next(), createdAt: now, customerId: after.customerId, operatorId: after.operatorId, shard: after.shard, type,
    object: 'payment', objectId: after.id, status: after.status, previousStatus: before.status, amount: after.amount, currency: after.currency,
  })
  const terminal = after.status === 'completed' || after.status === 'failed'
  return terminal ? [event('payment.status_changed'), event(`payment.${after.status}`)] : [event('payment.status_changed')]
}

function received(payment: PaymentState, event: PartnerMessage | null, code: string | null, now: number): Pick<Effects, 'providerEvents'> {
  return event === null ? {} : { providerEvents: [{ id: event.id, connectionId: payment.connectionId, type: event.type, objectId: payment.id, code, receivedAt: now }] }
}
