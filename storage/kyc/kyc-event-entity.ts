/** An event of a KYC provider, as it came. */
import { defineEntity, p } from '@mikro-orm/core'
import type { KycEventStatus } from '../../lib/kyc/event.ts'
import { instant, managed } from '../db/entity-types.ts'
import { taskTrigger } from '../tasks/task-triggers.ts'

export const KycEventRow = managed(
  defineEntity({
    name: 'KycEvent',
    tableName: 'kyc_event',
    triggers: taskTrigger('kyc_event', {
      columns: 'due_at',
      when: 'new.due_at is not null',
      task: ['kyc.event', 'id', 'due_at'],
    }),
    properties: {
      id: p.uuid().primary(),
      connectionId: p.uuid().fieldName('connection_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      /** The provider's id; the same event may come more than once. */
      providerEventId: p.text().fieldName('provider_event_id'),
      type: p.text(),
      body: p.uint8array(),
      occurredAt: instant().fieldName('occurred_at').nullable(),
      receivedAt: instant().fieldName('received_at'),
      status: p.text().$type<KycEventStatus>().defaultRaw(`'received'`),
      /** Why it changed nothing. */
      reason: p.text().nullable(),
      customerId: p.uuid().fieldName('customer_id').nullable(),
      subjectId: p.uuid().fieldName('subject_id').nullable(),
      /** Null once it was used. */
      dueAt: instant().fieldName('due_at').nullable(),
    },
    checks: [{ name: 'kyc_event_waits', expression: `(due_at is not null) = (status = 'received')` }],
    indexes: [{ name: 'kyc_event_old', properties: ['receivedAt'] }],
    uniques: [{ name: 'kyc_event_once', properties: ['connectionId', 'providerEventId'] }],
  }),
)
