/**
 * A payment as it is kept and as it is shown.
 *
 * What never changes after creation and is only shown lives in `details`, one JSON text; what is decided on, filtered by
 * or moved by the state machine has a column. The creation answer is a function of both, so a repeat under the same
 * Idempotency-Key gives the same bytes again without a stored copy of them.
 */
import { timestamp } from '../clock.ts'
import { moneyJson, type MoneyJson } from '../money.ts'
import type { CurrencyCode } from '../currency.ts'
import type { Failure as FailureReason } from './failure-codes.ts'
import type { Rail } from './rails.ts'
import { shownVerification, type KeptVerification } from '../recipients/verification.ts'

export type PaymentStatus =
  | 'draft' | 'pending_approval' | 'scheduled' | 'processing' | 'on_hold' | 'completed' | 'failed' | 'returned'
  | 'exception' | 'rejected' | 'cancelled'

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
}

/** Why a payment was rejected or cancelled. */
export interface StatusReason {
  readonly code: string
  readonly message: string
}

/** Why a payment failed, and when. */
export interface Failure extends FailureReason {
  /** RFC 3339. */
  readonly at: string
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
  readonly rail: Rail
  readonly executionDate: string
  readonly createdBy: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'bulk' | 'schedule' | 'system' | 'operator'
  readonly details: PaymentDetails
  readonly metadata: Readonly<Record<string, string>>
  readonly failure: Failure | null
  /** Why it was rejected or cancelled. */
  readonly statusReason: StatusReason | null
  /** JSON of the exception; shown to staff only. */
  readonly exception: { readonly kind: 'provider_timeout'; readonly code: string | null; readonly message: string; readonly since: string } | null
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
    fee: payment.fee === 0n ? null : money(payment.fee),
    fees: payment.fee === 0n ? [] : [{ type: 'payment' as const, amount: money(payment.fee), description: 'Payment fee' }],
    totalDebit: money(payment.amount + payment.fee),
    quoteId: null,
    exchangeId: null,
    returnedAmount: null,
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
    return: null,
    recall: null,
    verification: details.verification === undefined ? null : shownVerification(details.verification, details.recipient.name),
    cancellable: isCancellable(payment),
    bulkPaymentId: null,
    bulkRowId: null,
    scheduledPaymentId: null,
    fundsRequestId: null,
    documentIds: [] as string[],
    internalNote: details.internalNote,
    notifyRecipient: details.notifyRecipient,
    createdBy: payment.createdBy,
    createdVia: payment.createdVia,
    submittedBy: payment.createdBy,
    submittedAt: timestamp(payment.createdAt),
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

/** Whether it can still be withdrawn: it waits for people, or for the partner. */
export function isCancellable({ status, sentAt }: Pick<PaymentRecord, 'status' | 'sentAt'>): boolean {
  return status === 'pending_approval' || (status === 'processing' && sentAt === null)
}

/** The payment as it was answered when it was created, whatever has become of it since. */
export function createdPayment(payment: PaymentRecord): PaymentRecord {
  return { ...payment, status: payment.details.approvalId === undefined ? 'processing' : 'pending_approval', version: 1, failure: null,
    statusReason: null, exception: null, providerRef: null, sentAt: null, completedAt: null, failedAt: null, approvedAt: null,
    cancelledAt: null, updatedAt: payment.createdAt }
}
