/** Which currencies an operator offers, and what can be done in each: read off the rails, so that it cannot disagree with them. */
import { CURRENCIES, WITHDRAWN_CURRENCIES, type CurrencyCode } from '../base/currency.ts'
import { RAILS, type Rail } from '../rails/rails.ts'

/** What the sandbox bank keeps accounts in and quotes. */
export const OFFERED_CURRENCIES: ReadonlySet<CurrencyCode> = new Set<CurrencyCode>([
  'EUR', 'USD', 'GBP', 'CHF', 'PLN', 'SEK', 'NOK', 'DKK', 'CZK', 'HUF', 'RON', 'AUD', 'NZD', 'CAD', 'SGD', 'HKD', 'JPY', 'INR', 'MXN', 'ZAR', 'AED',
])

/** Schemes of direct debit: SEPA, Bacs and ACH. */
const DIRECT_DEBIT: ReadonlySet<string> = new Set(['EUR', 'GBP', 'USD'])

/** The rails of a currency that still carry new payments. Those of any currency carry each one that is offered. */
function railsOf(code: CurrencyCode): Rail[] {
  return [...RAILS.values()].filter(({ currency, withdrawnSince }) => withdrawnSince === null && (currency === code || currency === null)).map(({ rail }) => rail)
}

/** A currency as an operator offers it and a customer has it. */
export function currencySetting(code: CurrencyCode, enabled: boolean, balanceIds: readonly string[]) {
  const known = CURRENCIES.find((currency) => currency.code === code)
  if (known === undefined) throw new Error(`There is no currency ${code}.`)
  const offered = OFFERED_CURRENCIES.has(code)
  const rails = offered ? railsOf(code) : []
  const local = rails.some((rail) => RAILS.get(rail)?.currency === code)
  const swift = rails.includes('swift')
  return {
    currency: code as string, name: known.name, exponent: known.exponent, offered, enabled: offered && enabled,
    capabilities: { hold: offered, receiveLocal: local, receiveSwift: swift, sendLocal: local, sendSwift: swift, exchange: offered, directDebit: offered && DIRECT_DEBIT.has(code) },
    rails, balanceIds: [...balanceIds], withdrawnOn: WITHDRAWN_CURRENCIES[code]?.since ?? null,
  }
}

/** Every currency that is offered, and those that were once: in the order of their codes. */
export const LISTED_CURRENCIES: readonly CurrencyCode[] = CURRENCIES.map(({ code }) => code).filter((code) => OFFERED_CURRENCIES.has(code) || WITHDRAWN_CURRENCIES[code] !== undefined)
