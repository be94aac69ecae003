/**
 * Limits of the payments of a customer and of each member: for one payment, a day and a month, each currency
 * separately. Days and months are those of UTC, because balances of one currency may pay by rails of several zones.
 *
 * The amounts paid out are counted in the payment's own commit. The balance remembers the count, as it remembers the
 * available amount; the commit refuses to count beyond the limit, whatever the balance remembered.
 */
import { dateIn } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson, formatMajor } from '../base/money.ts'
import type { Problem } from '../base/problems.ts'

/** Limits in one currency, minor units; null means no limit. */
export interface CurrencyLimits {
  readonly currency: string
  readonly single: bigint | null
  readonly daily: bigint | null
  readonly monthly: bigint | null
}

/** Limits as a row stores them, with amounts as text. */
export interface LimitsJson {
  readonly currencies: readonly {
    readonly currency: string
    readonly single: string | null
    readonly daily: string | null
    readonly monthly: string | null
  }[]
}

/** Builds limits as the API shows them. */
export function limitsShown(limits: readonly CurrencyLimits[]) {
  return limits.map(({ currency, single, daily, monthly }) => {
    const money = (amountMinor: bigint | null) =>
      amountMinor === null ? null : moneyJson({ amountMinor, currency: currency as CurrencyCode })
    return { currency, single: money(single), daily: money(daily), monthly: money(monthly) }
  })
}

export const LIMIT_KINDS = ['single', 'daily', 'monthly'] as const
export type LimitKind = (typeof LIMIT_KINDS)[number]

/** Reads limits from the JSON of a row. */
export function limitsOf({ currencies }: LimitsJson): readonly CurrencyLimits[] {
  const amount = (text: string | null) => (text === null ? null : BigInt(text))
  return currencies.map(({ currency, single, daily, monthly }) => ({
    currency,
    single: amount(single),
    daily: amount(daily),
    monthly: amount(monthly),
  }))
}

/** Writes limits as the JSON of a row. */
export function limitsJson(limits: readonly CurrencyLimits[]): LimitsJson {
  const text = (amount: bigint | null) => (amount === null ? null : amount.toString())
  return {
    currencies: limits.map(({ currency, single, daily, monthly }) => ({
      currency,
      single: text(single),
      daily: text(daily),
      monthly: text(monthly),
    })),
  }
}

/** The amount paid out in one period, as far as the balance knows. */
export interface Used {
  /** The first day of the period, `YYYY-MM-DD`. */
  readonly start: string
  readonly amount: bigint
}

/** The limits in the balance's currency, with the amounts used in the latest day and month. */
export interface LimitState {
  readonly limits: CurrencyLimits
  readonly day: Used
  readonly month: Used
}

/** Returns the day and the month of a moment, each as the date of its first day. */
export function periodsOf(now: number): { readonly day: string; readonly month: string } {
  const day = dateIn(now, 'UTC')
  return { day, month: `${day.slice(0, 8)}01` }
}

/** Returns the amount used in the period that starts on `start`; an amount of an earlier period no longer counts. */
const usedIn = (used: Used, start: string): bigint => (used.start === start ? used.amount : 0n)

/** The state before any payment. */
export const NOTHING: Used = { start: '', amount: 0n }

/** The limits of payments from a balance, in its currency. */
export interface PaymentLimits {
  /** The limits for all payments of the customer; null when there are none. */
  readonly customer: LimitState | null
  /** The limits for payments in a member's name, by the person's id. A person who is not in the map has no limits. */
  readonly members: ReadonlyMap<string, LimitState>
}

/**
 * The amount of a payment and the person in whose name it is made. A key may stand in the person's place; keys have no
 * limits of their own.
 */
export interface Spending {
  readonly customerId: string
  readonly spenderId: string
  readonly amount: bigint
}

/** Returns the same limits with nothing used. */
export function unusedLimits({ customer, members }: PaymentLimits): PaymentLimits {
  const unused = ({ limits }: LimitState): LimitState => ({ limits, day: NOTHING, month: NOTHING })
  return {
    customer: customer === null ? null : unused(customer),
    members: new Map([...members].map(([id, state]) => [id, unused(state)])),
  }
}

/** The amount that a payment adds to the count of one period, for its commit. */
export interface Outflow {
  readonly customerId: string
  /** The id whose count grows: the customer's own id, or a person's. */
  readonly spenderId: string
  readonly currency: string
  readonly periodKind: 'day' | 'month'
  readonly periodStart: string
  readonly amount: bigint
  readonly maxAmount: bigint
}

/** Finds the limit that a payment would exceed, the customer's before the member's; null when it exceeds none. */
export function brokenLimit(
  { customer, members }: PaymentLimits,
  { spenderId, amount }: Spending,
  now: number,
): Problem | null {
  const member = members.get(spenderId)
  return (
    (customer === null ? null : brokenBy('The', customer, amount, now)) ??
    (member === undefined ? null : brokenBy("The member's", member, amount, now))
  )
}

/** Finds the first exceeded limit in the order single, daily, monthly. */
function brokenBy(whose: string, { limits, day, month }: LimitState, amount: bigint, now: number): Problem | null {
  const periods = periodsOf(now)
  const exceeded = exceededBy(whose, limits)
  if (limits.single !== null && amount > limits.single) return exceeded('single', limits.single, null, limits.single)
  for (const [kind, limit, used, period] of [
    ['daily', limits.daily, usedIn(day, periods.day), periods.day],
    ['monthly', limits.monthly, usedIn(month, periods.month), periods.month.slice(0, 7)],
  ] as const) {
    if (limit !== null && used + amount > limit) return exceeded(kind, limit, period, limit > used ? limit - used : 0n)
  }
  return null
}

const exceededBy =
  (whose: string, { currency }: CurrencyLimits) =>
  (kind: LimitKind, amount: bigint, period: string | null, remaining: bigint): Problem => {
    const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: currency as CurrencyCode })
    return {
      slug: 'limit-exceeded',
      detail: `${whose} ${kind} limit is ${formatMajor(amount, currency as CurrencyCode)} ${currency}, of which ${formatMajor(remaining, currency as CurrencyCode)} ${currency} remain.`,
      extra: { limit: { kind, amount: money(amount), period, remaining: money(remaining) } },
    }
  }

/** Returns the limits after a payment, and the amounts that the commit must count. */
export function countOutflow(
  limits: PaymentLimits,
  { customerId, spenderId, amount }: Spending,
  now: number,
): { readonly limits: PaymentLimits; readonly outflows: readonly Outflow[] } {
  const { customer, members } = limits
  const outflows: Outflow[] = []
  const count = (state: LimitState, countedFor: string): LimitState => {
    const counted = counting(state, { customerId, spenderId: countedFor, amount }, now)
    outflows.push(...counted.outflows)
    return counted.state
  }
  const all = customer === null ? null : count(customer, customerId)
  const member = members.get(spenderId)
  return {
    limits: {
      customer: all,
      members: member === undefined ? members : new Map(members).set(spenderId, count(member, spenderId)),
    },
    outflows,
  }
}

function counting(
  state: LimitState,
  { amount, ...spending }: Spending,
  now: number,
): { readonly state: LimitState; readonly outflows: readonly Outflow[] } {
  const { limits } = state
  const periods = periodsOf(now)
  const outflows: Outflow[] = []
  const shared = { ...spending, currency: limits.currency, amount }
  if (limits.daily !== null)
    outflows.push({ ...shared, periodKind: 'day', periodStart: periods.day, maxAmount: limits.daily })
  if (limits.monthly !== null)
    outflows.push({ ...shared, periodKind: 'month', periodStart: periods.month, maxAmount: limits.monthly })
  return {
    state: {
      limits,
      day: { start: periods.day, amount: usedIn(state.day, periods.day) + amount },
      month: { start: periods.month, amount: usedIn(state.month, periods.month) + amount },
    },
    outflows,
  }
}
