/**
 * Webhook endpoints of integrators, managed by people and API keys: create, change, test, rotate the secret, delete;
 * and the sandbox operations on them.
 *
 *  * A secret is shown in one answer only, and stored sealed in its row.
 *  * A URL is checked when it is written and before every delivery, because a name that does not resolve now may
 *    resolve later.
 *  * The owners of an endpoint are told of every change: by a notice and a mail, in the same transaction.
 */
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import {
  getEndpoint,
  listDeliveries,
  listEndpoints,
  type DeliveryJson,
  type EndpointJson,
} from '../../storage/webhooks/webhook-queries.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  SandboxResetResult,
  deliveryList,
  IntegratorWebhookUpdate,
  IntegratorWebhookWrite,
  SandboxReset,
  SimWebhookEvent,
  webhookList,
} from '../../lib/webhooks/webhook-schema.ts'
import type { CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { WebhookCommandDeps, WebhookDeps } from './change-endpoint.ts'
import { createEndpoint } from './create-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { redeliverEvent } from './redeliver-event.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { resetSandbox, simulateEvent } from './sandbox-webhooks.ts'
import { testEndpoint } from './test-endpoint.ts'
import { updateEndpoint } from './update-endpoint.ts'

/** The reads of GET routes. Null: no such endpoint in the tenant. */
export interface WebhookReads {
  list(query: ListQuery<typeof webhookList>): Promise<ListResult<EndpointJson>>
  get(tenant: Tenant, id: string): Promise<Versioned<EndpointJson> | null>
  deliveries(
    query: ListQuery<typeof deliveryList> & { readonly webhookId: string },
  ): Promise<ListResult<DeliveryJson> | null>
}

/** The commands. Every refusal is thrown as a problem. */
export interface WebhookCommands {
  create(by: Caller, body: IntegratorWebhookWrite): Promise<Versioned<EndpointJson> & { readonly secret: string }>
  update(
    by: Caller,
    id: string,
    body: IntegratorWebhookUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<EndpointJson>>
  rotateSecret(by: Caller, id: string): Promise<Versioned<EndpointJson> & { readonly secret: string }>
  remove(by: Caller, id: string, expected: number | bigint | null): Promise<void>
  /** Sends a test event and answers with the result of its delivery. */
  test(by: Caller, id: string): Promise<DeliveryJson>
  redeliver(by: Caller, id: string, deliveryId: string): Promise<DeliveryJson>
  /** Emits an event that a customer has chosen, as if it had happened. */
  simulate(
    by: Caller,
    body: SimWebhookEvent,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  resetSandbox(
    by: Caller,
    body: SandboxReset,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SandboxResetResult, 200>>
}

/** Creates the reads. */
export function createWebhookReads({ database, clock }: Pick<WebhookDeps, 'database' | 'clock'>): WebhookReads {
  const db = readDatabase(database)
  return {
    list: (query) => listEndpoints(db, query),
    get: (tenant, id) => getEndpoint(database, tenant, id),
    deliveries: (query) => listDeliveries(database, db, query, clock.now()),
  }
}

/** Creates the commands. */
export function createWebhookCommands(deps: WebhookCommandDeps): WebhookCommands {
  return {
    create: (by, body) => createEndpoint(deps, by, body),
    update: (by, id, body, expected) => updateEndpoint(deps, by, id, body, expected),
    rotateSecret: (by, id) => rotateWebhookSecret(deps, by, id),
    remove: (by, id, expected) => deleteEndpoint(deps, by, id, expected),
    test: (by, id) => testEndpoint(deps, by, id),
    redeliver: (by, id, deliveryId) => redeliverEvent(deps, by, id, deliveryId),
    simulate: (by, body, idempotency) => simulateEvent(deps, by, body, idempotency),
    resetSandbox: (by, body, idempotency) => resetSandbox(deps, by, body, idempotency),
  }
}
