/** How a service that runs as a process becomes ready, and how it ends when something is in the way. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import pino from 'pino'
import { createService } from '../../http/server/service.ts'
import { readConfig } from '../../lib/config/config.ts'
import { createDataDir, startNode } from '../support/node-process.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { Wire } from '../support/wire.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const START_DEADLINE_MS = 60_000

t.test('a service that hangs while it stops ends with 1 and says so', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createTestDatabase()
  const wire = await Wire.open(database.url)
  t.teardown(() => wire.close())
  await using node = await startNode(dataDir.path, { DATABASE_URL: wire.url })
  const { customer } = await dataDir.sandbox()
  wire.silence()
  // A node at rest has nothing under way that could hang, so it is given a query.
  const request = fetch(`${node.url}/v1/balances`, { headers: { authorization: `Bearer ${customer.apiKey}` } })
  request.catch(() => undefined)
  await until('a query waits for its answer', () => wire.dropped > 0)
  node.kill('SIGTERM')
  t.strictSame(await node.ended, { code: 1, signal: null })
  t.match(node.stderr, /^Stopping took longer than 9\.5 seconds, [^\n]+\.\n$/m)
})

t.test('a signal to npm alone ends the service that npm has started', async (t) => {
  await using dataDir = await createDataDir()
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATA_DIR: dataDir.path,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
    },
  })
  const group = () => {
    try {
      process.kill(-npm.pid!, 'SIGKILL')
    } catch {
      /* All of it has ended. */
    }
  }
  t.teardown(group)
  let stdout = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  const url = await until('the service listens', () => /listens on (http:\S+)\/v1\n/.exec(stdout)?.[1], {
    deadlineMs: START_DEADLINE_MS,
  })
  t.equal((await fetch(`${url}/health`)).status, 200)
  npm.kill('SIGTERM')
  await until('the service has ended', () =>
    fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
      () => false,
      () => true,
    ),
  )
  await until('its database, too', async () => (await dataDir.postmaster()) === null)
})

t.test('a service is ready when it has written down its sandbox', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createTestDatabase()
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const port = String((taken.address() as AddressInfo).port)
  await new Promise((resolve) => taken.close(resolve))
  // A process that writes into a full pipe waits for a reader.
  const pipe = join(dataDir.path, `sandbox.json.${process.pid}.new`)
  await promisify(execFile)('bash', ['-c', `mkdir -p '${dataDir.path}' && mkfifo '${pipe}'`])
  const config = readConfig({
    PORT: port,
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
  })
  const starting = createService(config, { log: pino({ level: 'silent' }), dispatch: false })
  starting.catch(() => undefined)
  const ready = async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null)
    return reply === null
      ? null
      : {
          status: reply.status,
          body: (await reply.json()) as {
            readonly status: string
            readonly checks: readonly { readonly name: string; readonly ok: boolean }[]
          },
        }
  }
  const before = await until('the service answers', ready, { deadlineMs: START_DEADLINE_MS })
  t.match(before, { status: 503, body: { status: 'not_ready' } })
  t.match(
    before.body.checks
      .filter(({ ok }) => !ok)
      .map(({ name }) => name)
      .at(-1),
    'start',
  )
  await readFile(pipe)
  await using _service = await starting
  t.match(await ready(), { status: 200, body: { status: 'ready' } })
})
