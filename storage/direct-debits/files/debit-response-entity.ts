/** An answer of a bank about direct debits, as staff uploaded it, and the lines of its preview. */
import { defineEntity, p } from '@mikro-orm/core'
import type { ResponseFormat } from '../../../lib/direct-debits/files/response-reading.ts'
import type { DebitResponseStatus } from '../../../lib/direct-debits/files/debit-response.ts'
import type { ResponseLine } from '../../../lib/direct-debits/files/responses.ts'
import { jsonText } from '../../db/columns.ts'
import { instant } from '../../db/entity-types.ts'

export const DebitResponse = defineEntity({
  name: 'DebitResponse',
  tableName: 'debit_response',
  properties: {
    id: p.uuid().primary(),
    operatorId: p.uuid().fieldName('operator_id'),
    fileName: p.text().fieldName('file_name'),
    storedFileId: p.uuid().fieldName('stored_file_id'),
    sha256: p.text(),
    format: p.text().$type<ResponseFormat>(),
    status: p.text().$type<DebitResponseStatus>(),
    lineCount: p.integer().fieldName('line_count'),
    changeCount: p.integer().fieldName('change_count'),
    troubleCount: p.integer().fieldName('trouble_count'),
    uploadedBy: p.uuid().fieldName('uploaded_by'),
    uploadedByName: p.text().fieldName('uploaded_by_name'),
    appliedBy: p.uuid().fieldName('applied_by').nullable(),
    appliedByName: p.text().fieldName('applied_by_name').nullable(),
    appliedAt: instant().fieldName('applied_at').nullable(),
    applyJobId: p.uuid().fieldName('apply_job_id').nullable(),
    createdAt: instant().fieldName('created_at'),
  },
  indexes: [{ name: 'debit_response_operator', properties: ['operatorId', 'id'] }],
  uniques: [{ name: 'debit_response_hash', properties: ['operatorId', 'sha256'] }],
  checks: [{ name: 'debit_response_two_people', expression: 'applied_by <> uploaded_by' }],
})

export const DebitResponseLine = defineEntity({
  name: 'DebitResponseLine',
  tableName: 'debit_response_line',
  properties: {
    responseId: p.uuid().fieldName('response_id').primary(),
    nth: p.integer().primary(),
    object: p.text().$type<ResponseLine['object']>(),
    objectId: p.uuid().fieldName('object_id').nullable(),
    named: p.text(),
    connectionId: p.uuid().fieldName('connection_id').nullable(),
    fromStatus: p.text().fieldName('from_status').nullable(),
    toStatus: p.text().fieldName('to_status').nullable(),
    reasonCode: p.text().fieldName('reason_code').nullable(),
    text: p.text(),
    fault: p.text().$type<NonNullable<ResponseLine['fault']>>().nullable(),
    messages: jsonText<readonly object[]>(),
    result: p.text().nullable(),
  },
})
