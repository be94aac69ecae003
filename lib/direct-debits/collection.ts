/** Collections as stored and as their moves read them. Amounts are bigint minor units, times epoch milliseconds. */
import type { CurrencyCode } from '../base/currency.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import type { MandateOriginals, MandateRecord } from './mandate.ts'
import type { RTransactionType } from './reason-codes.ts'
import type { SequenceType } from './schemes.ts'

export const COLLECTION_STATUSES = [
  'pending',
  'submitted',
  'collected',
  'failed',
  'returned',
  'reversed',
  'cancelled',
  'exception',
] as const
export type CollectionStatus = (typeof COLLECTION_STATUSES)[number]

/** An R-transaction, or the reinstatement after one. Times are RFC 3339. */
export interface RTransaction {
  readonly type: RTransactionType | 'reinstatement'
  readonly reasonCode: string | null
  /** The reason in words. */
  readonly reason: string
  readonly at: string
  /** Minor units: what came back, which may exceed the amount (compensation); absent before the settlement. */
  readonly amountMinor?: string
  /** Minor units, of the fee that the customer was charged (L53). */
  readonly feeMinor?: string
  /** `YYYY-MM-DD`: until when an indemnity claim can be challenged. */
  readonly challengeUntil?: string
}

/** One presentation of a collection. Times are RFC 3339. */
export interface CollectionAttempt {
  readonly number: number
  readonly dueDate: string
  readonly submittedAt: string | null
  readonly outcome: 'pending' | 'submitted' | 'collected' | 'failed' | 'returned'
  readonly reasonCode: string | null
}

/** How often a collection is presented again after it failed for lack of funds. */
export interface CollectionRetry {
  readonly enabled: boolean
  readonly maxAttempts: number
  readonly withinDays: number
}

/** The notice that the payer gets before the due date. Times are RFC 3339. */
export interface PreNotification {
  readonly sentBy: 'customer' | 'service'
  readonly channel: 'email' | 'letter' | 'none'
  readonly sentAt: string | null
  /** `YYYY-MM-DD`: the day by which it has to be sent. */
  readonly sendBy: string
  /** The amount and the date that it names; a change of either sends it again. */
  readonly amountMinor: string
  readonly dueDate: string
  /** The rest of its text. */
  readonly creditorName: string | null
  readonly creditorId: string | null
  readonly mandateReference: string
  /** The payer's account, its numbers masked. */
  readonly account: string | null
  /** The reference of the collection. */
  readonly reference: string
}

/** The outcomes of a reversal: the bank has not told yet, has sent the money back, or has refused to. */
export const REVERSAL_STATUSES = ['pending', 'confirmed', 'refused'] as const
export type ReversalStatus = (typeof REVERSAL_STATUSES)[number]

/** A reversal by the creditor. Times are RFC 3339. */
export interface Reversal {
  /** Names the order at the bank, and the entry (L54) of the ledger. */
  readonly id: string
  readonly reasonCode: string
  readonly note: string | null
  /** Minor units. */
  readonly amountMinor: string
  readonly requestedAt: string
  /** When the bank confirmed or refused it. */
  readonly decidedAt: string | null
  readonly refusalCode: string | null
}

export interface CollectionRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly mandateId: string
  readonly balanceId: string
  readonly scheme: MandateScheme
  readonly currency: CurrencyCode
  readonly amount: bigint
  readonly status: CollectionStatus
  readonly version: number
  readonly dueDate: string
  /** The cut-off by which it leaves. */
  readonly submissionDeadline: number
  readonly sequenceType: SequenceType
  readonly reference: string
  readonly endToEndId: string
  /** The scheme's code or the reason in words of the present status. */
  readonly statusReason: string | null
  readonly preNotification: PreNotification | null
  /** The file that carries it; null where its bank is called. */
  readonly fileId: string | null
  /** The values before the amendment of its mandate that its presentation tells; null: it tells of none. */
  readonly amendment: MandateOriginals | null
  readonly providerRef: string | null
  readonly retry: CollectionRetry | null
  readonly attempts: readonly CollectionAttempt[]
  readonly nextAttemptAt: number | null
  /** Oldest first. */
  readonly rTransactions: readonly RTransaction[]
  /**
   * Money that came back and did not come again, minor units. Of a returned collection it may exceed the amount (compensation); of a
   * collected one it is the part that is still missing.
   */
  readonly returnedAmount: bigint
  readonly refundableUntil: string | null
  /** The hold on the collected money, and when it ends. */
  readonly reserveHoldId: string | null
  readonly reserveUntil: number | null
  /** Until when it counts for its customer's exposure, epoch milliseconds; null: not yet, or no longer. */
  readonly exposedUntil: number | null
  /** Shown to staff only. */
  readonly exception: { readonly kind: string; readonly message: string; readonly since: string } | null
  readonly submittedAt: number | null
  readonly collectedAt: number | null
  readonly returnedAt: number | null
  readonly failedAt: number | null
  readonly cancelledAt: number | null
  readonly reversedAt: number | null
  /** The last reversal; null: it was never reversed. */
  readonly reversal: Reversal | null
  readonly reversalStatus: ReversalStatus | null
  /** When the order of the reversal went to the bank, and the bank's reference of it. Moves do not read them. */
  readonly reversalSentAt: number | null
  readonly reversalRef: string | null
  /** When the collection's timer is due next: submission, silence of the bank, the end of its reserve, a retry. */
  readonly dueAt: number | null
  readonly createdBy: string
  readonly createdVia: MandateRecord['createdVia']
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly updatedAt: number
}

/** The members of a new collection that nothing has happened to. */
export const NEW_COLLECTION = {
  version: 1,
  status: 'pending',
  statusReason: null,
  fileId: null,
  amendment: null,
  providerRef: null,
  attempts: [],
  nextAttemptAt: null,
  rTransactions: [],
  returnedAmount: 0n,
  refundableUntil: null,
  reserveHoldId: null,
  reserveUntil: null,
  exposedUntil: null,
  exception: null,
  submittedAt: null,
  collectedAt: null,
  returnedAt: null,
  failedAt: null,
  cancelledAt: null,
  reversedAt: null,
  reversal: null,
  reversalStatus: null,
  reversalSentAt: null,
  reversalRef: null,
} as const satisfies Partial<CollectionRecord>

/** Why a collection is cancelled with its mandate, or fails with it. */
export const MANDATE_CANCELLED = 'mandate_cancelled'
export const MANDATE_FAILED = 'mandate_failed'

/** Returns the part of the amount of a collection that came back and did not come again, minor units. */
export const missingOf = ({ amount, returnedAmount }: Pick<CollectionRecord, 'amount' | 'returnedAmount'>): bigint =>
  returnedAmount < amount ? returnedAmount : amount

/**
 * Returns what a return can take from the balance: what is there of a collected one, and the whole amount of one whose
 * outcome was not known.
 */
export const returnableOf = (collection: Pick<CollectionRecord, 'amount' | 'returnedAmount' | 'status'>): bigint =>
  collection.status === 'collected' ? collection.amount - missingOf(collection) : collection.amount
