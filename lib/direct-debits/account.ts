/** The account of a counterparty, apart from its other members. Pure. */
import type { CounterpartyAccount, MandateCounterparty } from './mandate.ts'
import { ACCOUNT_FIELDS, type DebtorAccountField } from './schemes.ts'

const LABELS: Readonly<Record<DebtorAccountField, string>> = {
  iban: 'IBAN',
  bic: 'BIC',
  sortCode: 'Sort code',
  accountNumber: 'Account number',
  routingNumber: 'Routing number',
  accountType: 'Account type',
  bsb: 'BSB',
  institutionNumber: 'Institution number',
  transitNumber: 'Transit number',
}

/** Returns the members of a counterparty that name its account. */
export function accountOf(counterparty: MandateCounterparty): CounterpartyAccount {
  return Object.fromEntries(
    ACCOUNT_FIELDS.flatMap((field) => {
      const value = counterparty[field]
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

/** Returns the account as labelled lines, for people. */
export function accountLines(account: CounterpartyAccount): readonly (readonly [label: string, value: string])[] {
  return ACCOUNT_FIELDS.flatMap((field) => {
    const value = account[field]
    return value === undefined ? [] : [[LABELS[field], value] as const]
  })
}
