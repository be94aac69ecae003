/** A scheduled payment: a schedule that makes payments on its days. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { workTriggers } from '../db/due-work.ts'

export const ScheduledPayment = defineEntity({
  name: 'ScheduledPayment',
  tableName: 'scheduled_payment',
  triggers: workTriggers('scheduled_payment', 'new.next_occurrence_at is not null', [
    'status, next_occurrence_at',
    "new.status = 'active'",
  ]),
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    number: p.text(),
    externalId: p.text().fieldName('external_id').nullable(),
    status: p.text(),
    version: p.bigint().defaultRaw('1'),
    recipientId: p.uuid().fieldName('recipient_id'),
    sourceBalanceId: p.uuid().fieldName('source_balance_id'),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    requestedRail: p.text().fieldName('requested_rail').nullable(),
    rail: p.text(),
    reference: p.text(),
    purposeCode: p.text().fieldName('purpose_code').nullable(),
    chargeBearer: p.text().fieldName('charge_bearer'),
    frequency: p.text(),
    startDate: p.date().fieldName('start_date'),
    endDate: p.date().fieldName('end_date').nullable(),
    maxOccurrences: p.integer().fieldName('max_occurrences').nullable(),
    dayPolicy: p.text().fieldName('day_policy'),
    lastDayOfMonth: p.boolean().fieldName('last_day_of_month'),
    nextIndex: p.integer().fieldName('next_index').nullable(),
    nextPlannedDate: p.date().fieldName('next_planned_date').nullable(),
    nextExecutionDate: p.date().fieldName('next_execution_date').nullable(),
    nextOccurrenceAt: instant().fieldName('next_occurrence_at').nullable(),
    occurrencesBegun: p.integer().fieldName('occurrences_begun').defaultRaw('0'),
    occurrencesCreated: p.integer().fieldName('occurrences_created').defaultRaw('0'),
    consecutiveFailures: p.integer().fieldName('consecutive_failures').defaultRaw('0'),
    lastPaymentId: p.uuid().fieldName('last_payment_id').nullable(),
    pausedAt: instant().fieldName('paused_at').nullable(),
    metadata: p.json().defaultRaw(`'{}'`),
    editors: p.json().defaultRaw(`'[]'`),
    amountSetBy: p.uuid().fieldName('amount_set_by').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdByName: p.text().fieldName('created_by_name'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'scheduled_payment_customer', properties: ['customerId', 'id'] },
    {
      name: 'scheduled_payment_next',
      expression: `create index scheduled_payment_next on scheduled_payment (customer_id, coalesce(next_occurrence_at, 'infinity'::timestamptz), id)`,
    },
    {
      name: 'scheduled_payment_due',
      expression: `create index scheduled_payment_due on scheduled_payment (next_occurrence_at) where status = 'active'`,
    },
    {
      name: 'scheduled_payment_recipient',
      expression: `create index scheduled_payment_recipient on scheduled_payment (recipient_id) where status in ('active', 'paused')`,
    },
  ],
  uniques: [
    { name: 'scheduled_payment_number_unique', properties: ['number'] },
    {
      name: 'scheduled_payment_external_id_unique',
      expression:
        'create unique index scheduled_payment_external_id_unique on scheduled_payment (customer_id, external_id) where external_id is not null',
    },
  ],
  checks: [{ name: 'scheduled_payment_amount_positive', expression: 'amount > 0' }],
})
