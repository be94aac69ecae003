/** Endpoints of integrators: the rows that commands write, and the settings that deliveries need. */
import type pg from 'pg'
import type { EventType } from '../../lib/base/event-types.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { DISABLE_AFTER_MS } from '../../lib/webhooks/schedule.ts'
import { plainArray, plainArrayOrNull } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { endpointColumns, versionedEndpoint, type EndpointRow } from './webhook-queries.ts'
import { entitiesOf } from '../db/entities.ts'
import { inTransaction, through, type TransactionClient } from '../db/transaction.ts'
import { operatorOfCustomer } from '../customers/customers.ts'
import { WebhookEndpoint } from './webhook-endpoint-entity.ts'
import { announcement, WEBHOOK_CHANNEL } from './webhook-relay.ts'
import type { EndpointStatus } from '../../lib/webhooks/envelope.ts'
import { pick } from '../db/columns.ts'
import { from, select } from '../db/select.ts'

export interface NewEndpoint {
  readonly id: string
  readonly level: 'customer' | 'operator'
  readonly tenantId: string
  readonly shard: number
  readonly url: string
  readonly events: readonly EventType[]
  readonly description: string | null
  readonly secret: Uint8Array
  readonly secretHint: string
  readonly apiVersion: string
  readonly createdBy: string
  readonly now: number
}

/** Serialises changes of counts per tenant until the transaction ends. */
export async function lockTenantEndpoints(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query({
    name: 'lock_endpoints',
    text: `select pg_advisory_xact_lock(hashtextextended('webhook_endpoint ' || $1, 0))`,
    values: [tenantId],
  })
}

export async function countEndpoints(client: pg.ClientBase, tenantId: string): Promise<number> {
  return await entitiesOf(client, { tenantId }).count(WebhookEndpoint)
}

export async function insertEndpoint(client: pg.ClientBase, { level, now, ...row }: NewEndpoint): Promise<void> {
  const { tenantId } = row
  const operator = level === 'operator' ? tenantId : await operatorOfCustomer(through(client), tenantId)
  if (operator === null) throw new Error(`The customer ${tenantId} does not exist.`)
  await entitiesOf(client, { tenantId }).insert(WebhookEndpoint, {
    ...row,
    level,
    operator,
    customer: level === 'customer' ? tenantId : null,
    events: [...row.events],
    status: 'active',
    createdAt: now,
    updatedAt: now,
  })
}

/** Locks the tenant's endpoint until the transaction ends; null when the tenant has none of this id. */
export async function lockEndpoint(client: pg.ClientBase, tenantId: string, id: string) {
  const { rows } = await client.query<EndpointRow>({
    name: 'lock_endpoint',
    text: `select ${endpointColumns} from webhook_endpoint e where e.id = $1 and e.tenant_id = $2 for update`,
    values: [id, tenantId],
  })
  return rows[0] === undefined ? null : versionedEndpoint(rows[0])
}

export interface EndpointChange {
  readonly url: string
  readonly events: readonly EventType[]
  readonly description: string | null
  readonly status: EndpointStatus
  readonly disabledReason: 'owner' | 'delivery_failures' | null
}

/** Writes the settings of a locked endpoint. A change of status to `active` resets the counters to zero. */
export async function updateEndpoint(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  { events, ...change }: EndpointChange,
  now: number,
): Promise<void> {
  const rows = entitiesOf(client, { tenantId })
  const row = await rows.get(WebhookEndpoint, id)
  if (row.status !== change.status) {
    row.statusChangedAt = now
    if (change.status === 'active') Object.assign(row, { consecutiveFailures: 0, failingSince: null })
  }
  Object.assign(row, { ...change, events: [...events], updatedAt: now })
  await rows.save()
}

/** Sets a new secret of a locked endpoint; the previous secret also signs until its expiry. */
export async function rotateEndpointSecret(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  secret: { readonly sealed: Uint8Array; readonly hint: string; readonly previousUntil: number },
  now: number,
): Promise<void> {
  const rows = entitiesOf(client, { tenantId })
  const row = await rows.get(WebhookEndpoint, id)
  Object.assign(row, {
    previousSecret: row.secret,
    previousSecretExpiresAt: secret.previousUntil,
    secret: secret.sealed,
    secretHint: secret.hint,
    updatedAt: now,
  })
  await rows.save()
}

/** Deletes a locked endpoint. */
export async function deleteEndpoint(client: pg.ClientBase, tenantId: string, id: string): Promise<void> {
  const rows = entitiesOf(client, { tenantId })
  await rows.remove(await rows.get(WebhookEndpoint, id))
}

/** Discards queued deliveries of these endpoints; a user can request them again. */
export async function discardQueued(client: pg.ClientBase, ids: readonly string[], now: number): Promise<void> {
  await client.query({
    name: 'discard_queued',
    text: `with gone as (delete from webhook_queue where endpoint_id = any($1) returning endpoint_id, delivery_id, delivery_created_at)
      update webhook_delivery d set status = 'discarded', next_attempt_at = null, completed_at = $2
      from gone where d.endpoint_id = gone.endpoint_id and d.id = gone.delivery_id and d.created_at = gone.delivery_created_at`,
    values: [plainArray(ids), timestamp(now)],
  })
}

/** Notifies the nodes that endpoints of a tenant have changed, when the transaction commits. */
export async function announceChange(client: pg.ClientBase, ids: readonly string[], shard: number): Promise<void> {
  if (ids.length === 0) return
  await client.query({
    name: 'announce_change',
    text: 'select pg_notify($1, $2)',
    values: [WEBHOOK_CHANNEL, announcement({ kind: 'changed', endpoints: ids.map((id) => ({ id, shard })) })],
  })
}

/** Notifies the nodes that an endpoint has a due delivery, when the transaction commits. */
export async function announceDue(client: pg.ClientBase, id: string, shard: number): Promise<void> {
  await client.query({
    name: 'announce_due',
    text: 'select pg_notify($1, $2)',
    values: [WEBHOOK_CHANNEL, announcement({ kind: 'due', endpoints: [{ id, shard }] })],
  })
}

/** The settings of an endpoint that deliveries need; the secrets are still encrypted. */
export interface EndpointSettings {
  readonly id: string
  readonly tenantId: string
  readonly url: string
  readonly status: EndpointStatus
  readonly apiVersion: string
  readonly secret: Uint8Array
  readonly previousSecret: Uint8Array | null
  /** Epoch milliseconds. */
  readonly previousSecretExpiresAt: number | null
  readonly failing: boolean
  readonly version: bigint
}

const SETTINGS = select({
  ...pick(from(WebhookEndpoint, ''), ['id', 'tenantId', 'url', 'status', 'apiVersion', 'secret', 'previousSecret']),
  ...pick(from(WebhookEndpoint, ''), ['previousSecretExpiresAt', 'consecutiveFailures', 'version']),
})

export async function readEndpointSettings(database: Database, id: string): Promise<EndpointSettings | null> {
  const [row] = await database.query({
    name: 'endpoint_settings',
    values: [id],
    text: `select ${SETTINGS.sql} from webhook_endpoint where id = $1`,
  })
  if (row === undefined) return null
  const { consecutiveFailures, version, ...settings } = SETTINGS.read(row)
  return { ...settings, failing: consecutiveFailures > 0, version: BigInt(version) }
}

/**
 * Returns when the next endpoint of these shards (null: of all) has failed for too long, epoch milliseconds; null when
 * none fails.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function nextHopeless(database: Database, shards: readonly number[] | null): Promise<number | null> {
  const [row] = await database.query<[number | null]>({
    name: 'next_hopeless',
    values: [plainArrayOrNull(shards)],
    text: `select ceil(extract(epoch from min(failing_since)) * 1000)::float8 from webhook_endpoint
      where failing_since is not null and status in ('active', 'paused') and ($1::smallint[] is null or shard = any($1))`,
  })
  const since = row?.[0] ?? null
  return since === null ? null : since + DISABLE_AFTER_MS
}

/**
 * Disables the endpoints of these shards (null: of all) that have failed for too long. The time counts from the first
 * failure since the last success, so a time without deliveries before that failure does not count.
 *
 * @param tell called in the same transaction for each endpoint that was disabled
 */
export async function disableHopeless(
  database: Database,
  { now, shards }: { readonly now: number; readonly shards: readonly number[] | null },
  tell: (client: TransactionClient, endpoint: { readonly id: string; readonly tenantId: string }) => Promise<void>,
): Promise<void> {
  const values = [timestamp(now - DISABLE_AFTER_MS), plainArrayOrNull(shards)]
  const hopeless = `failing_since <= $1 and status in ('active', 'paused') and ($2::smallint[] is null or shard = any($2))`
  if (
    (
      await database.query({
        name: 'hopeless_endpoints',
        text: `select id from webhook_endpoint where ${hopeless} limit 1`,
        values,
      })
    ).length === 0
  )
    return
  await inTransaction(database, async (client) => {
    const { rows } = await client.query<{ id: string; tenantId: string; shard: number }>({
      name: 'disable_endpoints',
      values: [...values, timestamp(now)],
      text: `update webhook_endpoint set status = 'disabled', disabled_reason = 'delivery_failures', status_changed_at = $3, updated_at = $3, version = version + 1
        where ${hopeless} returning id, tenant_id as "tenantId", shard`,
    })
    await discardQueued(
      client,
      rows.map(({ id }) => id),
      now,
    )
    for (const endpoint of rows) {
      await announceChange(client, [endpoint.id], endpoint.shard)
      await tell(client, endpoint)
    }
  })
}
