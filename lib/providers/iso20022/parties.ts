/** The account and the bank of a payee, from the account details that recipients are kept with. */
import { CANADIAN_CLEARING, canadianMember, CLEARING_FIELDS } from '../../rails/clearing-systems.ts'
import type { BankValues } from '../../recipients/bank-checks.ts'
import { domesticIban } from '../../recipients/markets.ts'
import type { MessageAccount, MessageAgent } from './messages.ts'
import { NATIONAL_NUMBER } from './party-xml.ts'

/** Accounts by another number than the account number, with the scheme under which banks know it. */
const NUMBERS: readonly (readonly [member: 'clabe' | 'bankgiro' | 'fpsId', scheme: string])[] = [
  ['clabe', 'CLABE'],
  ['bankgiro', 'BGNR'],
  ['fpsId', 'FPS'],
]

/**
 * Returns an account as files name it: a British one by its number, which goes with the sort code; any other one by its
 * IBAN where it has one or its country writes it both ways, otherwise by its number.
 *
 * @param bank the details in their normal form
 * @param bankCountry ISO 3166 alpha-2
 * @throws RangeError for details without any number
 */
export function accountOf(bank: BankValues, bankCountry: string): MessageAccount {
  const isBritish = bank.sortCode !== undefined && bank.accountNumber !== undefined
  const iban = isBritish ? null : domesticIban(bankCountry, bank)
  if (iban !== null) return { iban }
  for (const [member, scheme] of NUMBERS) {
    const number = bank[member]
    if (number !== undefined) return { number, scheme }
  }
  if (bank.accountNumber === undefined) throw new RangeError('The account details have no number.')
  return { number: `${bank.clearingNumber ?? ''}${bank.accountNumber}`, scheme: NATIONAL_NUMBER }
}

/** The clearing systems of countries whose bank codes have parts or names of their own. */
const NATIONAL_SYSTEMS: Readonly<Record<string, (bank: BankValues) => { system: string; member: string } | null>> = {
  CA: ({ institutionNumber, transitNumber }) =>
    institutionNumber === undefined || transitNumber === undefined
      ? null
      : { system: CANADIAN_CLEARING, member: canadianMember(institutionNumber, transitNumber) },
  JP: ({ bankCode, branchCode }) => withBranch('JPZGN', bankCode, branchCode),
  ZA: ({ branchCode }) => (branchCode === undefined ? null : { system: 'ZANCC', member: branchCode }),
  NZ: ({ accountNumber }) =>
    accountNumber === undefined ? null : { system: 'NZNCC', member: accountNumber.slice(0, 6) },
  SE: ({ clearingNumber }) =>
    clearingNumber === undefined ? null : { system: 'SESBA', member: clearingNumber.slice(0, 4) },
  HK: ({ bankCode }) => withBranch('HKNCC', bankCode, ''),
  SG: ({ bankCode }) => withBranch('SGIBG', bankCode, ''),
}

const withBranch = (
  system: string,
  bankCode: string | undefined,
  branchCode: string | undefined,
): { system: string; member: string } | null =>
  bankCode === undefined || branchCode === undefined ? null : { system, member: bankCode + branchCode }

/** The systems of one country, whose numbers no other country uses. */
const COUNTRY_SYSTEMS: Readonly<Record<string, string>> = { GB: 'GBDSC', US: 'USABA', AU: 'AUBSB', IN: 'INFSC' }

/**
 * Returns the bank of an account as files name it: by its BIC, its number in the country's clearing system, or both.
 * Null where the details name no bank, as an IBAN does not need.
 *
 * @param bank the details in their normal form
 * @param bankCountry ISO 3166 alpha-2
 */
export function agentOf(bank: BankValues, bankCountry: string): MessageAgent | null {
  const clearing = clearingOf(bank, bankCountry)
  const bic = bank.bic ?? null
  if (bic === null && clearing === null) return null
  return { bic, clearing, name: bank.bankName ?? null, country: bic === null ? bankCountry : null }
}

function clearingOf(bank: BankValues, bankCountry: string): MessageAgent['clearing'] {
  const own = NATIONAL_SYSTEMS[bankCountry]
  if (own !== undefined) return own(bank)
  const system = COUNTRY_SYSTEMS[bankCountry]
  const field = system === undefined ? undefined : CLEARING_FIELDS[system]
  const member = field === undefined || field === 'address' || field === 'accountWithoutIban' ? undefined : bank[field]
  return system === undefined || member === undefined ? null : { system, member }
}
