/** The state of payment actors, the commands that move it, and the result of a move. */
import type { BankMessageType } from '../providers/messages.ts'
import type { ScreeningHit } from '../compliance/screening.ts'
import type { CommandKey } from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import type { PaymentDue } from './effects.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import type { Conversion } from './conversion.ts'
import type { FeeRule, PaymentCharges } from '../pricing/fees.ts'
import type { PaymentRecall, PaymentStatus, StatusReason } from './payment.ts'
import type { ConnectionAccounts } from '../providers/cash-leg.ts'
import type { Rail } from '../rails/rails.ts'

/** The state that the payment's actor keeps in memory. */
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
  /**
   * The balance debited, which also gets money that comes back: the source balance, or the one that receives the bought
   * currency.
   */
  readonly payingBalanceId: string
  /** The hold of its money; null while the payment waits for its day or for its exchange. */
  readonly holdId: string | null
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  readonly rail: Rail
  readonly reference: string
  readonly recipientName: string
  /** The person or key whose limits the payment counts for: the one that set its amount. */
  readonly spenderId: string
  /**
   * The time when its money was held and counted against limits: at its creation, or on its day. Epoch milliseconds.
   */
  readonly createdAt: number
  readonly recall: PaymentRecall | null
  /** Charges that it may cost beside its fee. */
  readonly charges?: PaymentCharges | undefined
  /** The exchange that buys the paid amount. */
  readonly conversion?: Conversion | undefined
  /** On the rail `internal`: the payee's balance, which is credited. */
  readonly payeeBalanceId?: string | undefined
}

/** The input of a move beside the state: ids made outside, the accounts, the business day. */
export interface PaymentMoveContext {
  readonly accounts: InternalAccounts
  /**
   * The connection of these accounts, which the partner's answer came from. A move that was made for another connection
   * than the payment's own is ignored: the payment has left through a second one since. Absent where the payment's row is
   * locked.
   */
  readonly connectionId?: string
  /**
   * The connection of the paying balance, where it is not that of the payment: cash moves between the two when the
   * payment has left, and when money comes back. Absent: they are one, or the move needs no cash.
   */
  readonly home?: ConnectionAccounts | undefined
  readonly ids: { next(): string }
  /** The value date of the postings. */
  readonly valueDate: string
}

/** The end of a payment before the partner has it, ordered by a person or by a deadline. */
export interface Withdrawal {
  readonly status: 'rejected' | 'cancelled'
  readonly reason: StatusReason
  readonly by: 'member' | 'system'
}

/**
 * The exchange that is booked with the payment's approval, at the price of that time. `details` is the JSON text of the
 * payment's details.
 */
export interface Bought {
  readonly conversion: Conversion
  readonly details: string
}

/** The connection that a payment moves to. */
export interface Detour {
  readonly connectionId: string
  readonly accounts: InternalAccounts
  /** JSON text of the routing that the payment keeps. */
  readonly routing: string
  /** The number of the move of money in transit: 1 for the first. */
  readonly occurrence: number
  /** True after a definite refusal of a payment that was handed over; false before the hand-over. */
  readonly afterRefusal: boolean
}

export type PaymentCommand =
  /** The last approval was given. `due`: the day of the payment, where its money is held only then. */
  | {
      readonly kind: 'approve'
      readonly context: Pick<PaymentMoveContext, 'ids'> & {
        readonly due?: Pick<PaymentDue, 'dueAt' | 'until'> | undefined
        readonly notBefore?: number | undefined
        readonly bought?: Bought | undefined
      }
    }
  /** Withdraws the payment. `from`: the status that it must have. */
  | {
      readonly kind: 'withdraw'
      readonly from: 'pending_approval' | 'scheduled' | 'processing'
      readonly withdrawal: Withdrawal
      readonly context: Pick<PaymentMoveContext, 'ids'>
      readonly key?: CommandKey | null
    }
  /** The exchange was settled: the bought money is held, and the payment is queued for the bank. */
  | {
      readonly kind: 'funded'
      readonly context: Pick<PaymentMoveContext, 'ids'> & { readonly notBefore?: number | undefined }
    }
  /** The exchange has failed. */
  | { readonly kind: 'unfunded'; readonly context: Pick<PaymentMoveContext, 'ids'> }
  /** The screening before the hand-over has found a hit. */
  | { readonly kind: 'hold'; readonly hit: ScreeningHit; readonly context: Pick<PaymentMoveContext, 'ids'> }
  | { readonly kind: 'release'; readonly context: Pick<PaymentMoveContext, 'ids'> }
  /** `freezeFunds`: by order of an authority, its money stays reserved. */
  | { readonly kind: 'block'; readonly freezeFunds: boolean; readonly context: Pick<PaymentMoveContext, 'ids'> }
  | { readonly kind: 'hand_over'; readonly context: PaymentMoveContext }
  /** Sends the payment through another connection than that of the context. */
  | { readonly kind: 'reroute'; readonly to: Detour; readonly context: PaymentMoveContext }
  /** On the rail `internal`: credits the payee's balance. */
  | { readonly kind: 'book'; readonly payee: InternalPayee; readonly context: PaymentMoveContext }
  /** The commit has found the payee's balance closed. */
  | { readonly kind: 'payee_closed'; readonly context: Pick<PaymentMoveContext, 'ids'> }
  /**
   * `suspenseId`, here and below: the paying balance is closed, so money that comes back waits in suspense under this
   * id.
   */
  | {
      readonly kind: 'refused'
      readonly context: PaymentMoveContext
      readonly schemeCode: string
      readonly suspenseId?: string
    }
  | { readonly kind: 'timeout'; readonly context: PaymentMoveContext; readonly askAgainAt: number }
  /** The partner answers that it does not know the outcome. */
  | {
      readonly kind: 'unclear'
      readonly context: PaymentMoveContext
      readonly askAgainAt: number
      readonly event: PartnerMessage | null
    }
  /**
   * The partner has the payment: it had it all the time, or the same reference was sent again after the partner did not
   * know it.
   */
  | { readonly kind: 'accepted'; readonly context: PaymentMoveContext; readonly event?: PartnerMessage | null }
  /** The partner was asked, and the outcome is still unknown. */
  | { readonly kind: 'still_unknown'; readonly askAgainAt: number }
  | {
      readonly kind: 'settled' | 'rejected'
      readonly context: PaymentMoveContext
      readonly schemeCode: string | null
      readonly event: PartnerMessage | null
      readonly suspenseId?: string
    }
  /** The money came back, in full or less the charges of banks on the way. `amount` is minor units. */
  | {
      readonly kind: 'returned'
      readonly context: PaymentMoveContext
      readonly amount: bigint
      readonly schemeCode: string
      readonly event: PartnerMessage | null
      readonly suspenseId?: string
    }

/** A message of the partner; it is logged once, under the partner's own id. */
export interface PartnerMessage {
  readonly id: string
  readonly type: BankMessageType
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

/** The payee's side of an internal payment. */
export interface InternalPayee {
  readonly balanceId: string
  readonly customerId: string
  readonly shard: number
  readonly connectionId: string
  /** The connection of the balance that pays. */
  readonly payerConnectionId: string
  /** The accounts of the two connections where they are not one, so that cash moves between them (L21); otherwise null. */
  readonly cash: { readonly from: InternalAccounts; readonly to: InternalAccounts } | null
  /** The fee rules for incoming payments of the payee. */
  readonly fees: readonly FeeRule[]
  /** The payer's data that the payee is shown. */
  readonly payer: {
    readonly name: string
    readonly maskedIdentifier: string | null
    readonly bankName: string | null
    readonly country: string | null
  }
  readonly endToEndId: string | null
}
