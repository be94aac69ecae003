/** Several workers behind one port, as an operator runs them: real processes, one Postgres, one Redis. */
import t from 'tap'

import { audit } from '../../storage/audit/audit.ts'
import pg from 'pg'
import { Client } from '../support/client.ts'
import { freePort } from '../support/cluster.ts'
import { hammer, verify } from '../support/hammer.ts'
import { createDataDir, startNode, type NodeProcess } from '../support/node-process.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { ensureRedisServer } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { childrenOf, isAlive, settingsOfWorkers } from '../support/workers.ts'
import { addCustomer, paymentBody } from '../support/world.ts'

const OPENING = 60_000n
/** Answers between one fault and the next. */
const ANSWERS = 30
const STOP_MS = 20_000

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
    ...settingsOfWorkers(database.url, redis.url),
    METRICS_PORT: `${metricsPort}`,
  })
  t.equal(node.stdout.match(/listens on/g)?.length, 1, 'it says once where it listens')
  await settled(node, metricsUrl, 2)

  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  pool.on('error', () => undefined)
  const { operator } = await dataDir.sandbox()
  const customers = await Promise.all(
    Array.from({ length: 24 }, () =>
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
      for (let nth = 0; nth < 2; nth++) {
        const key = `${id}-${nth}`
        // On a busy machine a shard may be without a home for a moment.
        const reply = await until('a payment is answered', async () => {
          const sent = await own.createPayment(paymentBody(balance!, recipients.EUR, 100), key)
          return sent.status !== 503 && sent
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
