/**
 * Receivers that hang, lie and flood; names that lead elsewhere when asked again; a node that dies with its hands full.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import t from 'tap'
import type { IntegratorWebhook, WebhookDelivery } from '../../lib/webhooks/webhook-schema.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { Client, type Reply } from '../support/client.ts'
import { Hostile, type Misbehaviour } from '../support/hostile.ts'
import { createDataDir, startNode, type NodeProcess } from '../support/node-process.ts'
import { Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWorld } from '../support/world.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const PATH = '/integrator-webhooks'
const MEGABYTE = 1024 * 1024

const listen = async (client: Client, url: string, events: readonly string[] = ['balance.low']) =>
  (await client.post<IntegratorWebhook>(PATH, { url, events })).body.id
/** A receiver that pours into the process of the test keeps the service busy as well, which says so. */
async function persistently<Body>(ask: () => Promise<Reply<Body>>): Promise<Body> {
  for (;;) {
    const reply = await ask()
    if (reply.status !== 503) return reply.body
    await pause(100)
  }
}
const deliveries = async (client: Client, id: string) =>
  (await persistently(() => client.list<WebhookDelivery>(`${PATH}/${id}/deliveries`, { limit: 100 }))).data
const simulate = (client: Client) =>
  persistently(() => client.post('/simulations/webhook-events', { type: 'balance.low' }))

/** The outcome of a callback to each receiver, and the most bytes of its answer that may be read. */
const EXPECTED: readonly (readonly [Misbehaviour, Partial<WebhookDelivery['attempts'][number]>])[] = [
  ['hangs', { errorKind: 'timeout', responseStatus: null }],
  ['drips headers', { errorKind: 'timeout', responseStatus: null }],
  ['endless 1xx', { responseStatus: null }],
  ['resets', { errorKind: 'connect', responseStatus: null }],
  ['closes at once', { errorKind: 'connect', responseStatus: null }],
  ['no HTTP', { errorKind: 'connect', responseStatus: null }],
  ['redirects', { errorKind: 'redirect', responseStatus: 302 }],
  ['endless headers', { errorKind: 'response_too_large', responseStatus: null }],
  // These have said yes in time; what they do afterwards is cut off.
  ['drips the body', { errorKind: null, responseStatus: 200 }],
  ['sends 2 GB', { errorKind: null, responseStatus: 200 }],
  ['gzip bomb', { errorKind: null, responseStatus: 200 }],
]

t.test('hostile receivers get ten seconds and a little memory, and nobody else waits for them', async (t) => {
  await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' } })
  await using good = await Receiver.open()
  await using elsewhere = await Receiver.open()
  await using opened = new AsyncDisposableStack()
  const customers = [world.seeded.client, (await world.customer({ balances: [] })).client]
  const [first, second] = customers as [Client, Client]
  const hostiles = await Promise.all(
    EXPECTED.map(async ([kind, expected], index) => {
      const hostile = opened.use(await Hostile.open(kind, elsewhere.url))
      const client = index < 6 ? first : second
      return { kind, expected, hostile, client, id: await listen(client, hostile.url) }
    }),
  )
  const goodId = await listen(first, good.url)
  await listen(second, good.url)

  const before = process.memoryUsage().rss
  const started = performance.now()
  const rounds = 12
  for (let round = 0; round < rounds; round++) for (const client of customers) await simulate(client)
  await until('the good one has everything', () => good.received.length === 2 * rounds)
  // Of its twelve callbacks two have to wait for the ten seconds of the others, so they hang for twenty.
  const hanging = hostiles.find(({ kind }) => kind === 'hangs')!
  t.ok(
    (await deliveries(hanging.client, hanging.id)).some(({ attemptCount }) => attemptCount === 0),
    'while first attempts at another hang',
  )

  const attempts = await until(
    'every first attempt has ended',
    async () => {
      const found = await Promise.all(
        hostiles.map(async (one) => ({ ...one, shown: await deliveries(one.client, one.id) })),
      )
      return (
        found.every(({ shown }) => shown.length === rounds && shown.some(({ attemptCount }) => attemptCount > 0)) &&
        found
      )
    },
    { deadlineMs: 30_000, pollMs: 250 },
  )
  for (const { kind, expected, shown } of attempts) {
    const attempted = shown.filter(({ attemptCount }) => attemptCount > 0)
    t.match(
      attempted.map(({ attempts: [attempt] }) => attempt),
      attempted.map(() => expected),
      kind,
    )
    t.ok(
      attempted.every(({ succeeded }) => succeeded === (expected.responseStatus === 200)),
      kind,
    )
    const longest = Math.max(...attempted.map(({ attempts: [attempt] }) => attempt!.durationMs))
    t.ok(longest < 20_000, `${kind}: ${longest} ms`)
  }
  const byKind = (kind: Misbehaviour) => attempts.find((one) => one.kind === kind)!
  t.ok(
    byKind('hangs')
      .shown.filter(({ attemptCount }) => attemptCount > 0)
      .every(({ attempts: [attempt] }) => attempt!.durationMs >= 9_900),
    'a hanging one gets its ten seconds',
  )
  t.ok(
    byKind('sends 2 GB').hostile.written < rounds * 16 * MEGABYTE,
    `of 2 GB each, ${Math.round(byKind('sends 2 GB').hostile.written / MEGABYTE)} MB were let out in all`,
  )
  t.ok(
    byKind('gzip bomb').shown.every(
      ({ attempts: [attempt] }) => attempt === undefined || attempt.responseSnippet!.length <= 1_024,
    ),
  )
  t.strictSame(elsewhere.received, [], 'redirects are not followed')
  const grown = (process.memoryUsage().rss - before) / MEGABYTE
  t.ok(grown < 250, `memory grew by ${Math.round(grown)} MB`)
  t.comment(`took ${Math.round(performance.now() - started)} ms`)

  // And again while the hanging ones hang.
  for (let round = 0; round < 5; round++) await simulate(first)
  await until('the good one has these too', () => good.received.length === 2 * rounds + 5)
  t.equal((await first.get<IntegratorWebhook>(`${PATH}/${goodId}`)).body.consecutiveFailures, 0)
})

t.test('at most ten callbacks are under way to one receiver', async (t) => {
  await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' } })
  // Nothing is answered until some are under way together, however slowly they are made.
  const held: ServerResponse[] = []
  let isHeld = true
  await using slow = await Receiver.open((response) => {
    if (!isHeld) return void setTimeout(() => response.writeHead(204).end(), 100)
    held.push(response)
    if (held.length < 4) return
    isHeld = false
    for (const each of held) each.writeHead(204).end()
  })
  const { client } = world.seeded
  await listen(client, slow.url)
  for (let nth = 0; nth < 60; nth++) await simulate(client)
  await until('all have arrived', () => slow.received.length === 60)
  t.ok(slow.underWayMost <= 10, `${slow.underWayMost} at once`)
  t.ok(slow.underWayMost > 3, 'and not one by one')
  t.ok(slow.connections <= 12, `${slow.connections} connections`)
})

t.test('a name that leads elsewhere when asked again gets no connection', async (t) => {
  let connections = 0
  const inside = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  t.teardown(() => inside.close())
  await once(inside, 'listening')
  const { port } = inside.address() as AddressInfo
  let answer: readonly string[] = ['93.184.215.14']
  let asked = 0
  await using world = await createWorld({
    overrides: {
      webhooks: {
        resolve: async (host) => {
          asked += 1
          t.equal(host, 'rebind.example.com')
          return answer
        },
      },
    },
  })
  const { client } = world.seeded
  const id = await listen(client, `https://rebind.example.com:${port}/`)
  t.equal(asked, 1, 'judged when it was made')
  const elsewhere = [
    ['127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::1'],
    ['169.254.169.254'],
    ['fd00::1'],
    ['0.0.0.0'],
  ]
  for (const addresses of elsewhere) {
    answer = addresses
    const { body } = await client.send<WebhookDelivery>(`/v1${PATH}/${id}/test`, { method: 'POST' })
    t.match(
      body,
      {
        succeeded: false,
        attempts: [{ errorKind: 'unsafe_address', responseStatus: null, resolvedAddress: addresses.at(-1) }],
      },
      addresses.join(),
    )
  }
  t.equal(asked, 1 + elsewhere.length, 'and before every delivery')
  t.equal(connections, 0, 'nothing ever knocked')
})

t.test('a certificate that proves nothing is not believed', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'vostro-tls-'))
  t.teardown(() => removeDirectory(directory))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const made = await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-keyout',
    key,
    '-out',
    cert,
  ]).then(
    () => true,
    () => false,
  )
  if (!made) {
    t.comment('openssl is not here to make a certificate')
    return
  }
  let requests = 0
  const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, (_request, response) => {
    requests += 1
    response.end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' } })
  await using plain = await Receiver.open()
  const { client } = world.seeded
  for (const port of [(server.address() as AddressInfo).port, plain.port]) {
    const id = await listen(client, `https://127.0.0.1:${port}/`)
    const { body } = await client.send<WebhookDelivery>(`/v1${PATH}/${id}/test`, { method: 'POST' })
    t.match(body, { succeeded: false, attempts: [{ errorKind: 'tls', responseStatus: null }] })
  }
  t.equal(requests, 0)
})

t.test('a service that stops gives back what hangs, and it goes out at once when it is back', async (t) => {
  // The clock stands still, so the claim of the node that stops never runs out.
  await using world = await createWorld({ stillClock: true, settings: { WEBHOOK_TARGETS: 'any' } })
  const began = world.now()
  let hang = true
  await using receiver = await Receiver.open((response) => {
    if (!hang) response.writeHead(204).end()
  })
  const { client } = world.seeded
  const id = await listen(client, receiver.url)
  await simulate(client)
  await until('it hangs', () => receiver.received.length === 1)
  hang = false
  await world.restart()
  const [delivery] = await until('it has arrived', async () => {
    const all = await deliveries(client, id)
    return all[0]?.succeeded === true && all
  })
  t.match(delivery, { attemptCount: 1 }, 'what was cut off was no failure of the receiver')
  t.equal(receiver.received.length, 2)
  t.equal(world.now(), began, 'nobody waited for the claim to run out')
})

t.test('two nodes that both believe to be alone send each event once', async (t) => {
  const settings = { WEBHOOK_TARGETS: 'any', SECRETS_KEY: 'k'.repeat(40) }
  await using receiver = await Receiver.open()
  await using world = await createWorld({ settings })
  await using other = await createWorld({ settings, databaseUrl: world.databaseUrl })
  const { client } = world.seeded
  const id = await listen(client, receiver.url)
  const clients = [client, client.with({ url: () => other.url })]
  const count = 150
  await Promise.all(
    clients.map(async (one) => {
      for (let nth = 0; nth < count; nth++)
        t.equal((await one.post('/simulations/webhook-events', { type: 'balance.low' })).status, 202)
    }),
  )
  await until('all have arrived', () => receiver.received.length >= 2 * count)
  await until('all are written down', async () => (await world.query('select from webhook_queue')).length === 0)
  t.equal(new Set(receiver.received.map(({ event }) => event.id)).size, 2 * count)
  t.equal(receiver.received.length, 2 * count, 'none came twice')
  t.match((await client.get<IntegratorWebhook>(`${PATH}/${id}`)).body, { consecutiveFailures: 0 })
  const [row] = await world.query<{ made: number }>(
    `select count(*)::int as made from webhook_delivery where status = 'succeeded' and attempt_count = 1`,
  )
  t.equal(row?.made, 2 * count)
})

// ── kill -9
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const EVENTS_PER_SECOND = 1_000
const BATCH_MS = 50
const SECONDS_BETWEEN_KILLS = 4
const KILLS = 2
/** Sent and not written down yet when the node dies: ten under way and 64 whose outcome is being written. */
const REPEATED_PER_KILL_MAX = 74

t.test('kill -9 under a thousand events a second loses none, and repeats only what was under way', async (t) => {
  await using dataDir = await createDataDir()
  await using receiver = await Receiver.open()
  const start = (): Promise<NodeProcess> => startNode(dataDir.path, { WEBHOOK_TARGETS: 'any' })
  let node = await start()
  t.teardown(() => node[Symbol.asyncDispose]())
  const { operator, customer } = await dataDir.sandbox()
  const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
  await listen(client, receiver.url, ['payment.recall_updated'])
  const database = new pg.Client({ connectionString: await dataDir.databaseUrl() })
  database.on('error', () => undefined)
  await database.connect()
  t.teardown(() => database.end())

  const committed = new Set<string>()
  const rolledBack = new Set<string>()
  const insert = async (ids: readonly string[]): Promise<void> => {
    await database.query(
      `insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status)
       select id, now(), $2, $3, $4, 'payment.recall_updated', 'note', id, 'made' from unnest($1::uuid[]) as u(id)`,
      [ids, customer.id, operator.id, shardOf(customer.id)],
    )
  }
  let writing = true
  const written = (async () => {
    const from = performance.now()
    for (let nth = 0; writing; nth++) {
      const ids = Array.from({ length: (EVENTS_PER_SECOND * BATCH_MS) / 1_000 }, () => randomUUID())
      const undone = nth % 5 === 0
      await database.query('begin')
      const doubtful = undone ? [...ids, ...Array.from({ length: 5 }, () => randomUUID())] : ids
      if (undone) {
        const gone = doubtful.slice(ids.length)
        await database.query('savepoint doubt')
        await insert(gone)
        await database.query('rollback to savepoint doubt')
        for (const id of gone) rolledBack.add(id)
      }
      await insert(ids)
      await database.query('commit')
      for (const id of ids) committed.add(id)
      await pause(Math.max(0, from + (nth + 1) * BATCH_MS - performance.now()))
    }
  })()
  const deaths: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const before = receiver.received.length
    await pause(SECONDS_BETWEEN_KILLS * 1_000)
    await until('callbacks flow', () => receiver.received.length > before + 200)
    node.kill('SIGKILL')
    deaths.push(performance.now())
    t.strictSame(await node.ended, { code: null, signal: 'SIGKILL' })
    node = await start()
  }
  await pause(2_000)
  writing = false
  await written
  const rate = committed.size / (SECONDS_BETWEEN_KILLS * KILLS)
  const arrived = await until(
    'every event has arrived',
    () => {
      const ids = new Set(receiver.received.map(({ event }) => event.id))
      return ids.size >= committed.size && ids
    },
    { deadlineMs: 120_000, pollMs: 250 },
  )
  t.equal(
    [...committed].filter((id) => !arrived.has(id)).length,
    0,
    `none of ${committed.size} is lost (${Math.round(rate)} a second at least)`,
  )
  t.equal([...arrived].filter((id) => !committed.has(id)).length, 0, 'and nothing else was sent')
  t.equal(
    receiver.received.filter(({ event }) => rolledBack.has(event.id)).length,
    0,
    'nothing of what was rolled back',
  )
  const firstSeen = new Map<string, number>()
  const repeated = receiver.received.filter(({ event, at }) => {
    if (firstSeen.has(event.id)) return true
    firstSeen.set(event.id, at)
    return false
  })
  t.ok(repeated.length <= KILLS * REPEATED_PER_KILL_MAX, `${repeated.length} were repeated`)
  for (const { event } of repeated) {
    const seen = firstSeen.get(event.id) as number
    t.ok(
      deaths.some((death) => seen <= death + 50 && seen > death - 12_000),
      'what is repeated was under way when a node died',
    )
  }
  await until('the queue is empty', async () => (await dataDir.query('select from webhook_queue')).length === 0)
  const [row] = await dataDir.query<{ made: number; arrived: number }>(
    `select count(*)::int as made, count(*) filter (where status = 'succeeded')::int as arrived from webhook_delivery where event_type = 'payment.recall_updated'`,
  )
  t.strictSame(row, { made: committed.size, arrived: committed.size })
  t.equal(node.stderr, '')
})
