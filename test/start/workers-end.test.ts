/** How workers and their primary end, and what a start without what they need says. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

import { Primary, restartDelayMs } from '../../http/cluster/primary.ts'
import { settingsOfWorker } from '../../http/cluster/worker-settings.ts'
import { StartError } from '../../lib/base/errors.ts'
import { readConfig } from '../../lib/config/config.ts'
import { createDataDir, runNode, startNode } from '../support/node-process.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { ensureRedisServer } from '../support/redis.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { until } from '../support/until.ts'
import { childrenOf, isAlive, settingsOfWorkers } from '../support/workers.ts'

t.test('workers do not outlive a primary that is killed', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createTestDatabase()
  const redis = await ensureRedisServer()
  t.teardown(() => redis.stop())
  await using node = await startNode(dataDir.path, settingsOfWorkers(database.url, redis.url))
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
  const shared = settingsOfWorkers(database.url, redis.url)
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
    ...settingsOfWorkers('postgres://a/b', 'redis://a'),
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

t.test('a primary whose workers start no more ends with 1; one that is stopped starts none again', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'vostro-workers-'))
  t.teardown(() => removeDirectory(directory))
  const broken = join(directory, 'broken')
  process.env['FRAGILE_WORKER_FAILS'] = broken
  cluster.setupPrimary({ exec: join(import.meta.dirname, 'fragile-worker.ts'), args: [] })
  const logged: string[] = []
  const tell = (_fields: object, message: string) => {
    logged.push(message)
  }
  const log = { info: tell, warn: tell, error: tell }

  const stopped = new Primary({ count: 2, log })
  t.equal(await stopped.start(), 'worker 1')
  stopped.stop()
  t.equal(await stopped.ended, 0)
  t.strictSame(logged, [], 'no worker took the place of one that was stopped')

  const primary = new Primary({ count: 2, log })
  t.equal(await primary.start(), 'worker 1')
  await writeFile(broken, '')
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  t.equal(await primary.ended, 1)
  t.equal(logged.at(-1), 'no worker starts any more; the service ends')
  t.strictSame(Object.keys(cluster.workers ?? {}), [], 'and nothing is left')

  const failing = new Primary({ count: 2, log })
  t.equal(await failing.start(), null, 'a start that fails is not tried again')
  t.equal(await failing.ended, 1)
})
