/** Tests a webhook endpoint with an event of its own. */
import { LIMITS } from '../../lib/base/limits.ts'
import { refuseTransition } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { objectOf, TEST_EVENT_TYPE } from '../../lib/base/event-types.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import type { DeliveryJson } from '../../storage/webhooks/webhook-queries.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import * as deliveries from '../../storage/webhooks/webhook-deliveries.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { lockEndpoint, type WebhookCommandDeps } from './change-endpoint.ts'
import { readDelivery } from './redeliver-event.ts'

/** The time that the answer to a test waits for the receiver: its ten seconds, and two seconds for the queue. */
const TEST_PATIENCE_MS = LIMITS.webhookTimeoutMs + 2_000

/**
 * Sends a test event to an endpoint. Answers with its delivery, as it is when the receiver has answered or the wait for
 * its answer is over.
 *
 * @throws ProblemError `not-found`, `invalid-transition` for a disabled endpoint
 */
export async function testEndpoint(deps: WebhookCommandDeps, by: Caller, id: string): Promise<DeliveryJson> {
  const { database, clock, ids, webhooks } = deps
  const { tenant } = by
  const deliveryId = ids.next()
  const shard = shardOf(tenant.id)
  await inTransaction(database, async (client) => {
    const { view } = await lockEndpoint(client, by, id)
    if (view.status === 'disabled')
      refuseTransition('A disabled endpoint is not tested; enable it first.', view.status, ['active', 'paused'])
    const now = clock.now()
    const eventId = ids.next()
    await writeEvent(client, {
      id: eventId,
      createdAt: now,
      ...(await deliveries.operatorOf(client, tenant.id)),
      shard,
      type: TEST_EVENT_TYPE,
      object: objectOf(TEST_EVENT_TYPE),
      objectId: id,
      status: null,
      previousStatus: null,
      amount: null,
      currency: null,
    })
    await deliveries.insertTestDelivery(client, {
      id: deliveryId,
      endpointId: id,
      shard,
      eventId,
      eventType: TEST_EVENT_TYPE,
      now,
    })
  })
  await webhooks.deliverNow(id, tenant.id, deliveryId, TEST_PATIENCE_MS)
  return await readDelivery(deps, by, id, deliveryId)
}
