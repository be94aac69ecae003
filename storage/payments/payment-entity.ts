/** A payment from a balance to a recipient. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'

export const Payment = defineEntity({
  name: 'Payment',
  tableName: 'payment',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    number: p.text(),
    externalId: p.text().fieldName('external_id').nullable(),
    status: p.text(),
    version: p.integer(),
    sourceBalanceId: p.uuid().fieldName('source_balance_id'),
    payingBalanceId: p.uuid().fieldName('paying_balance_id'),
    recipientId: p.uuid().fieldName('recipient_id'),
    holdId: p.uuid().fieldName('hold_id').nullable(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    fee: p.bigint(),
    rail: p.text().nullable(),
    executionDate: p.date().fieldName('execution_date').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdVia: p.text().fieldName('created_via'),
    details: p.text(),
    metadata: p.json().nullable(),
    failure: p.text().nullable(),
    statusReason: p.text().fieldName('status_reason').nullable(),
    exception: p.text().nullable(),
    returnedAmount: p.bigint().fieldName('returned_amount').nullable(),
    returnInfo: p.text().fieldName('return_info').nullable(),
    recall: p.text().nullable(),
    scheduledPaymentId: p.uuid().fieldName('scheduled_payment_id').nullable(),
    recallDueAt: p.datetime().fieldName('recall_due_at').columnType('timestamptz').nullable(),
    providerRef: p.text().fieldName('provider_ref').nullable(),
    sentAt: p.datetime().fieldName('sent_at').columnType('timestamptz').nullable(),
    completedAt: p.datetime().fieldName('completed_at').columnType('timestamptz').nullable(),
    failedAt: p.datetime().fieldName('failed_at').columnType('timestamptz').nullable(),
    approvedAt: p.datetime().fieldName('approved_at').columnType('timestamptz').nullable(),
    cancelledAt: p.datetime().fieldName('cancelled_at').columnType('timestamptz').nullable(),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  indexes: [
    { name: 'payment_customer', properties: ['customerId', 'id'] },
    {
      name: 'payment_scheduled_payment',
      expression:
        'create index payment_scheduled_payment on payment (scheduled_payment_id, id) where scheduled_payment_id is not null',
    },
    {
      name: 'payment_recall_due',
      expression: 'create index payment_recall_due on payment (recall_due_at) where recall_due_at is not null',
    },
  ],
  uniques: [
    { name: 'payment_number_unique', properties: ['number'] },
    {
      name: 'payment_external_id_unique',
      expression:
        'create unique index payment_external_id_unique on payment (customer_id, external_id) where external_id is not null',
    },
  ],
  checks: [
    { name: 'payment_amount_positive', expression: 'amount > 0' },
    { name: 'payment_returned_within', expression: 'returned_amount > 0 and returned_amount <= amount' },
  ],
})
