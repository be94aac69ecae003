/**
 * A card transaction: everything that the network tells about one purchase, refund or withdrawal, from its
 * authorisation to the end of its last dispute, and the sums that follow from it.
 *
 * Invariants, whatever the order of the messages and however often they come:
 *
 *   1. 0 ≤ held ≤ authorised − reversed − cleared, or 0 where that is below zero;
 *   2. the lines of the ledger sum up to cleared − refunded − disputed − recovered.
 *
 * `authorised` includes increments. A chargeback credits the customer provisionally (`disputed`); a lost one takes the
 * money back, a won one makes it final (`recovered`).
 */
import type { CurrencyCode } from '../base/currency.ts'
import type { CardNetwork } from './authorisation-expiry.ts'
import type { CardChannel } from './card-limits.ts'

/** The messages of the network. Those without `authorisation` among their names begin a transaction where they say so. */
export const CARD_PHASES = [
  'authorisation',
  'increment',
  'partial_reversal',
  'reversal',
  'expiry',
  'settlement',
  'force_post',
  'advice',
  'atm',
  'refund',
  'refund_reversal',
  'chargeback',
  'chargeback_won',
  'chargeback_lost',
  'decline',
] as const
export type CardPhase = (typeof CARD_PHASES)[number]

export const CARD_TRANSACTION_STATUSES = [
  'authorised',
  'cleared',
  'reversed',
  'expired',
  'declined',
  'refunded',
  'charged_back',
] as const
export type CardTransactionStatus = (typeof CARD_TRANSACTION_STATUSES)[number]

export const CARD_DECLINE_REASONS = [
  'insufficient_funds',
  'limit_exceeded',
  'card_frozen',
  'card_expired',
  'invalid_cvc',
  'invalid_pin',
  'pin_tries_exceeded',
  'merchant_blocked',
  'country_blocked',
  'channel_disabled',
  'suspected_fraud',
  'authentication_required',
  'do_not_honour',
  'system_error',
] as const
export type CardDeclineReason = (typeof CARD_DECLINE_REASONS)[number]

/** The sums of a transaction, minor units of the card's currency; none is below zero. */
export interface CardSums {
  readonly authorised: bigint
  readonly reversed: bigint
  readonly cleared: bigint
  readonly refunded: bigint
  readonly disputed: bigint
  readonly recovered: bigint
  /** Reserved on the balance. */
  readonly held: bigint
}

export const NO_SUMS: CardSums = {
  authorised: 0n,
  reversed: 0n,
  cleared: 0n,
  refunded: 0n,
  disputed: 0n,
  recovered: 0n,
  held: 0n,
}

/** A transaction as its decisions read it. Times are epoch milliseconds. */
export interface CardTransactionState extends CardSums {
  readonly id: string
  readonly version: number
  readonly cardId: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly balanceId: string
  readonly currency: CurrencyCode
  /** The network's reference of the transaction, by which later messages name it. */
  readonly ref: string
  readonly status: CardTransactionStatus
  readonly network: CardNetwork
  readonly channel: CardChannel
  readonly mcc: string
  readonly merchantName: string
  readonly merchantCountry: string | null
  /** The markup on all conversions, within the fees. */
  readonly markup: bigint
  /** The hold that reserves `held`; null where nothing is held. */
  readonly holdId: string | null
  /** When the authorisation expires; null where none is open. */
  readonly expiresAt: number | null
  readonly authorisedAt: number
  readonly declineReason: CardDeclineReason | null
}

/** The money that a phase moves, beside what it reserves: the posting of the ledger with its amount. */
export type CardMoney =
  | { readonly kind: 'none' }
  /** L71: the customer pays; `withdrawal` for cash. */
  | { readonly kind: 'pay'; readonly amount: bigint; readonly withdrawal: boolean }
  /** L73: the customer gets money. */
  | { readonly kind: 'credit'; readonly amount: bigint }
  /** L73 with the sides swapped: money that was credited is taken back. */
  | { readonly kind: 'take_back'; readonly amount: bigint }

/** A phase that fits: the sums after it, and the money that it moves. */
export interface CardMovement {
  readonly sums: CardSums
  readonly status: CardTransactionStatus
  readonly money: CardMoney
}

/** Why a phase does not fit its transaction. */
export type CardMisfit =
  | 'needs_transaction'
  | 'needs_no_transaction'
  | 'other_card'
  | 'declined'
  | 'nothing_held'
  | 'settled'
  | 'not_settled'
  | 'above_authorised'
  | 'above_cleared'
  | 'above_refunded'
  | 'above_disputed'

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)
const notBelowZero = (amount: bigint): bigint => (amount < 0n ? 0n : amount)

/** What of the authorisation is neither reversed nor cleared; never below zero. */
export const openAmount = ({ authorised, reversed, cleared }: CardSums): bigint =>
  notBelowZero(authorised - reversed - cleared)

/** The amount that the customer has paid and not got back; below zero for a refund without its purchase. */
export const paidAmount = ({ cleared, refunded, disputed, recovered }: CardSums): bigint =>
  cleared - refunded - disputed - recovered

const NONE: CardMoney = { kind: 'none' }

/** The phases that begin a transaction when they name none. */
export type OpeningPhase = 'authorisation' | 'force_post' | 'atm' | 'refund'

/** Computes the sums of a transaction that begins. An authorisation has to be approved before. */
export function opened(phase: OpeningPhase, amount: bigint): CardMovement {
  switch (phase) {
    case 'authorisation':
      return { sums: { ...NO_SUMS, authorised: amount, held: amount }, status: 'authorised', money: NONE }
    case 'force_post':
    case 'atm':
      return {
        sums: { ...NO_SUMS, cleared: amount },
        status: 'cleared',
        money: { kind: 'pay', amount, withdrawal: phase === 'atm' },
      }
    // A refund without its purchase: nothing was cleared, so `refunded` alone tells the ledger's sum.
    case 'refund':
      return { sums: { ...NO_SUMS, refunded: amount }, status: 'refunded', money: { kind: 'credit', amount } }
    default:
      return phase satisfies never
  }
}

/** The phases about a transaction that exists. */
export type FollowingPhase = Exclude<CardPhase, 'authorisation' | 'force_post' | 'atm' | 'decline'>

/**
 * Computes the sums after a phase, or why the phase does not fit. An increment has to be approved before.
 *
 * @param isFinal of a settlement: no other follows, so what is still held is released
 */
export function moved(
  transaction: Pick<CardTransactionState, keyof CardSums | 'status'>,
  phase: FollowingPhase,
  amount: bigint,
  isFinal: boolean,
): CardMovement | CardMisfit {
  const { authorised, reversed, cleared, refunded, disputed, recovered, held, status } = transaction
  const sums: CardSums = { authorised, reversed, cleared, refunded, disputed, recovered, held }
  switch (phase) {
    case 'increment': {
      if (status === 'declined') return 'declined'
      if (held === 0n) return 'nothing_held'
      const next = { ...sums, authorised: authorised + amount }
      return { sums: { ...next, held: least(held + amount, openAmount(next)) }, status, money: NONE }
    }
    case 'partial_reversal': {
      if (amount > openAmount(sums)) return 'above_authorised'
      const next = { ...sums, reversed: reversed + amount }
      return {
        sums: { ...next, held: least(notBelowZero(held - amount), openAmount(next)) },
        status: cleared === 0n && openAmount(next) === 0n ? 'reversed' : status,
        money: NONE,
      }
    }
    case 'reversal':
      return reversedWhole(transaction, sums)
    case 'expiry':
      if (held === 0n) return 'nothing_held'
      return { sums: { ...sums, held: 0n }, status: cleared > 0n ? 'cleared' : 'expired', money: NONE }
    case 'settlement':
    case 'advice': {
      const next = { ...sums, cleared: cleared + amount }
      const rest = isFinal ? 0n : least(notBelowZero(held - amount), openAmount(next))
      return { sums: { ...next, held: rest }, status: 'cleared', money: { kind: 'pay', amount, withdrawal: false } }
    }
    case 'refund': {
      if (amount > paidAmount(sums)) return 'above_cleared'
      const isWhole = refunded + amount === cleared
      return {
        sums: { ...sums, refunded: refunded + amount },
        status: isWhole ? 'refunded' : status,
        money: { kind: 'credit', amount },
      }
    }
    case 'refund_reversal':
      if (amount > refunded) return 'above_refunded'
      return {
        sums: { ...sums, refunded: refunded - amount },
        status: status === 'refunded' ? 'cleared' : status,
        money: { kind: 'take_back', amount },
      }
    case 'chargeback':
      if (amount > paidAmount(sums)) return 'above_cleared'
      return {
        sums: { ...sums, disputed: disputed + amount },
        status: 'charged_back',
        money: { kind: 'credit', amount },
      }
    case 'chargeback_won':
      if (amount > disputed) return 'above_disputed'
      return { sums: { ...sums, disputed: disputed - amount, recovered: recovered + amount }, status, money: NONE }
    case 'chargeback_lost': {
      if (amount > disputed) return 'above_disputed'
      const left = disputed - amount
      return {
        sums: { ...sums, disputed: left },
        status: left === 0n && recovered === 0n ? 'cleared' : status,
        money: { kind: 'take_back', amount },
      }
    }
    default:
      return phase satisfies never
  }
}

/** A full reversal: it releases what is held, or after a clearing gives back what was paid. */
function reversedWhole({ status }: Pick<CardTransactionState, 'status'>, sums: CardSums): CardMovement | CardMisfit {
  const { authorised, reversed, cleared, refunded } = sums
  if (status === 'declined') return 'declined'
  const owed = paidAmount(sums)
  if (cleared === 0n) {
    if (openAmount(sums) === 0n) return 'nothing_held'
    return { sums: { ...sums, reversed: authorised, held: 0n }, status: 'reversed', money: NONE }
  }
  if (owed <= 0n) return 'settled'
  return {
    sums: { ...sums, reversed: reversed + openAmount(sums), refunded: refunded + owed, held: 0n },
    status: status === 'charged_back' ? status : 'refunded',
    money: { kind: 'credit', amount: owed },
  }
}

/** Tells whether `moved` found no fit. */
export const isMisfit = (outcome: CardMovement | CardMisfit): outcome is CardMisfit => typeof outcome === 'string'

/** The answer to a message. */
export interface CardAnswer {
  readonly transactionId: string
  readonly approved: boolean
  readonly declineReason: CardDeclineReason | null
}
