/** The facts about a recipient that a bank is asked about. */
import type { CurrencyCode } from '../base/currency.ts'
import { verificationOf } from './requirements.ts'
import type { PayeeQuestion } from './verification.ts'

export interface Payee {
  readonly name: string
  readonly type: 'business' | 'individual'
  readonly currency: string
  readonly bankCountry: string
  readonly bank: {
    readonly iban?: string | null
    readonly sortCode?: string | null
    readonly accountNumber?: string | null
    readonly secondaryReference?: string | null
  }
}

/** Makes the question for the verification scheme; null where there is no scheme for the currency and country. */
export function payeeOf({ name, type, currency, bankCountry, bank }: Payee): PayeeQuestion | null {
  const { scheme } = verificationOf(currency as CurrencyCode, bankCountry)
  if (scheme === 'none') return null
  return {
    scheme,
    name,
    type,
    iban: bank.iban ?? null,
    sortCode: bank.sortCode ?? null,
    accountNumber: bank.accountNumber ?? null,
    secondaryReference: bank.secondaryReference ?? null,
  }
}
