/** Endpoints and deliveries as the API shows them. */
import { sql } from 'kysely'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import { callbackHeaders, envelope, type EndpointStatus, type DeliveryState } from '../../lib/webhooks/envelope.ts'
import type { Database } from '../db/database.ts'
import { RELATED_COLUMNS, RELATED_JOIN } from '../outbox/outbox.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, epochMs, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import type { EventType, EventObject } from '../../lib/base/event-types.ts'

const ms = (column: string) => `(extract(epoch from e.${column}) * 1000)::float8 as ${column}_ms`

export const endpointColumns = `e.id, e.tenant_id, e.customer_id, e.url, e.events, e.description, e.status, e.disabled_reason, e.secret_hint,
  e.consecutive_failures, e.api_version, e.version, e.created_by, ${[
    'status_changed_at',
    'previous_secret_expires_at',
    'last_delivery_at',
    'last_success_at',
    'created_at',
    'updated_at',
  ]
    .map(ms)
    .join(', ')}`

export interface EndpointRow {
  readonly id: string
  readonly tenant_id: string
  readonly customer_id: string | null
  readonly url: string
  readonly events: EventType[]
  readonly description: string | null
  readonly status: EndpointStatus
  readonly disabled_reason: 'owner' | 'delivery_failures' | null
  readonly secret_hint: string
  readonly consecutive_failures: number
  readonly api_version: string
  readonly version: string
  readonly created_by: string
  readonly status_changed_at_ms: number | null
  readonly previous_secret_expires_at_ms: number | null
  readonly last_delivery_at_ms: number | null
  readonly last_success_at_ms: number | null
  readonly created_at_ms: number
  readonly updated_at_ms: number
}

const time = (value: number | null): string | null => (value === null ? null : timestamp(value))

/** An endpoint as the API shows it, without its secret. */
export function endpointView(row: EndpointRow) {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    customerId: row.customer_id,
    url: row.url,
    events: row.events,
    description: row.description,
    enabled: row.status !== 'disabled',
    status: row.status,
    disabledReason: row.disabled_reason,
    statusChangedAt: time(row.status_changed_at_ms),
    secretHint: row.secret_hint,
    previousSecretExpiresAt: time(row.previous_secret_expires_at_ms),
    consecutiveFailures: row.consecutive_failures,
    lastDeliveryAt: time(row.last_delivery_at_ms),
    lastSuccessAt: time(row.last_success_at_ms),
    apiVersion: row.api_version,
    createdBy: row.created_by,
    createdAt: timestamp(row.created_at_ms),
    updatedAt: timestamp(row.updated_at_ms),
  }
}
export type EndpointJson = ReturnType<typeof endpointView>

/** An endpoint with its version. Deliveries change neither its version nor its entity tag. */
export function versionedEndpoint(row: EndpointRow) {
  return {
    version: BigInt(row.version),
    view: endpointView(row),
    untagged: ['consecutiveFailures', 'lastDeliveryAt', 'lastSuccessAt'],
  }
}

export interface EndpointFilters {
  readonly status?: readonly string[]
  readonly enabled?: boolean
  readonly event?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type EndpointListQuery = RowQuery<EndpointFilters, '-createdAt'>

const ENDPOINT_ORDER: Order = { keys: [{ expression: sql`e.id`, type: 'uuid' }], descending: true }

/** Lists the endpoints of a tenant; for an operator its own, not those of its customers. */
export async function listEndpoints(db: ReadDatabase, { tenant, filters, ...page }: EndpointListQuery) {
  const where = new Conditions()
    .add(sql`e.tenant_id = ${tenant.id}::uuid`)
    .anyOf(sql`e.status`, filters.status, 'text')
    .created('e', filters.createdFrom, filters.createdTo)
  if (filters.enabled !== undefined) where.add(sql`(e.status <> 'disabled') = ${filters.enabled}`)
  if (filters.event !== undefined) where.add(sql`e.events && ${filters.event}::text[]`)
  const { rows, ...rest } = await readPage<EndpointRow>(
    db,
    [{ columns: sql.raw(endpointColumns), from: sql`webhook_endpoint e`, where: where.list, order: ENDPOINT_ORDER }],
    page,
  )
  return { ...rest, rows: rows.map(endpointView) }
}

/** Reads one endpoint of a tenant; null when the tenant has none of this id. */
export async function getEndpoint(database: Database, tenant: Tenant, id: string) {
  const { rows } = await database.pool.query<EndpointRow>({
    name: 'get_endpoint',
    text: `select ${endpointColumns} from webhook_endpoint e where e.id = $1 and e.tenant_id = $2`,
    values: [id, tenant.id],
  })
  return rows[0] === undefined ? null : versionedEndpoint(rows[0])
}

// ── Deliveries
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Time during which the request and the answer of a delivery can be read. */
const SHOWN_MS = 30 * DAY_MS

const DELIVERY_COLUMNS = sql`d.id, d.endpoint_id, d.event_id, d.event_type, d.status, d.test, d.redelivery, d.attempt_count, d.attempts,
  ${epochMs('d.next_attempt_at')} as next_attempt_ms, ${epochMs('d.event_created_at')} as event_created_ms, ${epochMs('d.created_at')} as created_ms,
  ${epochMs('d.completed_at')} as completed_ms, e.tenant_id, e.api_version, o.customer_id, o.object, o.object_id, o.status as event_status,
  o.previous_status, o.amount, o.currency, o.sandbox, o.details, ${sql.raw(RELATED_COLUMNS)}`
const DELIVERY_FROM = sql`webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
  left join outbox o on o.id = d.event_id and o.created_at = d.event_created_at ${sql.raw(RELATED_JOIN)}`

interface DeliveryRow {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly event_type: EventType
  readonly status: DeliveryState
  readonly test: boolean
  readonly redelivery: boolean
  readonly attempt_count: number
  readonly attempts: string[]
  readonly next_attempt_ms: number | null
  readonly event_created_ms: number
  readonly created_ms: number
  readonly completed_ms: number | null
  readonly tenant_id: string
  readonly api_version: string
  readonly customer_id: string | null
  readonly object: EventObject | null
  readonly object_id: string | null
  readonly event_status: string | null
  readonly previous_status: string | null
  readonly amount: string | null
  readonly currency: string | null
  readonly sandbox: boolean | null
  readonly details: string | null
  readonly related_object: string | null
  readonly related_id: string | null
}

/** An attempt as stored; its number follows from its position, its headers from the event and the time of signing. */
export interface StoredAttempt {
  readonly startedAt: string
  readonly durationMs: number
  readonly responseStatus: number | null
  readonly errorKind:
    | 'http_status'
    | 'timeout'
    | 'dns'
    | 'connect'
    | 'tls'
    | 'redirect'
    | 'unsafe_address'
    | 'response_too_large'
    | null
  readonly errorMessage: string | null
  readonly responseSnippet: string | null
  readonly resolvedAddress: string | null
  /** Unix seconds. */
  readonly signedAt: number
}

function attemptView(row: DeliveryRow, text: string, index: number) {
  const { startedAt, durationMs, responseStatus, errorKind, errorMessage, responseSnippet, resolvedAddress, signedAt } =
    JSON.parse(text) as StoredAttempt
  const headers = callbackHeaders({
    eventId: row.event_id,
    eventType: row.event_type,
    seconds: signedAt,
    test: row.test,
  })
  return {
    number: row.attempt_count - index,
    startedAt,
    durationMs,
    responseStatus,
    errorKind,
    errorMessage,
    responseSnippet,
    requestHeaders: { ...headers, 'Service-Signature': HIDDEN, 'webhook-signature': HIDDEN },
    resolvedAddress,
  }
}

/** Shown in place of signatures, so that a reader of deliveries cannot replay one. */
const HIDDEN = '(hidden)'

function deliveryView(row: DeliveryRow, now: number) {
  const shown = row.created_ms > now - SHOWN_MS
  return {
    id: row.id,
    webhookId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    status: row.status,
    succeeded: row.status === 'succeeded',
    test: row.test,
    redelivery: row.redelivery,
    attemptCount: row.attempt_count,
    nextAttemptAt: time(row.next_attempt_ms),
    eventCreatedAt: timestamp(row.event_created_ms),
    createdAt: timestamp(row.created_ms),
    completedAt: time(row.completed_ms),
    payload: shown ? payloadOf(row) : {},
    attempts: shown ? row.attempts.map((text, index) => attemptView(row, text, index)) : [],
  }
}
export type DeliveryJson = ReturnType<typeof deliveryView>

/** Builds the body as it is sent; empty when the event is no longer stored. */
function payloadOf(row: DeliveryRow): object {
  if (row.object === null || row.object_id === null) return {}
  return envelope(
    {
      id: row.event_id,
      type: row.event_type,
      createdAt: row.event_created_ms,
      customerId: row.customer_id,
      object: row.object,
      objectId: row.object_id,
      status: row.event_status,
      previousStatus: row.previous_status,
      amount: row.amount === null ? null : BigInt(row.amount),
      currency: row.currency,
      sandbox: row.sandbox === true,
      details: row.details,
      related:
        row.related_object === null || row.related_id === null
          ? null
          : { object: row.related_object, id: row.related_id },
    },
    { tenantId: row.tenant_id, apiVersion: row.api_version, test: row.test },
  )
}

export interface DeliveryFilters {
  readonly succeeded?: boolean
  readonly status?: readonly string[]
  readonly eventType?: readonly string[]
  readonly eventId?: readonly string[]
  readonly test?: boolean
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type DeliveryListQuery = RowQuery<DeliveryFilters, '-createdAt'> & { readonly webhookId: string }

const DELIVERY_ORDER: Order = { keys: [{ expression: sql`d.id`, type: 'uuid' }], descending: true }

/** The deliveries of an endpoint; null when the endpoint is not the tenant's. `now` is epoch milliseconds. */
export async function listDeliveries(
  database: Database,
  db: ReadDatabase,
  { tenant, filters, webhookId, ...page }: DeliveryListQuery,
  now: number,
) {
  if ((await getEndpoint(database, tenant, webhookId)) === null) return null
  const where = new Conditions()
    .add(sql`d.endpoint_id = ${webhookId}::uuid`)
    .anyOf(sql`d.status`, filters.status, 'text')
    .anyOf(sql`d.event_type`, filters.eventType, 'text')
    .anyOf(sql`d.event_id`, filters.eventId, 'uuid')
    .created('d', filters.createdFrom, filters.createdTo)
  if (filters.succeeded !== undefined) where.add(sql`(d.status = 'succeeded') = ${filters.succeeded}`)
  if (filters.test !== undefined) where.add(sql`d.test = ${filters.test}`)
  const { rows, ...rest } = await readPage<DeliveryRow>(
    db,
    [{ columns: DELIVERY_COLUMNS, from: DELIVERY_FROM, where: where.list, order: DELIVERY_ORDER }],
    page,
  )
  return { ...rest, rows: rows.map((row) => deliveryView(row, now)) }
}

/** Reads one delivery of a tenant's endpoint; null when it does not exist. `now` is epoch milliseconds. */
export async function getDelivery(
  db: ReadDatabase,
  tenant: Tenant,
  webhookId: string,
  id: string,
  now: number,
): Promise<DeliveryJson | null> {
  const { rows } = await sql<DeliveryRow>`select ${DELIVERY_COLUMNS} from ${DELIVERY_FROM}
    where d.id = ${id}::uuid and d.endpoint_id = ${webhookId}::uuid and e.tenant_id = ${tenant.id}::uuid`.execute(
    db.kysely,
  )
  return rows[0] === undefined ? null : deliveryView(rows[0], now)
}
