/**
 * Webhook endpoints of integrators, managed by people and API keys: create, change, test, rotate the secret, delete;
 * and the sandbox operations on them.
 *
 *  * A secret is shown in one answer only, and stored sealed in its row.
 *  * A URL is checked when it is written and before every delivery, because a name that does not resolve now may
 *    resolve later.
 *  * The owners of an endpoint are told of every change: by a notice in the same transaction, then by mail.
 */
import type { Webhooks } from './event-relay.ts'
import { secretContext } from './endpoint.ts'
import type { ResolveHost } from './sender.ts'
import { grantOfRole, MEMBER_ROLES, STAFF_ROLES } from '../../lib/identity/capabilities.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { maySubscribe, objectOf, TEST_EVENT_TYPE } from '../../lib/webhooks/event-types.ts'
import { generateSecret } from '../../lib/webhooks/signature.ts'
import { checkTarget, isPublicAddress, type TargetPolicy } from '../../lib/webhooks/target.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import type { Database } from '../../storage/db/database.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import {
  getDelivery,
  getEndpoint,
  listDeliveries,
  listEndpoints,
  type DeliveryJson,
  type EndpointJson,
} from '../../storage/webhooks/webhook-queries.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import * as deliveries from '../../storage/webhooks/webhook-deliveries.ts'
import * as endpoints from '../../storage/webhooks/webhook-endpoints.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { CONTRACT_VERSION } from '../../lib/contract/version.ts'
import { runOnce } from '../commands/run-once.ts'
import type {
  deliveryList,
  IntegratorWebhookUpdate,
  IntegratorWebhookWrite,
  SandboxReset,
  SimWebhookEvent,
  webhookList,
} from '../../lib/webhooks/webhook-schema.ts'
import type { Log } from '../../lib/base/log.ts'
import type { CommandAnswer, Idempotency, IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

const HOUR_MS = 3_600_000
/** The time for which the secret before a rotation also signs. */
const OLD_SECRET_MS = 24 * HOUR_MS
/** The time that the answer to a test waits for the receiver: its ten seconds, and two seconds for the queue. */
const TEST_PATIENCE_MS = LIMITS.webhookTimeoutMs + 2_000
/** The time limit for resolving a name. A slower name is checked when there is a delivery. */
const RESOLVE_MS = 2_000
/** The maximum number of mails in flight on this node. */
const MAILS_MAX = 100

/** The reads of GET routes. Null: no such endpoint in the tenant. */
export interface WebhookReads {
  list(query: ListQuery<typeof webhookList>): Promise<ListResult<EndpointJson>>
  get(tenant: Tenant, id: string): Promise<Versioned<EndpointJson> | null>
  deliveries(
    query: ListQuery<typeof deliveryList> & { readonly webhookId: string },
  ): Promise<ListResult<DeliveryJson> | null>
}

/** The commands. Every refusal is thrown as a problem. */
export interface WebhookCommands {
  create(by: ByCaller, body: IntegratorWebhookWrite): Promise<Versioned<EndpointJson> & { readonly secret: string }>
  update(
    by: ByCaller,
    id: string,
    body: IntegratorWebhookUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<EndpointJson>>
  rotateSecret(by: ByCaller, id: string): Promise<Versioned<EndpointJson> & { readonly secret: string }>
  remove(by: ByCaller, id: string, expected: number | bigint | null): Promise<void>
  /** Sends a test event and answers with the result of its delivery. */
  test(by: ByCaller, id: string): Promise<DeliveryJson>
  redeliver(by: ByCaller, id: string, deliveryId: string): Promise<DeliveryJson>
  /** Emits an event that a customer has chosen, as if it had happened. */
  simulate(by: ByCaller, body: SimWebhookEvent, idempotency: Idempotency | null): Promise<CommandAnswer>
  resetSandbox(by: ByCaller, body: SandboxReset, idempotency: Idempotency | null): Promise<CommandAnswer>
}

export interface WebhookDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly ids: IdSource
  readonly log: Log
  readonly mailer: Mailer
  readonly secrets: SecretBox
  readonly random: (bytes: number) => Uint8Array
  readonly policy: TargetPolicy
  readonly resolve: ResolveHost
  readonly webhooks: Pick<Webhooks, 'deliverNow' | 'nudge'>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/** Creates the reads. */
export function createWebhookReads({ database, clock }: Pick<WebhookDeps, 'database' | 'clock'>): WebhookReads {
  const db = readDatabase(database)
  return {
    list: (query) => listEndpoints(db, query),
    get: (tenant, id) => getEndpoint(database, tenant, id),
    deliveries: (query) => listDeliveries(database, db, query, clock.now()),
  }
}

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

interface EndpointNews {
  readonly type: 'webhook_endpoint_changed' | 'webhook_paused' | 'webhook_disabled'
  readonly text: string
}

const TITLES = {
  webhook_endpoint_changed: 'A webhook endpoint was changed',
  webhook_paused: 'A webhook endpoint was paused',
  webhook_disabled: 'A webhook endpoint was disabled',
} as const

/** Tells the people who may manage endpoints: members of the customer, or staff of the operator. */
export function createEndpointOwners({
  database,
  ids,
  clock,
  mailer,
  log,
}: Pick<WebhookDeps, 'database' | 'ids' | 'clock' | 'mailer' | 'log'>): EndpointOwners {
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

/** The part of an endpoint that the trail keeps. */
function state({ url, events, description, status, disabledReason, secretHint }: EndpointJson): object {
  return { url, events, description, status, disabledReason, secretHint }
}

function refuseField(error: FieldError): never {
  refuse('validation-error', 'Some fields of the body are not valid.', { errors: [error] })
}

const VERBS = {
  created: 'was added',
  updated: 'was changed',
  secret_rotated: 'has a new secret',
  deleted: 'was removed',
} as const

/** Creates the commands. */
export function createWebhookCommands(world: WebhookDeps & { readonly owners: EndpointOwners }): WebhookCommands {
  const { database, clock, ids, secrets, random, policy, resolve, webhooks, owners } = world
  const db = readDatabase(database)

  /** Refuses a URL that callbacks must not be sent to. */
  async function checkUrl(text: string): Promise<void> {
    const target = checkTarget(text, policy)
    if (target.kind === 'unreadable')
      refuseField({ field: '/url', code: 'invalid_format', message: 'Must be an absolute URL.' })
    if (target.kind === 'unsafe') refuse('unsafe-url', target.detail, { extra: { ruleViolated: target.rule } })
    if (target.address !== null || policy === 'any') return
    const { promise, resolve: giveUp } = Promise.withResolvers<readonly string[]>()
    const timer = setTimeout(() => giveUp([]), RESOLVE_MS)
    const addresses = await Promise.race([resolve(target.host).catch(() => []), promise])
    clearTimeout(timer)
    if (addresses.some((address) => !isPublicAddress(address)))
      refuse('unsafe-url', 'The host name leads to an address that is not public.', {
        extra: { ruleViolated: 'address' },
      })
  }

  function checkEvents(level: Tenant['kind'], events: readonly string[]): void {
    const at = events.findIndex((type) => !maySubscribe(level, type))
    if (at >= 0)
      refuseField({
        field: `/events/${at}`,
        code: 'invalid_value',
        message: 'Events of this type are sent to endpoints of operators only.',
      })
  }

  async function audit(
    client: TransactionClient,
    by: ByCaller,
    action: string,
    id: string,
    before: EndpointJson | null,
    after: EndpointJson | null,
  ): Promise<void> {
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: by.tenant.id,
      at: clock.now(),
      action: `integrator_webhook.${action}`,
      object: { type: 'integrator_webhook', id },
      before: before === null ? null : state(before),
      after: after === null ? null : state(after),
    })
  }

  /** Locks the tenant's endpoint until the transaction ends. */
  async function locked(
    client: TransactionClient,
    by: ByCaller,
    id: string,
    expected: number | bigint | null = null,
  ): Promise<Versioned<EndpointJson>> {
    const found = await endpoints.lockEndpoint(client, by.tenant.id, id)
    if (found === null) refuse('not-found', 'No such resource exists in this tenant.')
    if (expected !== null && found.version !== BigInt(expected))
      refuse('precondition-failed', 'The resource has changed since it was read.', {
        extra: { currentEtag: etagOf(found) },
      })
    return found
  }

  function news(by: ByCaller, action: keyof typeof VERBS, { id, url }: EndpointJson): EndpointNews {
    return {
      type: 'webhook_endpoint_changed',
      text: [
        `The webhook endpoint ${url} ${VERBS[action]} by ${by.principal.name}.`,
        '',
        `  Endpoint: ${id}`,
        `  Request:  ${by.requestId}`,
        '',
        'If nobody of yours did that, disable the endpoint and revoke the API keys that can change it.',
      ].join('\r\n'),
    }
  }

  /**
   * Runs a change in one transaction, together with its trail entry, the notices to its owners and the message to the
   * nodes.
   */
  async function change<Result>(
    by: ByCaller,
    action: keyof typeof VERBS,
    work: (
      client: TransactionClient,
    ) => Promise<
      | { readonly before: EndpointJson | null; readonly after: EndpointJson | null; readonly result: Result }
      | { readonly result: Result }
    >,
  ): Promise<Result> {
    const { result, mail } = await inTransaction(database, async (client) => {
      const done = await work(client)
      if (!('before' in done)) return { result: done.result, mail: null }
      const { before, after, result } = done
      const endpoint = (after ?? before) as EndpointJson
      await audit(client, by, action, endpoint.id, before, after)
      const told = news(by, action, endpoint)
      const addresses = await owners.write(client, endpoint.id, by.tenant.id, told)
      await endpoints.announceChange(client, [endpoint.id], shardOf(by.tenant.id))
      return { result, mail: { addresses, told } }
    })
    if (mail !== null) owners.mail(mail.addresses, mail.told)
    return result
  }

  async function delivery(by: ByCaller, id: string, deliveryId: string): Promise<DeliveryJson> {
    const found = await getDelivery(db, by.tenant, id, deliveryId, clock.now())
    if (found === null) refuse('not-found', 'No such resource exists in this tenant.')
    return found
  }

  return {
    async create(by, body) {
      const { tenant, principal } = by
      checkEvents(tenant.kind, body.events)
      await checkUrl(body.url)
      const id = ids.next()
      const secret = generateSecret(random)
      const made = await change(by, 'created', async (client) => {
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
        const made = await locked(client, by, id)
        return { before: null, after: made.view, result: made }
      })
      return { ...made, secret }
    },

    async update(by, id, body, expected) {
      if (body.events !== undefined) checkEvents(by.tenant.kind, body.events)
      if (body.url !== undefined) await checkUrl(body.url)
      const known = await getEndpoint(database, by.tenant, id)
      // The URL of a paused or disabled endpoint is checked again before it is enabled.
      if (body.enabled === true && body.url === undefined && known !== null && known.view.status !== 'active')
        await checkUrl(known.view.url)
      return await change(by, 'updated', async (client) => {
        const before = await locked(client, by, id, expected)
        const { view } = before
        const status =
          body.enabled === undefined ? view.status : body.enabled ? ('active' as const) : ('disabled' as const)
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
        await endpoints.updateEndpoint(client, id, wanted, clock.now())
        if (status === 'disabled') await endpoints.discardQueued(client, [id], clock.now())
        const after = await locked(client, by, id)
        return { before: view, after: after.view, result: after }
      })
    },

    async rotateSecret(by, id) {
      const secret = generateSecret(random)
      const rotated = await change(by, 'secret_rotated', async (client) => {
        const before = await locked(client, by, id)
        const now = clock.now()
        await endpoints.rotateEndpointSecret(
          client,
          id,
          {
            sealed: secrets.seal(secret, secretContext(id)),
            hint: secret.slice(-4),
            previousUntil: now + OLD_SECRET_MS,
          },
          now,
        )
        const after = await locked(client, by, id)
        return { before: before.view, after: after.view, result: after }
      })
      return { ...rotated, secret }
    },

    async remove(by, id, expected) {
      await change(by, 'deleted', async (client) => {
        const before = await locked(client, by, id, expected)
        await endpoints.discardQueued(client, [id], clock.now())
        await endpoints.deleteEndpoint(client, id)
        return { before: before.view, after: null, result: undefined }
      })
    },

    async test(by, id) {
      const { tenant } = by
      const deliveryId = ids.next()
      const shard = shardOf(tenant.id)
      await inTransaction(database, async (client) => {
        const { view } = await locked(client, by, id)
        if (view.status === 'disabled')
          refuse('invalid-transition', 'A disabled endpoint is not tested; enable it first.', {
            extra: { currentStatus: view.status, allowed: ['active', 'paused'] },
          })
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
      return await delivery(by, id, deliveryId)
    },

    async redeliver(by, id, deliveryId) {
      // An event whose payload has been removed cannot be sent again.
      const { payload } = await delivery(by, id, deliveryId)
      if (Object.keys(payload).length === 0) refuse('not-found', 'The event is not kept any more.')
      await inTransaction(database, async (client) => {
        const { view } = await locked(client, by, id)
        if (view.status !== 'active')
          refuse('invalid-transition', 'Only an active endpoint gets deliveries again.', {
            extra: { currentStatus: view.status, allowed: ['active'] },
          })
        const found = await deliveries.lockDelivery(client, id, deliveryId)
        if (found === null) refuse('not-found', 'No such resource exists in this tenant.')
        if (found.status === 'pending') {
          refuse('invalid-transition', 'The delivery is about to be sent.', {
            extra: { currentStatus: found.status, allowed: ['succeeded', 'failed', 'discarded', 'retrying'] },
          })
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
      return await delivery(by, id, deliveryId)
    },

    async simulate(by, { type, objectId, status, amount }, idempotency) {
      if (!maySubscribe('customer', type))
        refuseField({
          field: '/type',
          code: 'invalid_value',
          message: 'Events of this type are sent to operators only.',
        })
      const { tenant } = by
      const answer = await runOnce(world, idempotency, 202, async (client) => {
        const eventId = ids.next()
        await writeEvent(client, {
          id: eventId,
          createdAt: clock.now(),
          ...(await deliveries.operatorOf(client, tenant.id)),
          shard: shardOf(tenant.id),
          type,
          object: objectOf(type),
          objectId: objectId ?? ids.next(),
          status: status ?? null,
          previousStatus: null,
          amount: amount === undefined ? null : BigInt(amount.amountMinor),
          currency: amount?.currency ?? null,
          sandbox: true,
        })
        return {
          simulationId: ids.next(),
          kind: 'webhook_event',
          status: 'queued',
          provider: 'platform',
          providerEventIds: [],
          providerReference: null,
          details: { eventId },
        }
      })
      webhooks.nudge()
      return answer
    },

    resetSandbox: async (by, { webhooks: reactivate = true, deliveries: forget = true }, idempotency) =>
      await runOnce(world, idempotency, 200, async (client) => {
        const { id: tenantId } = by.tenant
        const reactivated = reactivate ? await deliveries.reactivatePaused(client, tenantId, clock.now()) : []
        const deliveriesDeleted = forget ? await deliveries.deleteDeliveries(client, tenantId) : 0
        await endpoints.announceChange(client, reactivated, shardOf(tenantId))
        return { endpointsReactivated: reactivated.length, deliveriesDeleted }
      }),
  }
}
