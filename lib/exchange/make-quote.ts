/** Makes a quote from a request: the checks in the order that the API promises, then the price. Pure. */
import { dateIn } from '../base/clock.ts'
import { isCurrencyCode, WITHDRAWN_CURRENCIES, type CurrencyCode } from '../base/currency.ts'
import { moneyJson, REQUEST_AMOUNT_MAX } from '../base/money.ts'
import type { CalendarTerms } from '../rails/business-days.ts'
import { feeOf, type FeeRule } from '../pricing/fees.ts'
import type { FieldError, FieldErrorCode, Problem } from '../base/problems.ts'
import { depositFor, isWorthForward, partnerDate, settlementDateRefusal } from './forward-terms.ts'
import { forwardOf, price } from './pricing.ts'
import type { QuoteKind, QuoteRecord } from './quote.ts'
import { boughtFor, rateOf, type FixedSide, type Fraction } from './rate.ts'
import type { ExchangeTerms } from '../operators/exchange-terms.ts'

/** The request for a quote, with its shape already checked. */
export interface QuoteInput {
  readonly sellCurrency: string
  readonly buyCurrency: string
  readonly amount: { readonly amountMinor: string; readonly currency: string }
  readonly fixedSide: FixedSide
  readonly kind?: QuoteKind | 'drawdown'
  readonly settlementDate?: string | null
  readonly sellBalanceId?: string | null
  readonly buyBalanceId?: string | null
  readonly holdMinutes?: number | null
}

/** The data that a quote depends on besides the request. */
export interface QuoteContext {
  readonly id: string
  readonly customerId: string
  readonly connectionId: string
  readonly terms: ExchangeTerms
  readonly calendar: CalendarTerms | null
  /** The currencies that are enabled. Null: all currencies that are quoted. */
  readonly enabled: ReadonlySet<string> | null
  readonly fees: readonly FeeRule[]
  /** Returns the mid-market rate of a pair; null for a pair that is not quoted. */
  readonly mid: (sell: CurrencyCode, buy: CurrencyCode) => Fraction | null
  readonly sandbox: boolean
  /** The sell amount whose quote has expired as soon as it is made, minor units; null outside a sandbox. */
  readonly expiredSellAmount: bigint | null
  /** Epoch milliseconds. */
  readonly now: number
}

export type MadeQuote =
  | { readonly kind: 'quote'; readonly quote: QuoteRecord }
  | { readonly kind: 'invalid'; readonly error: FieldError }
  | { readonly kind: 'refused'; readonly problem: Problem }

const invalid = (field: string, code: FieldErrorCode, message: string, params?: FieldError['params']): MadeQuote => ({
  kind: 'invalid',
  error: { field, code, message, ...(params === undefined ? {} : { params }) },
})

/** Finds the fault of the settlement date: a forward needs one, the other kinds have none of their own. */
function settlementDateFault(kind: QuoteKind, date: string | null, context: QuoteContext): MadeQuote | null {
  if (kind === 'forward') return settlementFault(date, context)
  return date === null
    ? null
    : invalid('/settlementDate', 'not_applicable', 'Only a forward has a chosen settlement date.')
}

/** Finds the fault of the time for which a rate is held, in minutes. */
function holdFault(kind: QuoteKind, minutes: number | null, { heldRateMaxMinutes }: ExchangeTerms): MadeQuote | null {
  if (minutes === null) return null
  if (kind !== 'held_rate') return invalid('/holdMinutes', 'not_applicable', 'Only a held rate has a duration.')
  if (minutes <= heldRateMaxMinutes) return null
  return invalid('/holdMinutes', 'too_large', `A rate is held for ${heldRateMaxMinutes} minutes at most.`, {
    max: heldRateMaxMinutes,
  })
}

/** Makes the quote, or returns the fault of the request. @throws CalendarUnknown */
export function makeQuote(input: QuoteInput, context: QuoteContext): MadeQuote {
  const { terms, now, sandbox } = context
  const {
    fixedSide,
    sellCurrency: sell,
    buyCurrency: buy,
    kind = 'spot',
    settlementDate = null,
    holdMinutes = null,
  } = input
  if (kind === 'drawdown') return invalid('/kind', 'invalid_value', 'A drawdown has the rate of its contract.')
  for (const [field, code] of [
    ['/sellCurrency', sell],
    ['/buyCurrency', buy],
  ] as const) {
    const wrong = currencyFault(field, code, context.enabled)
    if (wrong !== null) return wrong
  }
  const [sellCurrency, buyCurrency] = [sell as CurrencyCode, buy as CurrencyCode]
  if (sellCurrency === buyCurrency)
    return invalid('/buyCurrency', 'invalid_value', 'The two currencies must be different.')
  if (input.amount.currency !== (fixedSide === 'sell' ? sellCurrency : buyCurrency)) {
    return invalid(
      '/amount/currency',
      'currency_mismatch',
      `The amount is of the side that is fixed, in ${fixedSide === 'sell' ? sellCurrency : buyCurrency}.`,
    )
  }
  const mid = context.mid(sellCurrency, buyCurrency)
  if (mid === null)
    return invalid('/buyCurrency', 'invalid_value', `${sellCurrency} is not exchanged for ${buyCurrency}.`)
  const periodFault = settlementDateFault(kind, settlementDate, context) ?? holdFault(kind, holdMinutes, terms)
  if (periodFault !== null) return periodFault
  const amount = BigInt(input.amount.amountMinor)
  if (amount > REQUEST_AMOUNT_MAX)
    return { kind: 'refused', problem: aboveLimit(input.amount.currency as CurrencyCode) }
  const market = kind === 'forward' ? forwardOf(mid, daysUntil(settlementDate as string, now)) : mid
  const fixed = { fixedSide, amount, sellCurrency, buyCurrency }
  const priced = price(fixed, market, terms.marginBps)
  if (priced === 'amount_too_small')
    return invalid('/amount/amountMinor', 'amount_too_small', 'The other side would be less than its smallest unit.')
  if (priced === 'too_large')
    return { kind: 'refused', problem: aboveLimit(fixedSide === 'sell' ? buyCurrency : sellCurrency) }
  if (
    kind === 'forward' &&
    !isWorthForward(priced.sell, worthInEuro(context, sellCurrency, priced.sell), {
      minSellEur: terms.minSellEur,
      sandbox,
    })
  ) {
    return invalid('/amount/amountMinor', 'too_small', 'A forward has to sell more.', {
      minEur: terms.minSellEur.toString(),
    })
  }
  const deposit = kind === 'forward' ? depositFor(priced.sell, { depositBps: terms.forwardDepositBps, sandbox }) : 0n
  const holds = priced.sell === context.expiredSellAmount ? 0 : terms.quoteSeconds * 1_000
  return {
    kind: 'quote',
    quote: {
      id: context.id,
      customerId: context.customerId,
      connectionId: context.connectionId,
      kind,
      sellCurrency,
      buyCurrency,
      sellAmount: priced.sell,
      buyAmount: priced.buy,
      rate: priced.rate,
      partnerRate: priced.partnerRate,
      fixedSide,
      fee: kind === 'spot' ? feeOf(context.fees, null, priced.sell, 'exchange') : 0n,
      settlementDate: kind === 'spot' ? dateIn(now, 'UTC') : settlementDate,
      depositRequired: deposit === 0n ? null : deposit,
      holdMinutes: kind === 'held_rate' ? (holdMinutes ?? terms.heldRateDefaultMinutes) : null,
      sellBalanceId: input.sellBalanceId ?? null,
      buyBalanceId: input.buyBalanceId ?? null,
      expiresAt: now + holds,
      createdAt: now,
    },
  }
}

/** Builds the request that asks for the same quote again: the fixed side keeps its amount. */
export function termsOfQuote(quote: QuoteRecord): QuoteInput {
  const { fixedSide, sellCurrency, buyCurrency, kind, settlementDate, holdMinutes, sellBalanceId, buyBalanceId } = quote
  const amount =
    fixedSide === 'sell'
      ? moneyJson({ amountMinor: quote.sellAmount, currency: sellCurrency })
      : moneyJson({ amountMinor: quote.buyAmount, currency: buyCurrency })
  return {
    fixedSide,
    sellCurrency,
    buyCurrency,
    kind,
    amount,
    settlementDate: kind === 'forward' ? settlementDate : null,
    holdMinutes,
    sellBalanceId,
    buyBalanceId,
  }
}

/** Checks whether a currency can be exchanged; null when it can. */
export function currencyFault(
  field: string,
  code: string,
  enabled: ReadonlySet<string> | null,
): Extract<MadeQuote, { kind: 'invalid' }> | null {
  const fault = (why: FieldErrorCode, message: string) => ({
    kind: 'invalid' as const,
    error: { field, code: why, message },
  })
  if (!isCurrencyCode(code)) return fault('invalid_value', 'No such currency.')
  const withdrawn = WITHDRAWN_CURRENCIES[code]
  if (withdrawn !== undefined)
    return fault('currency_withdrawn', `${code} has ended; its place took ${withdrawn.replacedBy}.`)
  return enabled === null || enabled.has(code) ? null : fault('inactive', `${code} is not enabled.`)
}

function settlementFault(
  date: string | null,
  { now, calendar, terms: { maxTenorMonths } }: QuoteContext,
): MadeQuote | null {
  if (date === null) return invalid('/settlementDate', 'required', 'A forward needs the day on which it settles.')
  const fault = settlementDateRefusal(date, { now, calendar, maxTenorMonths })
  return fault === null ? null : invalid('/settlementDate', fault.code, fault.message)
}

/** Counts the calendar days from the partner's current date to a later date. */
export function daysUntil(date: string, now: number): number {
  return Temporal.PlainDate.from(partnerDate(now)).until(date, { largestUnit: 'days' }).days
}

function worthInEuro({ mid }: QuoteContext, currency: CurrencyCode, amount: bigint): bigint {
  if (currency === 'EUR') return amount
  const rate = mid(currency, 'EUR')
  return rate === null ? 0n : boughtFor({ sellCurrency: currency, buyCurrency: 'EUR' }, amount, rateOf(rate))
}

function aboveLimit(currency: CurrencyCode): Problem {
  const limit = moneyJson({ amountMinor: REQUEST_AMOUNT_MAX, currency })
  return {
    slug: 'limit-exceeded',
    detail: 'The amount is above the limit of a single exchange.',
    extra: { limit: { kind: 'single', amount: limit, period: null, remaining: limit } },
  }
}
