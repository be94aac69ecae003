/** Sandbox simulations of webhooks: invented events, and a reset of the sandbox. */
import { route } from '../route/route.ts'
import { SimulationResult } from '../../lib/contract/simulation.ts'
import { SandboxReset, SandboxResetResult, SimWebhookEvent } from '../../lib/webhooks/webhook-schema.ts'

export const simulateWebhookEvent = route({
  method: 'post',
  path: '/simulations/webhook-events',
  operationId: 'simulateWebhookEvent',
  tag: 'simulations',
  summary: 'Simulate a webhook event',
  description:
    "The event goes to the customer's active endpoints that subscribe to its type, with `data.sandbox: true`.",
  callers: 'key',
  scope: 'webhooks:manage',
  tenant: 'customer',
  sandbox: 'simulation',
  feature: 'webhooks',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimWebhookEvent,
  success: { status: 202, description: 'The event was written.', schema: SimulationResult },
  problems: [],
  handle: async ({ caller, body, command }, { webhooks }) => await webhooks.simulate(caller, body, command.idempotency),
})

export const resetSandbox = route({
  method: 'post',
  path: '/sandbox/reset',
  operationId: 'resetSandbox',
  tag: 'public-api',
  summary: 'Reset the webhooks of a sandbox',
  description: 'Paused endpoints become active and deliveries are deleted. Money is not touched.',
  callers: 'key',
  scope: 'webhooks:manage',
  tenant: 'customer',
  sandbox: 'only',
  feature: 'webhooks',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SandboxReset,
  bodyOptional: true,
  success: {
    status: 200,
    description: 'The counts of reactivated endpoints and deleted deliveries.',
    schema: SandboxResetResult,
  },
  problems: [],
  handle: async ({ caller, body, command }, { webhooks }) =>
    await webhooks.resetSandbox(caller, body, command.idempotency),
})
