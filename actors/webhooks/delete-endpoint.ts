/** Deletes a webhook endpoint. */
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { changeEndpoint, lockEndpoint, type WebhookCommandDeps } from './change-endpoint.ts'

/**
 * Deletes an endpoint and discards its queued deliveries.
 *
 * @throws ProblemError `not-found`, `precondition-failed`
 */
export async function deleteEndpoint(
  deps: WebhookCommandDeps,
  by: Caller,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const { clock } = deps
  await changeEndpoint(deps, by, 'deleted', async (client) => {
    const before = await lockEndpoint(client, by, id, expected)
    await endpoints.discardQueued(client, [id], clock.now())
    await endpoints.deleteEndpoint(client, by.tenant.id, id)
    return { before: before.view, after: null, result: undefined }
  })
}
