import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'

import { createForwarding } from '../../http/forwarding.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ShardHome, Shards } from '../../lib/shards.ts'
import { until } from '../support/until.ts'
import { CUSTOMER, fakeWorld, PAYMENT_BODY, startFake } from './fake-world.ts'

const SECRET = 'a secret that both nodes know, 32 characters'
const NOWHERE: ShardHome = { kind: 'nowhere' }
const HERE: ShardHome = { kind: 'here' }
const there = (nodeUrl: string): ShardHome => ({ kind: 'there', nodeUrl })

/** A node whose only knowledge of shards is what the test tells it. */
async function openNode(t: Test, at: { home: ShardHome }, nodeSecret = SECRET) {
  const forwarding = createForwarding({ shards: { homeOf: () => at.home } as unknown as Shards, nodeSecret })
  const world = fakeWorld()
  const service = await startFake(world, { app: { forwarding } })
  t.teardown(async () => { await forwarding.close(); await service.stop() })
  return { world, ...service }
}

/** Two nodes that know each other's keys; the shard is at home on the second. */
async function openPair(t: Test) {
  const owner = await openNode(t, { home: HERE })
  const place = { home: there(owner.origin) }
  const front = await openNode(t, place)
  for (const [sha256, key] of front.world.keys) owner.world.keys.set(sha256, key)
  return { owner, front, place }
}

/** Something that is only HTTP, to look at what a node sends and to answer as no node would. */
async function openHome(t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const sockets = new Set<Socket>()
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => { requests.push(request); answer(request, response) })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sockets }
}

const drained = (response: ServerResponse) => (request: IncomingMessage) => request.resume().on('end', () => response.writeHead(201, { 'content-type': 'application/json' }).end('{}'))

t.test('a command goes to its home and its answer comes back unchanged; a read is answered where it arrives', async t => {
  const { owner, front } = await openPair(t)
  const direct = await owner.post('/v1/payments', PAYMENT_BODY, { ...front.headers, 'x-request-id': 'same' })
  const forwarded = await front.post('/v1/payments', PAYMENT_BODY, { 'x-request-id': 'same' })
  const shown = async (response: { status: number; headers: Headers; text(): Promise<string> }) =>
    ({ status: response.status, text: await response.text(), headers: Object.fromEntries([...response.headers].filter(([name]) => name !== 'date')) })
  t.strictSame(await shown(forwarded), await shown(direct), 'status, headers and bytes')
  t.equal(owner.world.payments.length, 2)
  t.equal(front.world.payments.length, 0)
  t.strictSame(owner.world.payments.map(({ requestId }) => requestId), ['same', 'same'], 'the request id is carried')

  const refused = await front.post('/v1/payments', {}, { 'x-request-id': 'no' })
  t.match({ status: refused.status, body: await refused.json() }, { status: 422, body: { code: 'validation-error', requestId: 'no', instance: '/v1/payments' } })
  t.equal((await front.get('/v1/payments')).status, 200)
  t.equal(owner.world.lists.length, 0)
  t.equal(front.world.lists.length, 1)
})

t.test('an id that the first node gave is the one that the second answers with', async t => {
  const { front } = await openPair(t)
  const response = await front.post('/v1/payments', PAYMENT_BODY)
  t.equal((await response.json()).requestId, response.headers.get('x-request-id'))
})

t.test('what a caller still waits travels along, less what was waited for a home', async t => {
  const { owner, front, place } = await openPair(t)
  const home = place.home
  const patience = () => owner.world.payments.at(-1)!.deadline - owner.world.nowMs
  await front.post('/v1/payments', PAYMENT_BODY)
  t.equal(patience(), LIMITS.requestDeadlineMs)
  place.home = NOWHERE
  const waiting = front.post('/v1/payments', PAYMENT_BODY)
  setTimeout(() => { place.home = home }, 300)
  t.equal((await waiting).status, 201, 'a home that comes soon is waited for')
  t.ok(patience() <= LIMITS.requestDeadlineMs - 250 && patience() > LIMITS.requestDeadlineMs - 2_000, `${patience()} ms`)
  place.home = NOWHERE
  setTimeout(() => { place.home = HERE }, 300)
  await front.post('/v1/payments', PAYMENT_BODY)
  t.ok(front.world.payments[0]!.deadline - front.world.nowMs <= LIMITS.requestDeadlineMs - 250, 'also when the shard comes to the node that waits')
})

t.test('without a home, or with one that does not answer: 503 and when to come back', async t => {
  const place: { home: ShardHome } = { home: NOWHERE }
  const front = await openNode(t, place)
  const expected = { status: 503, retry: '1', body: { code: 'service-unavailable', retryAfterSeconds: 1 } }
  const said = async (response: { status: number; headers: Headers; json(): Promise<unknown> }) => ({ status: response.status, retry: response.headers.get('retry-after'), body: await response.json() })
  const from = performance.now()
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), expected)
  t.ok(performance.now() - from >= 1_900, 'after a moment')
  t.equal((await front.get('/v1/payments')).status, 200, 'reads need no home')

  const deaf = await openHome(t, (request) => request.socket.destroy())
  place.home = there(deaf.url)
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), expected, 'a home that hangs up')
  place.home = there('http://127.0.0.1:1')
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), expected, 'a home where nobody listens')
  t.equal(front.world.payments.length, 0)
})

t.test('an answer that breaks off is not made to look whole', async t => {
  const home = await openHome(t, (_request, response) => {
    response.writeHead(201, { 'content-length': '100' }).write('{"id":')
    setTimeout(() => response.destroy(), 50)
  })
  const front = await openNode(t, { home: there(home.url) })
  await t.rejects(front.post('/v1/payments', PAYMENT_BODY).then((response) => response.json()))
})

t.test('a forwarded command is not forwarded again, wherever the shard has gone', async t => {
  const place: { home: ShardHome } = { home: HERE }
  const first = await openNode(t, place)
  const second = await openNode(t, { home: there(first.origin) })
  place.home = there(second.origin)
  for (const [sha256, key] of first.world.keys) second.world.keys.set(sha256, key)
  t.equal((await first.post('/v1/payments', PAYMENT_BODY)).status, 201)
  t.equal(second.world.payments.length, 1, 'it is done where it arrived')
  t.equal(first.world.payments.length, 0)
})

t.test('the headers between nodes mean nothing without the secret', async t => {
  const home = await openHome(t, (request, response) => drained(response)(request))
  const front = await openNode(t, { home: there(home.url) })
  const post = (headers: Record<string, string>) => front.post('/v1/payments', PAYMENT_BODY, headers)
  await post({ 'x-vostro-client': '203.0.113.7', 'x-vostro-deadline': '1', 'x-vostro-node': 'f'.repeat(64) })
  const [seen] = home.requests
  t.match(seen!.headers, { 'x-vostro-client': /127\.0\.0\.1$/, 'x-vostro-deadline': String(LIMITS.requestDeadlineMs), 'x-vostro-node': /^[0-9a-f]{64}$/ }, 'a client cannot speak for a node')
  t.not(seen!.headers['x-vostro-node'], 'f'.repeat(64))
  t.equal((await post({ 'x-vostro-node': 'é'.repeat(64) })).status, 201, 'nor trip it up')
  t.equal(home.requests.length, 2, 'both were forwarded')

  const token = String(seen!.headers['x-vostro-node'])
  const stranger = await openNode(t, { home: there(home.url) }, 'another secret, also of 32 characters')
  await stranger.post('/v1/payments', PAYMENT_BODY, { 'x-vostro-node': token })
  t.equal(stranger.world.payments.length, 0, 'a token of other nodes is forwarded like any other request')

  await front.post('/v1/payments', PAYMENT_BODY, { 'x-vostro-node': token, 'x-vostro-deadline': '700', 'x-vostro-client': '203.0.113.7' })
  t.equal(front.world.payments[0]!.deadline - front.world.nowMs, 700, 'with it, they do')
  for (const nonsense of ['-5', 'soon', '1e9']) await front.post('/v1/payments', PAYMENT_BODY, { 'x-vostro-node': token, 'x-vostro-deadline': nonsense })
  t.strictSame(front.world.payments.slice(1).map(({ deadline }) => deadline - front.world.nowMs), [LIMITS.requestDeadlineMs, LIMITS.requestDeadlineMs, LIMITS.requestDeadlineMs])
})

t.test('an address allowlist is held against the client, not against the node that forwards', async t => {
  const { owner, front } = await openPair(t)
  const key = owner.world.addKey({ ipAllowlist: ['203.0.113.0/24'] })
  t.equal((await front.post('/v1/payments', PAYMENT_BODY, { authorization: `Bearer ${key}` })).status, 403)
  const home = await openHome(t, (request, response) => drained(response)(request))
  const other = await openNode(t, { home: there(home.url) })
  await other.post('/v1/payments', PAYMENT_BODY)
  const token = String(home.requests[0]!.headers['x-vostro-node'])
  t.equal((await owner.post('/v1/payments', PAYMENT_BODY, { authorization: `Bearer ${key}`, 'x-vostro-node': token, 'x-vostro-client': '203.0.113.9' })).status, 201)
})

t.test('connections to a home are kept, and not more than so many are opened', async t => {
  let most = 0
  let now = 0
  const home = await openHome(t, (request, response) => {
    most = Math.max(most, ++now)
    request.resume().on('end', () => setTimeout(() => { now -= 1; response.writeHead(201).end('{}') }, 30))
  })
  const front = await openNode(t, { home: there(home.url) })
  for (let i = 0; i < 5; i++) await front.post('/v1/payments', PAYMENT_BODY)
  t.equal(home.sockets.size, 1, 'one after the other they share one')
  const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await front.post('/v1/payments', PAYMENT_BODY)).status))
  t.ok(statuses.every((status) => status === 201))
  t.ok(most <= 128 && home.sockets.size <= 128, `${most} at a time over ${home.sockets.size} connections`)
})

t.test('bodies stream both ways: neither is held back until it is whole', async t => {
  const home = await openHome(t, (request, response) => {
    response.writeHead(201, { 'content-type': 'text/csv' })
    request.on('data', (chunk: Buffer) => response.write(chunk)).on('end', () => response.end('end'))
  })
  const front = await openNode(t, { home: there(home.url) })
  const call = send(`${front.origin}/v1/payments`, { method: 'POST', headers: { ...front.headers, 'x-tenant-id': CUSTOMER, 'content-type': 'text/csv' } })
  call.write('first,')
  const [answer] = await once(call, 'response') as [IncomingMessage]
  t.equal(answer.statusCode, 201)
  answer.setEncoding('utf8')
  t.equal((await once(answer, 'data'))[0], 'first,', 'the echo of the first part is here before the second is sent')
  const large = 'x'.repeat(300_000)
  call.end(large)
  let rest = ''
  for await (const text of answer) rest += text as string
  t.equal(rest.length, large.length + 3)
})

t.test('a client that goes away in the middle of its body is nobody\'s fault', async t => {
  const { owner, front } = await openPair(t)
  const call = send(`${front.origin}/v1/payments`, { method: 'POST', headers: { ...front.headers, 'content-type': 'application/json', 'content-length': '500' } })
  call.on('error', () => undefined)
  call.write('{"reference":')
  await new Promise((resolve) => setTimeout(resolve, 50))
  call.destroy()
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.strictSame(front.world.logged.filter(({ level }) => level !== 'info'), [])
  t.equal(owner.world.payments.length, 0)
})

t.test('a client that goes away before its answer lets the home know', async t => {
  let hungUp: () => void
  const noticed = new Promise<void>((resolve) => { hungUp = resolve })
  const home = await openHome(t, (_request, response) => { response.once('close', () => hungUp()) })
  const front = await openNode(t, { home: there(home.url) })
  const call = send(`${front.origin}/v1/payments`, { method: 'POST', headers: { ...front.headers, 'content-type': 'application/json' } })
  call.on('error', () => undefined)
  call.end('{}')
  await until('the home has it', () => home.requests.length > 0)
  call.destroy()
  await noticed
  t.pass('no connection is kept for it')
})
