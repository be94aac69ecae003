/** The choice between the rails. */
import { WITHDRAWN_CURRENCIES, type CurrencyCode } from '../base/currency.ts'
import type { BankField } from './bank-field.ts'
import { ON_PLATFORM_RAIL, RAILS, speedOf, type Rail, type RailTable, type RailTerms, type Speed } from './rails.ts'

/** The reason why a rail cannot carry a payment. */
export type RailRefusal =
  | 'unknown_rail'
  | 'currency_withdrawn'
  | 'rail_withdrawn'
  | 'not_on_platform'
  | 'not_offered'
  | 'wrong_currency'
  | 'country_not_reached'
  | 'below_minimum'
  | 'above_limit'
  | 'not_whole_units'
  | 'missing_bank_fields'

/** The facts on which the choice of a rail depends. */
export interface RailQuestion {
  readonly currency: CurrencyCode
  readonly amountMinor: bigint
  /** ISO 3166 alpha-2. */
  readonly bankCountry: string
  /** The bank details that the recipient has, and `address` when its address is complete. */
  readonly fields: ReadonlySet<BankField>
  /** Null lets the platform choose. */
  readonly requested?: Rail | null
  /** The rails that the connection can use and the recipient's bank can receive. Omitted: the whole table. */
  readonly offered?: ReadonlySet<Rail>
  /** Whether the recipient's account is a balance of the same operator. Omitted: false. */
  readonly onPlatform?: boolean
}

/**
 * The reason for a rail: the caller asked for it, the account is on this platform, or it is the fastest and then the
 * cheapest one.
 */
export type RailReason = 'requested' | 'on_platform' | Speed

/** The chosen rail and the reason, or every rail considered with its refusal. */
export type RailChoice =
  | { readonly rail: Rail; readonly reason: RailReason }
  | { readonly refused: readonly { readonly rail: Rail; readonly reason: RailRefusal }[] }

const SPEEDS: readonly Speed[] = ['instant', 'same_day', 'batch', 'international']

/**
 * Chooses the rail of a payment: `internal` when the recipient's account is on this platform, else the cheapest instant
 * rail that fits the amount and reaches the bank, else the cheapest same-day rail, else batch, else swift. A requested
 * rail is taken or refused, never replaced; `internal` is refused for an account that is not on this platform.
 */
export function chooseRail(question: RailQuestion, rails: RailTable = RAILS): RailChoice {
  const { requested } = question
  if (requested !== undefined && requested !== null) {
    const reason = refusalOf(requested, question, rails)
    return reason === null ? { rail: requested, reason: 'requested' } : { refused: [{ rail: requested, reason }] }
  }
  if (question.onPlatform === true) {
    const reason = refusalOf(ON_PLATFORM_RAIL, question, rails)
    return reason === null
      ? { rail: ON_PLATFORM_RAIL, reason: 'on_platform' }
      : { refused: [{ rail: ON_PLATFORM_RAIL, reason }] }
  }
  const refused: { readonly rail: Rail; readonly reason: RailRefusal }[] = []
  let best: RailTerms | null = null
  for (const row of rails.values()) {
    if (row.rail === ON_PLATFORM_RAIL || (row.currency !== null && row.currency !== question.currency)) continue
    const reason = refusalOf(row.rail, question, rails)
    if (reason !== null) refused.push({ rail: row.rail, reason })
    else if (best === null || rank(row, question) < rank(best, question)) best = row
  }
  return best === null ? { refused } : { rail: best.rail, reason: speedOf(best, question.amountMinor) }
}

// Ranks by speed, then by price; ties go to the earlier row of the table.
function rank(row: RailTerms, question: RailQuestion): number {
  return SPEEDS.indexOf(speedOf(row, question.amountMinor)) * 100 + row.cost
}

// The checks begin with facts that the caller can least change, so that the refusal names the root cause.
function refusalOf(rail: Rail, question: RailQuestion, rails: RailTable): RailRefusal | null {
  const row = rails.get(rail)
  if (row === undefined) return 'unknown_rail'
  if (rail === ON_PLATFORM_RAIL && question.onPlatform !== true) return 'not_on_platform'
  if (row.currency !== null && row.currency !== question.currency) return 'wrong_currency'
  if (row.withdrawnSince !== null) return 'rail_withdrawn'
  if (WITHDRAWN_CURRENCIES[question.currency] !== undefined) return 'currency_withdrawn'
  if (question.offered !== undefined && rail !== ON_PLATFORM_RAIL && !question.offered.has(rail)) return 'not_offered'
  if (row.countries !== null && !row.countries.has(question.bankCountry)) return 'country_not_reached'
  if (question.amountMinor < row.minMinor) return 'below_minimum'
  if (row.limitMinor !== null && question.amountMinor > row.limitMinor) return 'above_limit'
  if (question.amountMinor % row.multipleMinor !== 0n) return 'not_whole_units'
  if (!row.needs.some((group) => group.every((field) => question.fields.has(field)))) return 'missing_bank_fields'
  return null
}
