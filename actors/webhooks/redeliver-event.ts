/** Delivers an event to a webhook endpoint again. */
import { refuse, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { getDelivery, type DeliveryJson } from '../../storage/webhooks/webhook-queries.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import * as deliveries from '../../storage/webhooks/webhook-deliveries.ts'
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { lockEndpoint, type WebhookCommandDeps } from './change-endpoint.ts'

/** Reads a delivery of an endpoint of the caller's tenant. @throws ProblemError `not-found` */
export async function readDelivery(
  { database, clock }: Pick<WebhookCommandDeps, 'database' | 'clock'>,
  by: Caller,
  id: string,
  deliveryId: string,
): Promise<DeliveryJson> {
  const found = await getDelivery(readDatabase(database), by.tenant, id, deliveryId, clock.now())
  if (found === null) refuseNotFound()
  return found
}

/**
 * Queues the event of an ended delivery again, for an active endpoint.
 *
 * @throws ProblemError `not-found`, also for an event whose payload is not kept any more; `invalid-transition`
 */
export async function redeliverEvent(
  deps: WebhookCommandDeps,
  by: Caller,
  id: string,
  deliveryId: string,
): Promise<DeliveryJson> {
  const { database, clock } = deps
  // An event whose payload has been removed cannot be sent again.
  const { payload } = await readDelivery(deps, by, id, deliveryId)
  if (Object.keys(payload).length === 0) refuse('not-found', 'The event is not kept any more.')
  await inTransaction(database, async (client) => {
    const { view } = await lockEndpoint(client, by, id)
    if (view.status !== 'active')
      refuseTransition('Only an active endpoint gets deliveries again.', view.status, ['active'])
    const found = await deliveries.lockDelivery(client, id, deliveryId)
    if (found === null) refuseNotFound()
    if (found.status === 'pending') {
      refuseTransition('The delivery is about to be sent.', found.status, [
        'succeeded',
        'failed',
        'discarded',
        'retrying',
      ])
    }
    await deliveries.requeueDelivery(client, {
      id: deliveryId,
      createdAt: found.createdAt,
      endpointId: id,
      shard: shardOf(by.tenant.id),
      now: clock.now(),
    })
    await endpoints.announceDue(client, id, shardOf(by.tenant.id))
  })
  return await readDelivery(deps, by, id, deliveryId)
}
