/**
 * The market of the sandbox: rates for one euro, cross rates by division, and shifts of single pairs. Exact fractions,
 * without rounding.
 */
import type { CurrencyCode } from '../base/currency.ts'
import { invert, moveByBps, multiply, parseRate, type Fraction, RATE_ONE } from './rate.ts'

/** Units of each currency for one euro. */
const PER_EURO: { readonly [code in CurrencyCode]?: string } = {
  USD: '1.0800',
  GBP: '0.8600',
  CHF: '0.9500',
  PLN: '4.3000',
  SEK: '11.3000',
  NOK: '11.6000',
  DKK: '7.4600',
  CZK: '25.2000',
  HUF: '395.0000',
  RON: '4.9800',
  AUD: '1.6500',
  NZD: '1.8000',
  CAD: '1.4700',
  SGD: '1.4500',
  HKD: '8.4000',
  JPY: '160.0000',
  INR: '90.0000',
  MXN: '19.5000',
  ZAR: '20.0000',
  AED: '3.9600',
}

const BASE: ReadonlyMap<CurrencyCode, Fraction> = new Map([
  ['EUR', { numerator: 1n, denominator: 1n }] as const,
  ...(Object.entries(PER_EURO) as [CurrencyCode, string][]).map(
    ([code, text]) => [code, { numerator: parseRate(text) as bigint, denominator: RATE_ONE }] as const,
  ),
])

/** The base rates as text, units of each currency for one euro. */
export const BASE_RATES: readonly (readonly [currency: string, rate: string])[] = Object.entries(PER_EURO)

/** The currencies that the market quotes. */
export const MARKET_CURRENCIES: readonly CurrencyCode[] = [...BASE.keys()]

/** The shift of a pair from its base rate. */
export interface RateShift {
  readonly sellCurrency: string
  readonly buyCurrency: string
  readonly shiftBps: number
  /** Epoch milliseconds; null: until the pair is shifted again. */
  readonly until: number | null
}

/**
 * The mid-market rates of all connections as data: a command carries the rates as they were when it was made, and its
 * decision converts by them. The table is shared, and replaced as a whole when a rate changes.
 */
export interface MarketRates {
  /** Units of each quoted currency for one euro. */
  readonly perEuro: ReadonlyMap<CurrencyCode, Fraction>
  /** By connection: the pairs whose rate is not the cross rate. */
  readonly shifts: ReadonlyMap<string, readonly RateShift[]>
}

/** A market that quotes no currency. */
export const NO_MARKET: MarketRates = { perEuro: new Map(), shifts: new Map() }

/** Builds the rates of the sandbox's market with the shifts of each connection. */
export function sandboxRates(shifts: MarketRates['shifts']): MarketRates {
  return { perEuro: BASE, shifts }
}

/** Returns the mid-market rate of a pair at a connection, units bought for one sold; null where it is not quoted. */
export function midRate(
  { perEuro, shifts }: MarketRates,
  {
    connectionId,
    sell,
    buy,
  }: { readonly connectionId: string; readonly sell: CurrencyCode; readonly buy: CurrencyCode },
  now: number,
): Fraction | null {
  const [sold, bought] = [perEuro.get(sell), perEuro.get(buy)]
  if (sold === undefined || bought === undefined) return null
  const cross = multiply(bought, invert(sold))
  return shifted(cross, { sell, buy }, shifts.get(connectionId) ?? [], now)
}

/** Returns the base rate of a pair, units bought for one sold; null when either currency is not quoted. */
export function baseRate(sell: CurrencyCode, buy: CurrencyCode): Fraction | null {
  const [sold, bought] = [BASE.get(sell), BASE.get(buy)]
  return sold === undefined || bought === undefined ? null : multiply(bought, invert(sold))
}

/** Returns the rate of a pair with its shift. The opposite pair has exactly the inverse of the shifted rate. */
export function marketRate(
  sell: CurrencyCode,
  buy: CurrencyCode,
  shifts: readonly RateShift[],
  now: number,
): Fraction | null {
  const base = baseRate(sell, buy)
  return base === null ? null : shifted(base, { sell, buy }, shifts, now)
}

function shifted(
  base: Fraction,
  { sell, buy }: { readonly sell: CurrencyCode; readonly buy: CurrencyCode },
  shifts: readonly RateShift[],
  now: number,
): Fraction {
  for (const { sellCurrency, buyCurrency, shiftBps, until } of shifts) {
    if (until !== null && until <= now) continue
    if (sellCurrency === sell && buyCurrency === buy) return moveByBps(base, BigInt(shiftBps))
    if (sellCurrency === buy && buyCurrency === sell) return invert(moveByBps(invert(base), BigInt(shiftBps)))
  }
  return base
}
