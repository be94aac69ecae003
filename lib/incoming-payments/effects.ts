/** Rows that decisions about incoming payments write. */
import type { IncomingStatus } from './incoming-payment.ts'
import type { Rail } from '../rails/rails.ts'

/** Money that arrived from outside, as it is first written. */
export interface IncomingPaymentRow {
  readonly id: string
  /** Null while the owner is not known. */
  readonly customerId: string | null
  readonly balanceId: string | null
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly status: IncomingStatus
  readonly currency: string
  readonly amount: bigint
  readonly payerName: string | null
  /** Masked. */
  readonly payerIdentifier: string | null
  readonly payerBankName: string | null
  readonly payerCountry: string | null
  readonly reference: string | null
  readonly rail: Rail | null
  readonly endToEndId: string | null
  readonly uetr: string | null
  readonly valueDate: string
  readonly suspense: string | null
  readonly suspenseReason: string | null
  /** The time when the balance was credited; null: not yet. */
  readonly creditedAt: number | null
  readonly receivedAt: number
  /** The payment, exchange or transfer whose money came back to a closed balance. */
  readonly originId?: string
}

declare module '../decisions/effects.ts' {
  interface ObjectStatuses {
    readonly incoming_payment: IncomingStatus
  }
  interface Effects {
    readonly incomingPayments?: readonly IncomingPaymentRow[]
  }
}
