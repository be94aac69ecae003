/**
 * The type checker knows the types of events, the objects that they name, the statuses of a noun and the other closed
 * sets of words. Each `@ts-expect-error` is a misspelt word that must not compile; the type checker reports those that
 * do.
 */
import t from 'tap'
import { EVENT_TYPES, objectOf, type EventObject, type EventType } from '../../../lib/base/event-types.ts'
import type { HoldRow, OutboxEvent, StatusUpdate } from '../../../lib/decisions/effects.ts'
import type { CustomerStatus } from '../../../lib/customers/status.ts'
import type { Posting } from '../../../lib/ledger/posting.ts'
import type { ProviderEvent } from '../../../lib/providers/effects.ts'
import type { PaymentChange } from '../../../lib/payments/effects.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../../../lib/base/audit-actions.ts'
import type { AuditChange } from '../../../storage/trail/trail.ts'
import type { PaymentOrder } from '../../../actors/providers/bank.ts'
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

t.test('a misspelt rail, message, source, hold, customer status or audit action does not compile', async (t) => {
  const words: readonly [
    PaymentOrder['rail'],
    ProviderEvent['type'],
    Posting['sourceObject'],
    Posting['rule'],
    HoldRow['subjectType'],
    CustomerStatus,
    AuditAction<'payment'>,
    AuditChange['object']['type'],
  ][] = [
    ['sepa', 'settled', 'payment', 'L01', 'recall', 'active', 'payment.updated', 'payment'],
    // @ts-expect-error A rail that no row of the table has.
    ['sepia', 'settled', 'payment', 'L01', 'recall', 'active', 'payment.updated', 'payment'],
    // @ts-expect-error A message that no partner sends.
    ['sepa', 'settle', 'payment', 'L01', 'recall', 'active', 'payment.updated', 'payment'],
    // @ts-expect-error An entry with an unknown source.
    ['sepa', 'settled', 'payments', 'L01', 'recall', 'active', 'payment.updated', 'payment'],
    // @ts-expect-error An entry without a posting rule.
    ['sepa', 'settled', 'payment', 'L99', 'recall', 'active', 'payment.updated', 'payment'],
    // @ts-expect-error A hold for an unknown kind of object.
    ['sepa', 'settled', 'payment', 'L01', 'recalls', 'active', 'payment.updated', 'payment'],
    // @ts-expect-error A customer of no known status.
    ['sepa', 'settled', 'payment', 'L01', 'recall', 'activ', 'payment.updated', 'payment'],
    // @ts-expect-error An action on another kind of object.
    ['sepa', 'settled', 'payment', 'L01', 'recall', 'active', 'balance.updated', 'payment'],
    // @ts-expect-error A kind of object without a trail.
    ['sepa', 'settled', 'payment', 'L01', 'recall', 'active', 'payment.updated', 'payments'],
  ]
  t.equal(words.length, 9)
})

t.test('an action of the audit trail is a noun and a participle, and belongs to one kind of object', async (t) => {
  const actions: string[] = Object.values(AUDIT_ACTIONS).flat()
  t.equal(new Set(actions).size, actions.length)
  for (const action of actions) t.match(action, /^[a-z_]{1,30}\.[a-z_]{1,29}$/)
})

t.test('the object of every event is the name before the dot, and an API key for a deprecated operation', async (t) => {
  const objects = new Map<EventType, EventObject>(EVENT_TYPES.map((type) => [type, objectOf(type)]))
  t.equal(objects.get('deprecated_operation.used'), 'api_key')
  for (const [type, object] of objects)
    if (type !== 'deprecated_operation.used') t.ok(type.startsWith(`${object}.`), type)
})
