/** News for the owners of a webhook endpoint: notices in the transaction of a change, and mails after it. */
import { grantOfRole, MEMBER_ROLES, STAFF_ROLES } from '../../lib/identity/capabilities.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { Database } from '../../storage/db/database.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { Log } from '../../lib/base/log.ts'

/** The maximum number of mails in flight on this node. */
const MAILS_MAX = 100

/** Tells the owners of an endpoint of its changes: by a notice within the transaction, and by mail after it. */
export interface EndpointOwners {
  /** Writes the notices beside the change. @returns the addresses of the owners who also want a mail */
  write(client: TransactionClient, endpointId: string, tenantId: string, news: EndpointNews): Promise<readonly string[]>
  /** Sends the mails after the answer; a mail that cannot be sent is logged. */
  mail(addresses: readonly string[], news: EndpointNews): void
  /** Writes and mails the news that an endpoint was paused or disabled because its deliveries failed. */
  tellStatus(change: {
    readonly endpointId: string
    readonly tenantId: string
    readonly status: 'paused' | 'disabled'
  }): void
  settled(): Promise<void>
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
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly mailer: Mailer
  readonly log: Log
}

/** Tells the people who may manage endpoints: members of the customer, or staff of the operator. */
export function createEndpointOwners({ database, ids, clock, mailer, log }: EndpointOwnersOptions): EndpointOwners {
  const roles = [
    ...MEMBER_ROLES.filter((role) => grantOfRole(role).capabilities.has('webhooks.manage')),
    ...STAFF_ROLES.filter((role) => grantOfRole(role).capabilities.has('integration.manage')),
  ]
  const underWay = new Set<Promise<void>>()

  function later(work: () => Promise<unknown>): void {
    if (underWay.size >= MAILS_MAX) {
      log.warn({ underWay: underWay.size }, 'news of a webhook endpoint was dropped: too much is under way')
      return
    }
    const done: Promise<void> = work()
      .then(
        () => undefined,
        (error: unknown) => log.warn({ err: error }, 'the owners of a webhook endpoint could not be told'),
      )
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }

  const owners: EndpointOwners = {
    async write(client, endpointId, tenantId, { type, text }) {
      const userIds = await peopleInRoles(client, tenantId, roles)
      return await insertNotices(
        client,
        ids,
        userIds,
        { tenantId, type, title: TITLES[type], text, object: { type: 'integrator_webhook', id: endpointId } },
        clock.now(),
      )
    },
    mail(addresses, { type, text }) {
      for (const to of addresses) later(() => mailer.send({ to, subject: TITLES[type], text }))
    },
    tellStatus({ endpointId, tenantId, status }) {
      const news = {
        type: `webhook_${status}` as const,
        text: [
          status === 'paused'
            ? 'A webhook endpoint has failed 20 times in a row. New events are not sent to it; what was on its way is still tried.'
            : 'A webhook endpoint has failed for 72 hours. Nothing is sent to it any more.',
          '',
          `  Endpoint: ${endpointId}`,
          '',
          'To go on, update it with "enabled": true, list its deliveries with filter[succeeded]=false, and redeliver what it missed.',
        ].join('\r\n'),
      }
      later(async () =>
        owners.mail(await inTransaction(database, (client) => owners.write(client, endpointId, tenantId, news)), news),
      )
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
  return owners
}
