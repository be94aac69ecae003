/** Files of payments, and their rows. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { dueTriggers } from '../db/due-work.ts'

const at = (column: string) => instant().fieldName(column)
const count = () => p.integer().defaultRaw('0')

export const BulkPayment = defineEntity({
  name: 'BulkPayment',
  tableName: 'bulk_payment',
  triggers: dueTriggers('bulk_payment', 'due_at'),
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    number: p.text(),
    name: p.text(),
    status: p.text(),
    version: p.integer().defaultRaw('1'),
    format: p.text(),
    fileId: p.uuid().fieldName('file_id'),
    fileName: p.text().fieldName('file_name').nullable(),
    fileHash: p.blob().fieldName('file_hash'),
    messageId: p.text().fieldName('message_id').nullable(),
    options: p.text(),
    sourceBalanceId: p.uuid().fieldName('source_balance_id').nullable(),
    executionDate: p.date().fieldName('execution_date').nullable(),
    total: count(),
    pending: count(),
    valid: count(),
    invalid: count(),
    submitting: count(),
    submitted: count(),
    failed: count(),
    totals: p.text().defaultRaw(`'[]'::text`),
    fileErrors: p.text().fieldName('file_errors').defaultRaw(`'[]'::text`),
    warnings: p.text().defaultRaw(`'[]'::text`),
    duplicateOf: p.uuid().fieldName('duplicate_of').nullable(),
    jobId: p.uuid().fieldName('job_id').nullable(),
    approvalId: p.uuid().fieldName('approval_id').nullable(),
    dueAt: at('due_at').nullable(),
    decidedRows: count().fieldName('decided_rows'),
    lastProgressAt: at('last_progress_at').nullable(),
    submittedBy: p.uuid().fieldName('submitted_by').nullable(),
    submittedByName: p.text().fieldName('submitted_by_name').nullable(),
    submittedVia: p.text().fieldName('submitted_via').nullable(),
    submittedAt: at('submitted_at').nullable(),
    closedAt: at('closed_at').nullable(),
    editors: p.json().defaultRaw(`'[]'`),
    createdBy: p.uuid().fieldName('created_by'),
    createdAt: at('created_at'),
    updatedAt: at('updated_at'),
  },
  uniques: [{ name: 'bulk_payment_number_unique', properties: ['operatorId', 'number'] }],
  checks: [
    { name: 'bulk_payment_counts', expression: 'total = pending + valid + invalid + submitting + submitted + failed' },
  ],
  indexes: [
    { name: 'bulk_payment_customer', properties: ['customerId', 'id'] },
    { name: 'bulk_payment_file', properties: ['customerId', 'fileHash', 'createdAt'] },
    {
      name: 'bulk_payment_message',
      expression:
        'create index bulk_payment_message on bulk_payment (customer_id, message_id, created_at) where message_id is not null',
    },
    {
      name: 'bulk_payment_running',
      expression: `create index bulk_payment_running on bulk_payment (operator_id) where status = 'submitting'`,
    },
    {
      name: 'bulk_payment_due',
      expression: 'create index bulk_payment_due on bulk_payment (due_at) where due_at is not null',
    },
    {
      name: 'bulk_payment_approval',
      expression: 'create index bulk_payment_approval on bulk_payment (approval_id) where approval_id is not null',
    },
  ],
})

export const BulkPaymentRow = defineEntity({
  name: 'BulkPaymentRow',
  tableName: 'bulk_payment_row',
  properties: {
    bulkPaymentId: p.uuid().fieldName('bulk_payment_id').primary(),
    rowNumber: p.integer().fieldName('row_number').primary(),
    id: p.uuid(),
    line: p.integer().nullable(),
    status: p.text(),
    instruction: p.text(),
    recipientId: p.uuid().fieldName('recipient_id').nullable(),
    recipientName: p.text().fieldName('recipient_name'),
    maskedIdentifier: p.text().fieldName('masked_identifier').nullable(),
    currency: p.string().columnType('char(3)').nullable(),
    amount: p.bigint().nullable(),
    rail: p.text().nullable(),
    reference: p.text().nullable(),
    executionDate: p.date().fieldName('execution_date').nullable(),
    sourceBalanceId: p.uuid().fieldName('source_balance_id').nullable(),
    fee: p.bigint().nullable(),
    feeTax: p.bigint().fieldName('fee_tax').nullable(),
    estimatedArrival: at('estimated_arrival').nullable(),
    externalId: p.text().fieldName('external_id').nullable(),
    errors: p.text().defaultRaw(`'[]'::text`),
    errorCodes: p.array().fieldName('error_codes').columnType('text[]').defaultRaw(`'{}'`),
    warnings: p.text().defaultRaw(`'[]'::text`),
    paymentId: p.uuid().fieldName('payment_id').nullable(),
    failureCode: p.text().fieldName('failure_code').nullable(),
    createdAt: at('created_at'),
    updatedAt: at('updated_at'),
  },
  indexes: [
    {
      name: 'bulk_payment_row_left',
      expression: `create index bulk_payment_row_left on bulk_payment_row (bulk_payment_id, row_number) where status in ('valid', 'submitting')`,
    },
    {
      name: 'bulk_payment_row_faulty',
      expression: `create index bulk_payment_row_faulty on bulk_payment_row (bulk_payment_id, row_number) where status in ('invalid', 'failed')`,
    },
    {
      name: 'bulk_payment_row_payment',
      expression: 'create index bulk_payment_row_payment on bulk_payment_row (payment_id) where payment_id is not null',
    },
  ],
})
