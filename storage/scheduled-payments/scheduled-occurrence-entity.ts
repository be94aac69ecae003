/** One occurrence of a scheduled payment. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

export const ScheduledOccurrence = defineEntity({
  name: 'ScheduledOccurrence',
  tableName: 'scheduled_occurrence',
  properties: {
    paymentId: p.uuid().fieldName('payment_id').primary(),
    scheduledPaymentId: p.uuid().fieldName('scheduled_payment_id'),
    customerId: p.uuid().fieldName('customer_id'),
    shard: p.smallint(),
    number: p.integer(),
    index: p.integer(),
    plannedDate: p.date().fieldName('planned_date'),
    executionDate: p.date().fieldName('execution_date'),
    status: p.text(),
    outcome: p.text().nullable(),
    refusal: p.text().nullable(),
    takenAt: instant().fieldName('taken_at'),
    createdAt: instant().fieldName('created_at'),
  },
  indexes: [
    {
      name: 'scheduled_occurrence_due',
      expression: `create index scheduled_occurrence_due on scheduled_occurrence (taken_at) where status = 'due'`,
    },
    {
      name: 'scheduled_occurrence_open',
      expression: `create index scheduled_occurrence_open on scheduled_occurrence (payment_id) where outcome is null and status <> 'refused'`,
    },
  ],
  uniques: [
    { name: 'scheduled_occurrence_number_unique', properties: ['scheduledPaymentId', 'number'] },
    {
      name: 'scheduled_occurrence_one_due',
      expression: `create unique index scheduled_occurrence_one_due on scheduled_occurrence (scheduled_payment_id) where status = 'due'`,
    },
  ],
})
