/** Integrator webhooks: endpoints of a customer or an operator, and their deliveries. */
import { created, empty, json, page, resource, resourceWith } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  deliveryList,
  IntegratorWebhook,
  IntegratorWebhookUpdate,
  IntegratorWebhookWithSecret,
  IntegratorWebhookWrite,
  WebhookDelivery,
  webhookList,
} from '../../lib/webhooks/webhook-schema.ts'
import type { CurrentContext } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

const ONE = '/integrator-webhooks/{webhookId}'
const shared = {
  tag: 'public-api',
  callers: 'key',
  scope: 'webhooks:manage',
  tenant: 'any',
  feature: 'webhooks',
  idempotency: 'none',
} as const
const change = { action: 'integrator_webhook.change' } as const

const current = async ({ tenant, params }: CurrentContext<typeof ONE>, { webhooks }: ReadServices) =>
  tenant === null ? null : await webhooks.get(tenant, params.webhookId)

export const listIntegratorWebhooks = route({
  ...shared,
  method: 'get',
  path: '/integrator-webhooks',
  operationId: 'listIntegratorWebhooks',
  summary: 'List webhook endpoints',
  description: 'Lists the endpoints of the tenant in X-Tenant-Id: a customer, or the operator itself.',
  list: webhookList,
  success: {
    status: 200,
    description: 'A page of endpoints, without their secrets.',
    schema: PageOf('IntegratorWebhookPage', IntegratorWebhook),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { webhooks }) => page(list, await webhooks.list(list)),
})

export const createIntegratorWebhook = route({
  ...shared,
  method: 'post',
  path: '/integrator-webhooks',
  operationId: 'createIntegratorWebhook',
  summary: 'Add a webhook endpoint',
  description:
    'The signing secret is in this answer and never shown again. A tenant has at most ten endpoints. The ' +
    'owners of the tenant are notified by mail.',
  stepUp: change,
  body: IntegratorWebhookWrite,
  answersCredential: true,
  success: {
    status: 201,
    description: 'The endpoint with its secret.',
    schema: IntegratorWebhookWithSecret,
    etag: true,
    location: true,
  },
  problems: ['limit-reached', 'unsafe-url'],
  handle: async ({ caller, body }, { webhooks }) => {
    const made = await webhooks.create(caller, body)
    return created(made, `/v1/integrator-webhooks/${made.view.id}`, { secret: made.secret })
  },
})

export const getIntegratorWebhook = route({
  ...shared,
  method: 'get',
  path: ONE,
  operationId: 'getIntegratorWebhook',
  summary: 'Read a webhook endpoint',
  success: { status: 200, description: 'The endpoint, without its secret.', schema: IntegratorWebhook, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { webhooks }) => resource(await webhooks.get(tenant, params.webhookId)),
})

export const updateIntegratorWebhook = route({
  ...shared,
  method: 'patch',
  path: ONE,
  operationId: 'updateIntegratorWebhook',
  summary: 'Change a webhook endpoint',
  description:
    '`enabled: true` makes a paused or disabled endpoint active again, with its counters at zero; missed ' +
    'deliveries are listed and can be sent again. `enabled: false` disables the endpoint and discards its ' +
    'waiting deliveries.',
  stepUp: { ...change, subject: 'webhookId' },
  ifMatch: true,
  current,
  body: IntegratorWebhookUpdate,
  success: { status: 200, description: 'The endpoint as it is now.', schema: IntegratorWebhook, etag: true },
  problems: ['unsafe-url'],
  handle: async ({ caller, params, body, expectedVersion }, { webhooks }) =>
    resource(await webhooks.update(caller, params.webhookId, body, expectedVersion)),
})

export const deleteIntegratorWebhook = route({
  ...shared,
  method: 'delete',
  path: ONE,
  operationId: 'deleteIntegratorWebhook',
  summary: 'Remove a webhook endpoint',
  stepUp: { ...change, subject: 'webhookId' },
  ifMatch: true,
  current,
  success: { status: 204, description: 'The endpoint gets no more events.' },
  problems: [],
  handle: async ({ caller, params, expectedVersion }, { webhooks }) => {
    await webhooks.remove(caller, params.webhookId, expectedVersion)
    return empty()
  },
})

export const rotateIntegratorWebhookSecret = route({
  ...shared,
  method: 'post',
  path: `${ONE}/rotate-secret`,
  operationId: 'rotateIntegratorWebhookSecret',
  summary: 'Rotate the secret of a webhook endpoint',
  description: 'For 24 hours callbacks carry two signatures: one of the new and one of the previous secret.',
  stepUp: { ...change, subject: 'webhookId' },
  answersCredential: true,
  success: {
    status: 200,
    description: 'The endpoint with its new secret, which is shown only in this answer.',
    schema: IntegratorWebhookWithSecret,
    etag: true,
  },
  problems: ['not-found'],
  handle: async ({ caller, params }, { webhooks }) => {
    const { secret, ...rotated } = await webhooks.rotateSecret(caller, params.webhookId)
    return resourceWith(rotated, { secret })
  },
})

export const testIntegratorWebhook = route({
  ...shared,
  method: 'post',
  path: `${ONE}/test`,
  operationId: 'testIntegratorWebhook',
  summary: 'Send a test event to a webhook endpoint',
  description:
    'A paused endpoint can be tested, too. The answer has the outcome of the first attempt; a failed attempt ' +
    'is retried like any other.',
  limits: ['webhook-test'],
  success: { status: 200, description: 'The delivery.', schema: WebhookDelivery },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { webhooks }) => json(200, await webhooks.test(caller, params.webhookId)),
})

export const listWebhookDeliveries = route({
  ...shared,
  method: 'get',
  path: `${ONE}/deliveries`,
  operationId: 'listWebhookDeliveries',
  summary: 'List the deliveries of a webhook endpoint with their attempts',
  description:
    '`filter[succeeded]=false` lists deliveries that have not arrived, including those discarded because the ' +
    'endpoint was not active.',
  list: deliveryList,
  success: {
    status: 200,
    description: 'A page of deliveries.',
    schema: PageOf('WebhookDeliveryPage', WebhookDelivery),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { webhooks }) =>
    page(list, await webhooks.deliveries({ ...list, webhookId: params.webhookId })),
})

export const redeliverWebhook = route({
  ...shared,
  method: 'post',
  path: `${ONE}/deliveries/{deliveryId}/redeliver`,
  operationId: 'redeliverWebhook',
  summary: 'Send a delivery again',
  description: 'Sends the same event with the same id, with retries for another 72 hours. The endpoint must be active.',
  limits: ['webhook-redeliver'],
  success: { status: 202, description: 'The delivery, pending again.', schema: WebhookDelivery },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { webhooks }) =>
    json(202, await webhooks.redeliver(caller, params.webhookId, params.deliveryId)),
})
