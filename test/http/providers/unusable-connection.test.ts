/** A connection whose secrets were sealed with another key of the service: webhooks, health, and the way out. */
import t from 'tap'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { bySandbox } from '../kyc/support.ts'
import { deliver, eventBody, listed, putSecret } from './inbox-support.ts'

t.test('a connection whose secrets cannot be opened', async (t) => {
  await using world = await createWorld()
  const [first] = await world.query<{ id: string }>('select id from provider_connection')
  const { id } = first!
  await putSecret(world, id)
  const kept = async () =>
    (
      await world.query<{ status: string; attempts: number; error: string | null; due: Date | null }>(
        'select status, attempts, error, due_at as due from provider_inbox where connection_id = $1 order by received_at, id',
        [id],
      )
    )[0]
  const body = eventBody('something.else', {})
  const send = async () => await deliver(world, id, body, bySandbox(body, { at: world.now() }))
  /** Makes the secret one that another key has sealed. */
  const spoil = async () =>
    await world.query(
      `update provider_connection set webhook_secret = set_byte(webhook_secret, length(webhook_secret) - 1, get_byte(webhook_secret, length(webhook_secret) - 1) # 1) where id = $1`,
      [id],
    )
  await spoil()
  await until('the node has heard of it', async () => (await send()).status === 503)
  for (let nth = 0; nth < 3; nth++) {
    const refused = await send()
    t.equal(refused.status, 503)
    t.ok(Number(refused.headers.get('retry-after')) > 0)
    const text = await refused.text()
    t.match(JSON.parse(text), { code: 'service-unavailable' })
    t.notMatch(text, /key|secret/, 'a sender learns no reason')
  }
  const shown = async () => (await world.operator.get<ProviderConnectionView>(`/provider-connections/${id}`)).body
  // Every try to open it counts as a failed call: it is down after some in a row, and paused after some more.
  await until('its health shows it', async () => ['down', 'paused'].includes((await shown()).health ?? ''))
  t.match((await shown()).lastError, /cannot be opened with the key of this service; set it again/)

  const logged = world.logged.filter((line) => line.includes(`opening the connection ${id}`))
  t.equal(logged.length, 1, 'it is logged once')

  await putSecret(world, id)
  await until('the event is taken at last', async () => (await send()).status === 202)
  await until('the event was used', async () => (await kept())?.due === null)
  t.strictSame(
    await world.query('select count(*)::int from provider_inbox where connection_id = $1', [id]),
    [{ count: 1 }],
    'the event was not lost',
  )

  await t.test('events that were kept before wait for it, for longer than attempts would last', async (t) => {
    const other = eventBody('something.new', {}, 'other')
    t.equal((await deliver(world, id, other, bySandbox(other, { at: world.now() }))).status, 202)
    await spoil()
    await until('the node has heard of it', async () => (await send()).status === 503)
    await world.query(
      `update provider_inbox set status = 'verified', attempts = 0, due_at = received_at, processed_at = null, reason = null where connection_id = $1`,
      [id],
    )
    await until('the event waits', async () => (await kept())?.error?.includes('cannot be opened') === true)
    for (let nth = 0; nth < 10; nth++) {
      const { due } = (await kept())!
      world.advanceTo(due!.getTime())
      await until('it was tried again', async () => {
        const now = await kept()
        return now!.attempts === 0 && now!.due!.getTime() > due!.getTime()
      })
    }
    t.match(await kept(), { status: 'verified', attempts: 0, error: /cannot be opened/ })
    t.strictSame(await world.query(`select id from outbox where type = 'provider_event.failed'`), [])

    const staff = await world.person('operations').signIn()
    const waiting = await listed(staff, '&filter[reason]=connection_unusable')
    t.equal(waiting.length, 2)
    const left = waiting.find(({ type }) => type === 'something.new')!
    const dismissed = await staff.post(`/provider-events/${left.id}/dismiss`, { reason: 'Its bank is gone.' })
    t.match(dismissed.body, { status: 'ignored', reason: 'dismissed' }, dismissed.text)
    await putSecret(world, id)
    world.advanceTo((await kept())!.due!.getTime())
    await until('the event is used at last', async () => (await kept())?.due === null)
    t.match(await kept(), { status: 'ignored', attempts: 1 })
  })
})
