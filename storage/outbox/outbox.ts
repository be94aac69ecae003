/**
 * Writes events of changes that do not go through the commit statement, in the transaction of their cause.
 *
 * Written by hand: a row is added with every event, none is changed, and the table is partitioned by time.
 */
import type pg from 'pg'
import { writesEvents } from '../db/transaction.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { OutboxEvent } from '../../lib/decisions/effects.ts'

/**
 * SQL of the related object of an event `o`, beyond its own object. The event's row has it, except for an approval and
 * a compliance hold: their rows have their subject.
 */
export const RELATED = {
  object: 'coalesce(o.related_object, a.subject_type, h.subject_type)',
  id: 'coalesce(o.related_id, a.subject_id, h.subject_id)',
} as const
export const RELATED_COLUMNS = `${RELATED.object} as related_object, ${RELATED.id} as related_id`
export const RELATED_JOIN = `left join approval a on o.object = 'approval' and a.id = o.object_id
  left join compliance_hold h on o.object = 'compliance_hold' and h.id = o.object_id`

/** An event with its optional fields. */
export interface WrittenEvent extends Omit<OutboxEvent, 'customerId'> {
  /** Null for an event that concerns the operator itself. */
  readonly customerId: string | null
  /** Whether the event was simulated; its payload marks it so. */
  readonly sandbox?: boolean
  readonly related?: { readonly object: string; readonly id: string } | null
}

/** Writes one event. Times are epoch milliseconds, amounts minor units. */
export async function writeEvent(client: pg.ClientBase, event: WrittenEvent): Promise<void> {
  writesEvents(client)
  await client.query({
    name: 'write_event',
    text: `insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status, previous_status, amount, currency, sandbox, related_object, related_id, details)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [
      event.id,
      timestamp(event.createdAt),
      event.customerId,
      event.operatorId,
      event.shard,
      event.type,
      event.object,
      event.objectId,
      event.status,
      event.previousStatus,
      event.amount,
      event.currency,
      event.sandbox ?? false,
      event.related?.object ?? null,
      event.related?.id ?? null,
      event.details ?? null,
    ],
  })
}
