/** Webhooks of banking partners, and the log of what they and the other sources have told. */
import { PageOf } from '../../lib/contract/page.ts'
import {
  ProviderEvent,
  ProviderEventDetail,
  ProviderEventDismiss,
  providerEventList,
  ProviderEventReprocess,
  ProviderEventReprocessing,
  ProviderEventsReprocess,
  ProviderWebhook,
} from '../../lib/providers/provider-event-schema.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { expected, json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'

/** Banks send statements and batches in one body. */
const WEBHOOK_BYTES_MAX = 5 * 1024 * 1024

const STAFF = {
  tag: 'providers',
  callers: 'staff',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const

export const receiveProviderWebhook = route({
  method: 'post',
  path: '/provider-webhooks/{connectionId}',
  operationId: 'receiveProviderWebhook',
  tag: 'providers',
  summary: 'Take a webhook of a banking partner',
  description:
    'For the provider of the connection, which signs the body in its own way. `sandbox`: the headers of Standard ' +
    'Webhooks, not older than five minutes. An event that is sent again, and one of an unknown type, is taken and ' +
    'changes nothing. A provider that takes no other answer gets the one that it documents.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['partner-webhook'],
  signedBody: { bytesMax: WEBHOOK_BYTES_MAX, schema: ProviderWebhook },
  success: { status: 202, description: 'The signature is right, and the event was taken.' },
  problems: [],
  handle: async ({ params, signed }, { providerEvents }) =>
    expected(202, await providerEvents.receive(params.connectionId, signed as SignedBody)),
})

export const listProviderEvents = route({
  ...STAFF,
  capability: 'providers.read',
  method: 'get',
  path: '/provider-events',
  operationId: 'listProviderEvents',
  summary: 'List the events of banking partners',
  description:
    'Webhooks, polls, files and statements in one list, newest first, for 400 days. `filter[reason]=unmatched` is the ' +
    'queue of what matches nothing.',
  list: providerEventList,
  success: {
    status: 200,
    description: 'A page of events.',
    schema: PageOf('ProviderEventPage', ProviderEvent),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { providerEvents }) => page(list, await providerEvents.list(list)),
})

export const getProviderEvent = route({
  ...STAFF,
  capability: 'providers.read',
  method: 'get',
  path: '/provider-events/{eventId}',
  operationId: 'getProviderEvent',
  summary: 'Read an event of a banking partner',
  description:
    'With its body as it came, its headers without what proves something, the changes that each of its messages has ' +
    'made, and whether the events about the same object disagree.',
  success: { status: 200, description: 'The event.', schema: ProviderEventDetail, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { providerEvents }) =>
    resource(await providerEvents.get(tenant.id, params.eventId)),
})

export const reprocessProviderEvent = route({
  ...STAFF,
  capability: 'operations.manage',
  method: 'post',
  path: '/provider-events/{eventId}/reprocess',
  operationId: 'reprocessProviderEvent',
  summary: 'Use an event again',
  description:
    'First with `preview`, which shows what would change; then with `apply` and the token of the preview. `assignTo` ' +
    'gives what matches nothing to a payment or exchange; where that changes something, a second person has to ask for ' +
    'the same, unless the operator lets one person resolve exceptions. When the difference is another one by now, the ' +
    'answer is `precondition-failed`, and nothing was done.',
  body: ProviderEventReprocess,
  exists: async (tenant, { eventId }, { providerEvents }) => (await providerEvents.get(tenant.id, eventId)) !== null,
  success: {
    status: 200,
    description: 'What would change.',
    schema: ProviderEventReprocessing,
    or: { status: 202, description: 'What was shown is done, or waits for a second person.' },
  },
  problems: ['invalid-transition', 'precondition-failed'],
  handle: async ({ caller, params, body }, { providerEvents }) =>
    json(body.mode === 'apply' ? 202 : 200, await providerEvents.reprocess(caller, params.eventId, body)),
})

export const reprocessProviderEvents = route({
  ...STAFF,
  capability: 'operations.manage',
  method: 'post',
  path: '/provider-events/reprocess',
  operationId: 'reprocessProviderEvents',
  summary: 'Use a range of events again',
  description: 'As for one event, for those of one connection that were received in a span; of 500 at most.',
  body: ProviderEventsReprocess,
  success: {
    status: 200,
    description: 'What would change.',
    schema: ProviderEventReprocessing,
    or: { status: 202, description: 'What was shown is done.' },
  },
  problems: ['invalid-transition', 'precondition-failed'],
  handle: async ({ caller, body }, { providerEvents }) =>
    json(body.mode === 'apply' ? 202 : 200, await providerEvents.reprocessRange(caller, body)),
})

export const dismissProviderEvent = route({
  ...STAFF,
  capability: 'operations.manage',
  method: 'post',
  path: '/provider-events/{eventId}/dismiss',
  operationId: 'dismissProviderEvent',
  summary: 'Put an event aside',
  description: 'For one that has failed, or matches nothing. It stays in the log, and can be used again.',
  body: ProviderEventDismiss,
  exists: async (tenant, { eventId }, { providerEvents }) => (await providerEvents.get(tenant.id, eventId)) !== null,
  success: { status: 200, description: 'The event.', schema: ProviderEventDetail, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body }, { providerEvents }) =>
    resource(await providerEvents.dismiss(caller, params.eventId, body)),
})
