/**
 * Controls and limits of a card. A control names categories, merchant category codes, countries and channels that are
 * allowed or blocked; a limit caps one authorisation, or the sum of a period, of all purchases or of one category.
 *
 * Periods begin in the customer's time zone, weeks on Monday. Authorisations, increments and force posts count when
 * they are made; what is reversed before it was cleared no longer counts, in the periods of its authorisation. The sums
 * are part of the card's row and change in the commit of the decision, under the version of the card.
 */
import { dateIn } from '../base/clock.ts'
import { categoryOf, type MerchantCategory } from './merchant-categories.ts'

export const CARD_CHANNELS = ['ecommerce', 'pos_chip', 'contactless', 'atm', 'moto', 'recurring'] as const
export type CardChannel = (typeof CARD_CHANNELS)[number]

/** The periods of limits; `lifetime` never ends. */
export const LIMIT_PERIODS = ['day', 'week', 'month', 'year', 'lifetime'] as const
export type LimitPeriod = (typeof LIMIT_PERIODS)[number]

/** Limits in minor units of the card's currency; null means no limit. */
export type LimitAmounts = { readonly [period in LimitPeriod | 'perAuthorisation']: bigint | null }

export interface CardLimits extends LimitAmounts {
  readonly byCategory: readonly ({ readonly category: MerchantCategory } & LimitAmounts)[]
}

export interface CardControls {
  /** The channels that the card may be used by. */
  readonly channels: readonly CardChannel[]
  /** Null: every category that is not blocked. */
  readonly allowedCategories: readonly MerchantCategory[] | null
  readonly blockedCategories: readonly MerchantCategory[]
  /** Merchant category codes of four digits. */
  readonly blockedMccs: readonly string[]
  /** Null: every country that is not blocked. Codes of ISO 3166-1, two letters. */
  readonly allowedCountries: readonly string[] | null
  readonly blockedCountries: readonly string[]
}

export const NO_LIMIT: LimitAmounts = {
  perAuthorisation: null,
  day: null,
  week: null,
  month: null,
  year: null,
  lifetime: null,
}

/** A sum of one period, minor units; of all purchases, or of one category. */
export interface PeriodUse {
  readonly category: MerchantCategory | null
  readonly period: LimitPeriod
  /** The first day of the period, `YYYY-MM-DD`; empty for `lifetime`. */
  readonly start: string
  readonly amount: bigint
}
export type CardUse = readonly PeriodUse[]

/** The circumstances of a purchase, as the card network tells them. */
export interface Purchase {
  /** Merchant category code, four digits. */
  readonly mcc: string
  /** ISO 3166-1, two letters; null where the network does not tell. */
  readonly merchantCountry: string | null
  readonly channel: CardChannel
}

/** The controls that decline, in the order in which they are checked. */
export type ControlDecline = 'channel_disabled' | 'merchant_blocked' | 'country_blocked'

/** Returns why the controls decline a purchase; null where they allow it. */
export function controlDecline(
  controls: CardControls,
  { mcc, merchantCountry, channel }: Purchase,
): ControlDecline | null {
  if (!controls.channels.includes(channel)) return 'channel_disabled'
  const category = categoryOf(mcc)
  if (controls.blockedMccs.includes(mcc) || controls.blockedCategories.includes(category)) return 'merchant_blocked'
  if (controls.allowedCategories !== null && !controls.allowedCategories.includes(category)) return 'merchant_blocked'
  // A country that the network does not tell fits no list of allowed countries, and none of blocked ones.
  if (merchantCountry !== null && controls.blockedCountries.includes(merchantCountry)) return 'country_blocked'
  if (controls.allowedCountries !== null && !controls.allowedCountries.includes(merchantCountry ?? ''))
    return 'country_blocked'
  return null
}

/** Returns the first day of the period that contains a moment; empty for `lifetime`. */
export function periodStart(period: LimitPeriod, now: number, zone: string): string {
  const today = dateIn(now, zone)
  switch (period) {
    case 'day':
      return today
    case 'week':
      return mondayOf(today)
    case 'month':
      return `${today.slice(0, 7)}-01`
    case 'year':
      return `${today.slice(0, 4)}-01-01`
    case 'lifetime':
      return ''
    default:
      return period satisfies never
  }
}

/** The day that was asked about last, with its Monday: decisions of one day ask again and again. */
let lastWeek = { day: '', monday: '' }

function mondayOf(day: string): string {
  if (lastWeek.day !== day) {
    const date = Temporal.PlainDate.from(day)
    lastWeek = { day, monday: date.subtract({ days: date.dayOfWeek - 1 }).toString() }
  }
  return lastWeek.monday
}

/** The sums that a purchase counts in: every period that has a limit, of all purchases and of the merchant's category. */
function countedIn(limits: CardLimits, mcc: string, now: number, zone: string): readonly Omit<PeriodUse, 'amount'>[] {
  const category = categoryOf(mcc)
  return [
    { category: null, terms: limits as LimitAmounts },
    ...limits.byCategory.filter((terms) => terms.category === category).map((terms) => ({ category, terms })),
  ].flatMap(({ category: counted, terms }) =>
    LIMIT_PERIODS.filter((period) => terms[period] !== null).map((period) => ({
      category: counted,
      period,
      start: periodStart(period, now, zone),
    })),
  )
}

const isSame = (one: Omit<PeriodUse, 'amount'>, other: Omit<PeriodUse, 'amount'>): boolean =>
  one.category === other.category && one.period === other.period && one.start === other.start

/**
 * Tells whether a purchase of `amount`, or an increment to `whole`, would exceed a limit, with the sums used so far.
 *
 * @param now epoch milliseconds
 */
export function exceedsLimits(
  { limits, used, zone }: { readonly limits: CardLimits; readonly used: CardUse; readonly zone: string },
  { mcc, amount, whole }: { readonly mcc: string; readonly amount: bigint; readonly whole: bigint },
  now: number,
): boolean {
  const category = categoryOf(mcc)
  const ofCategory = limits.byCategory.filter((terms) => terms.category === category)
  for (const { perAuthorisation } of [limits, ...ofCategory])
    if (perAuthorisation !== null && whole > perAuthorisation) return true
  return countedIn(limits, mcc, now, zone).some((sum) => {
    const terms = sum.category === null ? limits : ofCategory.find((one) => one.category === sum.category)
    const max = terms?.[sum.period] ?? null
    const known = used.find((one) => isSame(one, sum))?.amount ?? 0n
    return max !== null && known + amount > max
  })
}

/**
 * Returns the sums after a purchase, or after a part of it was taken back (`amount` below zero). Sums of periods that
 * are over are dropped; none falls below zero. Every sum is kept whether a limit stands on it or not, so that a limit
 * that is set later in a period knows what was spent in it.
 *
 * @param at the time of the authorisation, epoch milliseconds: a reversal lowers the sums of the authorisation's periods
 */
export function countUse(
  used: CardUse,
  {
    mcc,
    amount,
    at,
    now,
    zone,
  }: {
    readonly mcc: string
    readonly amount: bigint
    readonly at: number
    readonly now: number
    readonly zone: string
  },
): CardUse {
  const category = categoryOf(mcc)
  const current = (period: LimitPeriod): string => periodStart(period, now, zone)
  const kept = used.filter(({ period, start }) => start === current(period))
  const next = new Map(kept.map((sum) => [`${sum.category}|${sum.period}`, sum]))
  for (const period of LIMIT_PERIODS) {
    const start = periodStart(period, at, zone)
    if (start !== current(period)) continue
    for (const counted of [null, category]) {
      const key = `${counted}|${period}`
      const sum = (next.get(key)?.amount ?? 0n) + amount
      next.set(key, { category: counted, period, start, amount: sum < 0n ? 0n : sum })
    }
  }
  return [...next.values()]
}
