/** Connections whose events the inbox of providers takes, and what their providers send. */
import { randomUUID } from 'node:crypto'
import type { AdapterConnection } from '../../../actors/providers/adapters/adapter.ts'
import { translateSandboxEvent, verifySandboxWebhook } from '../../../actors/sandbox/sandbox-webhooks.ts'
import type { InboxConnection, InboxPartners } from '../../../actors/providers/inbox/inbox-ports.ts'
import type { ProviderEventDetail, ProviderEventView } from '../../../lib/providers/provider-event-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'
import { bySandbox, SANDBOX_SECRET } from '../kyc/support.ts'

/** Connections to a provider that words and signs its events as the sandbox does. */
export class TestPartners implements InboxPartners {
  readonly #connections = new Map<string, InboxConnection>()

  async open(connectionId: string): Promise<InboxConnection | null> {
    return this.#connections.get(connectionId) ?? null
  }

  /** Connections that are paused. */
  readonly paused = new Set<string>()

  mayPoll(connectionId: string): boolean {
    return !this.paused.has(connectionId)
  }

  /** Opens a connection. `more`: what its adapter can do beside webhooks. */
  add(
    { id, operatorId }: { readonly id: string; readonly operatorId: string },
    { areHints = false, ...more }: Partial<AdapterConnection> & { readonly areHints?: boolean } = {},
  ): void {
    this.#connections.set(id, {
      id,
      operatorId,
      description: {
        webhooks: { secretFault: () => null, areHints },
        poll: more.list === undefined ? null : { everyMs: 60_000 },
      },
      adapter: {
        probe: async () => ({ ok: true, latencyMs: 0, message: null }),
        verify: verifySandboxWebhook,
        translate: (event) => translateSandboxEvent(id, event),
        ...more,
      },
      webhookSecret: SANDBOX_SECRET,
    })
  }
}

/** The connection of the seeded sandbox. */
export async function seededConnection(world: World): Promise<{ readonly id: string; readonly operatorId: string }> {
  const [row] = await world.query<{ id: string; operator_id: string }>(
    'select id, operator_id from provider_connection',
  )
  return { id: row!.id, operatorId: row!.operator_id }
}

/** Sets the secret of a connection's webhooks. @throws Error unless it was set */
export async function putSecret(world: World, connectionId: string): Promise<void> {
  const admin = await world.person('operator_admin').signIn()
  await admin.stepUp('provider_connection.change')
  const path = `/provider-connections/${connectionId}/webhook-secret`
  const reply = await admin.send('PUT', path, { secret: SANDBOX_SECRET })
  if (reply.status !== 204) throw new Error(reply.text)
}

/** Makes another connection of the same operator, without a secret. @returns its id */
export async function connectionLike(
  world: World,
  connectionId: string,
  status: string,
  provider = 'sandbox',
): Promise<string> {
  const id = randomUUID()
  await world.query(
    `insert into provider_connection select (jsonb_populate_record(k, jsonb_build_object('id', $2::text, 'status', $3::text, 'provider', $4::text,
       'role', 'fallback', 'retired_at', case when $3 = 'retired' then now() end))).* from provider_connection k where k.id = $1`,
    [connectionId, id, status, provider],
  )
  return id
}

/** The body of an event. */
export const eventBody = (type: string, data: object, id: string = randomUUID()): string =>
  JSON.stringify({ id, type, occurredAt: '2026-01-02T03:04:05.678Z', data })

/** Sends bytes to the address of a connection. */
export const deliver = (
  world: Pick<World, 'url'>,
  connectionId: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): Promise<Response> =>
  fetch(`${world.url}/v1/provider-webhooks/${connectionId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as string,
  })

/** Sends a body with its signature. @throws Error unless it was taken */
export async function send(world: World, connectionId: string, body: string): Promise<void> {
  const reply = await deliver(world, connectionId, body, bySandbox(body, { at: world.now() }))
  if (reply.status !== 202) throw new Error(`${reply.status}: ${await reply.text()}`)
}

/** The events that match a filter, newest first. */
export async function listed(staff: Person, query = ''): Promise<readonly ProviderEventView[]> {
  return (await staff.get<PageBody<ProviderEventView>>(`/provider-events?limit=100${query}`)).body.data
}

/** Sends an event, and waits until it was used. @returns it, as staff see it */
export async function sent(
  world: World,
  staff: Person,
  connectionId: string,
  body: string,
): Promise<ProviderEventDetail> {
  await send(world, connectionId, body)
  const { id } = JSON.parse(body) as { readonly id: string }
  return await used(staff, world, connectionId, id)
}

/** Waits until an event was used; its pauses between attempts pass at once. */
export async function used(
  staff: Person,
  world: World,
  connectionId: string,
  partnerEventId: string,
): Promise<ProviderEventDetail> {
  const id = await settled(world, connectionId, partnerEventId)
  return (await staff.get<ProviderEventDetail>(`/provider-events/${id}`)).body
}

/** Waits until nothing is left to do about an event; its pauses between attempts pass at once. @returns its id */
export async function settled(world: World, connectionId: string, partnerEventId: string): Promise<string> {
  return await until(`event ${partnerEventId} was used`, async () => {
    const [row] = await world.query<{ id: string; due: Date | null; pauses: boolean }>(
      `select id, due_at as due, attempts > 0 and version = attempts + 1 as pauses from provider_inbox
       where connection_id = $1 and partner_event_id = $2`,
      [connectionId, partnerEventId],
    )
    if (row?.due === null) return row.id
    if (row?.pauses === true && row.due.getTime() > world.now()) world.advanceTo(row.due.getTime())
    return null
  })
}
