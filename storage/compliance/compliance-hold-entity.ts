/** A hold on money for a review by the operator's staff. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { ComplianceHoldRow } from '../../lib/compliance/hold.ts'
import { jsonText } from '../db/columns.ts'
import { dueTriggers } from '../db/due-work.ts'

export const ComplianceHold = defineEntity({
  name: 'ComplianceHold',
  tableName: 'compliance_hold',
  triggers: dueTriggers('compliance_hold', 'wake_at'),
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    provider: p.text(),
    status: p.text(),
    subjectType: p.text().fieldName('subject_type'),
    subjectId: p.uuid().fieldName('subject_id'),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    counterparty: p.text().nullable(),
    findings: jsonText<ComplianceHoldRow['findings']>(),
    sandboxDecision: p.text().fieldName('sandbox_decision').nullable(),
    wakeAt: instant().fieldName('wake_at').nullable(),
    assignee: p.uuid().nullable(),
    proposal: p.text().nullable(),
    decidedBy: p.uuid().fieldName('decided_by').nullable(),
    decidedByName: p.text().fieldName('decided_by_name').nullable(),
    decidedAt: instant().fieldName('decided_at').nullable(),
    reason: p.text().nullable(),
    freezeFunds: p.boolean().fieldName('freeze_funds').nullable(),
    version: p.integer().defaultRaw('1'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'compliance_hold_operator', properties: ['operatorId', 'id'] },
    {
      name: 'compliance_hold_customer',
      expression: `create index compliance_hold_customer on compliance_hold (customer_id) where status = 'open'`,
    },
    {
      name: 'compliance_hold_due',
      expression: `create index compliance_hold_due on compliance_hold (wake_at) where status = 'open' and wake_at is not null`,
    },
    {
      name: 'compliance_hold_open',
      expression: `create unique index compliance_hold_open on compliance_hold (subject_id, kind) where status = 'open'`,
    },
    {
      name: 'compliance_hold_gate',
      expression: `create unique index compliance_hold_gate on compliance_hold (subject_id) where kind = 'outbound_screening'`,
    },
  ],
})

/** A note of the operator's staff on a compliance hold. */
export const ComplianceNote = defineEntity({
  name: 'ComplianceNote',
  tableName: 'compliance_note',
  properties: {
    id: p.uuid().primary(),
    holdId: p.uuid().fieldName('hold_id'),
    authorId: p.uuid().fieldName('author_id'),
    authorName: p.text().fieldName('author_name'),
    text: p.text(),
    createdAt: instant().fieldName('created_at'),
  },
  indexes: [{ name: 'compliance_note_hold', properties: ['holdId', 'id'] }],
})
