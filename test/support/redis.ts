/**
 * A real Redis for the tests that need one: `REDIS_URL`, else `redis-server` or `valkey-server` on the PATH, else
 * Debian's package, if it can be installed without a password. A test is never silently skipped: without Redis it fails
 * and says which package to install.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { removeDirectory } from './remove-directory.ts'

const run = promisify(execFile)

const SERVERS = ['redis-server', 'valkey-server']
const START_DEADLINE_MS = 10_000
/** Time for the installation: a package mirror that hangs must not hang the run. */
const INSTALL_DEADLINE_MS = 90_000
const STOP_DEADLINE_MS = 2_000
const POLL_MS = 20

export interface RedisServer {
  readonly url: string
  /** Ends the server and deletes its files. A server from `REDIS_URL` is left running. */
  stop(): Promise<void>
}

/**
 * Returns a running server, empty unless it came from `REDIS_URL` (use a separate key prefix). It stores nothing on
 * disk.
 *
 * @throws Error that says which package to install, when there is no Redis and none can be installed
 */
export async function ensureRedisServer(): Promise<RedisServer> {
  const url = process.env.REDIS_URL
  if (url !== undefined && url !== '') return { url, stop: async () => undefined }
  return startServer((await findServer()) ?? (await installServer()))
}

async function findServer(): Promise<string | null> {
  for (const name of SERVERS) {
    const works = await run(name, ['--version']).then(
      () => true,
      () => false,
    )
    if (works) return name
  }
  return null
}

async function installServer(): Promise<string> {
  // With `-n` sudo fails instead of asking for a password.
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  // RUNLEVEL prevents the package from starting a service.
  const settings = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1']
  let reason = 'it is still not on the PATH'
  try {
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'redis-server']]) {
      const [file = 'env', ...rest] = [...prefix, ...settings, 'apt-get', ...args]
      await run(file, rest, { timeout: INSTALL_DEADLINE_MS, maxBuffer: 16_000_000 })
    }
  } catch (error) {
    reason = error instanceof Error ? (error.message.split('\n')[0] ?? error.message) : String(error)
  }
  const server = await findServer()
  if (server === null) {
    throw new Error(
      `These tests need a Redis server and could not install one (${reason}). ` +
        'Install redis-server or valkey-server, or set REDIS_URL.',
    )
  }
  return server
}

async function startServer(name: string): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'vostro-redis-'))
  const port = await freePort()
  const child = spawn(
    name,
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      directory,
      '--save',
      '',
      '--appendonly',
      'no',
      '--daemonize',
      'no',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = once(child, 'exit')
  // A test process that ends without `stop` ends the server too.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)

  async function stop(): Promise<void> {
    process.removeListener('exit', kill)
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      const timer = setTimeout(kill, STOP_DEADLINE_MS)
      await ended
      clearTimeout(timer)
    }
    await removeDirectory(directory)
  }

  const deadline = performance.now() + START_DEADLINE_MS
  while (!(await isListening(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop()
      throw new Error(`${name} did not start on 127.0.0.1:${port}.`)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return { url: `redis://127.0.0.1:${port}`, stop }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
      .once('connect', () => {
        socket.destroy()
        resolve(true)
      })
      .once('error', () => resolve(false))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
