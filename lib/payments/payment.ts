/**
 * A payment as it is kept and as it is shown.
 *
 * What never changes after creation and is only shown lives in `details`, one JSON text; what is decided on, filtered by
 * or moved by the state machine has a column. The creation answer is a function of both, so a repeat under the same
 * Idempotency-Key gives the same bytes again without a stored copy of them.
 */
import { timestamp } from '../base/clock.ts'
import { moneyJson, type MoneyJson } from '../base/money.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { ExceptionKind } from '../compliance/exception.ts'
import type { Failure as FailureReason } from '../rails/failure-codes.ts'
import { costOf, type Conversion } from './conversion.ts'
import type { PaymentCharges } from '../pricing/fees.ts'
import type { Rail } from '../rails/rails.ts'
import { transactionId } from '../ledger/transaction-id.ts'
import { shownVerification, type KeptVerification } from '../recipients/verification.ts'

export type PaymentStatus =
  | 'draft' | 'pending_approval' | 'scheduled' | 'processing' | 'on_hold' | 'completed' | 'failed' | 'returned'
  | 'exception' | 'rejected' | 'cancelled'

/** The person or key whose limits a payment counts for: whoever set its amount. */
export const spenderOf = ({ createdBy, details }: Pick<PaymentRecord, 'createdBy' | 'details'>): string => details.spenderId ?? details.submitted?.by ?? createdBy

/** The recipient as it was when the payment was submitted. */
export interface RecipientSnapshot {
  readonly name: string
  readonly type: 'business' | 'individual'
  readonly maskedIdentifier: string
  readonly currency: string
  readonly bankCountry: string
}

/** Where a payment stood in the partner's queue. Position 1 is next. */
export interface QueuePlace {
  readonly position: number
  readonly etaSeconds: number
  readonly estimatedAt: string
}

/** What is fixed at creation and only shown. */
export interface PaymentDetails {
  readonly sourceBalanceName: string
  readonly recipient: RecipientSnapshot
  readonly chargeBearer: 'shared' | 'sender' | 'recipient'
  readonly requestedRail: Rail | null
  readonly reference: string
  readonly endToEndId: string
  readonly uetr: string | null
  readonly purposeCode: string | null
  readonly purpose: string | null
  readonly estimatedArrival: string | null
  readonly instant: boolean
  readonly internalNote: string | null
  readonly notifyRecipient: boolean
  /** As the creation answer showed it; null where the payment waited for people first. */
  readonly queued: QueuePlace | null
  /** What the recipient's bank said of its name; absent where no bank is asked. */
  readonly verification?: KeptVerification
  /** The approval that it waited for; absent where it needed none. */
  readonly approvalId?: string
  /** It was made for a later day, and so began as `scheduled`. */
  readonly beganScheduled?: true
  /** Of a payment that waits for its day: what a review of its recipient looked at, to be found unchanged then. */
  readonly recipientDigest?: string
  /** When its money was set aside, epoch milliseconds; absent where that was at its creation, or has not been. */
  readonly heldAt?: number
  /** Of a draft: what its submission is to accept of the check of its recipient's name, unless it says so itself. */
  readonly verificationOverride?: { readonly acceptOutcome: string; readonly reason: string }
  /** Who submitted it and when, epoch milliseconds; absent where that was its creation. */
  readonly submitted?: { readonly by: string; readonly at: number }
  /** Who set the amount; absent where that is whoever submitted it, or else made it. */
  readonly spenderId?: string
  /** Of a draft: who has changed its terms; ids of people and keys. */
  readonly editors?: readonly string[]
  /** Of a draft: who set its amount; absent where that is whoever made it. */
  readonly amountSetBy?: string
  /** What it may cost beside its fee; absent where there is nothing. */
  readonly charges?: PaymentCharges
  /** Of a draft: the quote that its submission is to use. */
  readonly quoteId?: string
  /** The exchange that buys what is paid; absent where nothing has to be bought. */
  readonly conversion?: Conversion
  /** The file and the row that it was made of. */
  readonly bulk?: { readonly bulkPaymentId: string; readonly bulkRowId: string }
  /** Its approval is that of the whole file; then it ends without it. */
  readonly sharesApproval?: true
  /** Of a payment on the rail `internal`: the balance that is credited. */
  readonly payeeBalanceId?: string
  /** What supports it; absent where there is nothing. */
  readonly documentIds?: readonly string[]
  /** What was changed since, as its creation showed it. */
  readonly original?: { readonly internalNote: string | null; readonly metadata: Readonly<Record<string, string>>; readonly documentIds?: readonly string[] }
}

/** Why a payment was rejected, cancelled or returned. */
export interface StatusReason {
  readonly code: string
  readonly message: string
}

/** Why a payment failed, and when. */
export interface Failure extends FailureReason {
  /** RFC 3339. */
  readonly at: string
}

/** Money that came back after it was sent. */
export interface PaymentReturn {
  /** Minor units, never more than was sent: banks on the way may keep a charge. */
  readonly amountMinor: string
  /** The scheme's reason as it was received. */
  readonly reasonCode: string | null
  readonly reason: string | null
  /** RFC 3339. */
  readonly receivedAt: string
  /** It did not come to the balance, which takes no money any more, and waits for its owner. */
  readonly suspended?: true
}

/** What the customer asked the recipient's bank for, and what it said. Times are RFC 3339. */
export interface PaymentRecall {
  readonly status: 'requested' | 'accepted' | 'rejected' | 'expired'
  readonly reasonCode: string
  /** For the banks; customers see their own note nowhere else. */
  readonly note: string
  readonly requestedAt: string
  /** When the partner had it. */
  readonly sentAt: string | null
  readonly decidedAt: string | null
  /** The scheme's code of the answer. */
  readonly response: string | null
  /** Without an answer it is given up then. */
  readonly expiresAt: string
}

/** The recall, answered. `response` is the scheme's code; null where nobody answered in time. `now` is epoch milliseconds. */
export function answeredRecall(recall: PaymentRecall, status: 'accepted' | 'rejected' | 'expired', response: string | null, now: number): PaymentRecall {
  return { ...recall, status, response, decidedAt: timestamp(now) }
}

/** A payment as storage gives it back; times are epoch milliseconds. */
export interface PaymentRecord {
  readonly id: string
  readonly customerId: string
  readonly connectionId: string
  readonly number: string
  readonly externalId: string | null
  readonly status: PaymentStatus
  readonly version: number
  readonly sourceBalanceId: string
  readonly recipientId: string
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  /** Null in a draft. */
  readonly rail: Rail | null
  /** Null in a draft that names none. */
  readonly executionDate: string | null
  readonly createdBy: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'bulk' | 'schedule' | 'system' | 'operator'
  readonly details: PaymentDetails
  readonly metadata: Readonly<Record<string, string>>
  readonly failure: Failure | null
  /** Why it was rejected, cancelled or returned. */
  readonly statusReason: StatusReason | null
  /** What came back, minor units. */
  readonly returnedAmount: bigint | null
  readonly returnInfo: PaymentReturn | null
  readonly recall: PaymentRecall | null
  /** JSON of the exception; shown to staff only. */
  readonly exception: { readonly kind: ExceptionKind; readonly code: string | null; readonly message: string; readonly since: string } | null
  /** The schedule that made it. */
  readonly scheduledPaymentId: string | null
  readonly providerRef: string | null
  readonly sentAt: number | null
  readonly completedAt: number | null
  readonly failedAt: number | null
  readonly approvedAt: number | null
  readonly cancelledAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/**
 * The payment as the API shows it to its customer.
 *
 * @param queued its place in the queue while it waits for the partner; null leaves `processing` out, as it must be once
 *   the payment was handed over.
 */
export function paymentJson(payment: PaymentRecord, queued: QueuePlace | null) {
  const { details } = payment
  const money = (amountMinor: bigint): MoneyJson => moneyJson({ amountMinor, currency: payment.currency as CurrencyCode })
  return {
    id: payment.id,
    customerId: payment.customerId,
    number: payment.number,
    externalId: payment.externalId,
    status: payment.status,
    statusReason: payment.failure === null ? payment.statusReason : { code: payment.failure.code, message: payment.failure.message },
    sourceBalanceId: payment.sourceBalanceId,
    sourceBalanceName: details.sourceBalanceName,
    recipientId: payment.recipientId,
    recipient: details.recipient,
    amount: money(payment.amount),
    ...costJson(payment, money),
    quoteId: details.conversion?.quoteId ?? details.quoteId ?? null,
    exchangeId: details.conversion?.exchangeId ?? null,
    returnedAmount: payment.returnedAmount === null ? null : money(payment.returnedAmount),
    chargeBearer: details.chargeBearer,
    requestedRail: details.requestedRail,
    rail: payment.rail,
    reference: details.reference,
    endToEndId: details.endToEndId,
    uetr: details.uetr,
    purposeCode: details.purposeCode,
    purpose: details.purpose,
    executionDate: payment.executionDate,
    estimatedArrival: details.estimatedArrival,
    instant: details.instant,
    approvalId: details.approvalId ?? null,
    ...(queued === null ? {} : { processing: { status: 'queued' as const, position: queued.position, etaSeconds: queued.etaSeconds, estimatedAt: queued.estimatedAt } }),
    exception: null,
    failure: payment.failure,
    return: payment.returnInfo === null ? null : returnJson(payment.id, payment.returnInfo, money),
    recall: payment.recall === null ? null : recallJson(payment.recall),
    verification: details.verification === undefined ? null : shownVerification(details.verification, details.recipient.name),
    cancellable: isCancellable(payment),
    bulkPaymentId: payment.details.bulk?.bulkPaymentId ?? null,
    bulkRowId: payment.details.bulk?.bulkRowId ?? null,
    scheduledPaymentId: payment.scheduledPaymentId,
    fundsRequestId: null,
    documentIds: [...details.documentIds ?? []],
    internalNote: details.internalNote,
    notifyRecipient: details.notifyRecipient,
    createdBy: payment.createdBy,
    createdVia: payment.createdVia,
    submittedBy: payment.status === 'draft' ? null : details.submitted?.by ?? payment.createdBy,
    submittedAt: payment.status === 'draft' ? null : timestamp(details.submitted?.at ?? payment.createdAt),
    approvedAt: at(payment.approvedAt),
    sentAt: at(payment.sentAt),
    completedAt: at(payment.completedAt),
    failedAt: at(payment.failedAt),
    cancelledAt: at(payment.cancelledAt),
    metadata: payment.metadata,
    createdAt: timestamp(payment.createdAt),
    updatedAt: timestamp(payment.updatedAt),
  }
}

/** What it costs, and what leaves the balance that it is made from, in the currency of that balance. */
function costJson({ amount, fee, details: { conversion } }: PaymentRecord, money: (amountMinor: bigint) => MoneyJson) {
  if (conversion === undefined) {
    return {
      fee: fee === 0n ? null : money(fee), fees: fee === 0n ? [] : [{ type: 'payment' as 'payment' | 'fx', amount: money(fee), description: 'Payment fee' }],
      totalDebit: money(amount + fee),
    }
  }
  const sold = (amountMinor: bigint): MoneyJson => moneyJson({ amountMinor, currency: conversion.sellCurrency as CurrencyCode })
  const cost = BigInt(conversion.feeMinor)
  return {
    fee: cost === 0n ? null : sold(cost), fees: cost === 0n ? [] : [{ type: 'fx' as 'payment' | 'fx', amount: sold(cost), description: 'Exchange fee' }],
    totalDebit: sold(costOf(conversion)),
  }
}

const returnJson = (paymentId: string, { amountMinor, reasonCode, reason, receivedAt, suspended }: PaymentReturn, money: (amountMinor: bigint) => MoneyJson) =>
  ({ amount: money(BigInt(amountMinor)), reasonCode, reason, receivedAt, transactionId: suspended === true ? null : transactionId(paymentId, 'return') })

const recallJson = ({ status, reasonCode, requestedAt, decidedAt, response }: PaymentRecall) => ({ status, reasonCode, requestedAt, decidedAt, response })

/** Whether it can still be withdrawn: it waits for people, for its day, or for the partner. */
export function isCancellable({ status, sentAt }: Pick<PaymentRecord, 'status' | 'sentAt'>): boolean {
  return status === 'pending_approval' || status === 'scheduled' || (status === 'processing' && sentAt === null)
}

/** The payment as it was answered when it was created, whatever has become of it since. Not for drafts: they are written over. */
export function createdPayment(payment: PaymentRecord): PaymentRecord {
  const { approvalId, beganScheduled, original } = payment.details
  const status = approvalId !== undefined ? 'pending_approval' : beganScheduled === true ? 'scheduled' : 'processing'
  const unchanged = original === undefined ? payment : { ...payment, details: { ...payment.details, internalNote: original.internalNote, documentIds: original.documentIds ?? [] }, metadata: original.metadata }
  return { ...unchanged, status, version: 1, failure: null,
    statusReason: null, returnedAmount: null, returnInfo: null, recall: null, exception: null, providerRef: null, sentAt: null, completedAt: null, failedAt: null, approvedAt: null,
    cancelledAt: null, updatedAt: payment.createdAt }
}
