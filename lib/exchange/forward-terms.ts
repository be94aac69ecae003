/**
 * What a forward is agreed on: its days, the least it must be worth, and what is asked for as its deposit. All of it is what an
 * operator sets (`ExchangeTerms`); days are counted by the partner's calendar, or as they come where calendars are ignored.
 */
import { addDays } from '../base/clock.ts'
import { addBusinessDays, endOfDay, isBusinessDay, momentOf, railDate, type CalendarTerms } from '../rails/business-days.ts'
import type { FieldErrorCode } from '../base/problems.ts'
import { divideHalfEven } from './rate.ts'

/** The partner settles as banks abroad do: its days and its zone are those of this rail. */
const PARTNER_RAIL = 'swift'
/** Business days from the trade to the earliest settlement. */
const SETTLEMENT_DAYS_MIN = 3
/** When the rest of a contract is settled on its last day, in the partner's zone. */
const MATURITY_TIME = '10:00'
/** How long a deposit is waited for, and how many business days a margin call and an overdue contract have. */
export const DEPOSIT_MS = 24 * 60 * 60_000
const GRACE_DAYS = 2
const BPS = 10_000n
/** What the sandbox asks for in place of the operator's share, by the sell amount. */
const SANDBOX_DEPOSIT = { amount: 1601n, bps: 1_000 } as const
/** Amounts that tell the sandbox what to do are agreed on whatever the least is. */
const SANDBOX_AMOUNTS: ReadonlySet<bigint> = new Set([1601n, 1602n])
/** The sandbox's partner calls for more by itself, once. */
export const SANDBOX_MARGIN_CALL = { amount: 1602n, afterMs: 30_000 } as const

/** A date that does not do, as a field is told. */
export interface DateRefusal {
  readonly code: FieldErrorCode
  readonly message: string
}

/** The date that the partner's clocks show. */
export function partnerDate(now: number): string {
  return railDate(PARTNER_RAIL, now)
}

/** Whether the partner works on a date. `calendar` null: every day counts. @throws CalendarUnknown */
export function isPartnerDay(date: string, calendar: CalendarTerms | null): boolean {
  return calendar === null || isBusinessDay(PARTNER_RAIL, date, calendar)
}

/** The business day so many business days after a date. @throws CalendarUnknown */
export function partnerDays(date: string, count: number, calendar: CalendarTerms | null): string {
  return calendar === null ? addDays(date, count) : addBusinessDays(PARTNER_RAIL, date, count, calendar)
}

/** Why a forward cannot be settled on a date; null when it can. @throws CalendarUnknown */
export function settlementDateRefusal(date: string, { now, calendar, maxTenorMonths }: { readonly now: number; readonly calendar: CalendarTerms | null; readonly maxTenorMonths: number }): DateRefusal | null {
  const today = partnerDate(now)
  if (date < today) return { code: 'in_past', message: 'Must not be in the past.' }
  const earliest = partnerDays(today, SETTLEMENT_DAYS_MIN, calendar)
  if (date < earliest) return { code: 'too_small', message: `A forward settles ${SETTLEMENT_DAYS_MIN} business days ahead at the earliest: ${earliest}.` }
  const latest = Temporal.PlainDate.from(today).add({ months: maxTenorMonths }).toString()
  if (date > latest) return { code: 'too_far_ahead', message: `At most ${maxTenorMonths} months ahead: ${latest}.` }
  return isPartnerDay(date, calendar) ? null : { code: 'not_business_day', message: 'The bank does not work on that day.' }
}

/** Why an open forward cannot be drawn from a date on; null when it can. */
export function drawdownFromRefusal(date: string, { now, settlementDate }: { readonly now: number; readonly settlementDate: string }): DateRefusal | null {
  if (date < partnerDate(now)) return { code: 'in_past', message: 'Must not be in the past.' }
  return date < settlementDate ? null : { code: 'too_large', message: `Must be before the settlement date, ${settlementDate}.` }
}

/** Whether a sell amount is enough for a forward. `eur` is its worth in euro cents. */
export function isWorthForward(sellAmount: bigint, eur: bigint, { minSellEur, sandbox }: { readonly minSellEur: bigint; readonly sandbox: boolean }): boolean {
  return eur >= minSellEur || (sandbox && SANDBOX_AMOUNTS.has(sellAmount))
}

/** What is asked for as a deposit of a forward, in the currency sold; 0: none. */
export function depositFor(sellAmount: bigint, { depositBps, sandbox }: { readonly depositBps: number; readonly sandbox: boolean }): bigint {
  const bps = sandbox && sellAmount === SANDBOX_DEPOSIT.amount ? SANDBOX_DEPOSIT.bps : depositBps
  return bps === 0 ? 0n : divideHalfEven(sellAmount * BigInt(bps), BPS)
}

/** When what is left of a contract is drawn by itself. */
export function maturityOf(settlementDate: string): number {
  return momentOf(PARTNER_RAIL, settlementDate, MATURITY_TIME)
}

/** Until when a margin call, or money for an overdue contract, is waited for. @throws CalendarUnknown */
export function graceUntil(now: number, calendar: CalendarTerms | null): number {
  return endOfDay(PARTNER_RAIL, partnerDays(partnerDate(now), GRACE_DAYS, calendar))
}

/** What of a contract the market has eaten: above 0 a loss of its customer, below a gain. `worth` of what is left to buy, in the currency sold. */
export function lossOf(remainingSell: bigint, worth: bigint): bigint {
  return remainingSell - worth
}

/**
 * What more is asked for when the market has turned against a contract, in the currency sold; null while there is enough. A
 * deposit may shrink by `marginCallBps` of what is left to sell; below that it is brought back to `depositBps`.
 */
export function marginCall(
  { remainingSell, worth, kept }: { readonly remainingSell: bigint; readonly worth: bigint; readonly kept: bigint },
  { depositBps, marginCallBps }: { readonly depositBps: number; readonly marginCallBps: number },
): bigint | null {
  const left = (kept - lossOf(remainingSell, worth)) * BPS
  if (left >= remainingSell * BigInt(depositBps - marginCallBps)) return null
  return (remainingSell * BigInt(depositBps) - left + BPS - 1n) / BPS
}
