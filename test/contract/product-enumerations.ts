/** Enumerations of the product that stand in no schema under their name, and values that a table makes. */
import type { Contract } from '../../lib/exchange/contract.ts'
import type { DetailsChangeKind } from '../../lib/accounts/requests.ts'
import { Payment } from '../../lib/payments/payment-schema.ts'
import { FAILURE_CODES, failureFor, isoReasonOf } from '../../lib/rails/failure-codes.ts'
import { RAILS } from '../../lib/rails/rails.ts'
import { FORWARDS_BY_STATE, HELD_RATES_BY_STATE } from './exchange-machines.ts'

const statusesOf = (contracts: Readonly<Record<string, Contract>>): readonly string[] =>
  Object.values(contracts).map(({ status }) => status)

/** The kinds of the type, each of them. */
const DETAILS_CHANGES = {
  reissue: true,
  provider_switch: true,
  closing: true,
} as const satisfies Readonly<Record<DetailsChangeKind, true>>

export const UNTITLED: Readonly<Record<string, readonly string[]>> = {
  DetailsChangeKind: Object.keys(DETAILS_CHANGES),
  ForwardContractStatus: statusesOf(FORWARDS_BY_STATE),
  HeldRateStatus: statusesOf(HELD_RATES_BY_STATE),
  PaymentProcessingStatus: [Payment.properties.processing.properties.status.const],
}

/** The values for which a table of the product has a row: rails with their terms, and failures by a code of a bank. */
export const OF_TABLES: Readonly<Record<string, ReadonlySet<string>>> = {
  Rail: new Set(RAILS.keys()),
  FailureCode: new Set(
    FAILURE_CODES.filter((code) => {
      const reason = isoReasonOf(code)
      return reason !== null && failureFor(reason).code === code
    }),
  ),
}
