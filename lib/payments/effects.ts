/** Rows that decisions about payments write. */
import type { PaymentProgress, PaymentRecord, PaymentStatus } from './payment.ts'

/** The members of a payment that are written as they are shown. */
type Plain = Omit<
  PaymentRecord,
  keyof PaymentProgress | 'version' | 'details' | 'metadata' | 'routing' | 'scheduledPaymentId' | 'updatedAt'
>

/** The row of a new payment. */
export interface PaymentRow extends Plain {
  readonly operatorId: string
  readonly shard: number
  /**
   * The balance debited, which also gets money that comes back: the source balance, or the one that receives the bought
   * currency.
   */
  readonly payingBalanceId: string
  readonly holdId: string | null
  /** JSON text of the fields that are only shown (PaymentDetails). */
  readonly details: string
  /** JSON text, or null. */
  readonly metadata: string | null
  /** JSON text of how the payment was routed; absent where it leaves through the connection of its balance by no rule. */
  readonly routing?: string
  /** The schedule that makes the payment. */
  readonly scheduledPaymentId?: string | null
}

/** The row that replaces a draft, at a change or at its submission. Its owner and its origin stay. */
export interface PaymentRewrite
  extends Omit<
    PaymentRow,
    | 'customerId'
    | 'operatorId'
    | 'shard'
    | 'number'
    | 'createdBy'
    | 'createdVia'
    | 'createdAt'
    | 'scheduledPaymentId'
    | 'routing'
  > {
  /** JSON text, or null. */
  readonly routing: string | null
  /** The version that the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly updatedAt: number
}

/** A scheduled payment and the time when it is due. Times are epoch milliseconds. */
export interface PaymentDue {
  readonly paymentId: string
  readonly shard: number
  readonly dueAt: number
  /** The end of the wait for missing money. */
  readonly until: number
}

/** A move of a payment's state machine. Null leaves a column as it is. */
export interface PaymentChange {
  readonly id: string
  /** The version that the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: PaymentStatus
  readonly providerRef: string | null
  readonly failure: string | null
  readonly exception: string | null
  readonly sentAt: number | null
  readonly completedAt: number | null
  readonly failedAt: number | null
  readonly updatedAt: number
}

/**
 * Every move of a payment other than hand-over, settlement and failure. Those three are by far the most frequent, so
 * their rows do not carry these columns. An absent member leaves its column as it is; null clears it.
 */
export interface PaymentDecisionRow {
  readonly id: string
  /** The version that the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: PaymentStatus
  /** JSON text of the reason. */
  readonly statusReason?: string | null
  /** JSON text. */
  readonly failure?: string | null
  /** JSON text. */
  readonly exception?: string | null
  /** The hold that reserves the payment's money. */
  readonly holdId?: string | null
  /** JSON text of the fields that are only shown. */
  readonly details?: string
  /** JSON text. */
  readonly metadata?: string | null
  readonly approvedAt?: number | null
  readonly cancelledAt?: number | null
  readonly completedAt?: number | null
  readonly failedAt?: number | null
  /** The amount that came back, minor units. */
  readonly returnedAmount?: bigint | null
  /** JSON text of the return. */
  readonly returnInfo?: string | null
  /** JSON text of the recall and its answer. */
  readonly recall?: string | null
  /** The time when an unanswered recall expires. */
  readonly recallDueAt?: number | null
  readonly updatedAt: number
}

/** A payment that leaves through another connection. */
export interface PaymentReroute extends Pick<PaymentDecisionRow, 'id' | 'version' | 'status' | 'updatedAt'> {
  readonly connectionId: string
  /** JSON text of how it was routed. */
  readonly routing: string
}

/**
 * A payment that waits for the partner (`queue`), has its final outcome (`done`), or needs an enquiry at the partner
 * (`attend`).
 */
export interface PartnerInstruction {
  readonly paymentId: string
  readonly shard: number
  /** The earliest hand-over to the partner, epoch milliseconds. */
  readonly notBefore?: number
}

export interface Attention {
  readonly paymentId: string
  /** The time of the next enquiry at the partner; null when no more is needed. */
  readonly attentionAt: number | null
}

/** A payment that did not leave: its amount is subtracted again from the sums of its day and month. */
export interface OutflowReturn {
  readonly customerId: string
  /** The person or key whose limits it counted for; their sums and the customer's sums are both reduced. */
  readonly spenderId: string
  readonly currency: string
  /** `YYYY-MM-DD`: the day of the payment. */
  readonly day: string
  readonly amount: bigint
}

declare module '../decisions/effects.ts' {
  interface ObjectStatuses {
    readonly payment: PaymentStatus
  }
  interface Effects {
    readonly payments?: readonly PaymentRow[]
    readonly paymentRewrites?: readonly PaymentRewrite[]
    readonly paymentsDue?: readonly PaymentDue[]
    /** Scheduled payments that no longer wait for their day. */
    readonly paymentsDueDone?: readonly string[]
    readonly paymentChanges?: readonly PaymentChange[]
    readonly paymentDecisions?: readonly PaymentDecisionRow[]
    readonly paymentReroutes?: readonly PaymentReroute[]
    readonly instructions?: readonly PartnerInstruction[]
    readonly instructionsDone?: readonly string[]
    readonly attention?: readonly Attention[]
    /** Subtracted from the sums that the payment was counted in, if it was counted. */
    readonly outflowReturns?: readonly OutflowReturn[]
  }
}
