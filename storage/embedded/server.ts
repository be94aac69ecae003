/** The server process of a site: finds a running one, starts one, stops it. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { open, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import pg from 'pg'

import { StartError } from '../../lib/base/errors.ts'
import { codeOf, ignore } from './error-codes.ts'
import { freePort, isFree } from './ports.ts'
import { commandLine, isAlive, isPostgres, isServing, pause } from './processes.ts'
import { rememberPort, ROLE } from './site.ts'
import type { Site } from './site.ts'

/** Timeout of a start. A crash recovery over `max_wal_size` of log takes tens of seconds on a slow disk. */
const START_DEADLINE_MS = 120_000
/** Attempts to start. A single failure may be a port that was taken in between; after three the start is given up. */
const SPAWNS_MAX = 3
const POLL_MS = 15
const FAST_SHUTDOWN_MS = 5_000
const IMMEDIATE_SHUTDOWN_MS = 2_000
/** Wait after a server was killed: its other processes end a moment later. */
const RETRY_PAUSE_MS = 500
/** At a start, a log longer than this is renamed, so the logs take at most about twice this size. */
const LOG_BYTES_MAX = 10_000_000
/** A process id that no system assigns. */
const NOBODY_PID = 2_147_483_646

export interface Held {
  readonly admin: pg.Client
  readonly pid: number
  readonly port: number
  /** Whether this process started it, or found it running. */
  readonly started: boolean
}

/**
 * Connects to the server of the cluster, and starts it unless it runs. Waits while the server starts, recovers or
 * stops.
 */
export async function reachServer(site: Site, options: { readonly pinPort: boolean }): Promise<Held> {
  const spawned: Spawned = { child: null }
  try {
    return await spawnUntilReached(site, { ...options, spawned })
  } catch (error) {
    if (spawned.child?.pid !== undefined) await shutDown(spawned.child.pid, site)
    throw error
  }
}

interface Spawned {
  child: ChildProcess | null
}

async function spawnUntilReached(
  site: Site,
  options: { readonly pinPort: boolean; readonly spawned: Spawned },
): Promise<Held> {
  const { spawned } = options
  const deadline = performance.now() + START_DEADLINE_MS
  let spawns = 0
  while (performance.now() < deadline) {
    if (site.giveUp.signal.aborted) throw new StartError('Postgres was told to stop while it was starting.')
    const running = await findPostmaster(site)
    if (running !== null) {
      const admin = await connect(site, running.port)
      if (admin !== null) {
        if (site.port !== running.port) await rememberPort(site, running.port)
        return { admin, pid: running.pid, port: running.port, started: spawned.child?.pid === running.pid }
      }
    } else if (!isRunning(spawned.child)) {
      if (spawns++ === SPAWNS_MAX) {
        throw new StartError(
          `Postgres does not start in ${site.dataDir} (${await lastLogLine(site)}); see postgres.log there.`,
        )
      }
      if (spawns > 1) await pause(RETRY_PAUSE_MS)
      if (!options.pinPort && !(await isFree(site.port))) await rememberPort(site, await freePort())
      spawned.child = await spawnServer(site)
    }
    await pause(POLL_MS)
  }
  throw new StartError(
    `Postgres in ${site.dataDir} does not answer after ${START_DEADLINE_MS / 1000} seconds ` +
      `(${await lastLogLine(site)}); see postgres.log there.`,
  )
}

function isRunning(child: ChildProcess | null): boolean {
  return child !== null && child.exitCode === null && child.signalCode === null
}

/** Starts the server detached, with a file for its log (E2). */
async function spawnServer(site: Site): Promise<ChildProcess> {
  const logFile = join(site.dataDir, 'postgres.log')
  const size = (await stat(logFile).catch(ignore('ENOENT')))?.size ?? 0
  if (size > LOG_BYTES_MAX) await rename(logFile, `${logFile}.old`)
  const log = await open(logFile, 'a', 0o600)
  try {
    const settings = Object.entries({ ...site.settings, port: String(site.port) })
    const command = site.launcher(site.binaries.postgres, [
      '-D',
      site.clusterDir,
      ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ])
    const child = spawn(command.file, command.args, {
      ...command.options,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    })
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    child.unref()
    return child
  } catch (error) {
    throw new StartError(
      `Postgres cannot be run in ${site.dataDir} (${codeOf(error)}); set DATABASE_URL to an existing one.`,
      { cause: error },
    )
  } finally {
    await log.close()
  }
}

/**
 * Finds the live server of the cluster by its `postmaster.pid`. Postgres itself handles the file of a dead server,
 * except when the process id now belongs to another program: Postgres would mistake that program for a server and
 * refuse to start, so the file is changed to name no process. The file is not deleted, because through it Postgres also
 * checks that no process of the old server still has the memory mapped.
 */
async function findPostmaster(site: Site): Promise<{ readonly pid: number; readonly port: number } | null> {
  const file = join(site.clusterDir, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(ignore('ENOENT'))
  const lines = text?.split('\n') ?? []
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return null
  const port = Number(lines[3] ?? Number.NaN)
  const command = await commandLine(pid)
  if (command === 'unknown' || (isPostgres(command) && command.includes(site.clusterDir))) {
    // Postgres writes the first lines before it knows the port.
    return { pid, port: Number.isInteger(port) && port > 0 ? port : site.port }
  }
  // A server under another path still belongs to this DATA_DIR if it accepts the password: DATA_DIR was moved or
  // mounted elsewhere.
  if (isPostgres(command) && port > 0) {
    const admin = await connect(site, port).catch(() => null)
    await admin?.end()
    if (admin) return { pid, port }
  }
  await writeFile(file, [NOBODY_PID, ...lines.slice(1)].join('\n'))
  return null
}

/** Opens a connection to the maintenance database, or returns `null` while the server is not ready for one. */
async function connect(site: Site, port: number): Promise<pg.Client | null> {
  const admin = new pg.Client({
    connectionString: address(site, { port, database: 'postgres' }),
    application_name: instanceName(process.pid),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    ssl: false,
  })
  // The `end` event reports a lost server; without a listener the error before it would end the process.
  admin.on('error', () => undefined)
  try {
    await admin.connect()
    return admin
  } catch (error) {
    // Class 28: the server is ready and rejects the credentials.
    if (codeOf(error).startsWith('28')) {
      throw new StartError(
        `The password in ${join(site.dataDir, 'postgres.json')} is not the database's; ` +
          'restore that file or set another DATA_DIR.',
        { cause: error },
      )
    }
    // Refused or cut off, starting up or shutting down, or full: the server may be ready soon, and the caller has a
    // deadline.
    return null
  }
}

/**
 * The application name of a vostro instance, so that the refusal of a second instance can name the first one's process.
 */
export function instanceName(pid: number): string {
  return `vostro instance ${pid}`
}

/** Builds the address of a database of the site, with the password. */
export function address(site: Site, options: { readonly port: number; readonly database: string }): string {
  return `postgres://${ROLE}:${site.password}@127.0.0.1:${options.port}/${options.database}`
}

/**
 * Stops the server: a fast shutdown first (a checkpoint, so no recovery), then an immediate one (the next start
 * recovers).
 */
export async function shutDown(pid: number, site: Site): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    if (!(await isServing(pid))) return
    process.kill(pid, signal)
    const deadline = performance.now() + patienceMs
    while (performance.now() < deadline) {
      if (!(await isServing(pid))) return
      await pause(POLL_MS)
    }
  }
  site.log(`Postgres (process ${pid}) did not stop; the next start adopts it`)
}

async function lastLogLine(site: Site): Promise<string> {
  const text = await readFile(join(site.dataDir, 'postgres.log'), 'utf8').catch(() => '')
  return text.trim().split('\n').at(-1) || 'its log is empty'
}
