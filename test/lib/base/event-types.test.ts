/**
 * The type checker knows the types of events, the objects that they name and the statuses of a noun. Each
 * `@ts-expect-error` is a misspelt word that must not compile; the type checker reports those that do.
 */
import t from 'tap'
import { EVENT_TYPES, objectOf, type EventObject, type EventType } from '../../../lib/base/event-types.ts'
import type { OutboxEvent, StatusUpdate } from '../../../lib/decisions/effects.ts'
import type { PaymentChange } from '../../../lib/payments/effects.ts'
import type { WebhookEvent } from '../../../lib/webhooks/envelope.ts'

t.test('a misspelt event type, object or status does not compile', async (t) => {
  const words: readonly [
    OutboxEvent['type'],
    WebhookEvent['type'],
    OutboxEvent['object'],
    WebhookEvent['object'],
    PaymentChange['status'],
    StatusUpdate['status'],
  ][] = [
    ['payment.completed', 'payment.completed', 'payment', 'api_key', 'completed', 'partially_drawn'],
    // @ts-expect-error An outbox event of no known type.
    ['payment.complete', 'payment.completed', 'payment', 'payment', 'completed', 'completed'],
    // @ts-expect-error A webhook event of no known type.
    ['payment.completed', 'payment.complete', 'payment', 'payment', 'completed', 'completed'],
    // @ts-expect-error An outbox event of no known object.
    ['payment.completed', 'payment.completed', 'payments', 'payment', 'completed', 'completed'],
    // @ts-expect-error A webhook event of no known object.
    ['payment.completed', 'payment.completed', 'payment', 'payments', 'completed', 'completed'],
    // @ts-expect-error A payment of no known status.
    ['payment.completed', 'payment.completed', 'payment', 'payment', 'complete', 'completed'],
    // @ts-expect-error An update of no known status.
    ['payment.completed', 'payment.completed', 'payment', 'payment', 'completed', 'complete'],
  ]
  t.equal(words.length, 7)
})

t.test('the object of every event is the name before the dot, and an API key for a deprecated operation', async (t) => {
  const objects = new Map<EventType, EventObject>(EVENT_TYPES.map((type) => [type, objectOf(type)]))
  t.equal(objects.get('deprecated_operation.used'), 'api_key')
  for (const [type, object] of objects)
    if (type !== 'deprecated_operation.used') t.ok(type.startsWith(`${object}.`), type)
})
