/**
 * Deliveries on request: tests, redeliveries, and the cleanup of a sandbox.
 *
 * Written by hand: a statement changes a delivery together with its place in the queue.
 */
import type pg from 'pg'
import { timestamp } from '../../lib/base/clock.ts'
import { RETRY_WINDOW_MS } from '../../lib/webhooks/schedule.ts'
import type { DeliveryState } from '../../lib/webhooks/envelope.ts'
import type { EventType } from '../../lib/base/event-types.ts'

export interface TestDelivery {
  readonly id: string
  readonly endpointId: string
  readonly shard: number
  readonly eventId: string
  readonly eventType: EventType
  readonly now: number
}

/** Writes the delivery of a test event, in the transaction that wrote the event. */
export async function insertTestDelivery(
  client: pg.ClientBase,
  { id, endpointId, shard, eventId, eventType, now }: TestDelivery,
): Promise<void> {
  const at = timestamp(now)
  await client.query({
    name: 'insert_test_delivery',
    text: `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event_created_at, event_type, status, test, next_attempt_at)
      values ($1, $2, $3, $4, $2, $5, 'pending', true, $2)`,
    values: [id, at, endpointId, eventId, eventType],
  })
  await client.query({
    name: 'queue_test_delivery',
    text: `insert into webhook_queue (delivery_id, delivery_created_at, endpoint_id, event_id, event_created_at, test, shard, due_at, window_ends_at)
      values ($1, $2, $3, $6, $2, true, $4, $2, $5)`,
    values: [id, at, endpointId, shard, timestamp(now + RETRY_WINDOW_MS), eventId],
  })
}

/** Locks an endpoint's delivery until the transaction ends and reads its status; null when it does not exist. */
export async function lockDelivery(
  client: pg.ClientBase,
  endpointId: string,
  id: string,
): Promise<{ readonly status: DeliveryState; readonly createdAt: number } | null> {
  const { rows } = await client.query<{ status: DeliveryState; created_ms: number }>({
    name: 'lock_delivery',
    text: `select status, (extract(epoch from created_at) * 1000)::float8 as created_ms from webhook_delivery where id = $1 and endpoint_id = $2 for update`,
    values: [id, endpointId],
  })
  return rows[0] === undefined ? null : { status: rows[0].status, createdAt: rows[0].created_ms }
}

/**
 * Queues a delivery again: the same event under its own id, with a window of its own; the count of its attempts
 * continues.
 */
export async function requeueDelivery(
  client: pg.ClientBase,
  {
    id,
    createdAt,
    endpointId,
    shard,
    now,
  }: {
    readonly id: string
    readonly createdAt: number
    readonly endpointId: string
    readonly shard: number
    readonly now: number
  },
): Promise<void> {
  const at = timestamp(now)
  await client.query({
    name: 'requeue_delivery',
    text: `with waiting as (delete from webhook_queue where endpoint_id = $3 and delivery_id = $1)
      insert into webhook_queue (delivery_id, delivery_created_at, endpoint_id, event_id, event_created_at, test, shard, due_at, window_ends_at)
      select id, created_at, endpoint_id, event_id, event_created_at, test, $4, $5, $6 from webhook_delivery where endpoint_id = $3 and id = $1 and created_at = $2`,
    values: [id, timestamp(createdAt), endpointId, shard, at, timestamp(now + RETRY_WINDOW_MS)],
  })
  await client.query({
    name: 'redelivery',
    values: [id, timestamp(createdAt), at, endpointId],
    text: `update webhook_delivery set status = 'pending', redelivery = true, next_attempt_at = $3, completed_at = null where endpoint_id = $4 and id = $1 and created_at = $2`,
  })
}

/** Reactivates the paused endpoints of a customer. @returns their ids */
export async function reactivatePaused(client: pg.ClientBase, tenantId: string, now: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'reactivate_paused',
    values: [tenantId, timestamp(now)],
    text: `update webhook_endpoint set status = 'active', disabled_reason = null, status_changed_at = $2, consecutive_failures = 0, failing_since = null,
        updated_at = $2, version = version + 1 where tenant_id = $1 and status = 'paused' returning id`,
  })
  return rows.map(({ id }) => id)
}

/** Deletes all deliveries of a tenant's endpoints. @returns how many there were */
export async function deleteDeliveries(client: pg.ClientBase, tenantId: string): Promise<number> {
  const { rowCount } = await client.query({
    name: 'delete_deliveries',
    values: [tenantId],
    text: `with mine as (select id from webhook_endpoint where tenant_id = $1),
        queued as (delete from webhook_queue where endpoint_id in (select id from mine))
      delete from webhook_delivery where endpoint_id in (select id from mine)`,
  })
  return rowCount ?? 0
}

export async function operatorOf(
  client: pg.ClientBase,
  tenantId: string,
): Promise<{ readonly operatorId: string; readonly customerId: string | null }> {
  const { rows } = await client.query<{ operator_id: string; customer_id: string | null }>({
    name: 'tenant_operator',
    values: [tenantId],
    text: 'select coalesce(c.operator_id, $1) as operator_id, c.id as customer_id from (select $1::uuid as id) t left join customer c on c.id = t.id',
  })
  return { operatorId: (rows[0] as { operator_id: string }).operator_id, customerId: rows[0]?.customer_id ?? null }
}
