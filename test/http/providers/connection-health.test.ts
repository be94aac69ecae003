/** The health of a connection, from the calls of several nodes, over HTTP. */
import t from 'tap'
import { ConnectionHealth } from '../../../actors/providers/connections/connection-health.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import { PAUSED_AFTER } from '../../../lib/providers/health.ts'
import { Database } from '../../../storage/db/database.ts'
import { createWorld } from '../../support/world.ts'

t.test('calls of all nodes make the health, and a probe ends a pause', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const admin = await world.person('operator_admin').signIn()
  const [{ id }] = (await admin.get<{ data: [ProviderConnectionView] }>('/provider-connections')).body.data
  const database = new Database(world.databaseUrl, 1)
  t.teardown(() => database.close())
  const clock = { now: () => world.now() }
  /** What another node knows of the calls, without its timer. */
  const node = () =>
    new ConnectionHealth({
      database,
      clock,
      ids: createIdSource(clock),
      listener: { subscribe: () => ({ heard: async () => true }) },
      onError: (error) => t.fail(String(error)),
    })
  const [one, other] = [node(), node()]
  const read = async () => (await admin.get<ProviderConnectionView>(`/provider-connections/${id}`)).body
  const before = await admin.get(`/provider-connections/${id}`)
  const call = (health: ConnectionHealth, ok: boolean, times = 1) => {
    // Each change has a moment of its own, so that events have an order.
    world.advance(1)
    for (let nth = 0; nth < times; nth++)
      health.record(id, { ok, latencyMs: 30, ...(ok ? {} : { error: 'The partner answered 503.' }) })
  }

  call(one, true, 5)
  await one.flush()
  t.match(await read(), { health: 'healthy', healthy: true, lastError: null })
  call(one, false, 2)
  call(other, false, 2)
  await one.flush()
  t.match(await read(), { health: 'healthy' }, 'two failures are no pattern')
  await other.flush()
  t.match(await read(), { health: 'down', healthy: false, lastError: 'The partner answered 503.' })
  t.equal(other.stateOf(id), 'down')
  t.ok(other.mayPoll(id))
  call(other, false, PAUSED_AFTER - 4)
  await other.flush()
  t.match(await read(), { health: 'paused', status: 'active' })
  t.notOk(other.mayPoll(id))
  const home = await admin.get<{ connections: object[] }>('/integration')
  t.match(home.body.connections, [{ id, healthy: false }])

  world.advance(1)
  const probed = await admin.post<ProviderConnectionView>(`/provider-connections/${id}/health-check`)
  t.match(probed.body, { lastHealth: { ok: true, message: null }, status: 'active' }, probed.text)
  t.equal(probed.body.lastHealthAt, new Date(world.now()).toISOString())
  t.equal(probed.body.health, 'degraded', 'most calls of the last minutes have failed, and the last has not')
  const etag = before.headers.get('etag')!.split('-')[0]
  t.equal(probed.headers.get('etag')!.split('-')[0], etag, 'health is no change by a person')
  world.advance(6 * 60_000)
  const later = await admin.post<ProviderConnectionView>(`/provider-connections/${id}/health-check`)
  t.match(later.body, { health: 'healthy', healthy: true, lastError: 'The partner answered 503.' })

  t.strictSame(
    (
      await world.query<{ previous_status: string; status: string }>(
        `select previous_status, status from outbox where type = 'provider_connection.status_changed' order by created_at, id`,
      )
    ).map((event) => `${event.previous_status} ${event.status}`),
    ['healthy down', 'down paused', 'paused degraded', 'degraded healthy'],
  )
  call(one, false)
  await one.flush()
  const counts = await world.query<{ old: boolean }>(
    'select slot < to_timestamp($1::float8 / 1000) - interval $$10 minutes$$ as old from provider_call_count',
    [world.now()],
  )
  t.notOk(counts.some(({ old }) => old))
})
