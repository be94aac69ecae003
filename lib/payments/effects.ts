/** Rows that decisions about payments write. */

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

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly payments?: readonly PaymentRow[]
    readonly paymentRewrites?: readonly PaymentRewrite[]
    readonly paymentsDue?: readonly PaymentDue[]
    /** Scheduled payments that wait for their day no longer. */
    readonly paymentsDueDone?: readonly string[]
    readonly paymentChanges?: readonly PaymentChange[]
    readonly paymentDecisions?: readonly PaymentDecision[]
    readonly instructions?: readonly Instruction[]
    readonly instructionsDone?: readonly string[]
    readonly attention?: readonly Attention[]
    /** Subtracted from the sums that were counted for the payment, where it was counted. */
    readonly outflowReturns?: readonly OutflowReturn[]
  }
}
