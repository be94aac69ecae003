/** A payment from a balance to a recipient. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type {
  PaymentDetails,
  PaymentException,
  PaymentFailure,
  PaymentRecall,
  PaymentRecord,
  PaymentReturn,
  PaymentStatus,
  StatusReason,
} from '../../lib/payments/payment.ts'
import type { KeptRouting } from '../../lib/providers/routing.ts'
import type { Rail } from '../../lib/rails/rails.ts'
import { jsonText } from '../db/columns.ts'

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
    status: p.text().$type<PaymentStatus>(),
    version: p.integer(),
    sourceBalanceId: p.uuid().fieldName('source_balance_id'),
    payingBalanceId: p.uuid().fieldName('paying_balance_id'),
    recipientId: p.uuid().fieldName('recipient_id'),
    holdId: p.uuid().fieldName('hold_id').nullable(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    fee: p.bigint(),
    rail: p.text().$type<Rail>().nullable(),
    executionDate: p.date().fieldName('execution_date').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdVia: p.text().$type<PaymentRecord['createdVia']>().fieldName('created_via'),
    details: jsonText<PaymentDetails>(),
    metadata: p.json<Readonly<Record<string, string>>>().nullable(),
    failure: jsonText<PaymentFailure>().nullable(),
    statusReason: jsonText<StatusReason>().fieldName('status_reason').nullable(),
    exception: jsonText<PaymentException>().nullable(),
    returnedAmount: p.bigint().fieldName('returned_amount').nullable(),
    returnInfo: jsonText<PaymentReturn>().fieldName('return_info').nullable(),
    recall: jsonText<PaymentRecall>().nullable(),
    scheduledPaymentId: p.uuid().fieldName('scheduled_payment_id').nullable(),
    recallDueAt: instant().fieldName('recall_due_at').nullable(),
    providerRef: p.text().fieldName('provider_ref').nullable(),
    routing: p.json<KeptRouting>().nullable(),
    sentAt: instant().fieldName('sent_at').nullable(),
    completedAt: instant().fieldName('completed_at').nullable(),
    failedAt: instant().fieldName('failed_at').nullable(),
    approvedAt: instant().fieldName('approved_at').nullable(),
    cancelledAt: instant().fieldName('cancelled_at').nullable(),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
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
    {
      name: 'payment_provider_ref',
      expression:
        'create index payment_provider_ref on payment (connection_id, provider_ref) where provider_ref is not null',
    },
    {
      name: 'payment_routed',
      expression: "create index payment_routed on payment (connection_id, (routing->>'day')) where routing is not null",
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
