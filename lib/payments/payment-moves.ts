/**
 * The moves of a payment after it was made.
 *
 *   pending_approval ──approve──▶ processing (queued), scheduled
 *          └──withdraw──▶ rejected, cancelled        processing (queued), scheduled ──withdraw──▶ cancelled
 *
 *   processing (waits for its exchange, conversion.ts) ──funded──▶ processing (queued)
 *                                          └──────────unfunded──▶ failed
 *
 *   processing (queued) ──book──▶ completed, ──payee_closed──▶ failed: on the rail `internal`, in place of hand_over (internal-moves.ts)
 *
 *   draft ──▶ and scheduled ──▶ processing (queued), failed: decided by the paying balance (create-payment.ts, release-payment.ts)
 *
 *   processing (queued) ──hold──▶ on_hold ──release──▶ processing (queued)
 *                                    └──────block────▶ failed
 *
 *   processing (queued) ──hand_over──▶ processing (submitted) ──settled──▶ completed ──returned──▶ returned
 *                                        │   │ ├─────────────rejected──▶ failed
 *                                        │   │ └─────────────returned──▶ returned
 *                                        │   └──timeout, unclear──▶ exception ──settled──▶ completed
 *                                        │                              ├──────rejected──▶ failed
 *                                        │                              ├──────returned──▶ returned
 *                                        │                              └──────accepted──▶ processing (the partner has it)
 *                                        └──refused (definite, before acceptance)──▶ failed
 *
 * A message that fits no row changes nothing: partners repeat themselves, are late, and contradict themselves. What each move writes is
 * in waiting-moves.ts, until the partner has the payment, and in bank-moves.ts from then on.
 */
import type { ScreeningHit } from '../compliance/screening.ts'
import type { CommandKey } from '../ledger/decision.ts'
import type { Effects } from '../ledger/effects.ts'
import type { PaymentDue } from './effects.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import { fail, giveBack, handOver, resume, settle, suspend, TIMED_OUT, UNCLEAR } from './bank-moves.ts'
import type { Conversion } from './conversion.ts'
import type { PaymentCharges } from './fees.ts'
import { book, refuseClosed, type InternalPayee } from './internal-moves.ts'
import { awaitsExchange } from './move-parts.ts'
import type { PaymentRecall, PaymentStatus, StatusReason } from './payment.ts'
import type { Rail } from './rails.ts'
import { approve, block, fund, giveUp, hold, release, withdraw } from './waiting-moves.ts'

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

/** Decides one move. Pure: `now` is epoch milliseconds. */
export function movePayment(payment: PaymentState | null, command: PaymentCommand, now: number): PaymentDecision {
  if (payment === null) return { state: null, reply: { kind: 'ignored', status: null }, effects: null, refused: true }
  switch (command.kind) {
    case 'approve':
      return payment.status === 'pending_approval' ? approve(payment, command.context, now) : ignored(payment)
    case 'withdraw':
      return payment.status === command.from && !payment.sent ? withdraw(payment, command, now) : ignored(payment)
    case 'funded':
      return awaitsExchange(payment) ? fund(payment, command.context, now) : ignored(payment)
    case 'unfunded':
      return awaitsExchange(payment) ? giveUp(payment, command.context, now) : ignored(payment)
    case 'hold':
      return waitsForHandOver(payment) ? hold(payment, command, now) : ignored(payment)
    case 'release':
      return payment.status === 'on_hold' ? release(payment, command.context, now) : ignored(payment)
    case 'block':
      return payment.status === 'on_hold' ? block(payment, command, now) : ignored(payment)
    case 'hand_over':
      return waitsForHandOver(payment) && payment.rail !== INTERNAL ? handOver(payment, command.context, now) : ignored(payment)
    case 'book':
      return waitsForHandOver(payment) && payment.rail === INTERNAL ? book(payment, command.payee, command.context, now) : ignored(payment)
    case 'payee_closed':
      return waitsForHandOver(payment) && payment.rail === INTERNAL ? refuseClosed(payment, command.context, now) : ignored(payment)
    case 'settled':
      return payment.sent && isUnsettled(payment) ? settle(payment, command, now) : ignored(payment)
    case 'rejected':
      return payment.sent && isUnsettled(payment) ? fail(payment, { ...command, schemeCode: command.schemeCode ?? 'NARR', suspenseId: command.suspenseId }, now) : ignored(payment)
    case 'refused':
      return payment.sent && payment.status === 'processing' ? fail(payment, { ...command, event: null, suspenseId: command.suspenseId }, now) : ignored(payment)
    case 'timeout':
      return payment.sent && payment.status === 'processing' ? suspend(payment, { ...command, event: null }, TIMED_OUT, now) : ignored(payment)
    case 'unclear':
      return payment.sent && payment.status === 'processing' ? suspend(payment, command, UNCLEAR, now) : ignored(payment)
    case 'returned':
      return payment.sent && payment.rail !== INTERNAL && (isUnsettled(payment) || payment.status === 'completed') && command.amount > 0n && command.amount <= payment.amount
        ? giveBack(payment, command, now) : ignored(payment)
    case 'accepted':
      return payment.status === 'exception' ? resume(payment, command, now) : ignored(payment)
    case 'still_unknown':
      return payment.status === 'exception'
        ? { state: payment, reply: { kind: 'moved', state: payment }, effects: { attention: [{ paymentId: payment.id, attentionAt: command.askAgainAt }] } }
        : ignored(payment)
    default:
      return command satisfies never
  }
}

/** No partner carries it. */
const INTERNAL: Rail = 'internal'

/** Its money is set aside and nothing has left. */
const waitsForHandOver = (payment: PaymentState): boolean => payment.status === 'processing' && !payment.sent && !awaitsExchange(payment)

const isUnsettled = ({ status }: PaymentState): boolean => status === 'processing' || status === 'exception'

/**
 * Final only on fresh state (I4): another node may have handed the payment over since it was read here, and a message that
 * is ignored is acknowledged, so the bank would not repeat it.
 */
const ignored = (payment: PaymentState): PaymentDecision =>
  ({ state: payment, reply: { kind: 'ignored', status: payment.status }, effects: null, refused: true })
