/** The schedule of retries as a receiver lives it: three days of a moved clock, nothing read from constants. */
import t from 'tap'
import type { IntegratorWebhook, WebhookDelivery } from '../../../lib/webhooks/webhook-schema.ts'
import { Receiver } from '../../support/receiver.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

const PATH = '/integrator-webhooks'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Attempts begin this much after they are due at most: what a look takes, and how far the clock is moved past. */
const SLACK = 3 * MINUTE

t.test('for 72 hours a delivery comes again and again, then it has failed and its endpoint is disabled', async (t) => {
  await using receiver = await Receiver.open((response) => void response.writeHead(500).end())
  await using idle = await Receiver.open()
  await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' }, dispatch: false })
  const { client, balances, recipients } = world.seeded
  const listen = async (url: string, events: readonly string[]) =>
    (await client.post<IntegratorWebhook>(PATH, { url, events })).body.id
  const id = await listen(receiver.url, ['payment.created'])
  const idleId = await listen(idle.url, ['balance.low'])
  const endpoint = async (of = id) => (await client.get<IntegratorWebhook>(`${PATH}/${of}`)).body
  const delivery = async () => (await client.list<WebhookDelivery>(`${PATH}/${id}/deliveries`)).body.data.at(-1)
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))

  const gaps: number[] = []
  for (let attempt = 1; ; attempt++) {
    const shown = await until(`attempt ${attempt}`, async () => {
      const one = await delivery()
      return one?.attemptCount === attempt && one
    })
    const event = Date.parse(shown.eventCreatedAt)
    if (attempt > 1) gaps.push(Date.parse(shown.attempts[0]!.startedAt) - Date.parse(shown.attempts[1]!.startedAt))
    if (shown.status === 'failed') {
      t.equal(shown.nextAttemptAt, null)
      t.ok(Date.parse(shown.attempts[0]!.startedAt) - event <= 72 * HOUR, 'nothing is tried after 72 hours')
      break
    }
    t.equal(shown.status, 'retrying')
    const next = Date.parse(shown.nextAttemptAt as string)
    t.ok(next - event <= 72 * HOUR)
    // Just before it is due nothing comes.
    world.advance(next - world.now() - 20_000)
    const received = receiver.received.length
    await world.pollOnce()
    t.equal(receiver.received.length, received, `nothing comes before attempt ${attempt + 1} is due`)
    world.advance(20_000)
  }
  const wanted = [1, 5, 30, 120, 360, 720, 720, 720, 720, 720]
  t.ok(
    gaps.length === wanted.length || gaps.length === wanted.length - 1,
    `${gaps.length + 1} attempts: chance may cost the last one`,
  )
  gaps.forEach((gap, nth) => {
    const step = wanted[nth]! * MINUTE
    t.ok(
      gap >= step && gap <= step * 1.1 + SLACK,
      `${(gap / MINUTE).toFixed(1)} minutes after attempt ${nth + 1}, of ${wanted[nth]}`,
    )
  })
  t.equal(new Set(receiver.received.map(({ event }) => event.id)).size, 1)
  t.equal(receiver.received.length, gaps.length + 1)

  t.match(await endpoint(), { status: 'active', consecutiveFailures: gaps.length + 1 }, 'not yet 72 hours')
  const shown = (await delivery())!
  world.advance(Date.parse(shown.attempts.at(-1)!.startedAt) + 72 * HOUR + MINUTE - world.now())
  await until('it is disabled', async () => (await endpoint()).status === 'disabled')
  t.match(await endpoint(), { enabled: false, disabledReason: 'delivery_failures', statusChangedAt: /Z$/ })
  t.match(await endpoint(idleId), { status: 'active', enabled: true }, 'who had nothing to do is not disabled')
  const mail = await until('its owners are told', async () => {
    const texts = await mailsOf(world)
    return texts.find((text) => text.includes('Subject: A webhook endpoint was disabled'))
  })
  t.match(mail, id)

  const test = await client.send(`/v1${PATH}/${id}/test`, { method: 'POST' })
  t.equal(test.problem.code, 'invalid-transition')
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await until(
    'the next event is only listed',
    async () =>
      (await client.list<WebhookDelivery>(`${PATH}/${id}/deliveries`, { 'filter[status]': 'discarded' })).body.data
        .length === 1,
  )
  const enabled = await client.send<IntegratorWebhook>(`/v1${PATH}/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': '*' },
    body: '{"enabled":true}',
  })
  t.match(enabled.body, { status: 'active', disabledReason: null, consecutiveFailures: 0 })

  // A redelivery has 72 hours of its own, and begins with the first step again.
  t.equal((await client.send(`/v1${PATH}/${id}/deliveries/${shown.id}/redeliver`, { method: 'POST' })).status, 202)
  const again = await until('it is tried again', async () => {
    const one = await delivery()
    return one?.attemptCount === gaps.length + 2 && one
  })
  t.match(again, { status: 'retrying', redelivery: true })
  const step = Date.parse(again.nextAttemptAt as string) - Date.parse(again.attempts[0]!.startedAt)
  t.ok(step >= MINUTE && step < 2 * MINUTE)
})
