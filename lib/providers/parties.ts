/** The parties of a payment, for partners that need more of an order than its amount and its payee's name. */
import type { ChargeBearer } from '../rails/rails.ts'
import type { BankValues } from '../recipients/bank-checks.ts'
import type { KeptAddress } from '../recipients/validation.ts'

export interface PaymentParties {
  /** The customer that pays. */
  readonly debtor: {
    /** The legal name. */
    readonly name: string
    readonly address: KeptAddress | null
    /**
     * The identifiers of the balance's own account at the connection; null where it has none, and the connection's
     * settlement account of the currency pays.
     */
    readonly account: BankValues | null
  }
  readonly creditor: {
    readonly name: string
    readonly type: 'business' | 'individual'
    readonly address: KeptAddress | null
    /** ISO 3166 alpha-2. */
    readonly bankCountry: string
    readonly account: BankValues
    readonly bankAddress: KeptAddress | null
  }
  /** Shown to the payee: the client's own, or else the number of the payment. */
  readonly endToEndId: string
  readonly uetr: string | null
  /** The ISO 20022 code. */
  readonly purposeCode: string | null
  /** In words. */
  readonly purpose: string | null
  readonly chargeBearer: ChargeBearer
  /** The business day on which the payment is to be carried out, `YYYY-MM-DD`. */
  readonly executionDate: string
  /** The file of many payments that this payment is part of; null: none. */
  readonly bulkPaymentId: string | null
}
