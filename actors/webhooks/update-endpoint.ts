/** Changes a webhook endpoint. */
import { getEndpoint, type EndpointJson } from '../../storage/webhooks/webhook-queries.ts'
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IntegratorWebhookUpdate } from '../../lib/webhooks/webhook-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { changeEndpoint, lockEndpoint, type WebhookCommandDeps } from './change-endpoint.ts'
import { checkEvents, checkUrl } from './check-endpoint.ts'

/**
 * Changes an endpoint; absent members stay as they are. A disabled endpoint loses its queued deliveries.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`, `unsafe-url`
 */
export async function updateEndpoint(
  deps: WebhookCommandDeps,
  by: Caller,
  id: string,
  body: IntegratorWebhookUpdate,
  expected: number | bigint | null,
): Promise<Versioned<EndpointJson>> {
  const { database, clock } = deps
  if (body.events !== undefined) checkEvents(by.tenant.kind, body.events)
  if (body.url !== undefined) await checkUrl(deps, body.url)
  const known = await getEndpoint(database, by.tenant, id)
  // The URL of a paused or disabled endpoint is checked again before it is enabled.
  if (body.enabled === true && body.url === undefined && known !== null && known.view.status !== 'active')
    await checkUrl(deps, known.view.url)
  return await changeEndpoint(deps, by, 'updated', async (client) => {
    const before = await lockEndpoint(client, by, id, expected)
    const { view } = before
    const status = body.enabled === undefined ? view.status : body.enabled ? ('active' as const) : ('disabled' as const)
    const wanted = {
      url: body.url ?? view.url,
      events: body.events === undefined ? view.events : [...new Set(body.events)],
      description: body.description === undefined ? view.description : body.description,
      status,
      // Keeps an earlier reason; a disable through this call has the reason `owner`.
      disabledReason:
        status !== 'disabled' ? null : view.status === 'disabled' ? view.disabledReason : ('owner' as const),
    }
    const same =
      wanted.url === view.url &&
      wanted.description === view.description &&
      status === view.status &&
      wanted.events.join() === view.events.join()
    if (same) return { result: before }
    await endpoints.updateEndpoint(client, by.tenant.id, id, wanted, clock.now())
    if (status === 'disabled') await endpoints.discardQueued(client, [id], clock.now())
    const after = await lockEndpoint(client, by, id)
    return { before: view, after: after.view, result: after }
  })
}
