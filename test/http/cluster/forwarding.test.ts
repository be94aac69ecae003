import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type Server } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'

import { createAdmission } from '../../../http/access/admission.ts'
import { createApp } from '../../../http/server/app.ts'
import { Forwarding } from '../../../http/cluster/forwarding.ts'
import { RateLimits } from '../../../http/access/rate-limits.ts'
import { RequestLog } from '../../../http/access/request-log.ts'
import { routes } from '../../../http/server/routes.ts'
import { createHttpServer } from '../../../http/server/server.ts'
import type { SessionIdentity } from '../../../lib/identity/caller.ts'
import { generateSessionToken } from '../../../lib/identity/session.ts'
import { LIMITS } from '../../../lib/base/limits.ts'
import type { ShardHome } from '../../../lib/shards/shards.ts'
import { until } from '../../support/until.ts'
import {
  CUSTOMER,
  fakeWorld,
  PAYMENT_BODY,
  startFake,
  type FakeOptions,
  type FakeWorld,
  type Reply,
} from '../server/fake-world.ts'

const SECRET = 'a secret that both nodes know, 32 characters'
/** No heartbeat within a test, so that what passes over a wire is what the test has caused. */
const QUIET = { lookMs: 600_000 }
const NOWHERE: ShardHome = { kind: 'nowhere' }
const HERE: ShardHome = { kind: 'here' }
const there = (node: { readonly origin: string; readonly instance: string }): ShardHome => ({
  kind: 'there',
  nodeUrl: node.origin,
  instance: node.instance,
})
const UNAVAILABLE = { status: 503, retry: '1', body: { code: 'service-unavailable', retryAfterSeconds: 1 } }
const said = async (response: Reply) => ({
  status: response.status,
  retry: response.headers.get('retry-after'),
  body: await response.json(),
})

/** A node whose only knowledge of shards is what the test tells it. */
async function openNode(
  t: Test,
  at: { home: ShardHome },
  {
    nodeSecret = SECRET,
    world = fakeWorld(),
    app = {},
  }: { readonly nodeSecret?: string; readonly world?: FakeWorld; readonly app?: FakeOptions['app'] } = {},
) {
  const instance = randomUUID()
  const forwarding = new Forwarding({
    shards: { homeOf: () => at.home },
    nodeSecret,
    instance,
    clock: world.clock,
    log: world.log,
    patience: QUIET,
  })
  const service = await startFake(world, { app: { ...app, forwarding } })
  t.teardown(async () => {
    forwarding.close()
    await service.stop()
  })
  return { world, instance, forwarding, ...service }
}

/** A proxy between two nodes: it records the bytes that pass, and may change them. */
async function openWire(t: Test, home: { readonly port: number; readonly instance: string }) {
  const sent: Buffer[] = []
  const sockets = new Set<Socket>()
  const wire = {
    origin: '',
    instance: home.instance,
    opened: 0,
    sockets,
    /** Everything that was sent towards the home. */
    sent: () => Buffer.concat(sent).toString('latin1'),
    /** Changes the bytes of a command on its way to the home. */
    asking: (bytes: Buffer): Buffer => bytes,
    /** Changes the bytes of an answer; null cuts the connection. */
    answering: (bytes: Buffer): Buffer | null => bytes,
  }
  const server = createTcpServer((near) => {
    wire.opened += 1
    sockets.add(near)
    const far = connect(home.port, '127.0.0.1')
    near
      .on('data', (bytes: Buffer) => {
        sent.push(bytes)
        far.write(wire.asking(bytes))
      })
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(near)
        far.destroy()
      })
    far
      .on('data', (bytes: Buffer) => {
        const changed = wire.answering(bytes)
        if (changed === null) near.destroy()
        else near.write(changed)
      })
      .on('error', () => undefined)
      .on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  wire.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return wire
}

/**
 * Two nodes with a wire between them; the shard is at home on the second, which knows no key of the first one's
 * callers.
 */
async function openPair(
  t: Test,
  options: { readonly owner?: Parameters<typeof openNode>[2]; readonly front?: Parameters<typeof openNode>[2] } = {},
) {
  const owner = await openNode(t, { home: HERE }, options.owner)
  const wire = await openWire(t, owner)
  const place = { home: there(wire) }
  const front = await openNode(t, place, options.front)
  return { owner, front, place, wire }
}

/** Takes the home away. It is there again so many milliseconds after a request has first looked for it. */
function awayFor(place: { home: ShardHome }, ms: number, home: ShardHome): void {
  let looked = false
  Object.defineProperty(place, 'home', {
    configurable: true,
    get() {
      if (!looked) setTimeout(() => Object.defineProperty(place, 'home', { value: home, writable: true }), ms)
      looked = true
      return NOWHERE
    },
  })
}

/** Something that listens at the address of a node, answers everything with 201, and is none. */
async function openStranger(t: Test) {
  const requests: IncomingMessage[] = []
  const server: Server = createServer((request, response) => {
    requests.push(request)
    request
      .resume()
      .on('end', () => response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"forged"}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, instance: randomUUID(), requests }
}

/** Sends bytes as they are over a new connection; returns everything that was answered until the other end closed it. */
async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  let closed = false
  socket
    .setEncoding('latin1')
    .on('data', (text: string) => {
      answer += text
    })
    .on('error', () => undefined)
    .on('close', () => {
      closed = true
    })
  socket.write(bytes, 'latin1')
  await until('it is closed', () => closed)
  return answer
}

/** The handshake among what went over a wire, and the records behind it. */
function divided(sent: string): { readonly handshake: string; readonly records: string } {
  const end = sent.indexOf('\r\n\r\n') + 4
  if (!sent.slice(end).includes('"instance":"/v1/')) throw new Error('Nothing was forwarded.')
  return { handshake: sent.slice(0, end), records: sent.slice(end) }
}

t.test(
  'a command goes to its home and its answer comes back unchanged; a read is answered where it arrives',
  async (t) => {
    const { owner, front } = await openPair(t)
    const direct = await owner.post('/v1/payments', PAYMENT_BODY, { 'x-request-id': 'same' })
    const forwarded = await front.post('/v1/payments', PAYMENT_BODY, { 'x-request-id': 'same' })
    const shown = async (response: { status: number; headers: Headers; text(): Promise<string> }) => ({
      status: response.status,
      text: await response.text(),
      headers: Object.fromEntries([...response.headers].filter(([name]) => name !== 'date')),
    })
    t.strictSame(await shown(forwarded), await shown(direct), 'status, headers and bytes')
    t.equal(owner.world.createdPayments.length, 2)
    t.equal(front.world.createdPayments.length, 0)
    t.strictSame(
      owner.world.createdPayments.map(({ requestId }) => requestId),
      ['same', 'same'],
      'the request id is carried',
    )

    const refused = await front.post('/v1/payments', {}, { 'x-request-id': 'no' })
    t.match(
      { status: refused.status, body: await refused.json() },
      { status: 422, body: { code: 'validation-error', requestId: 'no', instance: '/v1/payments' } },
    )
    t.equal((await front.get('/v1/payments')).status, 200)
    t.equal(owner.world.lists.length, 0)
    t.equal(front.world.lists.length, 1)
  },
)

t.test('an id that the first node gave is the one that the second answers with', async (t) => {
  const { front } = await openPair(t)
  const response = await front.post('/v1/payments', PAYMENT_BODY)
  t.equal((await response.json()).requestId, response.headers.get('x-request-id'))
})

t.test('what a caller still waits travels along, less what was waited for a home', async (t) => {
  const { owner, front, place } = await openPair(t)
  const home = place.home
  const patience = () => owner.world.createdPayments.at(-1)!.deadline - owner.world.nowMs
  await front.post('/v1/payments', PAYMENT_BODY)
  t.equal(patience(), LIMITS.requestDeadlineMs)
  awayFor(place, 300, home)
  t.equal((await front.post('/v1/payments', PAYMENT_BODY)).status, 201, 'a home that comes soon is waited for')
  t.ok(
    patience() <= LIMITS.requestDeadlineMs - 250 && patience() > LIMITS.requestDeadlineMs - 2_000,
    `${patience()} ms`,
  )
  awayFor(place, 300, HERE)
  await front.post('/v1/payments', PAYMENT_BODY)
  t.ok(
    front.world.createdPayments[0]!.deadline - front.world.nowMs <= LIMITS.requestDeadlineMs - 250,
    'also when the shard comes to the node that waits',
  )
})

t.test('without a home, or with one that does not answer: 503 and when to come back', async (t) => {
  const { owner, front, place, wire } = await openPair(t)
  place.home = NOWHERE
  const from = performance.now()
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE)
  t.ok(performance.now() - from >= 1_900, 'after a moment')
  t.equal((await front.get('/v1/payments')).status, 200, 'reads need no home')

  place.home = there(wire)
  wire.answering = () => null
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE, 'a home that hangs up')
  place.home = there({ origin: 'http://127.0.0.1:1', instance: 'gone' })
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE, 'a home where nobody listens')
  t.equal(front.world.createdPayments.length + owner.world.createdPayments.length, 0)
})

t.test('an answer that breaks off or was changed on its way is none', async (t) => {
  const { owner, front, wire } = await openPair(t)
  const done = () => owner.world.createdPayments.length
  for (const [what, change] of [
    ['its end is missing', (text: string) => (text.includes('"status":201') ? null : text)],
    ['its status', (text: string) => text.replace('"status":201', '"status":202')],
    ['its body', (text: string) => text.replace(/"requestId":"."/, '"requestId":"2"')],
    ['a header', (text: string) => text.replace(/"Location","[^"]+/, (line) => `${line.slice(0, -1)}9`)],
    ['a header more', (text: string) => text.replace('"Content-Type"', '"X-Other","1","Content-Type"')],
  ] as const) {
    wire.answering = (bytes) => {
      const changed = change(bytes.toString('latin1'))
      return changed === null ? null : Buffer.from(changed, 'latin1')
    }
    const before = done()
    t.match(await said(await front.post('/v1/payments', PAYMENT_BODY, { 'x-request-id': '1' })), UNAVAILABLE, what)
    t.equal(done(), before + 1, 'it may have happened')
  }
  wire.answering = (bytes) => bytes
  t.equal((await front.post('/v1/payments', PAYMENT_BODY)).status, 201)
})

t.test('a forwarded command is not forwarded again, wherever the shard has gone', async (t) => {
  const place: { home: ShardHome } = { home: HERE }
  const first = await openNode(t, place)
  const second = await openNode(t, { home: there(first) })
  place.home = there(second)
  t.equal((await first.post('/v1/payments', PAYMENT_BODY)).status, 201)
  t.equal(second.world.createdPayments.length, 1, 'it is done where it arrived')
  t.equal(first.world.createdPayments.length, 0)
})

t.test('no credential travels: neither key, nor session, nor what goes with them', async (t) => {
  const { owner, front, wire } = await openPair(t)
  t.equal(
    (
      await front.post('/v1/payments', PAYMENT_BODY, {
        cookie: '__Host-session=ses_planted; other=1',
        'x-csrf-token': 'csrf-planted',
        'proxy-authorization': 'Basic planted',
      })
    ).status,
    201,
  )
  const sent = wire.sent()
  t.match(sent, /"instance":"\/v1\/payments"/)
  for (const secret of [front.key, 'planted', 'svc_test_']) t.notMatch(sent, secret)
  t.notMatch(sent.toLowerCase(), /authorization|cookie|csrf/)
  t.notMatch(/"caller":([^]+),"address":/.exec(sent)![1]!, /svc_test_|planted/)
  t.equal(owner.world.lookUps, 0, 'the home asks for no key')
})

t.test('operations whose answer holds a new credential are answered where the request arrives', (t) => {
  const shows = (schema: unknown): boolean => {
    const properties = (schema as { readonly properties?: object } | undefined)?.properties
    const parts = (schema as { readonly allOf?: readonly unknown[] } | undefined)?.allOf ?? []
    return (
      (properties !== undefined &&
        Object.keys(properties).some((name) => ['token', 'secret', 'csrfToken'].includes(name))) ||
      parts.some(shows)
    )
  }
  const found = routes.filter(
    ({ method, callers, tenant, success }) =>
      method !== 'get' && callers !== 'public' && tenant !== 'none' && shows(success.schema),
  )
  t.ok(found.length >= 6, found.map(({ operationId }) => operationId).join())
  t.strictSame(
    found.filter(({ answersCredential }) => answersCredential !== true).map(({ operationId }) => operationId),
    [],
  )
  t.end()
})

t.test('whatever else listens at the address of a node is sent nothing and answers nothing', async (t) => {
  const stranger = await openStranger(t)
  const front = await openNode(t, { home: there(stranger) })
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE)
  t.strictSame(
    stranger.requests.filter(({ url }) => url !== '/node-handshake'),
    [],
  )
  t.strictSame(
    stranger.requests
      .flatMap(({ headers }) => [headers.authorization, headers['x-vostro-caller']])
      .filter((value) => value !== undefined),
    [],
    'not even who calls',
  )
  t.equal(JSON.stringify(stranger.requests.map(({ headers }) => headers)).includes(front.key), false)

  const other = await openNode(t, { home: HERE }, { nodeSecret: 'another secret, also of 32 characters' })
  const puzzled = await openNode(t, { home: there(other) })
  t.match(await said(await puzzled.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE, 'a node of another cluster')
  const anew = await openNode(t, { home: there({ origin: front.origin, instance: 'the process before' }) })
  t.match(await said(await anew.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE, 'a node that was started anew')
  t.equal(other.world.createdPayments.length + front.world.createdPayments.length, 0)
})

t.test('a stranger that is refused and never closes its side keeps no socket', async (t) => {
  const node = await openNode(t, { home: HERE })
  const stranger = connect({ port: node.port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => stranger.destroy())
  const isGone = () => true
  const closed = once(stranger, 'close').then(isGone, isGone)
  stranger.on('error', () => undefined)
  stranger.write('GET /node-handshake HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: vostro-node\r\n\r\n')
  await once(stranger.resume(), 'end')
  // Bytes to a socket that is gone are answered with a reset.
  await until('the socket is gone', () => {
    stranger.write('x')
    return Promise.race([closed, Promise.resolve(false)])
  })
})

t.test('a forwarded request is good once, for one node, and as it was signed', async (t) => {
  const { owner, front, wire } = await openPair(t)
  t.equal((await front.post('/v1/payments', PAYMENT_BODY, { 'idempotency-key': 'once' })).status, 201)
  const { handshake, records } = divided(wire.sent())
  const answer = await sendRaw(owner.port, handshake + records)
  t.match(answer, /^HTTP\/1\.1 101 /, 'again')
  t.equal(answer.indexOf('\r\n\r\n') + 4, answer.length, 'the new connection has other keys, and nothing is answered')
  t.match(await sendRaw(owner.port, records), /^HTTP\/1\.1 400 /, 'without a handshake')
  t.match(await sendRaw(front.port, handshake + records), /^HTTP\/1\.1 404 /, 'to another node')
  t.equal(owner.world.createdPayments.length, 1)

  for (const [what, from, to] of [
    ['another path', '"/v1/payments"', '"/v1/paymentz"'],
    ['another operation', '"createPayment"', '"createPayout1"'],
    ['another key', '"twice"', '"other"'],
    ['another body', '"12500"', '"99900"'],
    ['another tenant', CUSTOMER, CUSTOMER.replace('c001', 'c002')],
    ['another caller', '"scopes":["', '"scopes":["x'],
    ['more time', '"patienceMs":15000', '"patienceMs":95000'],
  ] as const) {
    let changed = 0
    wire.asking = (bytes) => {
      const text = bytes.toString('latin1')
      if (text.includes(from)) changed += 1
      return Buffer.from(text.replace(from, to), 'latin1')
    }
    t.match(
      await said(await front.post('/v1/payments', PAYMENT_BODY, { 'idempotency-key': 'twice' })),
      UNAVAILABLE,
      what,
    )
    t.equal(changed, 1, 'it was changed on its way')
    t.equal(owner.world.createdPayments.length, 1)
  }
  wire.asking = (bytes) => bytes
  t.equal((await front.post('/v1/payments', PAYMENT_BODY, { 'idempotency-key': 'twice' })).status, 201)
})

t.test('a body that was changed is refused before it is looked at', async (t) => {
  const owner = await openNode(t, { home: HERE })
  const kept = await openWire(t, owner)
  const front = await openNode(t, { home: there(kept) })
  // The request is kept from the home, and comes changed over the connection for which it was signed.
  let held = ''
  let answered = ''
  let refused = false
  const holding = createTcpServer((near) => {
    const far = connect(owner.port, '127.0.0.1')
    far
      .on('data', (bytes: Buffer) => {
        answered += bytes.toString('latin1')
        near.write(bytes)
      })
      .on('error', () => undefined)
      .on('close', () => {
        refused = true
        near.destroy()
      })
    near
      .on('data', (bytes: Buffer) => {
        const text = bytes.toString('latin1')
        if (held === '' && !text.includes('"instance"')) far.write(bytes)
        else {
          held += text
          if (held.includes('"reference"')) far.write(Buffer.from(held.replace('"12500"', '"99900"'), 'latin1'))
        }
      })
      .on('error', () => undefined)
  })
  holding.listen(0, '127.0.0.1')
  await once(holding, 'listening')
  t.teardown(() => {
    holding.close()
  })
  const victim = await openNode(t, {
    home: there({ origin: `http://127.0.0.1:${(holding.address() as AddressInfo).port}`, instance: owner.instance }),
  })
  t.equal((await victim.post('/v1/payments', PAYMENT_BODY)).status, 503)
  t.match(held, '"12500"')
  t.ok(refused, 'the home has closed the connection')
  t.notMatch(answered, '"kind":"answer"')
  t.equal(owner.world.createdPayments.length, 0)
  t.equal((await front.post('/v1/payments', PAYMENT_BODY)).status, 201, 'an unchanged one is taken')
})

t.test('what a client says in the headers between nodes means nothing', async (t) => {
  const { owner, front, wire } = await openPair(t)
  await front.post('/v1/payments', PAYMENT_BODY)
  const { handshake, records } = divided(wire.sent())
  const claims = {
    'x-vostro-node': /x-vostro-node: (\S+)/i.exec(handshake)![1]!,
    'x-vostro-caller': Buffer.from(/"caller":([^]+),"address":/.exec(records)![1]!).toString('base64url'),
    'x-vostro-deadline': '1',
    'x-vostro-client': '203.0.113.7',
  }
  t.equal((await front.post('/v1/payments', PAYMENT_BODY, claims)).status, 201)
  t.equal(
    (await front.post('/v1/payments', PAYMENT_BODY, { 'x-vostro-node': 'é'.repeat(64), 'x-vostro-caller': 'é' }))
      .status,
    201,
    'nor trips it up',
  )
  t.strictSame(
    owner.world.createdPayments.map(({ deadline }) => deadline - owner.world.nowMs),
    [LIMITS.requestDeadlineMs, LIMITS.requestDeadlineMs, LIMITS.requestDeadlineMs],
  )
  t.equal(
    (await owner.post('/v1/payments', PAYMENT_BODY, { ...claims, authorization: undefined })).status,
    401,
    'nor is it a credential',
  )
})

t.test('clocks of nodes may differ by some seconds; larger differences are refused and in the log', async (t) => {
  const { owner, front } = await openPair(t)
  for (const ms of [-9_000, 9_000]) {
    front.world.nowMs = owner.world.nowMs + ms
    t.equal((await front.post('/v1/payments', PAYMENT_BODY)).status, 201, `${ms} ms`)
  }
  front.world.nowMs = owner.world.nowMs + 11_000
  t.match(await said(await front.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE, 'over a connection that stands')
  const other = await openNode(t, { home: there(owner) })
  other.world.nowMs = owner.world.nowMs - 11_000
  t.match(await said(await other.post('/v1/payments', PAYMENT_BODY)), UNAVAILABLE, 'over a new one')
  t.strictSame(
    owner.world.logged
      .filter(({ level }) => level === 'warn')
      .map(({ fields }) => (fields as { differenceMs?: number }).differenceMs),
    [-11_000, 11_000],
  )
  t.equal(owner.world.createdPayments.length, 2)
})

t.test('an address allowlist is held against the client, by the node that it reached', async (t) => {
  const { owner, front, wire } = await openPair(t, { front: { app: { trustedProxies: ['127.0.0.1'] } } })
  const key = front.world.addKey({ ipAllowlist: ['203.0.113.0/24'] })
  const post = (address: string) =>
    front.post('/v1/payments', PAYMENT_BODY, { authorization: `Bearer ${key}`, 'x-forwarded-for': address })
  t.equal((await post('198.51.100.1')).status, 403)
  t.equal(wire.opened, 0, 'what is refused goes nowhere')
  t.equal((await post('203.0.113.9')).status, 201)
  t.equal(owner.world.createdPayments.length, 1)
})

t.test('a person is the same person after the hop', async (t) => {
  const token = generateSessionToken(randomBytes)
  const membership = {
    id: randomUUID(),
    tenantId: CUSTOMER,
    tenantName: 'Ünïcode & Söhne',
    level: 'customer' as const,
    operatorId: randomUUID(),
    role: 'owner' as const,
  }
  const others = Array.from({ length: 200 }, () => ({ ...membership, tenantId: randomUUID() }))
  const person: Omit<SessionIdentity, 'token' | 'tokenSha256' | 'via'> = {
    id: randomUUID(),
    userId: randomUUID(),
    email: 'ada@example.com',
    name: 'Ada Łovelace',
    userStatus: 'active',
    status: 'active',
    mfaMethod: 'totp',
    createdAt: 0,
    lastSeenAt: Date.UTC(2026, 0, 2),
    expiresAt: Number.MAX_SAFE_INTEGER,
    idleMs: Number.MAX_SAFE_INTEGER,
    factors: 1,
    impersonated: null,
    memberships: [...others, membership],
  }
  const proofs: FakeWorld[] = []
  const signedIn = () => {
    const world = fakeWorld()
    Object.assign(world, {
      identity: {
        ...world.identity,
        findSession: async () => person,
        hasProof: async () => {
          proofs.push(world)
          return true
        },
      },
    })
    return world
  }
  const owner = await openNode(t, { home: HERE }, { world: signedIn() })
  const front = await openNode(t, { home: there(owner) }, { world: signedIn() })
  for (const node of [owner, front])
    t.equal(
      (await node.post('/v1/payments', PAYMENT_BODY, { authorization: `Bearer ${token}`, 'idempotency-key': 'same' }))
        .status,
      201,
    )
  const [direct, forwarded] = owner.world.createdPayments
  t.strictSame(forwarded!.principal, direct!.principal)
  t.equal(forwarded!.idempotency!.id, direct!.idempotency!.id, 'its keys are the same keys')
  t.equal(forwarded!.idempotency!.fingerprint, direct!.idempotency!.fingerprint)
  t.strictSame(proofs, [owner.world, front.world], 'the second proof is asked for once, where the request arrived')
})

t.test('a proof that an amount decides on is asked for by the home, which knows the body', async (t) => {
  const token = generateSessionToken(randomBytes)
  const session: Omit<SessionIdentity, 'token' | 'tokenSha256' | 'via'> = {
    id: randomUUID(),
    userId: randomUUID(),
    email: 'ada@example.com',
    name: 'Ada',
    userStatus: 'active',
    status: 'active',
    mfaMethod: 'totp',
    createdAt: 0,
    lastSeenAt: Date.UTC(2026, 0, 2),
    expiresAt: Number.MAX_SAFE_INTEGER,
    idleMs: Number.MAX_SAFE_INTEGER,
    factors: 1,
    impersonated: null,
    memberships: [
      {
        id: randomUUID(),
        tenantId: CUSTOMER,
        tenantName: 'A',
        level: 'customer',
        operatorId: randomUUID(),
        role: 'owner',
      },
    ],
  }
  let isAbove = true
  const signedIn = (threshold: bigint) => {
    const world = fakeWorld()
    return Object.assign(world, {
      identity: { ...world.identity, findSession: async () => session, hasProof: async () => false },
      operators: { ...world.operators, stepUpThreshold: async () => ({ amount: threshold, currency: 'EUR' }) },
      payments: { ...world.payments, needsProof: async () => isAbove },
    })
  }
  // The home has not heard of the threshold yet: what the other node has left open is checked all the same.
  const owner = await openNode(t, { home: HERE }, { world: signedIn(0n) })
  const front = await openNode(t, { home: there(owner) }, { world: signedIn(100n) })
  const pay = () =>
    front.post('/v1/payments', PAYMENT_BODY, { authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() })
  const refused = await pay()
  t.equal(refused.status, 403)
  t.match(await refused.json(), { code: 'step-up-required', action: 'payment.above_threshold' })
  t.strictSame(owner.world.createdPayments, [])
  isAbove = false
  t.equal((await pay()).status, 201)
  t.equal(owner.world.createdPayments.length, 1)
})

t.test('a forwarded command is counted, limited and logged once, by the node that it reached', async (t) => {
  const limits = () => new RateLimits({ clock: { now: () => Date.UTC(2026, 0, 2) } })
  const log = () => new RequestLog({ write: async () => undefined, flushMs: 60_000, onError: () => undefined })
  const [ownerLog, frontLog] = [log(), log()]
  const { owner, front } = await openPair(t, {
    owner: { app: { rateLimits: limits(), requestLog: ownerLog } },
    front: { app: { rateLimits: limits(), requestLog: frontLog } },
  })
  t.teardown(async () => {
    await ownerLog.close()
    await frontLog.close()
  })
  const response = await front.post('/v1/payments', PAYMENT_BODY)
  t.equal(response.status, 201)
  t.match(
    response.headers.get('ratelimit-policy'),
    /^"key-write";q=12000;w=60, [^,]+, [^,]+, [^,]+, "concurrency";q=256/,
  )
  t.notMatch(response.headers.get('ratelimit'), ',', 'one value, of one node')
  t.equal(owner.world.createdPayments.length, 1)
  t.strictSame([frontLog.counters.pending, ownerLog.counters.pending], [1, 0])
})

t.test('connections to a home are kept, and not more than so many are opened', async (t) => {
  let most = 0
  let now = 0
  const { owner, front, wire } = await openPair(t)
  const { createPayment } = owner.world.payments
  Object.assign(owner.world.payments, {
    createPayment: async (command: Parameters<typeof createPayment>[0]) => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 30))
      now -= 1
      return await createPayment(command)
    },
  })
  for (let i = 0; i < 5; i++) await front.post('/v1/payments', PAYMENT_BODY)
  t.equal(wire.opened, 1, 'one after the other they share one')
  const statuses = await Promise.all(
    Array.from({ length: 300 }, async () => (await front.post('/v1/payments', PAYMENT_BODY)).status),
  )
  t.ok(statuses.every((status) => status === 201))
  t.ok(most <= 128 && wire.opened <= 128, `${most} at a time over ${wire.opened} connections`)
  t.equal(wire.opened, 1, 'and so they do all at once')
})

t.test(
  'a body that arrives slowly takes nothing of another node: only a whole one is sent on, in one piece',
  async (t) => {
    const { owner, front, wire } = await openPair(t)
    const large = JSON.stringify({ ...PAYMENT_BODY, reference: 'x'.repeat(140) }).padEnd(200_000, ' ')
    const call = send(`${front.origin}/v1/payments`, {
      method: 'POST',
      headers: {
        ...front.headers,
        'content-type': 'application/json',
        'idempotency-key': 'slow',
        'transfer-encoding': 'chunked',
      },
    })
    call.write(large.slice(0, 150_000))
    t.equal((await front.post('/v1/payments', PAYMENT_BODY)).status, 201, 'while it waits others pass')
    t.equal(wire.opened, 1)
    t.notMatch(wire.sent(), 'slow')
    call.end(large.slice(150_000))
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    t.equal(answer.resume().statusCode, 201)
    t.equal(owner.world.createdPayments.length, 2)

    const tooLarge = await front.post('/v1/payments', 'x'.repeat(300_000))
    t.match(
      { status: tooLarge.status, body: await tooLarge.json() },
      { status: 413, body: { code: 'payload-too-large' } },
    )
  },
)

t.test("a client that goes away in the middle of its body is nobody's fault", async (t) => {
  const { owner, front } = await openPair(t)
  const call = send(`${front.origin}/v1/payments`, {
    method: 'POST',
    headers: {
      ...front.headers,
      'content-type': 'application/json',
      'idempotency-key': 'left',
      'content-length': '500',
    },
  })
  call.on('error', () => undefined)
  call.write('{"reference":')
  await until('it has arrived', () => front.world.lookUps > 0)
  call.destroy()
  await front.post('/v1/payments', PAYMENT_BODY)
  t.strictSame(
    front.world.logged.filter(({ level }) => level !== 'info'),
    [],
  )
  t.equal(owner.world.createdPayments.length, 1)
})

t.test('a client that goes away before its answer lets the home know', async (t) => {
  const { owner, front, wire } = await openPair(t)
  let arrived = false
  Object.assign(owner.world.payments, {
    createPayment: () => {
      arrived = true
      return new Promise(() => undefined)
    },
  })
  const call = send(`${front.origin}/v1/payments`, {
    method: 'POST',
    headers: { ...front.headers, 'content-type': 'application/json', 'idempotency-key': 'left' },
  })
  call.on('error', () => undefined)
  call.end(JSON.stringify(PAYMENT_BODY))
  await until('the home has it', () => arrived)
  t.equal(owner.forwarding.counters.awaited, 1)
  call.destroy()
  await until('the home knows that nobody waits', () => owner.forwarding.counters.awaited === 0)
  t.equal(wire.sockets.size, 1, 'the connection serves others')
})

t.test("520 sockets without a credential, each with half a body, are in nobody's way", async (t) => {
  const owner = await openNode(t, { home: HERE })
  const world = fakeWorld()
  const forwarding = new Forwarding({
    shards: { homeOf: () => there(owner) },
    nodeSecret: SECRET,
    instance: randomUUID(),
    clock: world.clock,
    log: world.log,
  })
  const admission = createAdmission({ refusal: () => ({ body: '{}', requestId: 'refused' }) })
  const server = createHttpServer(world)
  server.on(
    'request',
    admission.guard(createApp(routes, world, { forwarding, admission }).callback(), () => null),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
    admission.close()
    forwarding.close()
  })

  let answers = 0
  const half = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nX-Tenant-Id: ${CUSTOMER}\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: 500\r\n\r\n{"reference":`
  for (let i = 0; i < 520; i++) {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    let told = ''
    socket
      .setEncoding('latin1')
      .on('error', () => undefined)
      .on('data', (text: string) => {
        if (told === '') answers += 1
        told += text
      })
    socket.write(half)
  }
  await until('all have arrived', () => answers + admission.counters.underWay >= 520, { deadlineMs: 20_000 }).catch(
    () => undefined,
  )
  const key = world.addKey()
  const statuses: number[] = []
  for (let i = 0; i < 20; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'x-tenant-id': CUSTOMER,
        'content-type': 'application/json',
        'idempotency-key': `mine-${i}`,
      },
      body: JSON.stringify(PAYMENT_BODY),
    })
    await response.text()
    statuses.push(response.status)
  }
  t.strictSame([...new Set(statuses)], [201])
  t.equal(answers, 520, 'each has its 401 although its body never came')
})
