/** Money that arrived from outside. */
import { defineEntity, p } from '@mikro-orm/core'

export const IncomingPayment = defineEntity({
  name: 'IncomingPayment',
  tableName: 'incoming_payment',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    balanceId: p.uuid().fieldName('balance_id'),
    status: p.text(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    payerName: p.text().fieldName('payer_name').nullable(),
    reference: p.text().nullable(),
    receivedAt: p.datetime().fieldName('received_at').columnType('timestamptz'),
  },
  indexes: [{ name: 'incoming_payment_customer', properties: ['customerId', 'id'] }],
  checks: [{ name: 'incoming_payment_amount_positive', expression: 'amount > 0' }],
})
