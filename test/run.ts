/**
 * `npm test`: one embedded Postgres for the whole run, template databases in it, then the test files, many in one
 * process (test/runner).
 *
 *   npm test                              every test/**\/*.test.ts
 *   npm test -- test/http test/lib/x.test.ts   only these folders and files
 *   npm test -- --quick                   only the files that test/quick.ts chooses
 *
 * The clocks of worlds begin at the same hour in every run (test/support/start-time.ts).
 *
 * The last line on standard output is `N passed, N failed`, counted from the results of every assertion. The exit code
 * is 0 only if something ran and nothing failed. The server and its files are gone afterwards, also after Ctrl-C.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, glob, mkdir, mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { systemClock } from '../lib/base/clock.ts'
import { startEmbeddedPostgres } from '../storage/embedded/embedded.ts'
import { isQuick } from './quick.ts'
import { CLUSTER_ENV } from './support/cluster-postgres.ts'
import { makeSandboxTemplate, makeTemplate, POSTGRES_ENV, SANDBOX_ENV } from './support/postgres.ts'
import type { Plan } from './runner/messages.ts'
import { createReport } from './runner/report.ts'
import type { Counts } from './runner/report.ts'
import { nextStart, START_ENV } from './support/start-time.ts'
import { until } from './support/until.ts'

/** Past this, a run that was told to stop is stopped hard, so that the server is never left behind. */
const STOP_PATIENCE_MS = 10_000

/** A whole file may take this long. The longest take a minute on two quiet cores, and neighbours make that three. */
const FILE_TIMEOUT_S = 300

/**
 * Files at once, on two cores. One that compares times of answers runs before all others, alone. Those that start nodes
 * or Redis of their own have deadlines to keep and leave the cores idle half of the time, so two of them run at once, and
 * two others beside them; the others wait for something half of their time, so four of them fill the cores at the end.
 */
const COMPARES_TIMES = 'test/faults/slow-requests.test.ts'
const MANY_PROCESSES = /^test\/(?:faults|start|storage\/redis)\//
const PHASES = [
  [{ jobs: 1, holds: (file: string) => file === COMPARES_TIMES }],
  [
    { jobs: 2, holds: (file: string) => MANY_PROCESSES.test(file) && file !== COMPARES_TIMES },
    { jobs: 2, holds: (file: string) => !MANY_PROCESSES.test(file) },
  ],
] as const

/**
 * The order in which files begin, so that a run does not end with a long file alone: those that repeat long histories
 * and those that look at the whole API, then the largest, then those of pure code.
 */
const RANKS = [/^test\/(?:histories|simulation|contract|http\/openapi)\b/, /^test\/(?!lib\/|workers\/|tidy)/]

/** Settings that tests need and no ledger may have: nothing here has to survive a power cut. */
const TEST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Each test has a database of its own, made and dropped again; their log would only fill memory.
  min_wal_size: '64MB',
  max_wal_size: '512MB',
  shared_buffers: '128MB',
  // Four files at once, each with several pools.
  max_connections: '250',
  // A connection of a test runs most statements once or twice: planned once instead of at each of five executions, they
  // take Postgres a quarter less processor time (31.7 instead of 41.0 s for test/http/approvals).
  plan_cache_mode: 'force_generic_plan',
  // A database lives for seconds. With a dozen of them, every 15 s would be a process each second that looks at one.
  autovacuum_naptime: '1min',
}

/** A disk in memory, and how much of it and of the memory has to be free for a run. */
const MEMORY_DISK = '/dev/shm'
const MEMORY_DISK_BYTES = 4 * 2 ** 30

const projectRoot = dirname(import.meta.dirname)
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort(signal))

const counts: Counts = { passed: 0, failed: 0 }
let succeeded = false
process.env[START_ENV] ??= nextStart(systemClock.now())
try {
  const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true })
  const found = await findFiles(positionals)
  const files = values.quick ? found.filter(isQuick) : found
  if (values.quick) console.log(describeQuick(found, files))
  if (files.length === 0) console.error('No test file matches.')
  else succeeded = await runFiles(files)
} catch (error) {
  console.error(error)
}
process.exitCode = succeeded && counts.passed > 0 && counts.failed === 0 ? 0 : 1
console.log(`${counts.passed} passed, ${counts.failed} failed`)

/** Says how many files `--quick` leaves out. */
function describeQuick(found: readonly string[], files: readonly string[]): string {
  const inHttp = (some: readonly string[]) => some.filter((file) => file.startsWith('test/http/')).length
  const left = found.length - files.length
  return `--quick leaves out ${left} of ${found.length} files, ${inHttp(found) - inHttp(files)} of them in test/http.`
}

async function findFiles(filters: readonly string[]): Promise<string[]> {
  const patterns = await Promise.all(
    (filters.length === 0 ? ['test'] : filters).map(async (filter) => {
      const found = await stat(join(projectRoot, filter)).catch(() => null)
      return found?.isDirectory() ? join(filter, '**/*.test.ts') : filter
    }),
  )
  const files = await Array.fromAsync(glob(patterns, { cwd: projectRoot, exclude: ['**/node_modules'] }))
  return await longestFirst(files.sort())
}

async function longestFirst(files: readonly string[]): Promise<string[]> {
  const ranked = await Promise.all(
    files.map(async (file) => {
      const rank = RANKS.findIndex((pattern) => pattern.test(file))
      const { size } = await stat(join(projectRoot, file))
      return { file, rank: rank === -1 ? RANKS.length : rank, size }
    }),
  )
  return ranked.sort((a, b) => a.rank - b.rank || b.size - a.size).map(({ file }) => file)
}

/**
 * Where the files of a run stand. A database is a thousand files, and a run makes and drops hundreds of databases: on a
 * disk, the search for free inodes alone takes as much time as all statements. So they stand in memory where there is
 * enough of it, unless TMPDIR names another place.
 */
async function temporaryRoot(): Promise<string> {
  if (process.env['TMPDIR'] !== undefined || process.availableMemory() < 2 * MEMORY_DISK_BYTES) return tmpdir()
  const free = await statfs(MEMORY_DISK).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free < MEMORY_DISK_BYTES ? tmpdir() : MEMORY_DISK
}

async function runFiles(files: readonly string[]): Promise<boolean> {
  const directory = await mkdtemp(join(await temporaryRoot(), 'vostro-test-'))
  try {
    // When root runs the tests, Postgres runs as another user and has to get in.
    await chmod(directory, 0o711)
    const server = await startEmbeddedPostgres({
      dataDir: join(directory, 'data'),
      log: () => undefined,
      settings: TEST_SETTINGS,
    })
    try {
      // The processes of test files and the nodes that they start load the whole service: compiled once, it loads in a
      // third of the time.
      const compiled = join(directory, 'compiled')
      enableCompileCache(compiled)
      await makeTemplate(server.url)
      const sandbox = await makeSandbox(server.url, join(directory, 'sandbox'))
      flushCompileCache()
      if (stopped.signal.aborted) return false
      const temporary = join(directory, 'tmp')
      await mkdir(temporary)
      await chmod(temporary, 0o711)
      let passed = true
      for (const phase of PHASES) {
        const groups = phase.map(({ jobs, holds }) => ({ jobs, files: files.filter(holds) }))
        if (groups.every((group) => group.files.length === 0) || stopped.signal.aborted) continue
        const ran = await runTap({
          groups,
          postgresUrl: server.url,
          sandbox,
          cluster: join(directory, 'cluster'),
          compiled,
          temporary,
        })
        passed &&= ran
      }
      return passed
    } finally {
      await server.stop()
    }
  } finally {
    // A process that was killed a moment ago may still have written a file.
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

/** Makes the template of a sandbox; null when no service starts, so that tests that need none still run. */
async function makeSandbox(serverUrl: string, dataDir: string): Promise<string | null> {
  try {
    const { startSandboxOnce } = await import('./support/sandbox.ts')
    await makeSandboxTemplate(serverUrl, (databaseUrl) => startSandboxOnce(databaseUrl, dataDir))
    return dataDir
  } catch (error) {
    console.error(error)
    return null
  }
}

async function runTap(options: {
  readonly groups: Plan['groups']
  readonly postgresUrl: string
  readonly sandbox: string | null
  /** The path of the template of clusters, which the first cluster makes. */
  readonly cluster: string
  readonly compiled: string
  readonly temporary: string
}): Promise<boolean> {
  const tapFiles = join(projectRoot, 'test/runner/tap-files.ts')
  const plan: Plan = { timeoutSeconds: FILE_TIMEOUT_S, groups: options.groups }
  const child = spawn(process.execPath, [tapFiles, JSON.stringify(plan)], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own: a signal to the group also reaches the processes that test files have started.
    detached: true,
    env: {
      ...process.env,
      [POSTGRES_ENV]: options.postgresUrl,
      ...(options.sandbox === null ? {} : { [SANDBOX_ENV]: options.sandbox }),
      [CLUSTER_ENV]: options.cluster,
      NODE_COMPILE_CACHE: options.compiled,
      // The files of a test that is cut short are deleted with all others.
      TMPDIR: options.temporary,
    },
  })
  const signalAll = (signal: NodeJS.Signals | 0) => signalGroup(child.pid!, signal)
  const stop = () => {
    signalAll('SIGTERM')
    setTimeout(() => signalAll('SIGKILL'), STOP_PATIENCE_MS).unref()
  }
  if (stopped.signal.aborted) stop()
  else stopped.signal.addEventListener('abort', stop, { once: true })

  const report = createReport({ print: (line) => console.log(line), counts })
  child.stdout.setEncoding('utf8').on('data', (text) => report.write(text))
  const [code] = await once(child, 'close')
  report.end()
  if (stopped.signal.aborted) {
    // Services that tests have started drain, and outlive the test files.
    await until('all processes end', () => !signalAll(0), { deadlineMs: STOP_PATIENCE_MS }).catch(() => false)
    signalAll('SIGKILL')
  }
  return code === 0 && !stopped.signal.aborted
}

/** Sends a signal to the processes of a group; 0 sends none. Returns false when the group has no process any more. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal)
  } catch {
    return false
  }
}
