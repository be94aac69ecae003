/**
 * The terms of a forward: its days, its minimum worth and its deposit, all from the operator's settings
 * (`ExchangeTerms`). Business days follow the partner's calendar; where calendars are ignored, every day counts.
 */
import { CROSS_BORDER_RAIL } from '../rails/rails.ts'
import { DAY_MS, addDays } from '../base/clock.ts'
import {
  addBusinessDays,
  endOfDay,
  isBusinessDay,
  momentOf,
  railDate,
  type CalendarTerms,
} from '../rails/business-days.ts'
import type { FieldErrorCode } from '../base/problems.ts'
import { divideHalfEven } from './rate.ts'

/** The rail whose calendar and zone apply to the partner, because the partner settles as banks abroad do. */
const PARTNER_RAIL = CROSS_BORDER_RAIL
/** Business days from the trade to the earliest settlement. */
const SETTLEMENT_DAYS_MIN = 3
/** The local time of the partner at which the remainder of a contract is settled on its last day. */
const MATURITY_TIME = '10:00'
/** Time limit for a deposit; and business days allowed for a margin call or an overdue contract. */
export const DEPOSIT_MS = DAY_MS
const GRACE_DAYS = 2
const BPS = 10_000n
/** The deposit that the sandbox requires instead of the operator's share, for this sell amount. */
export const SANDBOX_DEPOSIT = { amount: 1601n, bps: 1_000 } as const
/** Sell amounts that trigger behaviour of the sandbox are accepted even below the minimum. */
const SANDBOX_AMOUNTS: ReadonlySet<bigint> = new Set([1601n, 1602n])
/** For this sell amount, the sandbox's partner makes one margin call by itself. */
export const SANDBOX_MARGIN_CALL = { amount: 1602n, afterMs: 30_000 } as const

/** The refusal of a date, as the error of its field. */
export interface DateRefusal {
  readonly code: FieldErrorCode
  readonly message: string
}

/** Returns the current date in the partner's zone. */
export function partnerDate(now: number): string {
  return railDate(PARTNER_RAIL, now)
}

/** Whether the partner works on a date. `calendar` null: every day counts. @throws CalendarUnknown */
export function isPartnerDay(date: string, calendar: CalendarTerms | null): boolean {
  return calendar === null || isBusinessDay(PARTNER_RAIL, date, calendar)
}

/** Returns the business day that is `count` business days after a date. @throws CalendarUnknown */
export function partnerDays(date: string, count: number, calendar: CalendarTerms | null): string {
  return calendar === null ? addDays(date, count) : addBusinessDays(PARTNER_RAIL, date, count, calendar)
}

/** Checks the settlement date of a forward; null when it is allowed. @throws CalendarUnknown */
export function settlementDateRefusal(
  date: string,
  {
    now,
    calendar,
    maxTenorMonths,
  }: { readonly now: number; readonly calendar: CalendarTerms | null; readonly maxTenorMonths: number },
): DateRefusal | null {
  const today = partnerDate(now)
  if (date < today) return { code: 'in_past', message: 'Must not be in the past.' }
  const earliest = partnerDays(today, SETTLEMENT_DAYS_MIN, calendar)
  if (date < earliest)
    return {
      code: 'too_small',
      message: `A forward settles ${SETTLEMENT_DAYS_MIN} business days ahead at the earliest: ${earliest}.`,
    }
  const latest = Temporal.PlainDate.from(today).add({ months: maxTenorMonths }).toString()
  if (date > latest) return { code: 'too_far_ahead', message: `At most ${maxTenorMonths} months ahead: ${latest}.` }
  return isPartnerDay(date, calendar)
    ? null
    : { code: 'not_business_day', message: 'The bank does not work on that day.' }
}

/** Checks the first drawdown date of an open forward; null when it is allowed. */
export function drawdownFromRefusal(
  date: string,
  { now, settlementDate }: { readonly now: number; readonly settlementDate: string },
): DateRefusal | null {
  if (date < partnerDate(now)) return { code: 'in_past', message: 'Must not be in the past.' }
  return date < settlementDate
    ? null
    : { code: 'too_large', message: `Must be before the settlement date, ${settlementDate}.` }
}

/** Whether a sell amount is large enough for a forward. `eur` is its worth in euro cents. */
export function isWorthForward(
  sellAmount: bigint,
  eur: bigint,
  { minSellEur, sandbox }: { readonly minSellEur: bigint; readonly sandbox: boolean },
): boolean {
  return eur >= minSellEur || (sandbox && SANDBOX_AMOUNTS.has(sellAmount))
}

/** Computes the deposit of a forward, in the currency sold; 0 means none. */
export function depositFor(
  sellAmount: bigint,
  { depositBps, sandbox }: { readonly depositBps: number; readonly sandbox: boolean },
): bigint {
  const bps = sandbox && sellAmount === SANDBOX_DEPOSIT.amount ? SANDBOX_DEPOSIT.bps : depositBps
  return bps === 0 ? 0n : divideHalfEven(sellAmount * BigInt(bps), BPS)
}

/** Returns the moment at which the remainder of a contract is drawn automatically, epoch milliseconds. */
export function maturityOf(settlementDate: string): number {
  return momentOf(PARTNER_RAIL, settlementDate, MATURITY_TIME)
}

/**
 * Returns the end of the time allowed for a margin call or for an overdue contract, epoch milliseconds. @throws
 * CalendarUnknown
 */
export function graceUntil(now: number, calendar: CalendarTerms | null): number {
  return endOfDay(PARTNER_RAIL, partnerDays(partnerDate(now), GRACE_DAYS, calendar))
}

/**
 * Computes the customer's loss on a contract at the market rate; a negative value is a gain. `worth` is the worth of
 * the remaining bought amount, in the currency sold.
 */
export function lossOf(remainingSell: bigint, worth: bigint): bigint {
  return remainingSell - worth
}

/**
 * Computes the further deposit to ask for when the market has moved against a contract, in the currency sold; null
 * while the deposit is sufficient. The deposit less the customer's loss may fall below `depositBps` of the remaining
 * sell amount by `marginCallBps` of it; below that it is raised back to `depositBps`.
 */
export function marginCall(
  { remainingSell, worth, kept }: { readonly remainingSell: bigint; readonly worth: bigint; readonly kept: bigint },
  { depositBps, marginCallBps }: { readonly depositBps: number; readonly marginCallBps: number },
): bigint | null {
  const left = (kept - lossOf(remainingSell, worth)) * BPS
  if (left >= remainingSell * BigInt(depositBps - marginCallBps)) return null
  return (remainingSell * BigInt(depositBps) - left + BPS - 1n) / BPS
}
