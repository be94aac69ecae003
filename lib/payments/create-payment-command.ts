/**
 * The command to make a payment, or to submit a draft, and the replies of the paying balance. The command carries every
 * input of the decision beside the balance (create-payment.ts).
 */
import type { SandboxDecision } from '../approvals/opening.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Recorded } from '../balances/decision.ts'
import type { Problem } from '../base/problems.ts'
import type { MarketRates } from '../exchange/market.ts'
import type { KeptRouting } from '../providers/routing.ts'
import type { CalendarTerms } from '../rails/business-days.ts'
import type { Rail } from '../rails/rails.ts'
import type { ConversionOrder } from './conversion.ts'
import type { Given } from './given-schema.ts'
import type { PaymentDetails, PaymentRecord, QueuePlace, RecipientSnapshot } from './payment.ts'
import type { RecipientStatus } from '../recipients/review.ts'

export interface CreatePayment extends Recorded, Given {
  readonly kind: 'create_payment'
  readonly customerId: string
  readonly paymentId: string
  readonly holdId: string
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
  readonly number: string
  readonly recipient: RecipientSnapshot & {
    readonly id: string
    readonly status: RecipientStatus
    readonly version: bigint
    /** Digest of the reviewed fields of the recipient; an approval is valid only while it stays the same. */
    readonly digest: string
    /** Whether the recipient's account belongs to the payer. */
    readonly ownAccount: boolean
    /** The version of the operator's rail terms by which the rail was chosen. */
    readonly rails: { readonly version: number }
  }
  readonly amount: bigint
  readonly currency: string
  /** The exchange that buys the paid amount; present where the request names a quote. */
  readonly conversion?: ConversionOrder | undefined
  readonly rail: Rail
  /** How the payment leaves, where that is not by the connection of the balance that pays; absent for most payments. */
  readonly routing?: KeptRouting
  /**
   * The calendar of the connection by which the payment leaves; null where none is kept, absent where that is the
   * connection of the balance.
   */
  readonly calendar?: CalendarTerms | null
  /** The balance on this platform that belongs to the recipient's account; absent for an account at another bank. */
  readonly payeeBalanceId?: string
  readonly instant: boolean
  /** The requested date; null: as soon as possible. */
  readonly executionDate: string | null
  readonly createdBy: string
  readonly createdByName: string
  readonly createdVia: PaymentRecord['createdVia']
  /** Ids of other people and keys that changed the terms; they count as requesters of the approval. */
  readonly shapedBy?: readonly string[] | undefined
  /** The person or key that set the amount, where that is not `createdBy`: the payment counts for their limits. */
  readonly spenderId?: string | undefined
  /**
   * Input of the approval, if one is needed: the decision of the sandbox's approver, and the market's rates
   * for thresholds in other currencies.
   */
  readonly approving: {
    readonly sandboxDecision: SandboxDecision | null
    readonly rates: MarketRates
  }
  /**
   * The payment that already has the command's external id. The commit reports it, and the payment is decided again.
   */
  readonly externalIdOwner: string | null
  /** A refusal by limits or rails that was found before the balance decides. */
  readonly policyRefusal: Problem | null
  readonly shown: Pick<
    PaymentDetails,
    | 'chargeBearer'
    | 'requestedRail'
    | 'reference'
    | 'endToEndId'
    | 'uetr'
    | 'purposeCode'
    | 'purpose'
    | 'internalNote'
    | 'notifyRecipient'
    | 'verification'
    | 'documentIds'
    | 'bulk'
  >
  readonly metadata: Readonly<Record<string, string>>
  readonly queued: QueuePlace
  /** The earliest hand-over to the partner, epoch milliseconds. */
  readonly notBefore?: number
  /** The schedule that makes the payment. */
  readonly scheduledPaymentId?: string | undefined
  /** The approval of the bulk file that the payment is part of; the payment waits for it and has none of its own. */
  readonly batchApprovalId?: string | undefined
  /** The draft that this command submits. */
  readonly draft?: SubmittedDraft
}

/** The fields of a draft that stay when it is submitted. */
export type SubmittedDraft = Pick<
  PaymentRecord,
  'version' | 'createdBy' | 'createdVia' | 'createdAt' | 'scheduledPaymentId'
>

export interface PaymentCreated {
  readonly kind: 'payment_created'
  readonly payment: PaymentRecord
  readonly operatorId: string
}

/**
 * The operator has changed its rail terms since the rail was chosen: the caller chooses the rail again and repeats the
 * command.
 */
export interface RailsChanged {
  readonly kind: 'rails_changed'
}

/** The calendar by which a payment of a balance leaves; null where none is kept. */
export const calendarOf = (
  balance: Pick<BalanceState, 'calendar'>,
  { calendar }: Pick<CreatePayment, 'calendar'>,
): CalendarTerms | null => (calendar === undefined ? balance.calendar : calendar)
