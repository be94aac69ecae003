/** A connection to ClearBank, and orders for it. */
import type { OrderQuestion, PaymentOrder } from '../../../actors/providers/bank.ts'
import type { PaymentParties } from '../../../lib/providers/parties.ts'

export const CLEARBANK_CONNECTION = {
  id: '0198a000-0000-7000-8000-00000000c1ea',
  operatorId: '0198a000-0000-7000-8000-00000000000a',
  environment: 'sandbox',
} as const

const ADDRESS = {
  line1: 'High Street',
  line2: null,
  buildingNumber: '12',
  city: 'London',
  postalCode: 'E1 6AN',
  state: null,
  country: 'GB',
} as const

interface Change {
  readonly reference?: string
  readonly amount?: bigint
  readonly debtorAddress?: null
  readonly account?: PaymentParties['creditor']['account']
}

let orders = 0

/** An order of 12.34 pounds with a reference of its own. */
export function clearbankOrder(change: Change = {}): PaymentOrder {
  const reference = change.reference ?? `01980d6e-7f3a-7c21-9f58-${String(++orders).padStart(12, '0')}`
  return {
    reference,
    shard: 1,
    connectionId: CLEARBANK_CONNECTION.id,
    rail: 'faster_payments',
    currency: 'GBP',
    amount: change.amount ?? 1_234n,
    creditorName: 'Grace Hopper',
    remittance: 'Rent May',
    parties: {
      debtor: { name: 'Acme Ltd', address: change.debtorAddress === null ? null : ADDRESS, account: null },
      creditor: {
        name: 'Grace Hopper',
        type: 'individual',
        address: null,
        bankCountry: 'GB',
        account: change.account ?? { sortCode: '010203', accountNumber: '12345678' },
        bankAddress: null,
      },
      endToEndId: 'PAY-1',
      uetr: null,
      purposeCode: null,
      purpose: null,
      chargeBearer: 'shared',
      executionDate: '2026-08-24',
      bulkPaymentId: null,
    },
  }
}

/** The question about an order that was sent at a time. */
export const questionOf = (order: PaymentOrder, sentAt: number): OrderQuestion => ({
  reference: order.reference,
  connectionId: order.connectionId,
  providerRef: null,
  rail: order.rail,
  currency: order.currency,
  amount: order.amount,
  sentAt,
})
