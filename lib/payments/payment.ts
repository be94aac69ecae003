/**
 * A payment as it is stored and as it is shown.
 *
 * Fields that never change after creation and are only shown are in `details`, one JSON text. Fields that are decided
 * on, filtered by or moved by the state machine have a column. The creation answer is a function of both, so a repeat
 * under the same Idempotency-Key gives the same bytes again without a stored copy of them.
 */
import { timestamp } from '../base/clock.ts'
import { moneyJson, type MoneyJson } from '../base/money.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { ExceptionKind } from '../compliance/exception.ts'
import type { FailureReason } from '../rails/failure-codes.ts'
import { costOf, type Conversion } from './conversion.ts'
import { givenOf, type Given } from './given-schema.ts'
import { taxWithin, type PaymentCharges } from '../pricing/fees.ts'
import type { ChargeBearer, Rail } from '../rails/rails.ts'
import type { KeptRouting } from '../providers/routing.ts'
import { transactionId } from '../ledger/transaction-id.ts'
import { shownVerification, type KeptVerification } from '../recipients/verification.ts'

export type PaymentStatus =
  | 'draft'
  | 'pending_approval'
  | 'scheduled'
  | 'processing'
  | 'on_hold'
  | 'completed'
  | 'failed'
  | 'returned'
  | 'exception'
  | 'rejected'
  | 'cancelled'

/** Returns the person or key whose limits the payment counts for: the one that set its amount. */
export const spenderOf = ({ createdBy, details }: Pick<PaymentRecord, 'createdBy' | 'details'>): string =>
  details.spenderId ?? details.submitted?.by ?? createdBy

/** The recipient as it was when the payment was submitted. */
export interface RecipientSnapshot {
  readonly name: string
  readonly type: 'business' | 'individual'
  readonly maskedIdentifier: string
  readonly currency: string
  readonly bankCountry: string
}

/** The place of a payment in the partner's queue. Position 1 is next. */
export interface QueuePlace {
  readonly position: number
  readonly etaSeconds: number
  readonly estimatedAt: string
}

/** Fields that are fixed at creation and only shown. */
export interface PaymentDetails {
  readonly sourceBalanceName: string
  readonly recipient: RecipientSnapshot
  readonly chargeBearer: ChargeBearer
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
  /** As the creation answer showed it; null where the payment waited for its approval first. */
  readonly queued: QueuePlace | null
  /** The answer of the recipient's bank to the check of the name; absent where no bank is asked. */
  readonly verification?: KeptVerification
  /** The approval of the payment; absent where it needed none. */
  readonly approvalId?: string
  /** The payment was made for a later day, so its first status was `scheduled`. */
  readonly beganScheduled?: true
  /**
   * For a payment that waits for its day: the digest of the recipient's reviewed fields; it must be unchanged on that
   * day.
   */
  readonly recipientDigest?: string
  /**
   * The time when its money was held, epoch milliseconds; absent where that was at its creation, or has not happened.
   */
  readonly heldAt?: number
  /** For a draft: the outcome of the name check that its submission accepts, unless the submission names one itself. */
  readonly verificationOverride?: { readonly acceptOutcome: string; readonly reason: string }
  /** The submitter and the time, epoch milliseconds; absent where the payment was submitted at its creation. */
  readonly submitted?: { readonly by: string; readonly at: number }
  /** The person or key that set the amount; absent where that is the submitter, or else the creator. */
  readonly spenderId?: string
  /** For a draft: ids of the people and keys that changed its terms. */
  readonly editors?: readonly string[]
  /** For a draft: the person or key that set its amount; absent where that is its creator. */
  readonly amountSetBy?: string
  /** Charges that it may cost beside its fee, and the tax within its fee; absent where there are none. */
  readonly charges?: PaymentCharges
  /** For a draft: the quote that its submission uses. */
  readonly quoteId?: string
  /** The exchange that buys the paid amount; absent for a payment in the currency of its source balance. */
  readonly conversion?: Conversion
  /** The bulk file and the row that the payment was made from. */
  readonly bulk?: { readonly bulkPaymentId: string; readonly bulkRowId: string }
  /** Its approval is that of the whole bulk file; the payment can end while that approval goes on. */
  readonly sharesApproval?: true
  /** On the rail `internal`: the payee's balance, which is credited. */
  readonly payeeBalanceId?: string
  /** Supporting documents; absent where there are none. */
  readonly documentIds?: readonly string[]
  /** The values at creation of fields that were changed since. */
  readonly original?: {
    readonly internalNote: string | null
    readonly metadata: Readonly<Record<string, string>>
    readonly documentIds?: readonly string[]
  }
}

/** The reason of a rejection, cancellation or return. */
export interface StatusReason {
  readonly code: string
  readonly message: string
}

/** The reason and the time of a failure. */
export interface PaymentFailure extends FailureReason {
  /** RFC 3339. */
  readonly at: string
}

/** Money that came back after it was sent. */
export interface PaymentReturn {
  /** Minor units, never more than the amount sent: banks on the way may keep a charge. */
  readonly amountMinor: string
  /** The scheme's code as it was received. */
  readonly reasonCode: string | null
  readonly reason: string | null
  /** RFC 3339. */
  readonly receivedAt: string
  /** The money is in suspense, because the balance was closed. */
  readonly suspended?: true
}

/** The customer's recall request to the recipient's bank, and its answer. Times are RFC 3339. */
export interface PaymentRecall {
  readonly status: 'requested' | 'accepted' | 'rejected' | 'expired'
  readonly reasonCode: string
  /** The note for the banks; the API shows it to no customer. */
  readonly note: string
  readonly requestedAt: string
  /** The time when the partner took the recall. */
  readonly sentAt: string | null
  readonly decidedAt: string | null
  /** The scheme's code of the answer. */
  readonly response: string | null
  /** The recall expires at this time without an answer. */
  readonly expiresAt: string
}

/**
 * Returns the answered recall. `response` is the scheme's code; null where no bank answered in time. `now` is epoch
 * milliseconds.
 */
export function answeredRecall(
  recall: PaymentRecall,
  status: 'accepted' | 'rejected' | 'expired',
  response: string | null,
  now: number,
): PaymentRecall {
  return { ...recall, status, response, decidedAt: timestamp(now) }
}

/** The members of a payment that are known at its creation, or change with its draft. Times are epoch milliseconds. */
interface PaymentTerms extends Given {
  readonly id: string
  readonly customerId: string
  readonly connectionId: string
  readonly number: string
  readonly status: PaymentStatus
  readonly version: number
  readonly sourceBalanceId: string
  readonly recipientId: string
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  /** Null in a draft. */
  readonly rail: Rail | null
  readonly routing: KeptRouting | null
  /** Null in a draft without a date. */
  readonly executionDate: string | null
  readonly createdBy: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'bulk' | 'schedule' | 'system' | 'operator'
  readonly details: PaymentDetails
  readonly metadata: Readonly<Record<string, string>>
  /** The schedule that made it. */
  readonly scheduledPaymentId: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** The members of a payment that its moves set; null before. Times are epoch milliseconds. */
export interface PaymentProgress {
  readonly failure: PaymentFailure | null
  /** The reason of a rejection, cancellation or return. */
  readonly statusReason: StatusReason | null
  /** The amount that came back, minor units. */
  readonly returnedAmount: bigint | null
  readonly returnInfo: PaymentReturn | null
  readonly recall: PaymentRecall | null
  readonly exception: PaymentException | null
  readonly providerRef: string | null
  readonly sentAt: number | null
  readonly completedAt: number | null
  readonly failedAt: number | null
  readonly approvedAt: number | null
  readonly cancelledAt: number | null
}

/** The reason why a payment needs staff. */
export interface PaymentException {
  readonly kind: ExceptionKind
  readonly code: string | null
  readonly message: string
  /** RFC 3339. */
  readonly since: string
}

/** A payment as storage reads it. */
export interface PaymentRecord extends PaymentTerms, PaymentProgress {}

/** The progress of a payment that has not moved yet. */
export const NO_PROGRESS: PaymentProgress = {
  failure: null,
  statusReason: null,
  returnedAmount: null,
  returnInfo: null,
  recall: null,
  exception: null,
  providerRef: null,
  sentAt: null,
  completedAt: null,
  failedAt: null,
  approvedAt: null,
  cancelledAt: null,
}

const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/**
 * Makes the payment as the API shows it to its customer.
 *
 * @param queued its place in the queue while it waits for the partner; null leaves `processing` out, as it must be once
 *   the payment was handed over.
 */
export function paymentJson(payment: PaymentRecord, queued: QueuePlace | null) {
  const { details } = payment
  const money = (amountMinor: bigint): MoneyJson =>
    moneyJson({ amountMinor, currency: payment.currency as CurrencyCode })
  return {
    id: payment.id,
    customerId: payment.customerId,
    number: payment.number,
    ...givenOf(payment),
    status: payment.status,
    statusReason:
      payment.failure === null
        ? payment.statusReason
        : { code: payment.failure.code, message: payment.failure.message },
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
    ...(queued === null
      ? {}
      : {
          processing: {
            status: 'queued' as const,
            position: queued.position,
            etaSeconds: queued.etaSeconds,
            estimatedAt: queued.estimatedAt,
          },
        }),
    exception: null as PaymentException | null,
    failure: payment.failure,
    return: payment.returnInfo === null ? null : returnJson(payment.id, payment.returnInfo, money),
    recall: payment.recall === null ? null : recallJson(payment.recall),
    verification:
      details.verification === undefined ? null : shownVerification(details.verification, details.recipient.name),
    cancellable: isCancellable(payment),
    bulkPaymentId: payment.details.bulk?.bulkPaymentId ?? null,
    bulkRowId: payment.details.bulk?.bulkRowId ?? null,
    scheduledPaymentId: payment.scheduledPaymentId,
    fundsRequestId: null,
    documentIds: [...(details.documentIds ?? [])],
    internalNote: details.internalNote,
    notifyRecipient: details.notifyRecipient,
    createdBy: payment.createdBy,
    createdVia: payment.createdVia,
    submittedBy: payment.status === 'draft' ? null : (details.submitted?.by ?? payment.createdBy),
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

/** The fee with the tax in it, and the total debit, in the currency of the source balance. */
function costJson(
  { amount, fee, details: { conversion, charges } }: PaymentRecord,
  money: (amountMinor: bigint) => MoneyJson,
) {
  if (conversion === undefined) {
    const tax = taxWithin(charges)
    return {
      fee: fee === 0n ? null : money(fee),
      feeTax: tax === 0n ? null : money(tax),
      fees: fee === 0n ? [] : [{ type: 'payment' as 'payment' | 'fx', amount: money(fee), description: 'Payment fee' }],
      totalDebit: money(amount + fee),
    }
  }
  const sold = (amountMinor: bigint): MoneyJson =>
    moneyJson({ amountMinor, currency: conversion.sellCurrency as CurrencyCode })
  const cost = BigInt(conversion.feeMinor)
  return {
    fee: cost === 0n ? null : sold(cost),
    feeTax: null,
    fees: cost === 0n ? [] : [{ type: 'fx' as 'payment' | 'fx', amount: sold(cost), description: 'Exchange fee' }],
    totalDebit: sold(costOf(conversion)),
  }
}

const returnJson = (
  paymentId: string,
  { amountMinor, reasonCode, reason, receivedAt, suspended }: PaymentReturn,
  money: (amountMinor: bigint) => MoneyJson,
) => ({
  amount: money(BigInt(amountMinor)),
  reasonCode,
  reason,
  receivedAt,
  transactionId: suspended === true ? null : transactionId(paymentId, 'return'),
})

const recallJson = ({ status, reasonCode, requestedAt, decidedAt, response }: PaymentRecall) => ({
  status,
  reasonCode,
  requestedAt,
  decidedAt,
  response,
})

/** Tells whether the payment can still be withdrawn: it waits for its approval, for its day, or for the partner. */
export function isCancellable({ status, sentAt }: Pick<PaymentRecord, 'status' | 'sentAt'>): boolean {
  return status === 'pending_approval' || status === 'scheduled' || (status === 'processing' && sentAt === null)
}

/**
 * Restores the payment as its creation answer showed it, whatever its status is now. Not for drafts: their rows are
 * replaced.
 */
export function createdPayment(payment: PaymentRecord): PaymentRecord {
  const { approvalId, beganScheduled, original } = payment.details
  const status = approvalId !== undefined ? 'pending_approval' : beganScheduled === true ? 'scheduled' : 'processing'
  const unchanged =
    original === undefined
      ? payment
      : {
          ...payment,
          details: { ...payment.details, internalNote: original.internalNote, documentIds: original.documentIds ?? [] },
          metadata: original.metadata,
        }
  return {
    ...unchanged,
    ...NO_PROGRESS,
    status,
    version: 1,
    updatedAt: payment.createdAt,
  }
}
