/** Creates a webhook endpoint. */
import { secretContext } from './endpoint.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { refuse } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { generateSecret } from '../../lib/webhooks/signature.ts'
import type { EndpointJson } from '../../storage/webhooks/webhook-queries.ts'
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { CONTRACT_VERSION } from '../../lib/contract/version.ts'
import type { IntegratorWebhookWrite } from '../../lib/webhooks/webhook-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { changeEndpoint, lockEndpoint, type WebhookCommandDeps } from './change-endpoint.ts'
import { checkEvents, checkUrl } from './check-endpoint.ts'

/**
 * Creates an endpoint. Its secret is in this answer alone.
 *
 * @throws ProblemError `validation-error`, `unsafe-url`, `limit-reached`
 */
export async function createEndpoint(
  deps: WebhookCommandDeps,
  by: Caller,
  body: IntegratorWebhookWrite,
): Promise<Versioned<EndpointJson> & { readonly secret: string }> {
  const { clock, ids, random, secrets } = deps
  const { tenant, principal } = by
  checkEvents(tenant.kind, body.events)
  await checkUrl(deps, body.url)
  const id = ids.next()
  const secret = generateSecret(random)
  const made = await changeEndpoint(deps, by, 'created', async (client) => {
    await endpoints.lockTenantEndpoints(client, tenant.id)
    if ((await endpoints.countEndpoints(client, tenant.id)) >= LIMITS.webhookEndpointsMax) {
      refuse('limit-reached', `A tenant may have at most ${LIMITS.webhookEndpointsMax} endpoints.`, {
        extra: { limit: LIMITS.webhookEndpointsMax, resource: 'integrator_webhook' },
      })
    }
    await endpoints.insertEndpoint(client, {
      id,
      level: tenant.kind,
      tenantId: tenant.id,
      shard: shardOf(tenant.id),
      url: body.url,
      events: [...new Set(body.events)],
      description: body.description ?? null,
      secret: secrets.seal(secret, secretContext(id)),
      secretHint: secret.slice(-4),
      apiVersion: CONTRACT_VERSION,
      createdBy: principal.id,
      now: clock.now(),
    })
    const made = await lockEndpoint(client, by, id)
    return { before: null, after: made.view, result: made }
  })
  return { ...made, secret }
}
