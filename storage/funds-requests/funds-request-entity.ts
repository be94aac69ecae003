/** A request for money that a customer sends to an outside payer. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { dueTriggers } from '../db/due-work.ts'

const WAITING = `where status in ('open', 'partially_paid')`

export const FundsRequest = defineEntity({
  name: 'FundsRequest',
  tableName: 'funds_request',
  triggers: dueTriggers('funds_request', 'expires_at'),
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    number: p.text(),
    externalId: p.text().fieldName('external_id').nullable(),
    status: p.text(),
    version: p.bigint().defaultRaw('1'),
    balanceId: p.uuid().fieldName('balance_id'),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    paidAmount: p.bigint().fieldName('paid_amount').defaultRaw('0'),
    payerName: p.text().fieldName('payer_name'),
    payerEmail: p.text().fieldName('payer_email').nullable(),
    payerRecipientId: p.uuid().fieldName('payer_recipient_id').nullable(),
    description: p.text(),
    invoiceNumber: p.text().fieldName('invoice_number').nullable(),
    dueDate: p.string().fieldName('due_date').columnType('date').nullable(),
    expiresAt: instant().fieldName('expires_at'),
    allowPartial: p.boolean().fieldName('allow_partial'),
    reference: p.text(),
    linkSha256: p.blob().fieldName('link_sha256'),
    remindersSent: p.smallint().fieldName('reminders_sent').defaultRaw('0'),
    lastRemindedAt: instant().fieldName('last_reminded_at').nullable(),
    metadata: p.json().defaultRaw(`'{}'`),
    createdBy: p.uuid().fieldName('created_by'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'funds_request_customer', properties: ['customerId', 'id'] },
    {
      name: 'funds_request_due',
      expression: `create index funds_request_due on funds_request (customer_id, coalesce(due_date, 'infinity'::date), id)`,
    },
    {
      name: 'funds_request_external_id_unique',
      expression:
        'create unique index funds_request_external_id_unique on funds_request (customer_id, external_id) where external_id is not null',
    },
    {
      name: 'funds_request_waiting',
      expression: `create index funds_request_waiting on funds_request (customer_id) ${WAITING}`,
    },
    {
      name: 'funds_request_expiring',
      expression: `create index funds_request_expiring on funds_request (expires_at) ${WAITING}`,
    },
  ],
  uniques: [
    { name: 'funds_request_reference_unique', properties: ['reference'] },
    { name: 'funds_request_link_unique', properties: ['linkSha256'] },
  ],
  checks: [
    { name: 'funds_request_amount_positive', expression: 'amount > 0' },
    { name: 'funds_request_paid_positive', expression: 'paid_amount >= 0' },
  ],
})

/** An incoming payment that counts towards a funds request. */
export const FundsRequestPayment = defineEntity({
  name: 'FundsRequestPayment',
  tableName: 'funds_request_payment',
  properties: {
    incomingPaymentId: p.uuid().fieldName('incoming_payment_id').primary(),
    fundsRequestId: p.uuid().fieldName('funds_request_id'),
    amount: p.bigint(),
    at: instant(),
  },
  indexes: [{ name: 'funds_request_payment_request', properties: ['fundsRequestId'] }],
  checks: [{ name: 'funds_request_payment_amount_positive', expression: 'amount > 0' }],
})
