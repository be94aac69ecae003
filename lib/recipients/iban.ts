/**
 * IBANs and BICs: which countries have them, whether one is right, and what is inside. The structures of the IBAN registry
 * come from ibantools; what its table has not marked yet, and which territories bank under another country, is here.
 */
import { composeIBAN, extractIBAN, getCountrySpecifications, isQRIBAN, isValidBIC, validateIBAN, ValidationErrorsIBAN } from 'ibantools'

/** Territories whose banks are reached under the country beside them. */
const BANKS_UNDER: Readonly<Record<string, string>> = {
  GG: 'GB', JE: 'GB', IM: 'GB', AX: 'FI',
  GF: 'FR', GP: 'FR', MQ: 'FR', YT: 'FR', RE: 'FR', BL: 'FR', MF: 'FR', PM: 'FR', NC: 'FR', PF: 'FR', TF: 'FR', WF: 'FR',
}

/** In the registry since the library's table was made. */
const NEWER = new Set(['BI', 'DJ', 'FK', 'HN'])

const COUNTRIES: ReadonlySet<string> = new Set(Object.keys(getCountrySpecifications()))

const REGISTRY: ReadonlySet<string> = new Set(
  Object.entries(getCountrySpecifications()).filter(([country, { IBANRegistry }]) => IBANRegistry || NEWER.has(country)).map(([country]) => country),
)

/** Whether a text is the code of a country or territory of ISO 3166. */
export function isCountry(country: string): boolean {
  return COUNTRIES.has(country)
}

/** The country whose banks and IBANs a country or territory uses. */
export function bankingCountry(country: string): string {
  return BANKS_UNDER[country] ?? country
}

/** Whether accounts in a country have IBANs, per the registry. */
export function usesIban(country: string): boolean {
  return REGISTRY.has(bankingCountry(country))
}

/** The length of a country's IBANs; null where it has none. */
export function ibanLength(country: string): number | null {
  const home = bankingCountry(country)
  return REGISTRY.has(home) ? getCountrySpecifications()[home]?.chars ?? null : null
}

/** What is wrong with an IBAN in compact form: its form, or only its check digits. */
export type IbanFault = 'country' | 'length' | 'form' | 'checksum'

/** Checks length, structure, modulus 97 and, where a country has them, the check digits inside. Null: it is right. */
export function ibanFault(iban: string): IbanFault | null {
  const { valid, errorCodes } = validateIBAN(iban)
  const country = iban.slice(0, 2)
  if (!REGISTRY.has(country) && !REGISTRY.has(bankingCountry(country))) return 'country'
  if (valid) return null
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANLength)) return 'length'
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANFormat) || errorCodes.includes(ValidationErrorsIBAN.ChecksumNotNumber)) return 'form'
  return 'checksum'
}

/** An IBAN around the account number that a country uses inside it; null when they do not fit. */
export function ibanOf(countryCode: string, bban: string): string | null {
  return composeIBAN({ countryCode, bban })
}

/** What an IBAN that is right says about its bank; null for what its country does not write into it, or is not known to. */
export function ibanParts(iban: string): { readonly bankCode: string | null; readonly branchCode: string | null } {
  const { bankIdentifier = null, branchIdentifier = null } = extractIBAN(iban)
  return { bankCode: bankIdentifier, branchCode: branchIdentifier }
}

/** Whether an IBAN of Switzerland or Liechtenstein is one that is paid with a QR reference only. */
export function isQrIban(iban: string): boolean {
  return isQRIBAN(iban)
}

/** Whether a BIC has the form of one, its country included. */
export function bicValid(bic: string): boolean {
  return isValidBIC(bic)
}

/** The country of a BIC. */
export function bicCountry(bic: string): string {
  return bic.slice(4, 6)
}

/** Whether a BIC is for tests: its eighth character is a zero. */
export function isTestBic(bic: string): boolean {
  return bic[7] === '0'
}
