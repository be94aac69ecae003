/**
 * IBANs and BICs: the countries that have them, their validity, and their parts. The structures of the IBAN registry
 * come from ibantools; entries that its table lacks, and territories that bank under another country, are listed here.
 */
import {
  composeIBAN,
  extractIBAN,
  getCountrySpecifications,
  isQRIBAN,
  isValidBIC,
  validateIBAN,
  ValidationErrorsIBAN,
} from 'ibantools'

/** Territories whose banks are reached under another country. */
const BANKS_UNDER: Readonly<Record<string, string>> = {
  GG: 'GB',
  JE: 'GB',
  IM: 'GB',
  AX: 'FI',
  GF: 'FR',
  GP: 'FR',
  MQ: 'FR',
  YT: 'FR',
  RE: 'FR',
  BL: 'FR',
  MF: 'FR',
  PM: 'FR',
  NC: 'FR',
  PF: 'FR',
  TF: 'FR',
  WF: 'FR',
}

/** Countries in the registry that the library's table does not mark yet. */
const NEWER = new Set(['BI', 'DJ', 'FK', 'HN'])

const COUNTRIES: ReadonlySet<string> = new Set(Object.keys(getCountrySpecifications()))

const REGISTRY: ReadonlySet<string> = new Set(
  Object.entries(getCountrySpecifications())
    .filter(([country, { IBANRegistry }]) => IBANRegistry || NEWER.has(country))
    .map(([country]) => country),
)

/** Tells whether a text is the code of a country or territory of ISO 3166. */
export function isCountry(country: string): boolean {
  return COUNTRIES.has(country)
}

/** Returns the country whose banks and IBANs a country or territory uses. */
export function bankingCountry(country: string): string {
  return BANKS_UNDER[country] ?? country
}

/** Tells whether accounts in a country have IBANs, per the registry. */
export function usesIban(country: string): boolean {
  return REGISTRY.has(bankingCountry(country))
}

/** Returns the length of a country's IBANs; null where it has none. */
export function ibanLength(country: string): number | null {
  const home = bankingCountry(country)
  return REGISTRY.has(home) ? (getCountrySpecifications()[home]?.chars ?? null) : null
}

/** The fault of an IBAN in compact form: its form, or only its check digits. */
export type IbanFault = 'country' | 'length' | 'form' | 'checksum'

/**
 * Checks length, structure, modulus 97 and, where a country has them, the check digits inside. Null: the IBAN is valid.
 */
export function ibanFault(iban: string): IbanFault | null {
  const { valid, errorCodes } = validateIBAN(iban)
  const country = iban.slice(0, 2)
  if (!REGISTRY.has(country) && !REGISTRY.has(bankingCountry(country))) return 'country'
  if (valid) return null
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANLength)) return 'length'
  if (
    errorCodes.includes(ValidationErrorsIBAN.WrongBBANFormat) ||
    errorCodes.includes(ValidationErrorsIBAN.ChecksumNotNumber)
  )
    return 'form'
  return 'checksum'
}

/** Makes an IBAN from a country's national account number; null when they do not fit. */
export function ibanOf(countryCode: string, bban: string): string | null {
  return composeIBAN({ countryCode, bban })
}

/** Reads bank and branch from a valid IBAN; null for a part that the country's IBANs lack, or that is not known. */
export function ibanParts(iban: string): { readonly bankCode: string | null; readonly branchCode: string | null } {
  const { bankIdentifier = null, branchIdentifier = null } = extractIBAN(iban)
  return { bankCode: bankIdentifier, branchCode: branchIdentifier }
}

/** Tells whether an IBAN of Switzerland or Liechtenstein is a QR-IBAN, which can be paid only with a QR reference. */
export function isQrIban(iban: string): boolean {
  return isQRIBAN(iban)
}

/** Tells whether a text has the form of a BIC, its country included. */
export function bicValid(bic: string): boolean {
  return isValidBIC(bic)
}

/** Returns the country of a BIC. */
export function bicCountry(bic: string): string {
  return bic.slice(4, 6)
}

/** Tells whether a BIC is for tests: its eighth character is a zero. */
export function isTestBic(bic: string): boolean {
  return bic[7] === '0'
}
