/**
 * The body of a callback. It only names the event and the object; the receiver reads details from the API, with its own
 * permissions.
 */
import type { EventObject, EventType } from '../base/event-types.ts'
import { timestamp } from '../base/clock.ts'

export const ENDPOINT_STATUSES = ['active', 'paused', 'disabled'] as const
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number]

export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'failed', 'discarded'] as const
export type DeliveryState = (typeof DELIVERY_STATUSES)[number]

/** An event as it was written with its cause. Times are epoch milliseconds, amounts minor units. */
export interface WebhookEvent {
  readonly id: string
  readonly type: EventType
  readonly createdAt: number
  readonly customerId: string | null
  readonly object: EventObject
  readonly objectId: string
  readonly status: string | null
  readonly previousStatus: string | null
  readonly amount: bigint | null
  readonly currency: string | null
  readonly sandbox: boolean
  /** More members of the payload, as JSON text of an object; null or absent: none. */
  readonly details?: string | null
  readonly related: { readonly object: string; readonly id: string } | null
}

/** The members that events of some objects have beyond those of all. Times are RFC 3339. */
export interface EventDetails {
  /** Of a collection: it came back after it was collected. */
  readonly late?: boolean
  readonly willRetry?: boolean
  readonly nextAttemptAt?: string | null
}

/** Makes the envelope of an event for one tenant's endpoint. The same event always gives the same bytes. */
export function envelope(
  event: WebhookEvent,
  { tenantId, apiVersion, test }: { readonly tenantId: string; readonly apiVersion: string; readonly test: boolean },
) {
  return {
    id: event.id,
    type: event.type,
    createdAt: timestamp(event.createdAt),
    apiVersion,
    tenantId,
    customerId: event.customerId,
    data: {
      object: event.object,
      id: event.objectId,
      status: event.status,
      previousStatus: event.previousStatus,
      amount:
        event.amount === null || event.currency === null
          ? null
          : { amountMinor: event.amount.toString(), currency: event.currency },
      test,
      sandbox: event.sandbox,
      related: event.related,
      ...(event.details == null ? {} : (JSON.parse(event.details) as EventDetails)),
    },
  }
}

/** Makes the headers of a callback, without its signatures. `seconds` is unix time. */
export function callbackHeaders({
  eventId,
  eventType,
  seconds,
  test,
}: {
  readonly eventId: string
  readonly eventType: EventType
  readonly seconds: number
  readonly test: boolean
}): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhooks/1.0',
    'Service-Event-Id': eventId,
    'Service-Event-Type': eventType,
    'Service-Timestamp': String(seconds),
    ...(test ? { 'Service-Test': 'true' } : {}),
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
  }
}
