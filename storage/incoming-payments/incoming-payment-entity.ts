/** An incoming payment: money that arrived from outside. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

export const IncomingPayment = defineEntity({
  name: 'IncomingPayment',
  tableName: 'incoming_payment',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id').nullable(),
    balanceId: p.uuid().fieldName('balance_id').nullable(),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    status: p.text(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    payerName: p.text().fieldName('payer_name').nullable(),
    payerIdentifier: p.text().fieldName('payer_identifier').nullable(),
    payerBankName: p.text().fieldName('payer_bank_name').nullable(),
    payerCountry: p.string().fieldName('payer_country').columnType('char(2)').nullable(),
    reference: p.text().nullable(),
    rail: p.text().nullable(),
    endToEndId: p.text().fieldName('end_to_end_id').nullable(),
    uetr: p.uuid().nullable(),
    valueDate: p.date().fieldName('value_date'),
    suspense: p.text().nullable(),
    suspenseReason: p.text().fieldName('suspense_reason').nullable(),
    creditedAt: instant().fieldName('credited_at').nullable(),
    receivedAt: instant().fieldName('received_at'),
    originId: p.uuid().fieldName('origin_id').nullable(),
    version: p.integer().defaultRaw('1'),
    fundsRequestId: p.uuid().fieldName('funds_request_id').nullable(),
    decidedBy: p.uuid().fieldName('decided_by').nullable(),
    decidedAt: instant().fieldName('decided_at').nullable(),
    decisionReason: p.text().fieldName('decision_reason').nullable(),
    recall: p.text().nullable(),
    recallHoldId: p.uuid().fieldName('recall_hold_id').nullable(),
    returnedAmount: p.bigint().fieldName('returned_amount').nullable(),
    returnReason: p.text().fieldName('return_reason').nullable(),
    returnState: p.text().fieldName('return_state').nullable(),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'incoming_payment_customer', properties: ['customerId', 'id'] },
    {
      name: 'incoming_payment_received',
      expression:
        'create index incoming_payment_received on incoming_payment (customer_id, credited_at, id) where credited_at is not null',
    },
    {
      name: 'incoming_payment_suspense',
      expression:
        'create index incoming_payment_suspense on incoming_payment (operator_id, id) where suspense is not null',
    },
    {
      name: 'incoming_payment_return_due',
      expression: `create index incoming_payment_return_due on incoming_payment (id) where return_state = 'due'`,
    },
    {
      name: 'incoming_payment_waiting',
      expression: `create index incoming_payment_waiting on incoming_payment (connection_id)
        where return_state in ('due', 'sent') or status in ('unallocated', 'under_review')`,
    },
    {
      name: 'incoming_payment_returned',
      expression:
        'create index incoming_payment_returned on incoming_payment (connection_id, end_to_end_id) where return_state is not null',
    },
  ],
  checks: [{ name: 'incoming_payment_amount_positive', expression: 'amount > 0' }],
})
