/** The state that payment actors remember, the commands that move it, and what a move comes to. */
import type { ScreeningHit } from '../compliance/screening.ts'
import type { CommandKey } from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import type { PaymentDue } from './effects.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import type { Conversion } from './conversion.ts'
import type { FeeRule, PaymentCharges } from '../pricing/fees.ts'
import type { PaymentRecall, PaymentStatus, StatusReason } from './payment.ts'

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
  /** The balance debited, which gets what comes back: the source, or the one that receives the bought currency. */
  readonly payingBalanceId: string
  /** What its money is held by; null while it waits for its day. */
  readonly holdId: string | null
  readonly currency: string
  readonly amount: bigint
  readonly fee: bigint
  readonly rail: string
  readonly reference: string
  readonly recipientName: string
  /** In whose name it is: who submitted it. */
  readonly spenderId: string
  /** When its money was set aside, and counted against limits: at its creation, or on its day. Epoch milliseconds. */
  readonly createdAt: number
  readonly recall: PaymentRecall | null
  /** What it may cost beside its fee. */
  readonly charges?: PaymentCharges | undefined
  /** The exchange that buys what is paid. */
  readonly conversion?: Conversion | undefined
  /** On the rail `internal`: the balance that is credited. */
  readonly payeeBalanceId?: string | undefined
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

/** The exchange of a payment is booked with its approval, at what it costs then. `details` is the JSON text of the payment's. */
export interface Bought {
  readonly conversion: Conversion
  readonly details: string
}

export type PaymentCommand =
  /** Everybody whom it waited for has approved. `due`: when its day is, where its money is set aside only then. */
  | { readonly kind: 'approve'; readonly context: Pick<MoveContext, 'ids'> & { readonly due?: Pick<PaymentDue, 'dueAt' | 'until'> | undefined; readonly notBefore?: number | undefined; readonly bought?: Bought | undefined } }
  /** `from`: what it must be waiting for, people, its day or the partner. */
  | { readonly kind: 'withdraw'; readonly from: 'pending_approval' | 'scheduled' | 'processing'; readonly withdrawal: Withdrawal; readonly context: Pick<MoveContext, 'ids'>; readonly key?: CommandKey | null }
  /** What it pays was bought: it is set aside, and the bank is next. */
  | { readonly kind: 'funded'; readonly context: Pick<MoveContext, 'ids'> & { readonly notBefore?: number | undefined } }
  /** What it was to pay could not be bought. */
  | { readonly kind: 'unfunded'; readonly context: Pick<MoveContext, 'ids'> }
  /** The gate has found something before the partner has it. */
  | { readonly kind: 'hold'; readonly hit: ScreeningHit; readonly context: Pick<MoveContext, 'ids'> }
  | { readonly kind: 'release'; readonly context: Pick<MoveContext, 'ids'> }
  /** `freezeFunds`: by order of an authority its money stays reserved. */
  | { readonly kind: 'block'; readonly freezeFunds: boolean; readonly context: Pick<MoveContext, 'ids'> }
  | { readonly kind: 'hand_over'; readonly context: MoveContext }
  /** On the rail `internal`: the payee's balance is credited. */
  | { readonly kind: 'book'; readonly payee: InternalPayee; readonly context: MoveContext }
  /** The commit has found that the payee's balance takes no money. */
  | { readonly kind: 'payee_closed'; readonly context: Pick<MoveContext, 'ids'> }
  /** `suspenseId`, here and below: the balance takes no money any more, so what comes back waits for its owner under this id. */
  | { readonly kind: 'refused'; readonly context: MoveContext; readonly schemeCode: string; readonly suspenseId?: string }
  | { readonly kind: 'timeout'; readonly context: MoveContext; readonly askAgainAt: number }
  /** The partner says that it cannot say. */
  | { readonly kind: 'unclear'; readonly context: MoveContext; readonly askAgainAt: number; readonly event: PartnerMessage | null }
  /** The partner has it: it was there all along, or the same reference was sent again after the partner did not know it. */
  | { readonly kind: 'accepted'; readonly context: MoveContext; readonly event?: PartnerMessage | null }
  /** Asked and still not known. */
  | { readonly kind: 'still_unknown'; readonly askAgainAt: number }
  | { readonly kind: 'settled' | 'rejected'; readonly context: MoveContext; readonly schemeCode: string | null; readonly event: PartnerMessage | null; readonly suspenseId?: string }
  /** The money is back, all of it or what was left of it. `amount` is minor units. */
  | { readonly kind: 'returned'; readonly context: MoveContext; readonly amount: bigint; readonly schemeCode: string; readonly event: PartnerMessage | null; readonly suspenseId?: string }

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

/** The payee's side of an internal payment. */
export interface InternalPayee {
  readonly balanceId: string
  readonly customerId: string
  readonly shard: number
  readonly connectionId: string
  /** What the payee is charged by. */
  readonly fees: readonly FeeRule[]
  /** The payer as the payee is told. */
  readonly payer: {
    readonly name: string
    readonly maskedIdentifier: string | null
    readonly bankName: string | null
    readonly country: string | null
  }
  readonly endToEndId: string | null
}
