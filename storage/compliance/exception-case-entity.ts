/** A payment or transfer whose outcome is unknown, or that waits for the operator's staff. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

export const ExceptionCase = defineEntity({
  name: 'ExceptionCase',
  tableName: 'exception_case',
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    code: p.text().nullable(),
    message: p.text(),
    status: p.text(),
    subjectType: p.text().fieldName('subject_type'),
    subjectId: p.uuid().fieldName('subject_id'),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    assignee: p.uuid().nullable(),
    proposal: p.text().nullable(),
    resubmitForbidden: p.boolean().fieldName('resubmit_forbidden').defaultRaw('false'),
    outcome: p.text().nullable(),
    outcomeAmount: p.bigint().fieldName('outcome_amount').nullable(),
    evidence: p.text().nullable(),
    resolvedBy: p.uuid().fieldName('resolved_by').nullable(),
    resolvedByName: p.text().fieldName('resolved_by_name').nullable(),
    resolvedAt: instant().fieldName('resolved_at').nullable(),
    version: p.integer().defaultRaw('1'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'exception_case_operator', properties: ['operatorId', 'id'] },
    {
      name: 'exception_case_open',
      expression: `create unique index exception_case_open on exception_case (subject_id) where status = 'open'`,
    },
  ],
})
