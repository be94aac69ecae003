/**
 * What a decision wants written: plain rows, in the words of the schema. A decision returns them, the committer gathers
 * those of many decisions into one SQL statement (storage/commit.ts), and nothing else ever writes these tables.
 *
 * Amounts are bigint minor units; times are epoch milliseconds of the clock that was passed in.
 */
import type { ApprovalRow } from '../approvals/opening.ts'
import type { ExceptionEnd, ExceptionRow } from '../compliance/exception.ts'
import type { ComplianceHoldRow } from '../compliance/hold.ts'
import type { Outflow } from '../customers/limits.ts'
import type { CreditRef, DebitRef } from './account-ref.ts'
import type { ExchangeChange, ExchangeEnd, ExchangeRow, ExchangeUnderWay, FxOrderRow, QuoteRow } from './effects-exchange.ts'

/** One debit and one credit of one amount: zero-sum because it cannot be otherwise (I6). */
export interface Posting {
  readonly entryId: string
  readonly ordinal: number
  readonly customerId: string
  /** The posting rule, L01…L97. */
  readonly rule: string
  readonly occurrence: number
  readonly sourceObject: string
  readonly sourceId: string
  readonly currency: string
  readonly amount: bigint
  readonly debit: DebitRef
  readonly credit: CreditRef
  readonly description: string | null
  readonly reference: string | null
  readonly counterparty: string | null
  readonly reversalOf: string | null
  readonly bookedAt: number
  readonly valueDate: string
}

export interface HoldRow {
  readonly id: string
  readonly balanceId: string
  readonly customerId: string
  readonly amount: bigint
  readonly subjectType: string
  readonly subjectId: string
  readonly description: string
  readonly createdAt: number
}

/** Ends a hold: the balance's held amount falls by `amount`, whatever part of it was captured. */
export interface HoldResolution {
  readonly id: string
  readonly balanceId: string
  readonly amount: bigint
  readonly status: 'captured' | 'released' | 'expired'
  readonly capturedAmount: bigint | null
  readonly resolvedAt: number
}

export interface PaymentRow {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly status: string
  readonly sourceBalanceId: string
  /** The balance debited, which gets what comes back: the source, or the one that receives the bought currency. */
  readonly payingBalanceId: string
  readonly recipientId: string
  readonly holdId: string | null
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  /** Null in a draft. */
  readonly rail: string | null
  /** Null in a draft that names none. */
  readonly executionDate: string | null
  readonly createdBy: string
  readonly createdVia: string
  /** JSON text of what is only shown (PaymentDetails). */
  readonly details: string
  /** JSON text, or null. */
  readonly metadata: string | null
  readonly createdAt: number
  /** The schedule that makes it. */
  readonly scheduledPaymentId?: string | null
}

/** A draft written anew, by its editor or by its submission: everything but whose it is and how it came to be. */
export interface PaymentRewrite extends Omit<PaymentRow, 'customerId' | 'operatorId' | 'shard' | 'number' | 'createdBy' | 'createdVia' | 'createdAt' | 'scheduledPaymentId'> {
  /** The version the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly updatedAt: number
}

/** A scheduled payment, to be looked at. Times are epoch milliseconds. */
export interface PaymentDue {
  readonly paymentId: string
  readonly shard: number
  readonly dueAt: number
  /** Until when money that is missing is waited for. */
  readonly until: number
}

/** A move of a payment's state machine. Null leaves a column as it is. */
export interface PaymentChange {
  readonly id: string
  /** The version the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: string
  readonly providerRef: string | null
  readonly failure: string | null
  readonly exception: string | null
  readonly sentAt: number | null
  readonly completedAt: number | null
  readonly failedAt: number | null
  readonly updatedAt: number
}

/**
 * Every other move of a payment than to be handed over, settled or failed. So many fewer of them are made that those three do
 * not carry their columns. An absent member leaves its column as it is; null clears it.
 */
export interface PaymentDecision {
  readonly id: string
  /** The version the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: string
  /** JSON text of why. */
  readonly statusReason?: string | null
  /** JSON text. */
  readonly failure?: string | null
  /** JSON text. */
  readonly exception?: string | null
  /** The hold that reserves its money. */
  readonly holdId?: string | null
  /** JSON text of what is only shown. */
  readonly details?: string
  /** JSON text. */
  readonly metadata?: string | null
  readonly approvedAt?: number | null
  readonly cancelledAt?: number | null
  readonly completedAt?: number | null
  readonly failedAt?: number | null
  /** What came back, minor units. */
  readonly returnedAmount?: bigint | null
  /** JSON text of how it came back. */
  readonly returnInfo?: string | null
  /** JSON text of what was asked of the recipient's bank and what it said. */
  readonly recall?: string | null
  /** When a recall that nobody has answered is given up. */
  readonly recallDueAt?: number | null
  readonly updatedAt: number
}

export interface TransferRow {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly status: string
  readonly fromBalanceId: string
  readonly toBalanceId: string
  readonly currency: string
  readonly amount: bigint
  readonly reference: string | null
  readonly createdBy: string
  readonly createdVia: string
  readonly metadata: string | null
  readonly completedAt: number | null
  readonly createdAt: number
}

/** Money that arrived from outside, as it is first written. */
export interface IncomingPaymentRow {
  readonly id: string
  /** Null while nobody knows whose it is. */
  readonly customerId: string | null
  readonly balanceId: string | null
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly status: string
  readonly currency: string
  readonly amount: bigint
  readonly payerName: string | null
  /** Masked. */
  readonly payerIdentifier: string | null
  readonly payerBankName: string | null
  readonly payerCountry: string | null
  readonly reference: string | null
  readonly rail: string | null
  readonly endToEndId: string | null
  readonly uetr: string | null
  readonly valueDate: string
  readonly suspense: string | null
  readonly suspenseReason: string | null
  /** When it came to its balance; null: not yet. */
  readonly creditedAt: number | null
  readonly receivedAt: number
  /** The payment, exchange or transfer whose money came back to a balance that takes no money any more. */
  readonly originId?: string
}

/** A transfer that travels by the partner, from balance to balance of two connections or, in a sandbox, of one. */
export interface TransferOrderRow {
  readonly transferId: string
  readonly shard: number
  readonly holdId: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
  /** When the partner is told. */
  readonly dueAt: number
}

export interface StatusUpdate {
  readonly objectId: string
  readonly version: number
  readonly customerId: string
  readonly status: string
  readonly previousStatus: string | null
  readonly message: string
  readonly actor: 'system' | 'member' | 'partner'
  readonly at: number
}

export interface OutboxEvent {
  readonly id: string
  readonly createdAt: number
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly type: string
  readonly object: string
  readonly objectId: string
  readonly status: string | null
  readonly previousStatus: string | null
  readonly amount: bigint | null
  readonly currency: string | null
}

export interface IdempotencyRecord {
  readonly id: string
  readonly fingerprint: string
  readonly status: number
  readonly resourceId: string | null
  readonly answer: string | null
  readonly createdAt: number
}

export interface ProviderEvent {
  readonly id: string
  readonly connectionId: string
  readonly type: string
  readonly objectId: string
  readonly code: string | null
  readonly receivedAt: number
}

/** A payment that waits for the partner (`queue`), has its final outcome (`done`), or must be asked about (`attend`). */
export interface Instruction {
  readonly paymentId: string
  readonly shard: number
  /** Not handed over before then, epoch milliseconds. */
  readonly notBefore?: number
}

export interface Attention {
  readonly paymentId: string
  /** When the partner is asked next; null when it need not be asked any more. */
  readonly attentionAt: number | null
}

/** A payment that did not leave: what it counted in its day and month is free again. */
export interface OutflowReturn {
  readonly customerId: string
  /** In whose name it was made: what was counted for them and for the customer is both given back. */
  readonly spenderId: string
  readonly currency: string
  /** `YYYY-MM-DD`: the day it was made on. */
  readonly day: string
  readonly amount: bigint
}

/** A fact a decision rests on that lives outside its own row; a newer version makes the decision stale. */
export interface FactFence {
  readonly recipientId: string
  readonly version: bigint
}

/** Something that names a document, which cannot be deleted meanwhile. */
export interface DocumentUse {
  readonly documentId: string
  readonly object: 'payment'
  readonly objectId: string
}

/** What the move of an exchange may write of the payment that it buys for. */
export type PaymentOfExchange = Pick<Effects, 'paymentDecisions' | 'holds' | 'holdResolutions' | 'statusUpdates' | 'events' | 'instructions' | 'instructionsDone' | 'outflowReturns'>

/**
 * What a move of an exchange means for its payment. `none`: the exchange was made for itself. `waits`: the payment waits on. Otherwise
 * what is written of the payment in the same commit; empty when the payment does not wait for the exchange any more.
 */
export type PaymentPart = 'none' | 'waits' | PaymentOfExchange

/** A move of an exchange, which has to say what it means for its payment; an exchange that ends leaves no payment waiting. */
export type ExchangeMove = Omit<ExchangeChange, 'status'> & (
  | { readonly status: ExchangeUnderWay; readonly payment: PaymentPart }
  | { readonly status: ExchangeEnd; readonly payment: Exclude<PaymentPart, 'waits'> })

/**
 * Everything one decision writes. Absent members write nothing. What becomes of a balance follows from the rows: postings
 * move what is posted, holds and their resolutions move what is held, and there is no other way to change either.
 */
export interface Effects {
  readonly postings?: readonly Posting[]
  readonly holds?: readonly HoldRow[]
  readonly holdResolutions?: readonly HoldResolution[]
  readonly payments?: readonly PaymentRow[]
  readonly paymentRewrites?: readonly PaymentRewrite[]
  readonly paymentsDue?: readonly PaymentDue[]
  /** Looked after: nothing waits for its day any more. */
  readonly paymentsDueDone?: readonly string[]
  readonly paymentChanges?: readonly PaymentChange[]
  readonly paymentDecisions?: readonly PaymentDecision[]
  readonly approvals?: readonly ApprovalRow[]
  /** Counted against limits; a sum beyond one is refused by the database, and the decision made again on fresh state. */
  readonly outflows?: readonly Outflow[]
  /** Counted back, where it was counted at all. */
  readonly outflowReturns?: readonly OutflowReturn[]
  readonly transfers?: readonly TransferRow[]
  readonly transferOrders?: readonly TransferOrderRow[]
  readonly incomingPayments?: readonly IncomingPaymentRow[]
  readonly quotes?: readonly QuoteRow[]
  /** Each uses its quote; a quote that is used already is a conflict. */
  readonly exchanges?: readonly ExchangeRow[]
  readonly exchangeChanges?: readonly ExchangeMove[]
  readonly fxOrders?: readonly FxOrderRow[]
  /** Exchanges that the partner need be told or asked about no more. */
  readonly fxOrdersDone?: readonly string[]
  /** Each must be there and clean; the commit refuses the decision otherwise. */
  readonly documentUses?: readonly DocumentUse[]
  readonly statusUpdates?: readonly StatusUpdate[]
  readonly events?: readonly OutboxEvent[]
  readonly idempotency?: IdempotencyRecord
  readonly providerEvents?: readonly ProviderEvent[]
  readonly instructions?: readonly Instruction[]
  readonly instructionsDone?: readonly string[]
  readonly attention?: readonly Attention[]
  /** What waits for the operator's people before it goes on. */
  readonly complianceHolds?: readonly ComplianceHoldRow[]
  readonly exceptions?: readonly ExceptionRow[]
  readonly exceptionEnds?: readonly ExceptionEnd[]
  readonly facts?: readonly FactFence[]
  /** Balances that are to be credited later, by another decision: they must be open and of this currency. What is credited at once has its fence in the posting. */
  readonly credits?: readonly { readonly balanceId: string; readonly currency: string }[]
}
