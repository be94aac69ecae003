/** A review of a recipient by the operator's staff. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { taskTrigger } from '../tasks/task-triggers.ts'

export const RecipientReview = defineEntity({
  name: 'RecipientReview',
  tableName: 'recipient_review',
  triggers: taskTrigger('recipient_review', {
    columns: 'wake_at',
    when: "new.status = 'pending'",
    task: ['recipients.review', 'id', 'wake_at'],
  }),
  properties: {
    id: p.uuid().primary(),
    recipientId: p.uuid().fieldName('recipient_id'),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    kind: p.text(),
    status: p.text(),
    version: p.bigint().defaultRaw('1'),
    requestedBy: p.uuid().fieldName('requested_by'),
    requestedByName: p.text().fieldName('requested_by_name'),
    decidedBy: p.uuid().fieldName('decided_by').nullable(),
    reason: p.text().nullable(),
    sandboxDecision: p.text().fieldName('sandbox_decision').nullable(),
    wakeAt: instant().fieldName('wake_at'),
    expiresAt: instant().fieldName('expires_at'),
    decidedAt: instant().fieldName('decided_at').nullable(),
    createdAt: instant().fieldName('created_at'),
  },
  indexes: [
    { name: 'recipient_review_operator', properties: ['operatorId', 'id'] },
    {
      name: 'recipient_review_due',
      expression: `create index recipient_review_due on recipient_review (wake_at) where status = 'pending'`,
    },
    {
      name: 'recipient_review_pending',
      expression: `create unique index recipient_review_pending on recipient_review (recipient_id) where status = 'pending'`,
    },
  ],
})
