/** Sandbox operations on webhooks: simulated events, and a reset of endpoints and deliveries. */
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { maySubscribe, objectOf } from '../../lib/base/event-types.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import * as deliveries from '../../storage/webhooks/webhook-deliveries.ts'
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runOnce } from '../commands/run-once.ts'
import type { SandboxResetResult, SandboxReset, SimWebhookEvent } from '../../lib/webhooks/webhook-schema.ts'
import type { CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import type { WebhookCommandDeps } from './change-endpoint.ts'
import { refuseWebhookField } from './check-endpoint.ts'

/**
 * Emits an event that a customer has chosen, as if it had happened; payloads show that it is simulated.
 *
 * @throws ProblemError `validation-error` for an event type of operators, and what `runOnce` throws
 */
export async function simulateEvent(
  deps: WebhookCommandDeps,
  by: Caller,
  { type, objectId, status, amount }: SimWebhookEvent,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { clock, ids, webhooks } = deps
  if (!maySubscribe('customer', type))
    refuseWebhookField({
      field: '/type',
      code: 'invalid_value',
      message: 'Events of this type are sent to operators only.',
    })
  const { tenant } = by
  const answer = await runOnce(deps, idempotency, 202, async (client) => {
    const eventId = ids.next()
    await writeEvent(client, {
      id: eventId,
      createdAt: clock.now(),
      ...(await deliveries.operatorOf(client, tenant.id)),
      shard: shardOf(tenant.id),
      type,
      object: objectOf(type),
      objectId: objectId ?? ids.next(),
      status: status ?? null,
      previousStatus: null,
      amount: amount === undefined ? null : BigInt(amount.amountMinor),
      currency: amount?.currency ?? null,
      sandbox: true,
    })
    const result: SimulationResult = {
      simulationId: ids.next(),
      kind: 'webhook_event',
      status: 'queued',
      provider: 'platform',
      providerEventIds: [],
      providerReference: null,
      details: { eventId },
    }
    return result
  })
  webhooks.nudge()
  return answer
}

/**
 * Resets the sandbox of a tenant: reactivates its paused endpoints and deletes its deliveries, unless the body says
 * otherwise.
 *
 * @throws what `runOnce` throws
 */
export async function resetSandbox(
  deps: WebhookCommandDeps,
  by: Caller,
  { webhooks: reactivate = true, deliveries: forget = true }: SandboxReset,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<SandboxResetResult, 200>> {
  const { clock } = deps
  return await runOnce(deps, idempotency, 200, async (client) => {
    const { id: tenantId } = by.tenant
    const reactivated = reactivate ? await deliveries.reactivatePaused(client, tenantId, clock.now()) : []
    const deliveriesDeleted = forget ? await deliveries.deleteDeliveries(client, tenantId) : 0
    await endpoints.announceChange(client, reactivated, shardOf(tenantId))
    return { endpointsReactivated: reactivated.length, deliveriesDeleted }
  })
}
