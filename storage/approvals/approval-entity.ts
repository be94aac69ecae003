/**
 * A payment, exchange or other subject that waits for approvers' decisions. Opened by the commit, decided under the
 * lock of its row.
 */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { dueTriggers } from '../db/due-work.ts'

export const Approval = defineEntity({
  name: 'Approval',
  tableName: 'approval',
  triggers: dueTriggers('approval', 'wake_at'),
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    subjectType: p.text().fieldName('subject_type'),
    subjectId: p.uuid().fieldName('subject_id'),
    subject: p.text(),
    payload: p.text().nullable(),
    kind: p.text().nullable(),
    source: p.text(),
    tier: p.json(),
    tierNumber: p.smallint().fieldName('tier_number'),
    required: p.smallint(),
    received: p.smallint(),
    converted: p.boolean(),
    requestedBy: p.uuid().fieldName('requested_by'),
    requestedByName: p.text().fieldName('requested_by_name'),
    requesters: p.json().defaultRaw(`'[]'`),
    round: p.smallint().defaultRaw('1'),
    subjectChanges: p.json().fieldName('subject_changes').defaultRaw(`'[]'`),
    status: p.text(),
    version: p.integer(),
    reason: p.text().nullable(),
    sandboxDecision: p.text().fieldName('sandbox_decision').nullable(),
    expiresAt: instant().fieldName('expires_at'),
    wakeAt: instant().fieldName('wake_at'),
    announcedAt: instant().fieldName('announced_at').nullable(),
    warnedAt: instant().fieldName('warned_at').nullable(),
    remindedAt: instant().fieldName('reminded_at').nullable(),
    decidedAt: instant().fieldName('decided_at').nullable(),
    createdAt: instant().fieldName('created_at'),
  },
  indexes: [
    { name: 'approval_customer', properties: ['customerId', 'id'] },
    { name: 'approval_operator', properties: ['operatorId', 'id'] },
    { name: 'approval_subject', properties: ['subjectId', 'id'] },
    {
      name: 'approval_pending',
      expression: `create index approval_pending on approval (customer_id, id) where status = 'pending'`,
    },
    { name: 'approval_due', expression: `create index approval_due on approval (wake_at) where status = 'pending'` },
  ],
  uniques: [
    {
      name: 'approval_subject_pending',
      expression: `create unique index approval_subject_pending on approval (subject_id) where status = 'pending'`,
    },
  ],
  checks: [{ name: 'approval_received_in_range', expression: 'received >= 0 and received <= required' }],
})
