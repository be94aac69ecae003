/**
 * The service as its operator runs it: a process of `node http/server/main.ts` with its own DATA_DIR and environment.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { audit } from '../../storage/audit/audit.ts'
import type { AuditReport } from '../../storage/audit/audit.ts'
import type { SandboxContent } from '../../storage/seed/seed.ts'
import pg from 'pg'
import { until } from './until.ts'
import { removeDirectory } from './remove-directory.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const MAIN = join(ROOT, 'http/server/main.ts')
const COMMAND = join(ROOT, 'actors/operators/vostro-cli.ts')
/** A first start creates a database cluster, which takes seconds on a busy machine. The first worker starts alone. */
const START_DEADLINE_MS = 60_000
const deadlineOf = ({ WORKERS = '1' }: Readonly<Record<string, string>>): number =>
  START_DEADLINE_MS * (WORKERS === '1' ? 1 : 2)

export interface DataDir extends AsyncDisposable {
  readonly path: string
  /** Reads the content of sandbox.json. */
  sandbox(): Promise<SandboxContent & { readonly baseUrl: string }>
  /** Reads the address of the embedded Postgres. */
  databaseUrl(): Promise<string>
  /** Reads the process id of the embedded Postgres; null when there is none. */
  postmaster(): Promise<number | null>
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  audit(): Promise<AuditReport>
}

/** Creates a directory for one service after another. Its disposal also stops a Postgres that still runs in it. */
export async function createDataDir(): Promise<DataDir> {
  const directory = await mkdtemp(join(tmpdir(), 'vostro-node-'))
  // When root runs the tests, Postgres runs as another user and needs access.
  await chmod(directory, 0o711)
  const path = join(directory, 'data')

  async function databaseUrl(): Promise<string> {
    const { password, port } = JSON.parse(await readFile(join(path, 'postgres.json'), 'utf8')) as {
      password: string
      port: number
    }
    return `postgres://vostro:${password}@127.0.0.1:${port}/vostro`
  }

  async function postmaster(): Promise<number | null> {
    const text = await readFile(join(path, 'postgres/postmaster.pid'), 'utf8').catch(() => '')
    const pid = Number(text.split('\n')[0])
    return pid > 0 && isAlive(pid) ? pid : null
  }

  async function connected<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const client = new pg.Client({ connectionString: await databaseUrl() })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  return {
    path,
    databaseUrl,
    postmaster,
    sandbox: async () =>
      JSON.parse(await readFile(join(path, 'sandbox.json'), 'utf8')) as SandboxContent & { baseUrl: string },
    query: <Row extends object>(sql: string, values: readonly unknown[] = []) =>
      connected(async (client) => (await client.query<Row>(sql, [...values])).rows),
    audit: () => connected(audit),
    async [Symbol.asyncDispose]() {
      const pid = await postmaster()
      if (pid !== null) {
        process.kill(pid, 'SIGQUIT')
        await until('Postgres has stopped', () => !isAlive(pid))
      }
      await removeDirectory(directory)
    },
  }
}

export interface NodeProcess extends AsyncDisposable {
  readonly pid: number
  /** Address on which it listens, without `/v1`. */
  readonly url: string
  readonly stdout: string
  readonly stderr: string
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
}

interface Running {
  readonly output: { stdout: string; stderr: string }
  readonly ended: NodeProcess['ended']
  readonly pid: number
  kill(signal: NodeJS.Signals): void
}

function run(dataDir: string, env: Readonly<Record<string, string>>, program: readonly string[] = [MAIN]): Running {
  const compiled = process.env['NODE_COMPILE_CACHE']
  const child = spawn(process.execPath, program, {
    // Not the checkout, which may contain an `.env`.
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
      // Half the CPU time of a start is compiling, which all tests of a run share.
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      ...env,
    },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }))
  // A test that ends early ends the process too.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  void ended.then(() => process.removeListener('exit', kill))
  return {
    output,
    ended,
    pid: child.pid!,
    kill: (signal) => {
      child.kill(signal)
    },
  }
}

/** Starts a service that is expected to work, and waits until it listens. */
export async function startNode(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<NodeProcess> {
  const node = run(dataDir, env)
  let over = false
  void node.ended.then(() => {
    over = true
  })
  const url = await until(
    'the service listens',
    () => {
      if (over) throw new Error(`The service ended instead of listening: ${node.output.stderr}${node.output.stdout}`)
      // The last line that it prints is empty; its log may go on after it.
      return /\n\n(?:\{.*\n)*$/.test(node.output.stdout) && /listens on (http:\S+)\/v1\n/.exec(node.output.stdout)?.[1]
    },
    { deadlineMs: deadlineOf(env) },
  ).catch(async (error: unknown): Promise<never> => {
    // A service that runs on would keep the test's database and directory in use.
    node.kill('SIGKILL')
    await node.ended
    throw error
  })
  return {
    pid: node.pid,
    url,
    ended: node.ended,
    kill: node.kill,
    get stdout() {
      return node.output.stdout
    },
    get stderr() {
      return node.output.stderr
    },
    async [Symbol.asyncDispose]() {
      if (!over) node.kill('SIGKILL')
      await node.ended
    },
  }
}

/** Starts a service that is expected to refuse its start, and waits until it has ended. */
export async function runNode(dataDir: string, env: Readonly<Record<string, string>> = {}) {
  return await outcomeOf(run(dataDir, env))
}

/** Runs the command `vostro` with these arguments, and waits until it has ended. */
export async function runCommand(dataDir: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  // It listens nowhere, and names the port of the service.
  return await outcomeOf(run(dataDir, { PORT: '3000', ...env }, [COMMAND, ...args]))
}

async function outcomeOf(node: Running) {
  const timer = setTimeout(() => node.kill('SIGKILL'), START_DEADLINE_MS)
  const end = await node.ended
  clearTimeout(timer)
  return { ...end, ...node.output }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
