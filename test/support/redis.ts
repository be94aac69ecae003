/**
 * A real Redis for the tests that need one: `REDIS_URL`, else `redis-server` or `valkey-server` on the PATH, else
 * Debian's package, if it can be installed without a password. A test is never silently skipped: without Redis it fails
 * and says which package to install.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDebianServer } from './debian-server.ts'
import { removeDirectory } from './remove-directory.ts'

const REDIS = {
  title: 'a Redis server',
  programs: ['redis-server', 'valkey-server'],
  versionArgument: '--version',
  package: 'redis-server',
  advice: 'Install redis-server or valkey-server, or set REDIS_URL.',
} as const
const START_DEADLINE_MS = 10_000
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
  return startServer(await ensureDebianServer(REDIS))
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
