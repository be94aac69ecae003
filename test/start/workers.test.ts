/** Several workers behind one port, as an operator runs them: real processes, one Postgres, one Redis. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import t from 'tap'

import { restartDelayMs } from '../../http/cluster/primary.ts'
import { settingsOfWorker } from '../../http/cluster/worker-settings.ts'
import { StartError } from '../../lib/base/errors.ts'
import { readConfig } from '../../lib/config/config.ts'
import { audit } from '../../storage/audit/audit.ts'
import pg from 'pg'
import { Client } from '../support/client.ts'
import { freePort } from '../support/cluster.ts'
import { hammer, verify } from '../support/hammer.ts'
import { createDataDir, runNode, startNode, type NodeProcess } from '../support/node-process.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { ensureRedisServer } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { addCustomer } from '../support/world.ts'

const run = promisify(execFile)

const OPENING = 60_000n
/** Answers between one fault and the next. */
const ANSWERS = 60
const STOP_MS = 10_000

/** The processes that a process has started and that still run. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=,comm='])
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state, name]) => Number(parent) === pid && !state!.startsWith('Z') && name !== 'ps')
    .map(([child]) => Number(child))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The settings of nodes that share a database and a Redis. */
function settings(databaseUrl: string, redisUrl: string): Record<string, string> {
  return {
    WORKERS: '2',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    NODE_URL: 'http://127.0.0.1:0',
    NODE_SECRET: randomBytes(32).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('hex'),
  }
}

interface Shards {
  readonly name: string
  readonly held: number
  readonly total: number
  readonly nodes: number
}

/** Waits until this many workers know of one another and have all shards between them. */
async function settled(node: NodeProcess, metricsUrl: string, count: number): Promise<void> {
  await until(
    `${count} workers have all shards between them`,
    async () => {
      const ready = await fetch(`${node.url}/ready`).catch(() => null)
      if (ready?.status !== 200) return false
      const { checks } = (await ready.json()) as { checks: readonly Shards[] }
      const { nodes, total } = checks.find(({ name }) => name === 'shards')!
      const held = await metric(metricsUrl, 'vostro_shards_held')
      return nodes === count && held.length === count && held.reduce((sum, each) => sum + each, 0) === total
    },
    { deadlineMs: 60_000, pollMs: 100 },
  )
}

/** One metric of each worker, in the order of the workers; empty while the metrics cannot be read. */
async function metric(url: string, name: string): Promise<number[]> {
  const response = await fetch(url).catch(() => null)
  if (response?.status !== 200) return []
  return [...(await response.text()).matchAll(new RegExp(`^${name}\\{worker="(\\d+)"\\} (\\S+)$`, 'gm'))]
    .sort(([, left], [, right]) => Number(left) - Number(right))
    .map(([, , value]) => Number(value))
}

t.test('payments through one port: each worker does its part, and one that is killed costs nothing', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createTestDatabase()
  const redis = await ensureRedisServer()
  t.teardown(() => redis.stop())
  const metricsPort = await freePort()
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
  await using node = await startNode(dataDir.path, {
    ...settings(database.url, redis.url),
    METRICS_PORT: `${metricsPort}`,
  })
  t.equal(node.stdout.match(/listens on/g)?.length, 1, 'it says once where it listens')
  await settled(node, metricsUrl, 2)

  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  pool.on('error', () => undefined)
  const { operator } = await dataDir.sandbox()
  const customers = await Promise.all(
    Array.from({ length: 8 }, () =>
      addCustomer(database.url, operator.id, { balances: [{ currency: 'EUR', amount: OPENING }] }),
    ),
  )
  const customer = await addCustomer(database.url, operator.id, {
    balances: [
      { currency: 'EUR', amount: OPENING },
      { currency: 'EUR', amount: OPENING },
      { currency: 'USD', amount: 0n },
    ],
  })
  const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
  const [first, second, dollars] = customer.balanceIds as [string, string, string]
  const balanceIds = [first, second] as const

  // Commands of many customers, so that both workers are the home of some.
  await Promise.all(
    customers.map(async ({ id, apiKey, balanceIds: [balance], recipients }) => {
      const own = new Client({ url: () => node.url, apiKey, tenantId: id })
      for (let nth = 0; nth < 4; nth++) {
        const reply = await own.createPayment({
          sourceBalanceId: balance!,
          recipientId: recipients.EUR,
          amount: { amountMinor: '100', currency: 'EUR' },
          reference: `Invoice ${nth}`,
        })
        t.equal(reply.status, 201)
      }
    }),
  )
  const commands = await metric(metricsUrl, 'vostro_commands_total')
  t.equal(commands.length, 2)
  t.ok(
    commands.every((count) => count > 0),
    `each worker has decided some: ${commands}`,
  )

  const load = hammer({ client, balanceIds, dollars, recipientId: customer.recipients.EUR, workers: 8 })
  const before = await childrenOf(node.pid)
  t.equal(before.length, 2)
  // One after the other, so that the home of the customer is one of them.
  for (const victim of before) {
    await load.answered(load.sent.length + ANSWERS)
    process.kill(victim, 'SIGKILL')
    await load.answered(load.sent.length + ANSWERS)
    await until(
      'another process has taken its place',
      async () => {
        const now = await childrenOf(node.pid)
        return now.length === 2 && !now.includes(victim)
      },
      { deadlineMs: 60_000, pollMs: 100 },
    )
    await settled(node, metricsUrl, 2)
  }
  await load.answered(load.sent.length + ANSWERS)
  await load.stop()
  const query = async <Row extends object>(sql: string, values: readonly unknown[] = []) =>
    (await pool.query<Row>(sql, [...values])).rows
  await verify(t, load, { client, balanceIds, opening: OPENING, query, audit: () => audit(pool) })
  await pool.end()
  const told = node.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { readonly worker?: unknown; readonly msg: string; readonly ended?: number })
  t.strictSame(
    told
      .filter(({ msg }) => msg.startsWith('a worker has ended'))
      .map(({ worker, ended }) => ({ worker, ended }))
      .sort((left, right) => left.ended! - right.ended!),
    [
      { worker: 'primary', ended: 1 },
      { worker: 'primary', ended: 2 },
    ],
  )
  t.strictSame(
    told.filter(({ worker }) => ![1, 2, 'primary'].includes(worker as number)),
    [],
    'each line says which process wrote it',
  )

  const processes = [node.pid, ...(await childrenOf(node.pid))]
  const from = performance.now()
  node.kill('SIGTERM')
  t.strictSame(await node.ended, { code: 0, signal: null })
  t.ok(performance.now() - from < STOP_MS, 'within the time of a drain')
  t.strictSame(processes.filter(isAlive), [], 'nothing survives')
})

t.test('workers do not outlive a primary that is killed', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createTestDatabase()
  const redis = await ensureRedisServer()
  t.teardown(() => redis.stop())
  await using node = await startNode(dataDir.path, settings(database.url, redis.url))
  const workers = await childrenOf(node.pid)
  t.equal(workers.length, 2)
  node.kill('SIGKILL')
  await until('they have ended', () => workers.every((pid) => !isAlive(pid)))
  t.strictSame(await node.ended, { code: null, signal: 'SIGKILL' })
})

t.test('workers that cannot start end the start with 1 and one sentence', async (t) => {
  await using dataDir = await createDataDir()
  t.match(await runNode(dataDir.path, { WORKERS: '2' }), {
    code: 1,
    stdout: '',
    stderr:
      /^REDIS_URL is required when WORKERS is 2, because workers are nodes that meet in a Redis; set it to \S+, or leave WORKERS out\.\n$/,
  })
  await using database = await createTestDatabase()
  const redis = await ensureRedisServer()
  t.teardown(() => redis.stop())
  const shared = settings(database.url, redis.url)
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => {
    taken.close()
  })
  const { port } = taken.address() as AddressInfo
  t.match(await runNode(dataDir.path, { ...shared, PORT: `${port}` }), {
    code: 1,
    stdout: '',
    stderr: new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use; [^\\n]+\\n$`),
  })
  t.match(await runNode(dataDir.path, { ...shared, NODE_URL: `http://127.0.0.1:${port - 1}` }), {
    code: 1,
    stdout: '',
    stderr: new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 cannot be opened for other nodes [^\\n]+\\n$`),
  })
  t.match(await runNode(dataDir.path, { ...shared, METRICS_PORT: `${port}` }), {
    code: 1,
    stderr: /cannot be opened for metrics/,
  })
})

t.test('each worker has an address of its own', async (t) => {
  const config = readConfig({
    ...settings('postgres://a/b', 'redis://a'),
    NODE_URL: 'https://node.example',
    NODE_ID: 'n1',
    METRICS_PORT: '9464',
  })
  t.match(settingsOfWorker(config, 2), {
    worker: 2,
    nodeId: 'n1-2',
    nodeUrl: 'https://node.example:445',
    port: config.port,
    metricsPort: null,
  })
  const given = (nodeUrl: string, nth: number) => settingsOfWorker({ ...config, nodeUrl, nodeId: null }, nth)
  t.match(given('http://[::1]:3000', 64), { nodeUrl: 'http://[::1]:3064', nodeId: null })
  t.equal(given('http://node.example:0', 2).nodeUrl, 'http://node.example:0', 'the system chooses')
  t.throws(
    () => given('http://node.example:65534', 2),
    new StartError('NODE_URL has the port 65534, and worker 2 has none above it; set it to a port below 65534.'),
  )
})

t.test('a worker that fails again and again is started less and less often', async (t) => {
  t.strictSame([0, 1, 2, 3, 6, 7, 100].map(restartDelayMs), [0, 200, 400, 800, 6_400, 10_000, 10_000])
})
