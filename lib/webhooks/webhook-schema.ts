/** Schemas of callbacks to integrators: endpoints and their deliveries. */
import Type, { type Static } from 'typebox'
import { HOUR_MS } from '../base/clock.ts'
import { CUSTOMER_EVENT_TYPES, EVENT_TYPES } from '../base/event-types.ts'
import { DISABLE_AFTER_MS, PAUSE_AFTER_FAILURES, RETRY_WINDOW_MS } from './schedule.ts'
import { list } from '../contract/list.ts'
import { Money, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { ENDPOINT_STATUSES, DELIVERY_STATUSES } from './envelope.ts'

const URL_MAX = 2_048
const EVENTS_MAX = 50

export const IntegratorEventType = Words(
  'IntegratorEventType',
  EVENT_TYPES,
  'An event is sent to the endpoints that subscribe to its type. `bulk_payment.status_changed` is about a ' +
    'file as a whole, first with `previousStatus` null; each of its payments has events of its own. The types ' +
    'of customers, KYB cases, providers, deprecated operations and compliance holds are for operators.',
)

const Events = Type.Array(IntegratorEventType, { minItems: 1, maxItems: EVENTS_MAX })
const Url = Text(1, URL_MAX, {
  description:
    'Begins with `https://` and names a public host: no private or internal address, no credentials, no ' +
    'fragment, port 443 or 1024 and above.',
  examples: ['https://hooks.example.com/vostro'],
})
const Description = Nullable(Text(0, 200))

const webhook = {
  id: Uuid,
  tenantId: Uuid,
  customerId: Nullable(Uuid, { description: 'Null for an endpoint of the operator.' }),
  url: Url,
  events: Events,
  description: Description,
  enabled: Type.Boolean({
    description:
      'False while the endpoint is `disabled`. The value true makes the endpoint active again, with its ' +
      'counters at zero.',
  }),
  status: Words(
    'WebhookStatus',
    ENDPOINT_STATUSES,
    `\`paused\` after ${PAUSE_AFTER_FAILURES} failed attempts in a row: new events are not sent. \`disabled\` by its owner, or after ${DISABLE_AFTER_MS / HOUR_MS} hours of failures.`,
  ),
  disabledReason: Nullable(Words('WebhookDisabledReason', ['owner', 'delivery_failures'])),
  statusChangedAt: Nullable(Timestamp),
  secretHint: Type.String({ description: 'The last four characters of the secret.' }),
  previousSecretExpiresAt: Nullable(Timestamp, {
    description: 'Until this time callbacks are also signed with the previous secret.',
  }),
  consecutiveFailures: Type.Integer(),
  lastDeliveryAt: Nullable(Timestamp),
  lastSuccessAt: Nullable(Timestamp),
  apiVersion: Type.String({ description: 'Version of the contract that callbacks follow.' }),
  createdBy: Uuid,
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const IntegratorWebhook = Type.Object(webhook, { title: 'IntegratorWebhook' })
export type IntegratorWebhook = Static<typeof IntegratorWebhook>

export const IntegratorWebhookWithSecret = Type.Object(
  {
    ...webhook,
    secret: Type.String({
      description: 'The secret that signs callbacks. Shown only in this answer.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0bF5wM0nT2c='],
    }),
  },
  { title: 'IntegratorWebhookWithSecret' },
)

export const IntegratorWebhookWrite = Type.Object(
  {
    url: Url,
    events: Events,
    description: Type.Optional(Description),
  },
  { title: 'IntegratorWebhookWrite', additionalProperties: false },
)
export type IntegratorWebhookWrite = Static<typeof IntegratorWebhookWrite>

export const IntegratorWebhookUpdate = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    enabled: Type.Optional(Type.Boolean()),
  },
  { title: 'IntegratorWebhookUpdate', additionalProperties: false },
)
export type IntegratorWebhookUpdate = Static<typeof IntegratorWebhookUpdate>

export const webhookList = list({
  filters: {
    status: { kind: 'words', values: ENDPOINT_STATUSES },
    enabled: { kind: 'boolean' },
    event: { kind: 'words', values: EVENT_TYPES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt'],
})

export const WebhookAttempt = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    startedAt: Timestamp,
    durationMs: Type.Integer({ minimum: 0 }),
    responseStatus: Nullable(Type.Integer()),
    errorKind: Nullable(
      Words('DeliveryErrorKind', [
        'http_status',
        'timeout',
        'dns',
        'connect',
        'tls',
        'redirect',
        'unsafe_address',
        'response_too_large',
      ]),
    ),
    errorMessage: Nullable(Type.String()),
    responseSnippet: Nullable(Type.String({ description: 'The first 1024 bytes of the answer.' })),
    requestHeaders: Type.Record(Type.String(), Type.String(), {
      description: 'The headers of the request, with hidden signatures.',
    }),
    resolvedAddress: Nullable(Type.String({ description: 'The address of the server that was called.' })),
  },
  { title: 'WebhookAttempt' },
)

export const WebhookEnvelope = Type.Object(
  {
    id: Uuid,
    type: IntegratorEventType,
    createdAt: Timestamp,
    apiVersion: Type.String(),
    tenantId: Uuid,
    customerId: Nullable(Uuid),
    data: Type.Object({
      object: Type.String({ examples: ['payment'] }),
      id: Uuid,
      status: Nullable(Type.String()),
      previousStatus: Nullable(Type.String()),
      amount: Nullable(Money),
      test: Type.Boolean(),
      sandbox: Type.Boolean({ description: 'True for events that were simulated.' }),
      related: Nullable(Type.Object({ object: Type.String(), id: Uuid })),
      late: Type.Optional(Type.Boolean({ description: 'Of a collection: it came back after it was collected.' })),
      willRetry: Type.Optional(Type.Boolean({ description: 'Of a collection: it is presented again.' })),
      nextAttemptAt: Type.Optional(Nullable(Timestamp)),
    }),
  },
  { title: 'WebhookEnvelope' },
)

export const WebhookDelivery = Type.Object(
  {
    id: Uuid,
    webhookId: Uuid,
    eventId: Uuid,
    eventType: IntegratorEventType,
    status: Words(
      'DeliveryStatus',
      DELIVERY_STATUSES,
      `\`failed\`: ${RETRY_WINDOW_MS / HOUR_MS} hours passed without a successful attempt. \`discarded\`: the endpoint was not active.`,
    ),
    succeeded: Type.Boolean(),
    test: Type.Boolean(),
    redelivery: Type.Boolean(),
    attemptCount: Type.Integer({ minimum: 0 }),
    nextAttemptAt: Nullable(Timestamp),
    eventCreatedAt: Timestamp,
    createdAt: Timestamp,
    completedAt: Nullable(Timestamp),
    payload: Type.Object(
      {},
      { additionalProperties: true, description: 'The body as it is sent (`WebhookEnvelope`); empty after 30 days.' },
    ),
    attempts: Type.Array(WebhookAttempt, { description: 'The attempts, newest first, kept for 30 days.' }),
  },
  { title: 'WebhookDelivery' },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const deliveryList = list({
  filters: {
    succeeded: { kind: 'boolean' },
    status: { kind: 'words', values: DELIVERY_STATUSES },
    eventType: { kind: 'words', values: EVENT_TYPES },
    eventId: { kind: 'ids' },
    test: { kind: 'boolean' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt'],
})

export const SimWebhookEvent = Type.Object(
  {
    type: IntegratorEventType,
    objectId: Type.Optional(Type.String({ format: 'uuid', description: 'By default a new id.' })),
    status: Type.Optional(Text(1, 80)),
    amount: Type.Optional(Money),
  },
  {
    title: 'SimWebhookEvent',
    additionalProperties: false,
    description: `One of the types of customers: ${CUSTOMER_EVENT_TYPES.join(', ')}.`,
  },
)
export type SimWebhookEvent = Static<typeof SimWebhookEvent>

export const SandboxReset = Type.Object(
  {
    webhooks: Type.Optional(Type.Boolean({ default: true, description: 'Whether paused endpoints become active.' })),
    deliveries: Type.Optional(Type.Boolean({ default: true, description: 'Whether deliveries are deleted.' })),
  },
  { title: 'SandboxReset', additionalProperties: false },
)
export type SandboxReset = Static<typeof SandboxReset>

export const SandboxResetResult = Type.Object(
  {
    endpointsReactivated: Type.Integer({ minimum: 0 }),
    deliveriesDeleted: Type.Integer({ minimum: 0 }),
  },
  { title: 'SandboxResetResult' },
)
export type SandboxResetResult = Static<typeof SandboxResetResult>
