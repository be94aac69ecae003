/** Limits and sums of a card as its row stores them: amounts as text. */
import type { CardLimits, CardUse, LimitAmounts, PeriodUse } from './card-limits.ts'
import type { MerchantCategory } from './merchant-categories.ts'

type TextOf<Amounts> = { readonly [member in keyof Amounts]: Amounts[member] extends bigint ? string : string | null }

export type CardLimitsJson = TextOf<LimitAmounts> & {
  readonly byCategory: readonly ({ readonly category: MerchantCategory } & TextOf<LimitAmounts>)[]
}
export type CardUseJson = readonly (Omit<PeriodUse, 'amount'> & { readonly amount: string })[]

/** Applies a function to each amount of limits. */
export function mapLimits<From, To>(
  { perAuthorisation, day, week, month, year, lifetime }: { readonly [each in keyof LimitAmounts]: From },
  of: (amount: From) => To,
): { readonly [each in keyof LimitAmounts]: To } {
  return {
    perAuthorisation: of(perAuthorisation),
    day: of(day),
    week: of(week),
    month: of(month),
    year: of(year),
    lifetime: of(lifetime),
  }
}

const text = (amount: bigint | null): string | null => (amount === null ? null : String(amount))
const amountOf = (stored: string | null): bigint | null => (stored === null ? null : BigInt(stored))

export const limitsToJson = (limits: CardLimits): CardLimitsJson => ({
  ...mapLimits(limits, text),
  byCategory: limits.byCategory.map(({ category, ...terms }) => ({ category, ...mapLimits(terms, text) })),
})

export const limitsFromJson = (stored: CardLimitsJson): CardLimits => ({
  ...mapLimits(stored, amountOf),
  byCategory: stored.byCategory.map(({ category, ...terms }) => ({ category, ...mapLimits(terms, amountOf) })),
})

export const useToJson = (used: CardUse): CardUseJson => used.map((sum) => ({ ...sum, amount: String(sum.amount) }))

export const useFromJson = (stored: CardUseJson): CardUse =>
  stored.map((sum) => ({ ...sum, amount: BigInt(sum.amount) }))
