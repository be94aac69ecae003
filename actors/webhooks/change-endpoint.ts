/**
 * A change of a webhook endpoint by a caller: the lock, and the transaction with the trail entry and the notices.
 */
import type { Webhooks } from './event-relay.ts'
import type { ResolveHost } from './sender.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { TargetPolicy } from '../../lib/webhooks/target.ts'
import type { Database } from '../../storage/db/database.ts'
import type { EndpointJson } from '../../storage/webhooks/webhook-queries.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Log } from '../../lib/base/log.ts'
import type { IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'
import type { EndpointNews, EndpointOwners } from './endpoint-owners.ts'

/** The dependencies of webhook operations. */
export interface WebhookDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly ids: IdSource
  readonly log: Log
  readonly secrets: SecretBox
  readonly random: (bytes: number) => Uint8Array
  readonly policy: TargetPolicy
  readonly resolve: ResolveHost
  readonly webhooks: Pick<Webhooks, 'deliverNow' | 'nudge'>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/** The dependencies of commands on endpoints. */
export interface WebhookCommandDeps extends WebhookDeps {
  readonly owners: EndpointOwners
}

/** The part of an endpoint that the trail keeps. */
function state({ url, events, description, status, disabledReason, secretHint }: EndpointJson): object {
  return { url, events, description, status, disabledReason, secretHint }
}

const VERBS = {
  created: 'was added',
  updated: 'was changed',
  secret_rotated: 'has a new secret',
  deleted: 'was removed',
} as const

/**
 * Locks an endpoint of the caller's tenant until the transaction ends.
 *
 * @throws ProblemError `not-found`; `precondition-failed` when it no longer has the `expected` version
 */
export async function lockEndpoint(
  client: TransactionClient,
  by: Caller,
  id: string,
  expected: number | bigint | null = null,
): Promise<Versioned<EndpointJson>> {
  const found = await endpoints.lockEndpoint(client, by.tenant.id, id)
  if (found === null) refuseNotFound()
  checkVersion(found, expected)
  return found
}

function news(by: Caller, action: keyof typeof VERBS, { id, url }: EndpointJson): EndpointNews {
  return {
    type: 'webhook_endpoint_changed',
    text: [
      `The webhook endpoint ${url} ${VERBS[action]} by ${by.principal.name}.`,
      '',
      `  Endpoint: ${id}`,
      `  Request:  ${by.requestId}`,
      '',
      'If the change was not made by your company, disable the endpoint and revoke the API keys that can change it.',
    ].join('\r\n'),
  }
}

/** An endpoint before and after a change; null stands for an endpoint that does not exist then. */
interface EndpointChange<Result> {
  readonly before: EndpointJson | null
  readonly after: EndpointJson | null
  readonly result: Result
}

/**
 * Runs a change in one transaction, together with its trail entry, the notices to its owners and the message to the
 * nodes. Work that returns no `before` has changed nothing.
 *
 * @throws what the work throws
 */
export async function changeEndpoint<Result>(
  { database, ids, clock, owners }: WebhookCommandDeps,
  by: Caller,
  action: keyof typeof VERBS,
  work: (client: TransactionClient) => Promise<EndpointChange<Result> | { readonly result: Result }>,
): Promise<Result> {
  return await inTransaction(database, async (client) => {
    const done = await work(client)
    if (!('before' in done)) return done.result
    const { before, after, result } = done
    const endpoint = (after ?? before) as EndpointJson
    await recordChange({ client, ids, now: clock.now() }, auditCaller(by), by.tenant.id, {
      action: `integrator_webhook.${action}`,
      object: { type: 'integrator_webhook', id: endpoint.id },
      before: before === null ? null : state(before),
      after: after === null ? null : state(after),
    })
    await owners.tell(client, { id: endpoint.id, tenantId: by.tenant.id }, news(by, action, endpoint))
    await endpoints.announceChange(client, [endpoint.id], shardOf(by.tenant.id))
    return result
  })
}
