/** A mandate of direct debits. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { MandateDirection, MandateRecord, MandateStatus } from '../../lib/direct-debits/mandate.ts'
import type { AuthorisationSource, ConsentType, SequenceType } from '../../lib/direct-debits/schemes.ts'
import type { MandateManagement, MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { jsonText } from '../db/columns.ts'
import { instant } from '../db/entity-types.ts'

export const Mandate = defineEntity({
  name: 'Mandate',
  tableName: 'mandate',
  triggers: [
    {
      name: 'task_added',
      timing: 'after',
      events: ['insert', 'update'],
      expression: `create constraint trigger task_added after insert or update of due_at on mandate deferrable initially deferred for each row when (new.due_at is not null) execute function add_task_of_second('direct-debits.mandates', 'due_at')`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    direction: p.text().$type<MandateDirection>(),
    scheme: p.text().$type<MandateScheme>(),
    status: p.text().$type<MandateStatus>(),
    version: p.integer(),
    termsVersion: p.integer().fieldName('terms_version').defaultRaw('1'),
    reference: p.text(),
    balanceId: p.uuid().fieldName('balance_id'),
    currency: p.string().$type<CurrencyCode>().columnType('char(3)'),
    counterparty: jsonText<MandateRecord['counterparty']>(),
    management: p.text().$type<MandateManagement>(),
    sequenceType: p.text().$type<SequenceType>().fieldName('sequence_type'),
    noticeDays: p.smallint().fieldName('notice_days').nullable(),
    amountLimit: p.bigint().fieldName('amount_limit').nullable(),
    consentType: p.text().$type<ConsentType>().fieldName('consent_type').nullable(),
    authorisationSource: p.text().$type<AuthorisationSource>().fieldName('authorisation_source').nullable(),
    signedAt: instant().fieldName('signed_at').nullable(),
    documentId: p.uuid().fieldName('document_id').nullable(),
    creditorId: p.text().fieldName('creditor_id').nullable(),
    creditorName: p.text().fieldName('creditor_name').nullable(),
    providerRef: p.text().fieldName('provider_ref').nullable(),
    statusReason: p.text().fieldName('status_reason').nullable(),
    submittedAt: instant().fieldName('submitted_at').nullable(),
    activatedAt: instant().fieldName('activated_at').nullable(),
    cancelledAt: instant().fieldName('cancelled_at').nullable(),
    endDueAt: instant().fieldName('end_due_at').nullable(),
    lastCollectionAt: instant().fieldName('last_collection_at').nullable(),
    lastPresentedAt: instant().fieldName('last_presented_at').nullable(),
    presentedCount: p.integer().fieldName('presented_count').defaultRaw('0'),
    pendingCount: p.integer().fieldName('pending_count').defaultRaw('0'),
    submittedCount: p.integer().fieldName('submitted_count').defaultRaw('0'),
    history: jsonText<MandateRecord['history']>(),
    pendingAmendment: jsonText<NonNullable<MandateRecord['pendingAmendment']>>()
      .fieldName('pending_amendment')
      .nullable(),
    dueAt: instant().fieldName('due_at').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdVia: p.text().$type<MandateRecord['createdVia']>().fieldName('created_via'),
    metadata: p.json<MandateRecord['metadata']>().nullable(),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'mandate_customer', properties: ['customerId', 'id'] },
    { name: 'mandate_balance', properties: ['balanceId', 'id'] },
    { name: 'mandate_customer_reference', properties: ['customerId', 'reference'] },
    { name: 'mandate_due', expression: 'create index mandate_due on mandate (due_at) where due_at is not null' },
    {
      name: 'mandate_end',
      expression: 'create index mandate_end on mandate (end_due_at) where end_due_at is not null',
    },
    {
      name: 'mandate_unacknowledged',
      expression: `create index mandate_unacknowledged on mandate (connection_id, created_at)
        where provider_ref is null and status in ('pending', 'submitted')`,
    },
    {
      name: 'mandate_provider_ref',
      expression:
        'create index mandate_provider_ref on mandate (connection_id, provider_ref) where provider_ref is not null',
    },
  ],
  uniques: [
    {
      name: 'mandate_reference_unique',
      expression: `create unique index mandate_reference_unique on mandate (operator_id, scheme, reference) where direction = 'collect'`,
    },
  ],
  checks: [
    {
      name: 'mandate_counts',
      expression: 'presented_count >= 0 and pending_count >= 0 and submitted_count >= 0',
    },
  ],
})
