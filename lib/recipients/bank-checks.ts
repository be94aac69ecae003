/**
 * Checks of bank details beyond their form. The requirements operation shows the names of the checks, so that a client
 * knows them; the table of requirements uses the same names.
 */
import type { FieldErrorCode } from '../base/problems.ts'
import type { BankField } from '../rails/bank-field.ts'
import {
  abaPrefixKnown,
  abaValid,
  clabeValid,
  czechAccountValid,
  hungarianAccountValid,
  luhnValid,
  norwegianAccountValid,
} from './check-digits.ts'
import { bankingCountry, bicCountry, bicValid, ibanFault, isTestBic } from './iban.ts'
import { MEXICAN_BANKS } from './mexican-banks.ts'
import { ukAccountValid, type UkModulusTable } from './uk-modulus.ts'

/** Members of bank details; those of `BankField` identify an account, the others describe it. */
export type BankMember =
  | Exclude<BankField, 'address' | 'accountWithoutIban'>
  | 'bankName'
  | 'secondaryReference'
  | 'intermediaryBic'

/** Bank details in their normal form: no spaces, capitals, padded; absent members are left out. */
export type BankValues = { readonly [member in BankMember]?: string }

export type CheckName =
  | 'iban'
  | 'bic'
  | 'aba'
  | 'uk_modulus'
  | 'clabe'
  | 'mod11_no'
  | 'mod11_cz'
  | 'giro_hu'
  | 'luhn'
  | 'qr_iban'
  | 'kana'
  | 'country_match'
  | 'public_account_pl'

/** The input of a check. */
export interface CheckContext {
  readonly bank: BankValues
  /** ISO 3166 alpha-2. */
  readonly bankCountry: string
  readonly ukModulus: UkModulusTable
  /** In the sandbox, test BICs and the account numbers of the sandbox bank are valid. */
  readonly sandbox: boolean
}

export interface CheckFault {
  readonly code: FieldErrorCode
  readonly message: string
  /** The member at fault, where it is not the one that the check belongs to. */
  readonly member?: BankMember
}

type Check = (value: string, context: CheckContext) => CheckFault | null

const wrongDigits = (what: string): CheckFault => ({
  code: 'invalid_checksum',
  message: `The check digits of the ${what} do not agree.`,
})

/** Splits a Czech account into its two parts; leading zeros may be missing. */
export function czechParts(account: string): { readonly prefix: string; readonly base: string } {
  const [first, second] = account.split('-')
  return second === undefined ? { prefix: '', base: first as string } : { prefix: first as string, base: second }
}

const IBAN_FAULTS = {
  country: { code: 'invalid_value', message: 'The country of this IBAN does not use IBANs.' },
  length: { code: 'invalid_format', message: 'Does not have the length of an IBAN of its country.' },
  form: { code: 'invalid_format', message: 'Does not have the form of an IBAN of its country.' },
  checksum: wrongDigits('IBAN'),
} as const satisfies Record<string, CheckFault>

export const SANDBOX_CLABE_BANK = '999'
const SANDBOX_SORT_CODE = '990001'
/** National codes of the sandbox bank, which is in no list. */
export const SANDBOX_CODES: ReadonlySet<string> = new Set([SANDBOX_SORT_CODE, '099000011'])
/** The central bank of Poland: it keeps the accounts of tax offices and other public bodies. */
const POLISH_CENTRAL_BANK = '1010'

/**
 * The checks by name. Checks of the payment's reference or of the recipient's name are made elsewhere and find nothing
 * here.
 */
export const CHECKS: Readonly<Record<CheckName, Check>> = {
  iban: (iban) => {
    const fault = ibanFault(iban)
    return fault === null ? null : IBAN_FAULTS[fault]
  },
  bic: (bic, { sandbox }) => {
    if (!bicValid(bic)) return { code: 'invalid_format', message: 'Is not a BIC.' }
    return isTestBic(bic) && !sandbox ? { code: 'invalid_value', message: 'Is a BIC for tests.' } : null
  },
  country_match: (value, { bankCountry }) => {
    // The country of a BIC is in its middle, that of an IBAN at its front.
    const country = /^[A-Z]{6}/.test(value) ? bicCountry(value) : value.slice(0, 2)
    return bankingCountry(country) === bankingCountry(bankCountry)
      ? null
      : { code: 'invalid_value', message: `Does not belong to a bank in ${bankCountry}.` }
  },
  aba: (routingNumber) => {
    if (!abaPrefixKnown(routingNumber))
      return { code: 'invalid_value', message: 'No routing number begins with these digits.' }
    return abaValid(routingNumber) ? null : wrongDigits('routing number')
  },
  uk_modulus: (sortCode, { bank, ukModulus, sandbox }) => {
    if (bank.accountNumber === undefined || (sandbox && sortCode === SANDBOX_SORT_CODE)) return null
    return ukAccountValid(ukModulus, sortCode, bank.accountNumber)
      ? null
      : {
          code: 'invalid_checksum',
          message: 'No account with this number can exist at this sort code.',
          member: 'accountNumber',
        }
  },
  clabe: (clabe, { sandbox }) => {
    if (!clabeValid(clabe)) return wrongDigits('CLABE')
    const bank = clabe.slice(0, 3)
    return MEXICAN_BANKS.has(bank) || (sandbox && bank === SANDBOX_CLABE_BANK)
      ? null
      : { code: 'invalid_value', message: 'No bank has this code.' }
  },
  mod11_no: (account) => (norwegianAccountValid(account) ? null : wrongDigits('account number')),
  mod11_cz: (account) => (czechAccountValid(czechParts(account)) ? null : wrongDigits('account number')),
  giro_hu: (account) => (hungarianAccountValid(account) ? null : wrongDigits('account number')),
  luhn: (number) => (luhnValid(number) ? null : wrongDigits('number')),
  public_account_pl: (iban) =>
    iban.slice(4, 8) === POLISH_CENTRAL_BANK
      ? { code: 'account_not_eligible', message: 'Accounts of tax offices and other public bodies cannot be paid.' }
      : null,
  // Checks the payment's reference, not the account.
  qr_iban: () => null,
  // Checks the name, not the account.
  kana: () => null,
}
