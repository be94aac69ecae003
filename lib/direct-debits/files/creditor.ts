/** The account that files of direct debits credit: the operator's settlement account at the connection. Pure. */
import type { MessageAccount } from '../../providers/iso20022/messages.ts'
import type { CollectionGroup } from './collection-file.ts'
import type { FileCreditor } from './file-rows.ts'

interface SettlementAccount {
  readonly currency: string
  readonly accountRef: string
  readonly bic?: string
  readonly creditorId?: string
}

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/
/** A sort code and an account number, in any usual writing. */
const BRITISH = /^(\d{6})(\d{8})$/
/** Inside an IBAN of the United Kingdom: the bank's letters, the sort code and the account number. */
const BRITISH_IBAN = /^GB\d{2}[A-Z]{4}(\d{6})(\d{8})$/

function settlementAccount(
  settings: Readonly<Record<string, unknown>>,
  currency: string,
): SettlementAccount | undefined {
  const accounts = settings['settlementAccounts']
  return (Array.isArray(accounts) ? (accounts as readonly SettlementAccount[]) : []).find(
    (account) => account.currency === currency,
  )
}

/** Reads the operator's identifier as a creditor in a currency; null where the settings have none. */
export const creditorIdOf = (settings: Readonly<Record<string, unknown>>, currency: string): string | null =>
  settlementAccount(settings, currency)?.creditorId ?? null

/** Reads the settlement account of a currency from the settings of a connection; null where they have none. */
export function creditorOf(
  settings: Readonly<Record<string, unknown>>,
  { currency, creditorName }: Pick<CollectionGroup, 'currency' | 'creditorName'>,
): FileCreditor | null {
  const found = settlementAccount(settings, currency)
  if (found === undefined) return null
  const compact = found.accountRef.replaceAll(/[\s-]/g, '').toUpperCase()
  const british = BRITISH.exec(compact) ?? BRITISH_IBAN.exec(compact)
  const [, sortCode, accountNumber] = british ?? []
  const initiating = settings['initiatingParty'] as { readonly name?: string; readonly id?: string } | undefined
  return {
    initiator: {
      name: initiating?.name ?? creditorName,
      address: null,
      id: initiating?.id === undefined ? null : { value: initiating.id, scheme: null, isPrivate: false },
    },
    account: accountOf(compact, found.accountRef, accountNumber),
    agent: {
      bic: found.bic ?? null,
      clearing: sortCode === undefined || found.bic !== undefined ? null : { system: 'GBDSC', member: sortCode },
      name: null,
      country: null,
    },
    bacs:
      sortCode === undefined || accountNumber === undefined ? null : { sortCode, accountNumber, name: creditorName },
  }
}

function accountOf(compact: string, accountRef: string, accountNumber: string | undefined): MessageAccount {
  if (IBAN.test(compact)) return { iban: compact }
  return { number: accountNumber ?? accountRef, scheme: null }
}
