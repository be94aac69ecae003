/**
 * Makes the account details that the sandbox bank gives a balance, from one number of seven digits. The check digits
 * are right, the banks do not exist.
 */
import type { AccountIdentifiers, AccountTerms } from '../accounts/details.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { CROSS_BORDER_RAIL, RAILS, type Rail } from '../rails/rails.ts'
import { SANDBOX_CLABE_BANK } from '../recipients/bank-checks.ts'
import { ibanOf } from '../recipients/iban.ts'
import type { CatalogueRule } from './triggers.ts'

export const SANDBOX_BANK_NAME = 'Sandbox Bank'

/** The time that the bank takes to open or to close an account, milliseconds. */
export const ACCOUNT_MS = 5_000

/** Describes this rule, for the catalogue that integrators read. */
export function accountRules(): readonly CatalogueRule[] {
  return [{ topic: 'account details', rule: `requested: pending, and active after ${ACCOUNT_MS / 1_000} s` }]
}

interface Branch {
  readonly country: string
  readonly address: AccountTerms['bankAddress']
  readonly identifiers: (number: string) => Partial<AccountIdentifiers>
}

const NL = {
  line1: 'Herengracht',
  line2: null,
  buildingNumber: '500',
  city: 'Amsterdam',
  postalCode: '1017CB',
  state: null,
  country: 'NL',
}
const GB = {
  line1: 'Cheapside',
  line2: null,
  buildingNumber: '1',
  city: 'London',
  postalCode: 'EC2V 6AA',
  state: null,
  country: 'GB',
}
const US = {
  line1: 'Wall Street',
  line2: null,
  buildingNumber: '1',
  city: 'New York',
  postalCode: '10005',
  state: 'NY',
  country: 'US',
}

const EUROPE: Branch = {
  country: 'NL',
  address: NL,
  identifiers: (number) => ({ iban: composed('NL', `SBOX020${number}`), bic: 'SBOXNL2A' }),
}

/** Currencies in which the bank has a domestic branch. */
const LOCAL: Readonly<Partial<Record<CurrencyCode, Branch>>> = {
  EUR: EUROPE,
  GBP: { country: 'GB', address: GB, identifiers: (number) => ({ sortCode: '990001', accountNumber: `2${number}` }) },
  USD: {
    country: 'US',
    address: US,
    identifiers: (number) => ({ routingNumber: '099000011', accountNumber: `200${number}` }),
  },
  JPY: {
    country: 'JP',
    address: null,
    identifiers: (number) => ({ bankCode: '9990', branchCode: '001', accountNumber: number }),
  },
  AUD: { country: 'AU', address: null, identifiers: (number) => ({ bsb: '990001', accountNumber: `20${number}` }) },
  RON: {
    country: 'RO',
    address: null,
    identifiers: (number) => ({ iban: composed('RO', `SBOX${number.padStart(16, '0')}`), bic: 'SBOXRO2A' }),
  },
  MXN: {
    country: 'MX',
    address: null,
    identifiers: (number) => ({ clabe: clabe(`${SANDBOX_CLABE_BANK}010${number.padStart(11, '0')}`) }),
  },
}

/**
 * Currencies in which payments from abroad need other identifiers than domestic ones; for all others the European
 * account is used.
 */
const ABROAD: Readonly<Partial<Record<CurrencyCode, Branch>>> = {
  GBP: {
    country: 'GB',
    address: GB,
    identifiers: (number) => ({ iban: composed('GB', `SBOX9900012${number}`), bic: 'SBOXGB2L' }),
  },
  USD: { country: 'US', address: US, identifiers: (number) => ({ accountNumber: `200${number}`, bic: 'SBOXUS33' }) },
}

/**
 * Returns the ways to pay into an account of the bank: from within the currency's own country, where the bank has a
 * branch, and from abroad.
 */
export function sandboxAccounts(currency: CurrencyCode, number: number): readonly AccountTerms[] {
  const digits = String(number).padStart(7, '0')
  const local = LOCAL[currency]
  const rails = [...RAILS.values()]
    .filter((terms) => terms.currency === currency && terms.withdrawnSince === null)
    .map(({ rail }) => rail)
  const abroad = terms('international', ABROAD[currency] ?? EUROPE, [CROSS_BORDER_RAIL], digits)
  return local === undefined ? [abroad] : [terms('local', local, rails, digits), abroad]
}

function terms(
  scope: AccountTerms['scope'],
  { country, address, identifiers }: Branch,
  rails: readonly Rail[],
  digits: string,
): AccountTerms {
  return {
    scope,
    rails,
    country,
    bankName: SANDBOX_BANK_NAME,
    bankAddress: address,
    identifiers: { ...NO_IDENTIFIERS, ...identifiers(digits) },
    estimatedArrival: scope === 'local' ? { unit: 'hours', min: 0, max: 24 } : { unit: 'days', min: 1, max: 3 },
  }
}

const NO_IDENTIFIERS: AccountIdentifiers = {
  iban: null,
  bic: null,
  accountNumber: null,
  sortCode: null,
  routingNumber: null,
  bsb: null,
  bankCode: null,
  branchCode: null,
  clabe: null,
  intermediaryBic: null,
}

function composed(country: string, bban: string): string {
  const iban = ibanOf(country, bban)
  if (iban === null) throw new Error(`${bban} is no account of ${country}.`)
  return iban
}

const CLABE_WEIGHTS = [3, 7, 1]

/** Appends the check digit to the 17 digits of a CLABE. */
function clabe(digits: string): string {
  const sum = Array.from(digits, Number).reduce(
    (total, digit, index) => total + ((digit * CLABE_WEIGHTS[index % 3]!) % 10),
    0,
  )
  return `${digits}${(10 - (sum % 10)) % 10}`
}
