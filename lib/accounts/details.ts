/** Account details: the identifiers with which payers send money to a balance, as stored and as the API shows them. */
import { timestamp } from '../base/clock.ts'
import type { Rail } from '../rails/rails.ts'
import type { ACCOUNT_DETAILS_STATUSES } from '../balances/details-status.ts'

export type AccountDetailsStatus = (typeof ACCOUNT_DETAILS_STATUSES)[number]

/** The identifiers of an account; null for an identifier that its bank or country does not use. */
export interface AccountIdentifiers {
  readonly iban: string | null
  readonly bic: string | null
  readonly accountNumber: string | null
  readonly sortCode: string | null
  readonly routingNumber: string | null
  readonly bsb: string | null
  readonly bankCode: string | null
  readonly branchCode: string | null
  readonly clabe: string | null
  readonly intermediaryBic: string | null
}

/** The account details that a partner provides for a balance. */
export interface AccountTerms {
  /**
   * `local`: money comes in by the schemes of the account's own country. `international`: through correspondent banks.
   */
  readonly scope: 'local' | 'international'
  /** The rails by which money can come in. */
  readonly rails: readonly Rail[]
  readonly identifiers: AccountIdentifiers
  readonly bankName: string | null
  readonly bankAddress: {
    readonly line1: string
    readonly line2: string | null
    readonly buildingNumber: string | null
    readonly city: string
    readonly postalCode: string | null
    readonly state: string | null
    readonly country: string
  } | null
  readonly country: string | null
  readonly estimatedArrival: { readonly unit: 'hours' | 'days'; readonly min: number; readonly max: number } | null
}

export interface AccountDetailsRecord extends Omit<AccountTerms, 'identifiers'> {
  readonly id: string
  readonly balanceId: string
  readonly currency: string
  readonly status: AccountDetailsStatus
  readonly statusReason: string | null
  readonly accountHolderName: string
  /** Null until the partner has provided the account. */
  readonly identifiers: AccountIdentifiers | null
  /** True for one account that serves many customers; its payers must quote the reference. */
  readonly shared: boolean
  readonly reference: string | null
  /** Epoch milliseconds, as the other times of the record. */
  readonly validFrom: number | null
  readonly validUntil: number | null
  readonly replacedById: string | null
  readonly createdAt: number
}

const NOT_PROVIDED: AccountIdentifiers = {
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

/**
 * Builds the account details as the API shows them; all identifiers are null until the partner has provided the
 * account.
 */
export function accountDetailsJson(record: AccountDetailsRecord) {
  const { iban, bic, accountNumber, sortCode, routingNumber, bsb, bankCode, branchCode, clabe, intermediaryBic } =
    record.identifiers ?? NOT_PROVIDED
  return {
    id: record.id,
    balanceId: record.balanceId,
    currency: record.currency,
    rails: [...record.rails],
    status: record.status,
    accountHolderName: record.accountHolderName,
    iban,
    bic,
    accountNumber,
    sortCode,
    routingNumber,
    bsb,
    bankCode,
    branchCode,
    clabe,
    bankName: record.bankName,
    bankAddress: record.bankAddress,
    country: record.country,
    scope: record.scope,
    shared: record.shared,
    reference: record.reference,
    intermediaryBic,
    validFrom: record.validFrom === null ? null : timestamp(record.validFrom),
    validUntil: record.validUntil === null ? null : timestamp(record.validUntil),
    replacedById: record.replacedById,
    statusReason: record.statusReason,
    estimatedArrival: record.estimatedArrival,
    createdAt: timestamp(record.createdAt),
  }
}
export type AccountDetailsJson = ReturnType<typeof accountDetailsJson>
