/** Connections between nodes, with other ends that are slow, silent, broken or hostile. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'

import { HomeConnection } from '../../../http/cluster/home-connection.ts'
import { answerHandshake, asksForHandshake, connectTo, type Connected } from '../../../http/cluster/node-handshake.ts'
import { NodeLink } from '../../../http/cluster/node-link.ts'
import type { ForwardedCommand, NodeAnswer } from '../../../http/cluster/node-messages.ts'
import {
  CONTENT_BYTES_MAX,
  encodeMessage,
  RecordError,
  RecordReader,
  RecordWriter,
} from '../../../http/cluster/node-records.ts'
import { ServedNodes, type CarryOut } from '../../../http/cluster/served-nodes.ts'
import { NodeProof } from '../../../lib/security/node-proof.ts'
import { until } from '../../support/until.ts'

const proof = new NodeProof('a secret that both nodes know, 32 characters')
const clock = { now: () => Date.UTC(2026, 0, 2) }
const log = { warn: () => undefined }
const KEY = Buffer.alloc(32, 7)
/** No heartbeat and no look within a test, unless the test is about them. */
const QUIET = { lookMs: 600_000 }
const QUICK = { lookMs: 20 }

const command = (nth: number, body: string | null = '{}'): ForwardedCommand => ({
  operationId: 'createPayment',
  requestId: `r${nth}`,
  instance: '/v1/payments',
  querystring: '',
  params: {},
  query: {},
  idempotencyKey: null,
  ifMatch: null,
  caller: {
    kind: 'key',
    id: 'k',
    name: 'key',
    scopes: [],
    live: false,
    tenant: { id: 'c', kind: 'customer', operatorId: 'o' } as never,
  },
  address: '127.0.0.1',
  userAgent: null,
  patienceMs: 15_000,
  needsNormalising: false,
  hasBody: body !== null,
  body,
})

const answered = (text: string): NodeAnswer => ({
  status: 201,
  headers: ['X-Request-Id', text],
  body: `{"a":"${text}"}`,
})

/** A home that carries out commands as the test says. */
async function openHome(
  t: Test,
  carryOut: CarryOut,
  { patience = QUIET }: { readonly patience?: { readonly lookMs: number } } = {},
) {
  const instance = randomUUID()
  const served = new ServedNodes({ clock, log, patience, carryOut })
  const server: Server = createServer({ shouldUpgradeCallback: asksForHandshake })
  server.on('upgrade', (request, socket, head) => {
    const connected = answerHandshake(request, socket, head, { proof, clock, instance, log })
    if (connected !== null) served.add(connected)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  t.teardown(() => {
    served.destroy()
    server.closeAllConnections()
    server.close()
  })
  return { instance, served, port, kind: 'there' as const, nodeUrl: `http://127.0.0.1:${port}` }
}

type Home = Pick<Awaited<ReturnType<typeof openHome>>, 'instance' | 'nodeUrl'>

/** A connection to a home. */
function openConnection(
  t: Test,
  home: Home,
  { patience = QUIET }: { readonly patience?: { readonly lookMs: number } } = {},
) {
  const state = { left: 0 }
  const connection = new HomeConnection({
    clock,
    log,
    patience,
    connect: () => connectTo(home, { proof, clock }),
    onLeft: () => {
      state.left += 1
    },
  })
  t.teardown(() => connection.destroy())
  return { connection, state }
}

/** A TCP server that does with each connection what the test says. */
async function openStranger(t: Test, onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { sockets, nodeUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A connection whose handshake is over, and which sends what the test says. */
async function handshaken(t: Test, home: Home): Promise<Connected & { readonly isClosed: () => boolean }> {
  const connected = await connectTo(home, { proof, clock })
  let closed = false
  connected.socket
    .on('data', () => undefined)
    .on('error', () => undefined)
    .on('close', () => {
      closed = true
    })
  t.teardown(() => {
    connected.socket.destroy()
  })
  return { ...connected, isClosed: () => closed }
}

t.test('records: what is written is read, however the bytes are divided', (t) => {
  const writer = new RecordWriter(KEY)
  const messages = [
    { head: { a: 'Łódź' }, body: 'ünïcode' },
    { head: {}, body: '' },
    { head: [1, null], body: Buffer.from([0, 255, 10]) },
  ]
  const bytes = Buffer.concat([
    writer.write(17, []),
    writer.write(
      1_767_312_000_000,
      messages.map((message) => encodeMessage<unknown>(message)),
    ),
    writer.write(18, []),
  ])
  for (const step of [1, 2, 35, 36, 37, bytes.length]) {
    const reader = new RecordReader(KEY)
    const records = []
    for (let at = 0; at < bytes.length; at += step) records.push(...reader.read(bytes.subarray(at, at + step)))
    t.strictSame(
      records.map(({ time, messages: found }) => [
        time,
        found.map(({ head, body }) => [head, body.toString('latin1')]),
      ]),
      [
        [17, []],
        [1_767_312_000_000, messages.map(({ head, body }) => [head, Buffer.from(body as string).toString('latin1')])],
        [18, []],
      ],
      `${step} bytes at a time`,
    )
    t.equal(reader.isWithinRecord, false)
  }
  t.throws(() => encodeMessage({ head: {}, body: Buffer.alloc(CONTENT_BYTES_MAX) }), RangeError)
  t.end()
})

t.test('records: changed, left out, repeated, reordered, of the other direction', (t) => {
  const write = () => {
    const writer = new RecordWriter(KEY)
    return ['one', 'two'].map((text) => writer.write(0, [encodeMessage({ head: { text }, body: '' })]))
  }
  const [one, two] = write() as [Buffer, Buffer]
  const changed = Buffer.from(one)
  changed.write('two', changed.indexOf('one'))
  const read = (...records: readonly Buffer[]) => new RecordReader(KEY).read(Buffer.concat(records))
  t.equal(read(one, two).length, 2)
  for (const [what, records] of [
    ['changed', [changed]],
    ['left out', [two]],
    ['repeated', [one, one]],
    ['reordered', [two, one]],
  ] as const)
    t.throws(() => read(...records), RecordError, what)
  t.throws(() => new RecordReader(Buffer.alloc(32, 8)).read(one), RecordError, 'of the other direction')
  t.end()
})

t.test('records: a length beyond the maximum is refused when it is announced', (t) => {
  const announced = (bytes: number) => {
    const prefix = Buffer.alloc(36)
    prefix.writeUInt32BE(bytes)
    return prefix
  }
  t.throws(() => new RecordReader(KEY).read(announced(CONTENT_BYTES_MAX + 1)), RecordError)
  t.throws(() => new RecordReader(KEY).read(announced(0xffffffff)), RecordError)
  t.throws(() => new RecordReader(KEY).read(announced(7)), RecordError, 'or one too small')
  t.throws(() => new RecordReader(KEY, 8).read(announced(9)), RecordError, 'a first one has to be small')
  t.strictSame(new RecordReader(KEY).read(announced(CONTENT_BYTES_MAX)), [])
  t.end()
})

t.test('answers come back in any order, each to its own request', async (t) => {
  const turns = new Map<string, (answer: NodeAnswer) => void>()
  const home = await openHome(
    t,
    ({ requestId, body }) => new Promise((resolve) => turns.set(`${requestId} ${body}`, resolve)),
  )
  const { connection } = openConnection(t, home)
  const requests = [1, 2, 3].map((nth) => connection.request(command(nth, nth === 2 ? null : `[${nth}]`), 60_000))
  await until('all are there', () => turns.size === 3)
  t.strictSame([...turns.keys()], ['r1 [1]', 'r2 null', 'r3 [3]'])
  for (const [key, resolve] of [...turns].reverse()) resolve(answered(key))
  t.strictSame(
    (await Promise.all(requests.map(({ answer }) => answer))).map(({ status, headers, body }) => [
      status,
      headers[1],
      body.toString(),
    ]),
    ['r1 [1]', 'r2 null', 'r3 [3]'].map((key) => [201, key, `{"a":"${key}"}`]),
  )
})

t.test('the commands of one turn are one write, and so are their answers', async (t) => {
  const home = await openHome(t, async ({ requestId }) => answered(requestId))
  let reads = 0
  let firsts = 0
  const wire = await openStranger(t, (near) => {
    const far = connect(home.port, '127.0.0.1')
    far.on('error', () => undefined).on('close', () => near.destroy())
    let bytes = Buffer.alloc(0)
    near
      .on('close', () => far.destroy())
      .on('data', (chunk: Buffer) => {
        reads += 1
        bytes = Buffer.concat([bytes, chunk])
        far.write(chunk)
      })
    far.on('data', (chunk: Buffer) => {
      if (firsts++ > 0) reads += 1
      near.write(chunk)
    })
  })
  const { connection } = openConnection(t, { ...home, nodeUrl: wire.nodeUrl })
  await connection.request(command(0), 60_000).answer
  reads = 0
  await Promise.all(Array.from({ length: 100 }, (_, nth) => connection.request(command(nth), 60_000).answer))
  // 100 commands are some 40 KB: a single write, which TCP may divide.
  t.ok(reads <= 8, `${reads} reads`)
})

t.test('so many commands are at a home at a time, so many wait, and more are refused at once', async (t) => {
  let most = 0
  const waiting: (() => void)[] = []
  const home = await openHome(t, ({ requestId }) => {
    const done = new Promise<NodeAnswer>((resolve) => waiting.push(() => resolve(answered(requestId))))
    most = Math.max(most, waiting.length)
    return done
  })
  const { connection } = openConnection(t, home)
  const requests = Array.from({ length: 1_024 }, (_, nth) => connection.request(command(nth), 60_000).answer)
  await t.rejects(connection.request(command(1_024), 60_000).answer, { message: /^Too many commands wait/ })
  await until('the home has its share', () => waiting.length === 128)
  let done = 0
  for (const request of requests) void request.then(() => (done += 1))
  await until('all are answered', () => {
    for (const answer of waiting.splice(0)) answer()
    return done === requests.length
  })
  t.equal(most, 128)
})

t.test('a request whose time is over is given up, and its place is free again', async (t) => {
  let begun = 0
  const home = await openHome(t, ({ requestId }) => {
    begun += 1
    return requestId === 'r9999' ? Promise.resolve(answered('late')) : new Promise(() => undefined)
  })
  const { connection } = openConnection(t, home)
  const requests = Array.from({ length: 128 }, (_, nth) => connection.request(command(nth), 50).answer)
  await Promise.all(requests.map((request) => t.rejects(request, { message: /did not answer in time/ })))
  t.equal(begun, 128)
  await until('the home knows', () => home.served.counters.awaited === 0)
  t.equal((await connection.request(command(9_999), 60_000).answer).status, 201)
})

t.test('a connection that breaks ends all requests, and nothing is sent again', async (t) => {
  let begun = 0
  const home = await openHome(t, () => {
    begun += 1
    return new Promise(() => undefined)
  })
  const { connection, state } = openConnection(t, home)
  const requests = Array.from({ length: 130 }, (_, nth) => connection.request(command(nth), 60_000).answer)
  await until('they are there', () => begun === 128)
  home.served.destroy()
  const ends = await Promise.allSettled(requests)
  t.ok(ends.every(({ status }) => status === 'rejected'))
  t.equal(state.left, 1)
  await t.rejects(connection.request(command(1), 60_000).answer, 'and this one takes no more')
  t.equal(begun, 128)
})

t.test('a home that leaves answers what it has and takes no more', async (t) => {
  let finish: (answer: NodeAnswer) => void = () => undefined
  const home = await openHome(t, () => new Promise((resolve) => (finish = resolve)))
  const { connection, state } = openConnection(t, home)
  const request = connection.request(command(1), 60_000)
  await until('it is there', () => home.served.counters.awaited === 1)
  let left = false
  const leaving = home.served.leave(60_000).then(() => (left = true))
  await until('the other node knows', () => state.left === 1)
  t.equal(left, false)
  finish(answered('last'))
  t.equal((await request.answer).status, 201)
  await leaving
  t.strictSame(home.served.counters, { nodes: 0, awaited: 0 })
  await t.rejects(openConnection(t, home).connection.request(command(2), 60_000).answer)
})

t.test('a node that leaves does not wait for one that never lets go', async (t) => {
  const home = await openHome(t, () => new Promise(() => undefined))
  const { connection } = openConnection(t, home)
  const request = connection.request(command(1), 60_000)
  request.answer.catch(() => undefined)
  await until('it is there', () => home.served.counters.awaited === 1)
  await home.served.leave(50)
  await t.rejects(request.answer)
})

t.test('an other end that falls silent, or sends a record byte by byte, is noticed', async (t) => {
  for (const [what, drips] of [
    ['silent', false],
    ['dripping', true],
  ] as const) {
    const home = await openHome(t, () => new Promise(() => undefined))
    let mute = false
    const wire = await openStranger(t, (near) => {
      const far = connect(home.port, '127.0.0.1')
      far.on('error', () => undefined)
      near.on('data', (chunk: Buffer) => mute || far.write(chunk)).on('close', () => far.destroy())
      far.on('data', (chunk: Buffer) => mute || near.write(chunk))
      if (!drips) return
      // The beginning of a large record, and then a byte from time to time, for ever.
      const beginning = Buffer.alloc(36)
      beginning.writeUInt32BE(CONTENT_BYTES_MAX)
      let begun = false
      const drip = setInterval(() => {
        if (!mute || near.destroyed) return
        near.write(begun ? Buffer.from([0]) : beginning)
        begun = true
      }, 5)
      near.on('close', () => clearInterval(drip))
    })
    const { connection, state } = openConnection(t, { ...home, nodeUrl: wire.nodeUrl }, { patience: QUICK })
    const request = connection.request(command(1), 600_000)
    await until('it is there', () => home.served.counters.awaited === 1)
    mute = true
    await t.rejects(request.answer, { message: /silent for too long/ }, what)
    t.equal(state.left, 1)
  }
})

t.test('a heartbeat keeps an idle connection, in both directions', async (t) => {
  const home = await openHome(t, async ({ requestId }) => answered(requestId), { patience: QUICK })
  const passed = { there: 0, back: 0 }
  const wire = await openStranger(t, (near) => {
    const far = connect(home.port, '127.0.0.1')
    far.on('error', () => undefined).on('close', () => near.destroy())
    near
      .on('close', () => far.destroy())
      .on('data', (chunk: Buffer) => {
        passed.there += 1
        far.write(chunk)
      })
    far.on('data', (chunk: Buffer) => {
      passed.back += 1
      near.write(chunk)
    })
  })
  const { connection, state } = openConnection(t, { ...home, nodeUrl: wire.nodeUrl }, { patience: QUICK })
  await connection.request(command(1), 60_000).answer
  // Many times the silence that breaks a connection.
  await until('the connection was idle for long', () => passed.there > 40 && passed.back > 40)
  t.equal(state.left, 0)
  t.equal((await connection.request(command(2), 60_000).answer).status, 201)
  t.equal(wire.sockets.size, 1)
})

t.test('garbage, and lengths without end, close the connection; others go on', async (t) => {
  let begun = 0
  const home = await openHome(t, async ({ requestId }) => {
    begun += 1
    return answered(requestId)
  })
  const { connection } = openConnection(t, home)
  const huge = Buffer.alloc(36)
  huge.writeUInt32BE(0xffffffff)
  const almost = Buffer.alloc(36)
  almost.writeUInt32BE(CONTENT_BYTES_MAX)
  for (const [what, bytes] of [
    ['garbage', Buffer.from('x'.repeat(4_000))],
    ['HTTP', Buffer.from('POST /v1/payments HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['a length of 4 GiB', huge],
    ['a length that only a proven node may announce', almost],
    ['an unsigned record', Buffer.concat([Buffer.from([0, 0, 0, 8]), Buffer.alloc(40)])],
  ] as const) {
    const { socket, isClosed } = await handshaken(t, home)
    socket.write(bytes)
    await until(`${what}: it is closed`, isClosed)
    t.equal((await connection.request(command(1), 60_000).answer).status, 201, what)
  }
  t.equal(begun, 5)
  // The first record is the proof of the other end, so a command cannot be part of it.
  const { socket, keys, isClosed } = await handshaken(t, home)
  const early = encodeMessage({ head: { kind: 'command', id: 1, command: command(1) }, body: '{}' })
  socket.write(new RecordWriter(keys.sending).write(clock.now(), [early]))
  await until('it is closed', isClosed)
  const unknown = await handshaken(t, home)
  const writer = new RecordWriter(unknown.keys.sending)
  unknown.socket.write(writer.write(clock.now(), []))
  unknown.socket.write(writer.write(clock.now(), [encodeMessage({ head: { kind: 'nonsense' }, body: '' })]))
  await until('it is closed', unknown.isClosed)
  t.equal(begun, 5)
})

t.test('garbage from a home closes the connection and ends its requests', async (t) => {
  const home = await openHome(t, () => new Promise(() => undefined))
  for (const garbage of [
    Buffer.alloc(200, 255),
    Buffer.from('HTTP/1.1 201 Created\r\n\r\n{"id":"forged"}'.repeat(4)),
  ]) {
    const wire = await openStranger(t, (near) => {
      const far = connect(home.port, '127.0.0.1')
      far.on('error', () => undefined).on('data', (chunk: Buffer) => near.write(chunk))
      near
        .on('close', () => far.destroy())
        .on('data', (chunk: Buffer) => {
          far.write(chunk)
          if (chunk.includes('"kind":"command"')) near.write(garbage)
        })
    })
    const { connection } = openConnection(t, { ...home, nodeUrl: wire.nodeUrl })
    await t.rejects(connection.request(command(1), 60_000).answer)
  }
})

t.test('a handshake that is repeated gives nothing to those who listened', async (t) => {
  let begun = 0
  const home = await openHome(t, async ({ requestId }) => {
    begun += 1
    return answered(requestId)
  })
  const heard: Buffer[] = []
  const wire = await openStranger(t, (near) => {
    const far = connect(home.port, '127.0.0.1')
    far.on('error', () => undefined).on('data', (chunk: Buffer) => near.write(chunk))
    near
      .on('close', () => far.destroy())
      .on('data', (chunk: Buffer) => {
        heard.push(chunk)
        far.write(chunk)
      })
  })
  const { connection } = openConnection(t, { ...home, nodeUrl: wire.nodeUrl })
  await connection.request(command(1), 60_000).answer
  t.equal(begun, 1)
  for (const times of [1, 2]) {
    const socket = connect(home.port, '127.0.0.1')
    let closed = false
    socket
      .on('data', () => undefined)
      .on('error', () => undefined)
      .on('close', () => {
        closed = true
      })
    socket.write(Buffer.concat(heard))
    await until(`it is closed, time ${times}`, () => closed)
  }
  t.equal(begun, 1)
  await until('only the proven node is served', () => home.served.counters.nodes === 1)
})

t.test("1 000 sockets that do not finish their handshake are in nobody's way", async (t) => {
  const home = await openHome(t, async ({ requestId }) => answered(requestId), { patience: QUICK })
  const { connection } = openConnection(t, home, { patience: QUICK })
  await connection.request(command(0), 60_000).answer
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  let opened = 0
  for (let nth = 0; nth < 1_000; nth++) {
    const socket = connect(home.port, '127.0.0.1')
      .on('error', () => undefined)
      .on('connect', () => (opened += 1))
    sockets.push(socket)
    // Some say nothing, some stop in the middle, some have no proof.
    if (nth % 3 === 1) socket.write('GET /node-handshake HTTP/1.1\r\nHost: x\r\nUpgrade: vostro-')
    if (nth % 3 === 2)
      socket.write('GET /node-handshake HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: vostro-node\r\n\r\n')
  }
  await until('they are open', () => opened === 1_000)
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async (_, nth) => (await connection.request(command(nth), 60_000).answer).status),
  )
  t.strictSame([...new Set(statuses)], [201], 'over the connection that stands')
  const { connection: other } = openConnection(t, home, { patience: QUICK })
  t.equal((await other.request(command(1), 60_000).answer).status, 201, 'and over a new one')
  t.equal(home.served.counters.nodes, 2)

  // Nodes of this cluster that stop after the handshake: they have shown who they are, not that they go on.
  const silent = await Promise.all(Array.from({ length: 50 }, () => handshaken(t, home)))
  await until('those that do not go on are closed', () => silent.every(({ isClosed }) => isClosed()))
  t.equal(home.served.counters.nodes, 2)
  t.equal((await other.request(command(1), 60_000).answer).status, 201)
})

t.test('an other end that does not read is cut off before its answers fill the memory', async (t) => {
  const body = Buffer.alloc(4 * 1024 * 1024)
  const home = await openHome(t, async () => ({ status: 200, headers: [], body }))
  const { socket, keys, isClosed } = await handshaken(t, home)
  socket.pause()
  const writer = new RecordWriter(keys.sending)
  socket.write(writer.write(clock.now(), []))
  const commands = Array.from({ length: 64 }, (_, id) =>
    encodeMessage({ head: { kind: 'command', id, command: command(id) }, body: '{}' }),
  )
  socket.write(writer.write(clock.now(), commands))
  await until('it is cut off', () => home.served.counters.nodes === 0)
  socket.resume()
  await until('it is closed', isClosed)
})

t.test('a link that was told to end sends what it was given', async (t) => {
  const home = await openHome(t, async ({ requestId }) => answered(requestId))
  const { socket, keys, head } = await connectTo(home, { proof, clock })
  const heard: string[] = []
  const link = new NodeLink<object>(socket, {
    keys,
    head,
    proven: true,
    clock,
    log,
    patience: QUIET,
    onMessage: ({ body }) => heard.push(body.toString()),
    onClose: () => heard.push('closed'),
  })
  t.equal(link.isProven, true)
  let begun = 0
  const other = await openHome(t, async ({ requestId }) => {
    begun += 1
    return answered(requestId)
  })
  link.destroy(new Error('not needed'))
  t.strictSame(heard, ['closed'])
  const second = await connectTo(other, { proof, clock })
  const ending = new NodeLink<object>(second.socket, {
    keys: second.keys,
    head: second.head,
    proven: true,
    clock,
    log,
    patience: QUIET,
    onMessage: () => undefined,
    onClose: () => undefined,
  })
  ending.send({ head: { kind: 'command', id: 1, command: command(1) }, body: '{}' })
  ending.end()
  await until('it has arrived', () => begun === 1)
})
