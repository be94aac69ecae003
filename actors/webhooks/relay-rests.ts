/** How the pollers of webhooks rest. */
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { nextHopeless } from '../../storage/webhooks/webhook-endpoints.ts'
import { nextDelivery } from '../../storage/webhooks/webhook-queue.ts'
import type { Rest } from '../runtime/poller.ts'
import { earliest, untilEvents, type RestDeps } from '../runtime/rest.ts'

interface Deps extends RestDeps {
  readonly database: Database
  readonly shards: Pick<Shards, 'owned'>
}

/** Rests until a delivery of this node's shards is due, or until there are events to relay. */
export function untilDelivery(deps: Deps): Rest {
  const events = untilEvents(deps, 'webhook_relay')
  return {
    ...events,
    next: async () => earliest([await events.next(), await nextDelivery(deps.database, deps.shards.owned())]),
  }
}

/** Rests until an endpoint of this node's shards has failed for too long. */
export function untilHopeless({ database, clock, wakes, shards }: Deps): Rest {
  return { clock, wakes, on: ['webhook_endpoint'], next: () => nextHopeless(database, shards.owned()) }
}
