/**
 * The deadlines of callbacks, to the millisecond: each attempt, the end of a delivery's 72 hours, and the end of an
 * endpoint that has failed for 72 hours, with what still waits for it.
 */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { timestamp } from '../../../lib/base/clock.ts'
import type { IntegratorWebhook, WebhookDelivery } from '../../../lib/webhooks/webhook-schema.ts'
import { Receiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

const PATH = '/integrator-webhooks'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The minutes after the event at which a delivery is tried, without the part that chance adds. */
const ATTEMPTS_AT = [0, 1, 6, 36, 156, 516, 1_236, 1_956, 2_676, 3_396, 4_116]

const failing = (response: ServerResponse): void => void response.writeHead(500).end()

await using receiver = await Receiver.open()
await using world = await createWorld({
  stillClock: true,
  nodes: 2,
  dispatch: false,
  settings: { WEBHOOK_TARGETS: 'any' },
  overrides: { webhooks: { chance: () => 0 } },
})
const { client, balances, recipients } = world.seeded

/** A new endpoint, which alone listens; the receiver fails. */
async function listen(): Promise<string> {
  receiver.answer = failing
  for (const { id } of (await client.list<IntegratorWebhook>(PATH)).body.data)
    await client.send(`/v1${PATH}/${id}`, { method: 'DELETE', headers: { 'if-match': '*' } })
  return (await client.post<IntegratorWebhook>(PATH, { url: receiver.url, events: ['payment.created'] })).body.id
}
const endpoint = async (id: string): Promise<IntegratorWebhook> =>
  (await client.get<IntegratorWebhook>(`${PATH}/${id}`)).body
/** Its deliveries, the oldest first. */
const deliveries = async (id: string): Promise<readonly WebhookDelivery[]> =>
  (await client.list<WebhookDelivery>(`${PATH}/${id}/deliveries`, { limit: 100 })).body.data.toReversed()
const pay = () => client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
/** Waits until its newest delivery was tried so many times. */
async function tried(id: string, times: number): Promise<WebhookDelivery> {
  await world.pollOnce()
  return await until(`attempt ${times}`, async () => {
    const last = (await deliveries(id)).at(-1)
    return last?.attemptCount === times ? last : null
  })
}
const notices = async (id: string): Promise<string[]> =>
  (
    await world.query<{ type: string; user_id: string }>(
      'select distinct on (id) type, user_id from notification where object_id = $1',
      [id],
    )
  ).map(({ type, user_id }) => `${type} ${user_id}`)

await t.test('a delivery is tried to the millisecond, and has failed when no attempt fits into 72 hours', async (t) => {
  const id = await listen()
  const from = world.now()
  await pay()
  for (const [nth, minutes] of ATTEMPTS_AT.entries()) {
    const at = from + minutes * MINUTE_MS
    if (nth > 0) {
      const received = receiver.received.length
      world.advanceTo(at - 1)
      await world.pollOnce()
      t.equal(receiver.received.length, received, `not before minute ${minutes}`)
      world.advance(1)
    }
    const shown = await tried(id, nth + 1)
    t.equal(shown.attempts[0]!.startedAt, timestamp(at))
    const next = ATTEMPTS_AT[nth + 1]
    t.match(
      shown,
      next === undefined
        ? { status: 'failed', nextAttemptAt: null, completedAt: timestamp(at) }
        : { status: 'retrying', nextAttemptAt: timestamp(from + next * MINUTE_MS), completedAt: null },
    )
  }
  const received = receiver.received.length
  world.advanceTo(from + 3 * DAY_MS - 1)
  await world.pollOnce()
  t.equal(receiver.received.length, received, 'then nothing comes')
  t.match(await endpoint(id), { status: 'active', consecutiveFailures: ATTEMPTS_AT.length })
  world.advance(1)
  await until('it is disabled', async () => {
    await world.pollOnce()
    return (await endpoint(id)).status === 'disabled'
  })
  t.match(await endpoint(id), {
    status: 'disabled',
    enabled: false,
    disabledReason: 'delivery_failures',
    statusChangedAt: timestamp(from + 3 * DAY_MS),
  })
  const told = await notices(id)
  t.equal(new Set(told).size, told.length, 'everybody is told once')
})

await t.test('what waits for an endpoint that is disabled is discarded, also what is under way', async (t) => {
  const id = await listen()
  const from = world.now()
  await pay()
  await tried(id, 1)
  world.advanceTo(from + 3 * DAY_MS - HOUR_MS)
  await pay()
  await until('the second delivery waits for its next attempt', async () => {
    await world.pollOnce()
    return (await deliveries(id)).at(-1)?.status === 'retrying'
  })
  world.advanceTo(from + 3 * DAY_MS - 1)
  await world.pollOnce()
  const open: ServerResponse[] = []
  receiver.answer = (response) => void open.push(response)
  await pay()
  const polled = world.pollOnce()
  await until('the third delivery is under way', () => open.length > 0)
  t.equal((await endpoint(id)).status, 'active')
  world.advance(1)
  await until('the endpoint is disabled', async () => (await endpoint(id)).status === 'disabled')
  for (const response of open) failing(response)
  await polled
  const waiting = (await deliveries(id)).slice(-2)
  t.match(waiting, [
    { status: 'discarded', nextAttemptAt: null, completedAt: timestamp(from + 3 * DAY_MS) },
    { status: 'discarded', nextAttemptAt: null, completedAt: timestamp(from + 3 * DAY_MS) },
  ])
  await until('nothing waits', async () => (await world.query('select from webhook_queue')).length === 0)
  const [again] = waiting
  const redeliver = () => client.send(`/v1${PATH}/${id}/deliveries/${again!.id}/redeliver`, { method: 'POST' })
  t.match((await redeliver()).problem, { status: 409, code: 'invalid-transition', currentStatus: 'disabled' })
  receiver.answer = (response) => void response.writeHead(204).end()
  const enabled = await client.send<IntegratorWebhook>(`/v1${PATH}/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': '*' },
    body: '{"enabled":true}',
  })
  t.equal(enabled.body.status, 'active')
  t.equal((await redeliver()).status, 202)
  await until('it is delivered', async () => {
    await world.pollOnce()
    return (await deliveries(id)).find((delivery) => delivery.id === again!.id)?.status === 'succeeded'
  })
})

await t.test(
  'a success in the last millisecond keeps an endpoint; its 72 hours begin with the next failure',
  async (t) => {
    const id = await listen()
    const from = world.now()
    await pay()
    await tried(id, 1)
    world.advanceTo(from + 3 * DAY_MS - 1)
    receiver.answer = (response) => void response.writeHead(204).end()
    await pay()
    await until('it succeeds', async () => {
      await world.pollOnce()
      return (await deliveries(id)).at(-1)?.status === 'succeeded'
    })
    world.advanceTo(from + 3 * DAY_MS + HOUR_MS)
    await world.pollOnce()
    t.match(await endpoint(id), { status: 'active', consecutiveFailures: 0 })
  },
)

await t.test(
  'a clock that jumps over all of it: a paused endpoint is disabled, and its deliveries end once',
  async (t) => {
    const id = await listen()
    for (let count = 0; count < 20; count++) await pay()
    await until('it is paused', async () => {
      await world.pollOnce()
      return (await endpoint(id)).status === 'paused'
    })
    world.advance(10 * DAY_MS)
    await Promise.all([world.pollOnce(), world.pollOnce()])
    await until('it is disabled, and nothing waits', async () => {
      await world.pollOnce()
      const waiting = await world.query('select from webhook_queue')
      return (await endpoint(id)).status === 'disabled' && waiting.length === 0
    })
    t.match(await endpoint(id), { status: 'disabled', disabledReason: 'delivery_failures' })
    const all = await deliveries(id)
    t.equal(all.length, 20)
    for (const delivery of all) t.match(delivery, { status: /^(?:discarded|failed)$/, nextAttemptAt: null })
    t.strictSame(await world.query('select from webhook_queue'), [])
  },
)
