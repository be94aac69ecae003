/**
 * The currencies that an operator offers, and the operations possible in each: derived from the rails, so that the two
 * cannot disagree.
 */
import { CURRENCIES, WITHDRAWN_CURRENCIES, type CurrencyCode } from '../base/currency.ts'
import { CROSS_BORDER_RAIL, RAILS, type Rail } from '../rails/rails.ts'

/** The currencies in which the sandbox bank keeps accounts and quotes. */
export const OFFERED_CURRENCIES: ReadonlySet<CurrencyCode> = new Set<CurrencyCode>([
  'EUR',
  'USD',
  'GBP',
  'CHF',
  'PLN',
  'SEK',
  'NOK',
  'DKK',
  'CZK',
  'HUF',
  'RON',
  'AUD',
  'NZD',
  'CAD',
  'SGD',
  'HKD',
  'JPY',
  'INR',
  'MXN',
  'ZAR',
  'AED',
])

/** Schemes of direct debit: SEPA, Bacs and ACH. */
const DIRECT_DEBIT: ReadonlySet<string> = new Set(['EUR', 'GBP', 'USD'])

/**
 * Returns the rails of a currency that still carry new payments. A rail for any currency carries every currency that is
 * offered.
 */
function railsOf(code: CurrencyCode): Rail[] {
  return [...RAILS.values()]
    .filter(({ currency, withdrawnSince }) => withdrawnSince === null && (currency === code || currency === null))
    .map(({ rail }) => rail)
}

/** Builds the setting of one currency: the operator's offer and the customer's choice. */
export function currencySetting(code: CurrencyCode, enabled: boolean, balanceIds: readonly string[]) {
  const known = CURRENCIES.find((currency) => currency.code === code)
  if (known === undefined) throw new Error(`There is no currency ${code}.`)
  const offered = OFFERED_CURRENCIES.has(code)
  const rails = offered ? railsOf(code) : []
  const local = rails.some((rail) => RAILS.get(rail)?.currency === code)
  const swift = rails.includes(CROSS_BORDER_RAIL)
  return {
    currency: code as string,
    name: known.name,
    exponent: known.exponent,
    offered,
    enabled: offered && enabled,
    capabilities: {
      hold: offered,
      receiveLocal: local,
      receiveSwift: swift,
      sendLocal: local,
      sendSwift: swift,
      exchange: offered,
      directDebit: offered && DIRECT_DEBIT.has(code),
    },
    rails,
    balanceIds: [...balanceIds],
    withdrawnOn: WITHDRAWN_CURRENCIES[code]?.since ?? null,
  }
}

/** All currencies that are offered now or were withdrawn, in the order of their codes. */
export const LISTED_CURRENCIES: readonly CurrencyCode[] = CURRENCIES.map(({ code }) => code).filter(
  (code) => OFFERED_CURRENCIES.has(code) || WITHDRAWN_CURRENCIES[code] !== undefined,
)
