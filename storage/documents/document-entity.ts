/** An uploaded file: a document with a purpose, or the attachment of a transaction. */
import { defineEntity, p } from '@mikro-orm/core'
import { bigVersion, instant, managed } from '../db/entity-types.ts'
import type { DocumentPurpose, DocumentStatus } from '../../lib/documents/document.ts'
import { taskTrigger } from '../tasks/task-triggers.ts'

export const Document = managed(
  defineEntity({
    name: 'Document',
    tableName: 'document',
    triggers: taskTrigger('document', {
      columns: 'scan_due_at',
      when: 'new.scan_due_at is not null',
      task: ['documents.scan', 'id', 'scan_due_at'],
    }),
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      shard: p.smallint(),
      transactionId: p.uuid().fieldName('transaction_id').nullable(),
      purpose: p.text().$type<DocumentPurpose>().nullable(),
      fileId: p.uuid().fieldName('file_id'),
      fileName: p.text().fieldName('file_name'),
      contentType: p.text().fieldName('content_type'),
      sizeBytes: p.bigint().fieldName('size_bytes'),
      sha256: p.blob(),
      status: p.text().$type<DocumentStatus>(),
      scanDueAt: instant().fieldName('scan_due_at').nullable(),
      createdBy: p.uuid().fieldName('created_by'),
      createdByName: p.text().fieldName('created_by_name'),
      version: bigVersion(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [
      {
        name: 'document_customer',
        expression: 'create index document_customer on document (customer_id, id) where purpose is not null',
      },
      {
        name: 'document_attached',
        expression: 'create index document_attached on document (customer_id, id) where transaction_id is not null',
      },
      {
        name: 'document_transaction',
        expression:
          'create index document_transaction on document (transaction_id, id) where transaction_id is not null',
      },
      {
        name: 'document_scan_due',
        expression: 'create index document_scan_due on document (scan_due_at) where scan_due_at is not null',
      },
    ],
    checks: [{ name: 'document_belongs', expression: '(transaction_id is null) <> (purpose is null)' }],
  }),
)
