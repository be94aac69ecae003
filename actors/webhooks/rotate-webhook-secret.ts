/** Rotates the secret of a webhook endpoint. */
import { DAY_MS } from '../../lib/base/clock.ts'
import { secretContext } from './endpoint.ts'
import { generateSecret } from '../../lib/webhooks/signature.ts'
import type { EndpointJson } from '../../storage/webhooks/webhook-queries.ts'
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { changeEndpoint, lockEndpoint, type WebhookCommandDeps } from './change-endpoint.ts'

/** The time for which the secret before a rotation also signs. */
const OLD_SECRET_MS = DAY_MS

/**
 * Gives an endpoint a new secret, which is in this answer alone. The previous secret also signs for a day.
 *
 * @throws ProblemError `not-found`
 */
export async function rotateWebhookSecret(
  deps: WebhookCommandDeps,
  by: Caller,
  id: string,
): Promise<Versioned<EndpointJson> & { readonly secret: string }> {
  const { clock, random, secrets } = deps
  const secret = generateSecret(random)
  const rotated = await changeEndpoint(deps, by, 'secret_rotated', async (client) => {
    const before = await lockEndpoint(client, by, id)
    const now = clock.now()
    await endpoints.rotateEndpointSecret(
      client,
      by.tenant.id,
      id,
      {
        sealed: secrets.seal(secret, secretContext(id)),
        hint: secret.slice(-4),
        previousUntil: now + OLD_SECRET_MS,
      },
      now,
    )
    const after = await lockEndpoint(client, by, id)
    return { before: before.view, after: after.view, result: after }
  })
  return { ...rotated, secret }
}
