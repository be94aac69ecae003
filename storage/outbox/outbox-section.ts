/** The section of the commit statement for events: they are written with what they tell about (I1). */
import type { OutboxEvent } from '../../lib/decisions/effects.ts'
import { computed } from '../commit/columns.ts'
import { alike, insert, rowsOf } from '../commit/section.ts'

export const OUTBOX = rowsOf(
  'events',
  alike(
    insert<OutboxEvent>('outbox', {
      id: 'uuid',
      createdAt: 'timestamptz',
      customerId: 'uuid',
      operatorId: 'uuid',
      shard: 'smallint',
      type: 'text',
      object: 'text',
      objectId: 'uuid',
      status: 'text',
      previousStatus: 'text',
      amount: 'bigint',
      currency: 'text',
      details: computed('text', ({ details = null }) => details),
    }),
    ['type', 'object', 'status', 'previous_status', 'details'],
    ['currency'],
    ['customer_id', 'operator_id', 'shard'],
  ),
)
