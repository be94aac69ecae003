import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import type { IntegratorWebhook, WebhookDelivery } from '../../../lib/webhooks/webhook-schema.ts'
import type { Client } from '../../support/client.ts'
import { isSigned, Receiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../../support/world.ts'

type Made = IntegratorWebhook & { readonly secret: string }

const PATH = '/integrator-webhooks'
const LOCAL = { settings: { WEBHOOK_TARGETS: 'any' } }
const MINUTE = 60_000

async function listen(client: Client, url: string, events: readonly string[]): Promise<Made> {
  return (await client.post<Made>(PATH, { url, events })).body
}

async function deliveries(
  client: Client,
  id: string,
  filters: Readonly<Record<string, string | boolean>> = {},
): Promise<readonly WebhookDelivery[]> {
  return (await client.list<WebhookDelivery>(`${PATH}/${id}/deliveries`, { limit: 100, ...filters })).body.data
}

const endpoint = async (client: Client, id: string) => (await client.get<IntegratorWebhook>(`${PATH}/${id}`)).body
const patch = (client: Client, id: string, body: object) =>
  client.send<IntegratorWebhook>(`/v1${PATH}/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify(body),
  })

t.test('a payment is told of as it goes, signed, thin and in order', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client, balances, recipients } = world.seeded
  const { id, secret } = await listen(client, receiver.url, [
    'payment.created',
    'payment.status_changed',
    'payment.completed',
    'payment.failed',
    'transfer.completed',
  ])
  const payment = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1_250))).body
  const failing = (
    await client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, 100), reference: 'SBX:AC04' })
  ).body
  const other = await world.customer({
    balances: [
      { currency: 'EUR', amount: 10_000n },
      { currency: 'EUR', amount: 0n },
    ],
  })
  await other.client.createTransfer(transferBody(other.balanceIds[0] as string, other.balanceIds[1] as string, 5))
  await until(
    'both have ended',
    () => receiver.ofType('payment.completed').length + receiver.ofType('payment.failed').length === 2,
  )
  const told = (object: string) =>
    receiver.received.filter(({ event }) => event.data.id === object).map(({ event }) => event.type)
  t.strictSame(told(payment.id), ['payment.created', 'payment.status_changed', 'payment.completed'])
  t.strictSame(told(failing.id), ['payment.created', 'payment.status_changed', 'payment.failed'])
  t.strictSame(receiver.ofType('transfer.completed'), [], 'what another customer does is not told')
  const completed = receiver.ofType('payment.completed')[0]!
  t.strictSame(
    { ...completed.event, id: '', createdAt: '' },
    {
      id: '',
      type: 'payment.completed',
      createdAt: '',
      apiVersion: '1.0.0-draft.14',
      tenantId: client.tenantId,
      customerId: client.tenantId,
      data: {
        object: 'payment',
        id: payment.id,
        status: 'completed',
        previousStatus: 'processing',
        amount: { amountMinor: '1250', currency: 'EUR' },
        test: false,
        sandbox: false,
        related: null,
      },
    },
  )
  for (const received of receiver.received) {
    t.ok(isSigned(received, [secret], world.now()))
    t.match(received.headers, {
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/1.0',
      'service-event-id': received.event.id,
      'service-event-type': received.event.type,
      'webhook-id': received.event.id,
      'webhook-timestamp': received.headers['service-timestamp'],
    })
    t.notOk('service-test' in received.headers)
  }
  const all = await until('all are written', async () => {
    const all = await deliveries(client, id, { 'filter[succeeded]': true })
    return all.length === 6 && all
  })
  t.equal(new Set(all.map(({ eventId }) => eventId)).size, 6)
  const shown = all.find(({ eventId }) => eventId === completed.event.id)!
  t.strictSame(shown.payload, completed.event, 'the payload is shown as it was sent')
  t.match(shown, {
    webhookId: id,
    eventType: 'payment.completed',
    status: 'succeeded',
    succeeded: true,
    test: false,
    redelivery: false,
    attemptCount: 1,
    nextAttemptAt: null,
  })
  t.match(shown.attempts, [
    {
      number: 1,
      responseStatus: 204,
      errorKind: null,
      errorMessage: null,
      resolvedAddress: '127.0.0.1',
      requestHeaders: {
        'Service-Event-Id': completed.event.id,
        'Service-Signature': '(hidden)',
        'webhook-signature': '(hidden)',
      },
    },
  ])
  t.match(await endpoint(client, id), {
    status: 'active',
    consecutiveFailures: 0,
    lastDeliveryAt: /Z$/,
    lastSuccessAt: /Z$/,
  })
  t.strictSame(
    (await deliveries(client, id, { 'filter[eventType]': 'payment.failed' })).map(
      ({ payload }) => (payload as { data: { id: string } }).data.id,
    ),
    [failing.id],
  )
  t.equal((await deliveries(client, id, { 'filter[eventId]': completed.event.id })).length, 1)
  t.strictSame(await deliveries(client, id, { 'filter[status]': 'failed,discarded' }), [])
  t.strictSame(
    await deliveries(client, id, { 'filter[createdFrom]': new Date(world.now() + MINUTE).toISOString() }),
    [],
  )
  const first = await client.list<WebhookDelivery>(`${PATH}/${id}/deliveries`, { limit: 4, withTotal: true })
  t.equal(first.body.page.total, 6)
  t.equal(
    (
      await client.list<WebhookDelivery>(`${PATH}/${id}/deliveries`, {
        limit: 4,
        cursor: first.body.page.nextCursor as string,
      })
    ).body.data.length,
    2,
  )
})

t.test('a test event shows at once what the receiver does with it', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client } = world.seeded
  const { id, secret } = await listen(client, receiver.url, ['payment.created'])
  const test = () => client.send<WebhookDelivery>(`/v1${PATH}/${id}/test`, { method: 'POST' })
  const good = await test()
  t.equal(good.status, 200, good.text)
  t.match(good.body, {
    eventType: 'webhook.test',
    status: 'succeeded',
    test: true,
    attempts: [{ responseStatus: 204, requestHeaders: { 'Service-Test': 'true' } }],
  })
  const [received] = receiver.received
  t.equal(received?.headers['service-test'], 'true')
  t.match(received?.event.data, { object: 'webhook', id, test: true, sandbox: false, status: null, amount: null })
  t.ok(isSigned(received!, [secret], world.now()))

  receiver.answer = (response) =>
    response.writeHead(503, { 'content-type': 'text/plain' }).end('closed\u0000 for lunch')
  t.match((await test()).body, {
    status: 'retrying',
    succeeded: false,
    nextAttemptAt: /Z$/,
    attempts: [{ responseStatus: 503, errorKind: 'http_status', responseSnippet: 'closed\ufffd for lunch' }],
  })
  receiver.answer = (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()
  t.match((await test()).body, { status: 'retrying', attempts: [{ responseStatus: 307, errorKind: 'redirect' }] })
  receiver.answer = (response) => response.writeHead(410).end()
  t.match((await test()).body, { status: 'retrying', attempts: [{ responseStatus: 410, errorKind: 'http_status' }] })
  t.match(await endpoint(client, id), { status: 'active', consecutiveFailures: 3 }, 'gone is a failure like any other')
  receiver.answer = (response) => void response.socket?.destroy()
  t.match((await test()).body, { attempts: [{ responseStatus: null, errorKind: 'connect' }] })
  t.equal((await deliveries(client, id, { 'filter[test]': true })).length, 5)
  t.strictSame(await deliveries(client, id, { 'filter[test]': false }), [])
  await patch(client, id, { enabled: false })
  t.match((await test()).problem, { status: 409, code: 'invalid-transition', currentStatus: 'disabled' })
})

t.test('what failed comes again by the schedule, under the same event id', async (t) => {
  await using receiver = await Receiver.open((response) => void response.writeHead(500).end('no'))
  await using world = await createWorld({ ...LOCAL, overrides: { webhooks: { chance: () => 0 } } })
  const { client, balances, recipients } = world.seeded
  const { id, secret } = await listen(client, receiver.url, ['payment.created'])
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  const attempts = async (count: number) =>
    await until(`attempt ${count}`, async () => {
      const [delivery] = await deliveries(client, id)
      return delivery !== undefined && delivery.attemptCount === count && delivery
    })
  const first = await attempts(1)
  // Counted from the end of the attempt, which lies between its start and now.
  const next = Date.parse(first.nextAttemptAt as string) - MINUTE
  t.ok(Date.parse(first.attempts[0]!.startedAt) <= next && next <= world.now())
  world.advance(MINUTE + 500)
  await attempts(2)
  receiver.answer = (response) => void response.writeHead(200).end('yes')
  world.advance(5 * MINUTE + 500)
  const last = await attempts(3)
  t.match(last, {
    status: 'succeeded',
    nextAttemptAt: null,
    attempts: [
      { number: 3, responseStatus: 200, responseSnippet: 'yes' },
      { number: 2, responseStatus: 500 },
      { number: 1 },
    ],
  })
  t.equal(new Set(receiver.received.map(({ event }) => event.id)).size, 1)
  t.equal(new Set(receiver.received.map(({ body }) => body)).size, 1, 'the same bytes')
  t.equal(new Set(receiver.received.map(({ headers }) => headers['service-timestamp'])).size, 3, 'signed anew')
  for (const received of receiver.received)
    t.ok(isSigned(received, [secret], Number(received.headers['service-timestamp']) * 1_000))
  t.equal((await endpoint(client, id)).consecutiveFailures, 0)
})

t.test('twenty failures in a row pause an endpoint; what is queued goes on, what is new is only listed', async (t) => {
  await using receiver = await Receiver.open((response) => void response.writeHead(500).end())
  await using world = await createWorld({ ...LOCAL, dispatch: false })
  const { client, balances, recipients } = world.seeded
  const { id } = await listen(client, receiver.url, ['payment.created', 'transfer.completed'])
  for (let nth = 0; nth < 20; nth++) await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await until('it is paused', async () => (await endpoint(client, id)).status === 'paused')
  t.match(await endpoint(client, id), {
    enabled: true,
    consecutiveFailures: 20,
    disabledReason: null,
    statusChangedAt: /Z$/,
  })
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 77))
  const discarded = await until(
    'the new one is listed',
    async () => (await deliveries(client, id, { 'filter[status]': 'discarded' }))[0],
  )
  t.match(discarded, {
    succeeded: false,
    attemptCount: 0,
    nextAttemptAt: null,
    payload: { data: { amount: { amountMinor: '77' } } },
  })

  receiver.answer = (response) => void response.writeHead(204).end()
  world.advance(2 * MINUTE)
  await until(
    'what was queued has arrived',
    async () => (await deliveries(client, id, { 'filter[succeeded]': true })).length === 20,
  )
  t.match(await endpoint(client, id), { status: 'paused', consecutiveFailures: 0 }, 'a success does not unpause')
  const refused = await client.send(`/v1${PATH}/${id}/deliveries/${discarded.id}/redeliver`, { method: 'POST' })
  t.match(refused.problem, { status: 409, code: 'invalid-transition', currentStatus: 'paused' })
  t.match((await patch(client, id, { enabled: true })).body, { status: 'active', consecutiveFailures: 0 })
  t.equal((await deliveries(client, id, { 'filter[succeeded]': false })).length, 1, 'nothing is replayed by itself')
  const again = await client.send<WebhookDelivery>(`/v1${PATH}/${id}/deliveries/${discarded.id}/redeliver`, {
    method: 'POST',
  })
  t.equal(again.status, 202)
  t.match(
    again.body,
    { id: discarded.id, eventId: discarded.eventId, status: /^(?:pending|succeeded)$/, redelivery: true },
    'another node may have sent it by now',
  )
  await until('it arrives', () => receiver.received.some(({ event }) => event.id === discarded.eventId))
})

t.test('a delivery is sent again as often as wanted; attempts go on counting', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client, balances, recipients } = world.seeded
  const { id } = await listen(client, receiver.url, ['payment.created'])
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  const [delivery] = await until('it arrives', async () => {
    const all = await deliveries(client, id, { 'filter[succeeded]': true })
    return all.length === 1 && all
  })
  for (let nth = 2; nth <= 3; nth++) {
    t.equal(
      (await client.send(`/v1${PATH}/${id}/deliveries/${delivery!.id}/redeliver`, { method: 'POST' })).status,
      202,
    )
    const shown = await until('again', async () => {
      const [one] = await deliveries(client, id, { 'filter[succeeded]': true })
      return one?.attemptCount === nth && one
    })
    t.match(shown, { redelivery: true, attempts: { length: nth } })
  }
  t.equal(receiver.received.length, 3)
  t.equal(new Set(receiver.received.map(({ event }) => event.id)).size, 1)
  t.equal((await client.send(`/v1${PATH}/${id}/deliveries/${id}/redeliver`, { method: 'POST' })).status, 404)
})

t.test('for a day after a rotation both secrets sign', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client } = world.seeded
  const { id, secret } = await listen(client, receiver.url, ['payment.created'])
  const next = (await client.send<Made>(`/v1${PATH}/${id}/rotate-secret`, { method: 'POST' })).body.secret
  const test = async () => {
    await client.send(`/v1${PATH}/${id}/test`, { method: 'POST' })
    return receiver.received.at(-1)!
  }
  const during = await test()
  t.equal((during.headers['service-signature'] as string).split(',').length, 2)
  t.equal((during.headers['webhook-signature'] as string).split(' ').length, 2)
  for (const one of [secret, next]) t.ok(isSigned(during, [one], world.now()))
  world.advance(86_400_000 + 1_000)
  const after = await test()
  t.ok(isSigned(after, [next], world.now()))
  t.notOk(isSigned(after, [secret], world.now()))
})

t.test('whoever disables or removes an endpoint stops what waits', async (t) => {
  await using receiver = await Receiver.open((response) => void response.writeHead(500).end())
  await using world = await createWorld(LOCAL)
  const { client, balances, recipients } = world.seeded
  const { id } = await listen(client, receiver.url, ['payment.created'])
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await until('it has failed', async () => (await deliveries(client, id))[0]?.status === 'retrying')
  await patch(client, id, { enabled: false })
  t.match(await deliveries(client, id), [
    { status: 'discarded', nextAttemptAt: null, attemptCount: 1, completedAt: /Z$/ },
  ])
  t.strictSame(await world.query('select * from webhook_queue'), [])
  world.advance(10 * MINUTE)
  await patch(client, id, { enabled: true })
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await until('the next one has failed', async () => (await deliveries(client, id))[0]?.status === 'retrying')
  await client.send(`/v1${PATH}/${id}`, { method: 'DELETE', headers: { 'if-match': '*' } })
  t.strictSame(await world.query('select * from webhook_queue'), [])
})

t.test('an operator hears of its customers', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client, balances, recipients } = world.seeded
  const { secret } = await listen(world.operator, receiver.url, ['payment.created'])
  const payment = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))).body
  const [received] = await until('it arrives', () => receiver.received.length > 0 && receiver.received)
  t.match(received?.event, {
    type: 'payment.created',
    tenantId: world.operator.tenantId,
    customerId: client.tenantId,
    data: { id: payment.id },
  })
  t.ok(isSigned(received!, [secret], world.now()))
  await simulate(t, client, 202, { type: 'payment.created' })
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await until('the next one arrives', () => receiver.received.length > 1)
  t.ok(
    receiver.received.every(({ event }) => !event.data.sandbox),
    'what a customer simulates is for the customer alone',
  )
  // What a receiver has said is written down a moment after it was said.
  await until('both are written down', async () => (await world.query('select from webhook_queue')).length === 0)
  const home = (await world.operator.get<{ integratorWebhooks: object }>('/integration')).body
  t.match(home.integratorWebhooks, {
    endpoints: 1,
    active: 1,
    paused: 0,
    failed: 0,
    deliveriesFailed24h: 0,
    lastDeliveryAt: /Z$/,
  })
})

async function simulate(t: Test, client: Client, status: number, body: object, key?: string) {
  const reply = await client.post<{ simulationId: string; details: { eventId: string } }>(
    '/simulations/webhook-events',
    body,
    key,
  )
  t.equal(reply.status, status, reply.text)
  return reply
}

t.test('a sandbox can be told of what never happened, once a key', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client } = world.seeded
  const { id } = await listen(client, receiver.url, ['balance.low', 'recipient.verification_completed'])
  const body = {
    type: 'balance.low',
    objectId: '01980d6e-0000-7000-8000-00000000B001',
    status: 'low',
    amount: { amountMinor: '-5', currency: 'EUR' },
  }
  const first = await simulate(t, client, 202, body, 'one')
  t.match(first.body, { kind: 'webhook_event', status: 'queued', provider: 'platform', providerReference: null })
  const again = await simulate(t, client, 202, body, 'one')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(again.text, first.text)
  t.equal(
    (await client.post('/simulations/webhook-events', { type: 'balance.low' }, 'one')).problem.code,
    'idempotency-key-reused',
  )
  await simulate(t, client, 202, { type: 'recipient.verification_completed' })
  await simulate(t, client, 202, { type: 'payment.created' })
  await until('they arrive', () => receiver.received.length >= 2)
  const low = receiver.ofType('balance.low')
  t.equal(low.length, 1)
  t.match(low[0]?.event, {
    id: first.body.details.eventId,
    customerId: client.tenantId,
    data: {
      object: 'balance',
      id: '01980d6e-0000-7000-8000-00000000b001',
      status: 'low',
      amount: { amountMinor: '-5', currency: 'EUR' },
      sandbox: true,
      test: false,
    },
  })
  t.equal(receiver.ofType('recipient.verification_completed')[0]?.event.data.amount, null)
  t.equal(receiver.ofType('payment.created').length, 0, 'nobody subscribes to it')
  t.match((await client.post('/simulations/webhook-events', { type: 'compliance_hold.created' })).problem, {
    status: 422,
    errors: [{ field: '/type', code: 'invalid_value' }],
  })
  t.match((await client.post('/simulations/webhook-events', { type: 'customer.created' })).problem, {
    status: 422,
    errors: [{ field: '/type', code: 'invalid_value' }],
  })
  t.match((await client.post('/simulations/webhook-events', {})).problem, {
    status: 422,
    errors: [{ field: '/type', code: 'required' }],
  })

  await world.query(`update api_key set environment = 'live' where tenant_id = $1`, [client.tenantId])
  await world.restart()
  t.match((await client.post('/simulations/webhook-events', body)).problem, { status: 403, code: 'insufficient-scope' })
  t.equal((await client.get(`${PATH}/${id}`)).status, 200)
  const owner = await world.person('owner').signIn()
  t.equal(
    (await owner.post('/simulations/webhook-events', { type: 'balance.low' })).status,
    202,
    'people of a workspace may',
  )
})

t.test('a sandbox is cleaned up: paused endpoints go on, deliveries are gone', async (t) => {
  await using receiver = await Receiver.open((response) => void response.writeHead(500).end())
  await using world = await createWorld({ ...LOCAL, dispatch: false })
  const { client, balances, recipients } = world.seeded
  const { id } = await listen(client, receiver.url, ['payment.created'])
  const off = await listen(client, receiver.url, ['transfer.completed'])
  await patch(client, off.id, { enabled: false })
  for (let nth = 0; nth < 20; nth++) await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await until('it is paused', async () => (await endpoint(client, id)).status === 'paused')
  t.strictSame((await client.post('/sandbox/reset', { webhooks: false, deliveries: false })).body, {
    endpointsReactivated: 0,
    deliveriesDeleted: 0,
  })
  const reset = await client.send('/v1/sandbox/reset', { method: 'POST', headers: { 'idempotency-key': 'reset' } })
  t.equal(reset.status, 200, reset.text)
  t.strictSame(reset.body, { endpointsReactivated: 1, deliveriesDeleted: 20 })
  t.match(await endpoint(client, id), { status: 'active', consecutiveFailures: 0 })
  t.equal((await endpoint(client, off.id)).status, 'disabled')
  t.strictSame(await deliveries(client, id), [])
  t.strictSame(await world.query('select * from webhook_queue'), [])
  const again = await client.send('/v1/sandbox/reset', { method: 'POST', headers: { 'idempotency-key': 'reset' } })
  t.equal(again.text, reset.text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
})

t.test('an address that ends with /sbx-fail fails in a sandbox, without anybody being asked', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client } = world.seeded
  const { id } = await listen(client, `${receiver.url}/sbx-fail`, ['payment.created'])
  const failed = await client.send<WebhookDelivery>(`/v1${PATH}/${id}/test`, { method: 'POST' })
  t.match(failed.body, { status: 'retrying', attempts: [{ responseStatus: 500, errorKind: 'http_status' }] })
  t.strictSame(receiver.received, [])
})

async function worldEvents(world: World): Promise<number> {
  const [row] = await world.query<{ events: number }>('select count(*)::int as events from outbox')
  return row!.events
}

t.test('what happened before anybody listened is not told, and nothing is relayed twice', async (t) => {
  await using receiver = await Receiver.open()
  await using world = await createWorld(LOCAL)
  const { client, balances, recipients } = world.seeded
  // A transaction under way holds the relay back: the events before the endpoint are relayed after its creation.
  const holder = new pg.Client(world.databaseUrl)
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select pg_current_xact_id()')
    for (let nth = 0; nth < 5; nth++) await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
    const before = await worldEvents(world)
    t.ok(before >= 5)
    await listen(client, receiver.url, ['payment.created', 'incoming_payment.received'])
  } finally {
    await holder.end()
  }
  await world.restart()
  const payment = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))).body
  await until('it arrives', () => receiver.received.length > 0)
  await world.pollOnce()
  t.strictSame(
    receiver.received.map(({ event }) => event.data.id),
    [payment.id],
  )
})
