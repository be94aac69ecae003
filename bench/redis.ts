/** A Redis for the scenarios that need one: `REDIS_URL`, else `redis-server` or `valkey-server` on the PATH. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const PROGRAMS = ['redis-server', 'valkey-server']
const START_MS = 10_000
const POLL_MS = 20

/** A Redis to use. */
export interface BenchRedis extends AsyncDisposable {
  readonly url: string
  /** Null: it was there before. */
  readonly pid: number | null
}

/** Starts one that keeps nothing, on a free port. @throws Error that says what to install when there is none */
export async function startRedis(port: number): Promise<BenchRedis> {
  const given = process.env['REDIS_URL']
  if (given !== undefined && given !== '')
    return {
      url: given,
      pid: null,
      [Symbol.asyncDispose]: async () => {
        /* Not ours to stop. */
      },
    }
  const program = PROGRAMS.find((name) => spawnSync(name, ['--version']).status === 0)
  if (program === undefined)
    throw new Error('Several nodes need a Redis: install redis-server or valkey-server, or set REDIS_URL.')
  const child = spawn(program, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const deadline = performance.now() + START_MS
  while (!(await listens(port))) {
    if (performance.now() > deadline) {
      kill()
      throw new Error(`${program} did not start.`)
    }
    await pause(POLL_MS)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid ?? null,
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', kill)
      const ended = once(child, 'exit')
      if (kill()) await ended
    },
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
      .once('connect', () => {
        socket.destroy()
        resolve(true)
      })
      .once('error', () => resolve(false))
  })
}
