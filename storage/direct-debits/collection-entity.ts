/** A collection by a mandate. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { CollectionRecord, CollectionStatus } from '../../lib/direct-debits/collection.ts'
import type { SequenceType } from '../../lib/direct-debits/schemes.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { jsonText } from '../db/columns.ts'
import { instant } from '../db/entity-types.ts'

export const Collection = defineEntity({
  name: 'Collection',
  tableName: 'collection',
  triggers: [
    {
      name: 'task_added',
      timing: 'after',
      events: ['insert', 'update'],
      expression: `create constraint trigger task_added after insert or update of due_at on collection deferrable initially deferred for each row when (new.due_at is not null) execute function add_task_of_second('direct-debits.collections', 'due_at')`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    number: p.text(),
    externalId: p.text().fieldName('external_id').nullable(),
    mandateId: p.uuid().fieldName('mandate_id'),
    balanceId: p.uuid().fieldName('balance_id'),
    scheme: p.text().$type<MandateScheme>(),
    currency: p.string().$type<CurrencyCode>().columnType('char(3)'),
    amount: p.bigint(),
    status: p.text().$type<CollectionStatus>(),
    version: p.integer(),
    dueDate: p.date().fieldName('due_date'),
    submissionDeadline: instant().fieldName('submission_deadline'),
    sequenceType: p.text().$type<SequenceType>().fieldName('sequence_type'),
    reference: p.text(),
    endToEndId: p.text().fieldName('end_to_end_id'),
    statusReason: p.text().fieldName('status_reason').nullable(),
    preNotification: jsonText<NonNullable<CollectionRecord['preNotification']>>()
      .fieldName('pre_notification')
      .nullable(),
    fileId: p.uuid().fieldName('file_id').nullable(),
    amendment: jsonText<NonNullable<CollectionRecord['amendment']>>().nullable(),
    providerRef: p.text().fieldName('provider_ref').nullable(),
    retry: jsonText<NonNullable<CollectionRecord['retry']>>().nullable(),
    attempts: jsonText<CollectionRecord['attempts']>().defaultRaw(`'[]'`),
    nextAttemptAt: instant().fieldName('next_attempt_at').nullable(),
    rTransactions: jsonText<CollectionRecord['rTransactions']>().fieldName('r_transactions').defaultRaw(`'[]'`),
    returnedAmount: p.bigint().fieldName('returned_amount').defaultRaw('0'),
    refundableUntil: p.date().fieldName('refundable_until').nullable(),
    reserveHoldId: p.uuid().fieldName('reserve_hold_id').nullable(),
    reserveUntil: instant().fieldName('reserve_until').nullable(),
    exposedUntil: instant().fieldName('exposed_until').nullable(),
    exception: jsonText<NonNullable<CollectionRecord['exception']>>().nullable(),
    submittedAt: instant().fieldName('submitted_at').nullable(),
    collectedAt: instant().fieldName('collected_at').nullable(),
    returnedAt: instant().fieldName('returned_at').nullable(),
    failedAt: instant().fieldName('failed_at').nullable(),
    cancelledAt: instant().fieldName('cancelled_at').nullable(),
    reversedAt: instant().fieldName('reversed_at').nullable(),
    reversal: jsonText<NonNullable<CollectionRecord['reversal']>>().nullable(),
    reversalStatus: p
      .text()
      .$type<NonNullable<CollectionRecord['reversalStatus']>>()
      .fieldName('reversal_status')
      .nullable(),
    reversalSentAt: instant().fieldName('reversal_sent_at').nullable(),
    reversalRef: p.text().fieldName('reversal_ref').nullable(),
    dueAt: instant().fieldName('due_at').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdVia: p.text().$type<CollectionRecord['createdVia']>().fieldName('created_via'),
    metadata: p.json<CollectionRecord['metadata']>().nullable(),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'collection_customer', properties: ['customerId', 'id'] },
    { name: 'collection_customer_due', properties: ['customerId', 'dueDate', 'id'] },
    { name: 'collection_mandate', properties: ['mandateId', 'id'] },
    {
      name: 'collection_pending',
      expression: `create index collection_pending on collection (mandate_id, due_date) where status = 'pending'`,
    },
    {
      name: 'collection_cut_off',
      expression: `create index collection_cut_off on collection (submission_deadline, id) where status = 'pending'`,
    },
    {
      name: 'collection_due',
      expression: 'create index collection_due on collection (due_at) where due_at is not null',
    },
    {
      name: 'collection_of_file',
      expression: 'create index collection_of_file on collection (file_id, id) where file_id is not null',
    },
    {
      name: 'collection_unacknowledged',
      expression: `create index collection_unacknowledged on collection (connection_id, created_at)
        where provider_ref is null and file_id is null and status in ('pending', 'submitted')`,
    },
    {
      name: 'collection_reversal',
      expression: `create index collection_reversal on collection (connection_id, reversed_at) where reversal_status = 'pending' and reversal_ref is null`,
    },
    {
      name: 'collection_provider_ref',
      expression:
        'create index collection_provider_ref on collection (connection_id, provider_ref) where provider_ref is not null',
    },
  ],
  uniques: [
    { name: 'collection_number_unique', properties: ['number'] },
    {
      name: 'collection_external_id_unique',
      expression:
        'create unique index collection_external_id_unique on collection (customer_id, external_id) where external_id is not null',
    },
  ],
  checks: [{ name: 'collection_amounts', expression: 'amount > 0 and returned_amount >= 0' }],
})
