/** A file of direct debits, and its lines. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import type {
  CollectionFileFormat,
  CollectionFileKind,
  CollectionFileStatus,
} from '../../../lib/direct-debits/files/collection-file.ts'
import type { FileLine } from '../../../lib/direct-debits/files/file-rows.ts'
import type { MandateOriginals } from '../../../lib/direct-debits/mandate.ts'
import type { SequenceType } from '../../../lib/direct-debits/schemes.ts'
import type { MandateScheme } from '../../../lib/rails/debit-schemes.ts'
import { jsonText } from '../../db/columns.ts'
import { instant } from '../../db/entity-types.ts'
import { taskTrigger } from '../../tasks/task-triggers.ts'

export const CollectionFile = defineEntity({
  name: 'CollectionFile',
  tableName: 'collection_file',
  properties: {
    id: p.uuid().primary(),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    kind: p.text().$type<CollectionFileKind>(),
    scheme: p.text().$type<MandateScheme>(),
    sequenceType: p.text().$type<SequenceType>().fieldName('sequence_type').nullable(),
    currency: p.string().$type<CurrencyCode>().columnType('char(3)'),
    creditorId: p.text().fieldName('creditor_id'),
    creditorName: p.text().fieldName('creditor_name'),
    settlementDate: p.date().fieldName('settlement_date'),
    format: p.text().$type<CollectionFileFormat>(),
    messageId: p.text().fieldName('message_id'),
    status: p.text().$type<CollectionFileStatus>(),
    lineCount: p.integer().fieldName('line_count').defaultRaw('0'),
    controlSum: p.bigint().fieldName('control_sum').defaultRaw('0'),
    sha256: p.text().nullable(),
    storedFileId: p.uuid().fieldName('stored_file_id').nullable(),
    dueAt: instant().fieldName('due_at').nullable(),
    createdAt: instant().fieldName('created_at'),
    generatedAt: instant().fieldName('generated_at').nullable(),
    downloadedAt: instant().fieldName('downloaded_at').nullable(),
  },
  indexes: [{ name: 'collection_file_operator', properties: ['operatorId', 'id'] }],
  uniques: [
    { name: 'collection_file_message', properties: ['operatorId', 'messageId'] },
    {
      name: 'collection_file_gathering',
      expression: `create unique index collection_file_gathering on collection_file (connection_id, kind, scheme, coalesce(sequence_type, ''), currency, creditor_id, creditor_name, settlement_date) where status = 'gathering'`,
    },
  ],
  checks: [
    { name: 'collection_file_sums', expression: 'line_count >= 0 and control_sum >= 0' },
    {
      name: 'collection_file_written',
      expression: `status = 'gathering' or (sha256 is not null and stored_file_id is not null)`,
    },
  ],
  triggers: taskTrigger('collection_file', {
    columns: 'due_at',
    when: 'new.due_at is not null',
    task: ['direct-debits.file', 'id', 'due_at'],
  }),
})

export const CollectionFileLine = defineEntity({
  name: 'CollectionFileLine',
  tableName: 'collection_file_line',
  properties: {
    fileId: p.uuid().fieldName('file_id').primary(),
    objectId: p.uuid().fieldName('object_id').primary(),
    amount: p.bigint(),
    amendment: jsonText<MandateOriginals>().nullable(),
    represented: p.boolean().defaultRaw('false'),
    instruction: p.text().$type<NonNullable<FileLine['instruction']>>().nullable(),
  },
  indexes: [{ name: 'collection_file_line_object', properties: ['objectId'] }],
  uniques: [
    {
      name: 'collection_file_line_instruction',
      expression:
        'create unique index collection_file_line_instruction on collection_file_line (object_id, instruction) where instruction is not null',
    },
  ],
})
