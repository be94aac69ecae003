/** News for the owners of a webhook endpoint: notices and mails, in the transaction of the change. */
import { rolesWith } from '../../lib/identity/capabilities.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'

interface OwnedEndpoint {
  readonly id: string
  readonly tenantId: string
}

/** Tells the owners of an endpoint of its changes. */
export interface EndpointOwners {
  /** Tells of a change that a person or a key has made. */
  tell(client: TransactionClient, endpoint: OwnedEndpoint, news: EndpointNews): Promise<void>
  /** Tells that an endpoint was paused or disabled because its deliveries failed. */
  tellStatus(client: TransactionClient, endpoint: OwnedEndpoint, status: 'paused' | 'disabled'): Promise<void>
}

export interface EndpointNews {
  readonly type: 'webhook_endpoint_changed' | 'webhook_paused' | 'webhook_disabled'
  readonly text: string
}

const TITLES = {
  webhook_endpoint_changed: 'A webhook endpoint was changed',
  webhook_paused: 'A webhook endpoint was paused',
  webhook_disabled: 'A webhook endpoint was disabled',
} as const

export interface EndpointOwnersOptions {
  readonly ids: IdSource
  readonly clock: { now(): number }
}

/** Tells the people who may manage endpoints: members of the customer, or staff of the operator. */
export function createEndpointOwners({ ids, clock }: EndpointOwnersOptions): EndpointOwners {
  const roles = [...rolesWith('webhooks.manage'), ...rolesWith('integration.manage')]

  const owners: EndpointOwners = {
    async tell(client, { id, tenantId }, { type, text }) {
      await insertNotices(
        client,
        ids,
        await peopleInRoles(client, tenantId, roles),
        { tenantId, type, title: TITLES[type], text, object: { type: 'integrator_webhook', id } },
        clock.now(),
      )
    },
    tellStatus: (client, endpoint, status) =>
      owners.tell(client, endpoint, {
        type: `webhook_${status}`,
        text: [
          status === 'paused'
            ? 'A webhook endpoint has failed 20 times in a row. New events are not sent to it; what was on its way is still tried.'
            : 'A webhook endpoint has failed for 72 hours. Nothing is sent to it any more.',
          '',
          `  Endpoint: ${endpoint.id}`,
          '',
          'To go on, update it with "enabled": true, list its deliveries with filter[succeeded]=false, and redeliver what it missed.',
        ].join('\r\n'),
      }),
  }
  return owners
}
