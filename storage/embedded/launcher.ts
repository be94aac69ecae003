/** Chooses the OS user that runs Postgres, and how to start its binaries as that user. */
import { execFile } from 'node:child_process'
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

import { StartError } from '../../lib/base/errors.ts'
import { lastLine } from './error-codes.ts'

const run = promisify(execFile)

/** The OS user that runs the server when vostro itself runs as root, because Postgres refuses to run as root. */
const OS_USER = 'postgres'

/** The directories of `setpriv` and of the shell that initdb needs, whatever the PATH of this process is. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface OsUser {
  readonly uid: number
  readonly gid: number
}

export interface OsCommand {
  readonly file: string
  readonly args: string[]
  readonly options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number }
}

export type Launcher = (file: string, args: readonly string[]) => OsCommand

/**
 * Finds the OS user that runs the server: `null` for the user of this process; for root the user `postgres`, made if it
 * is missing.
 */
export async function findAccount(): Promise<OsUser | null> {
  if (process.getuid?.() !== 0) return null
  const known = await lookUpAccount()
  if (known !== null) return known
  try {
    await run('groupadd', ['--system', '--force', OS_USER])
    await run('useradd', ['--system', '--no-create-home', '--gid', OS_USER, OS_USER])
  } catch (error) {
    throw new StartError(
      `vostro runs as root, which Postgres refuses, and could not make the OS user ${OS_USER} (${lastLine(error)}); ` +
        'make that user or start vostro as an ordinary one.',
      { cause: error },
    )
  }
  const made = await lookUpAccount()
  if (made === null) throw new StartError(`The OS user ${OS_USER} could not be made; start vostro as an ordinary user.`)
  return made
}

async function lookUpAccount(): Promise<OsUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', OS_USER]), run('id', ['-g', OS_USER])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    // `id` fails here for a single reason: the user does not exist yet.
    return null
  }
}

/**
 * Chooses how to start a binary as that user. Where the user cannot reach the binaries or the data (a checkout in
 * root's home, mode 0700), the process keeps the one capability to pass through directories, and the security bit
 * without which `access(2)`, by which Postgres checks its own executable, ignores that capability. A copy elsewhere
 * would need neither, but would keep the data out of DATA_DIR.
 */
export async function chooseLauncher(options: {
  readonly account: OsUser | null
  /** Paths that the server must reach: its own executable, and its data. */
  readonly executable: string
  readonly dataDir: string
}): Promise<Launcher> {
  // No variable of this process reaches the server: PG* variables would change its behaviour, and its messages must be
  // in English.
  const plain = { cwd: '/', env: { PATH: SYSTEM_PATH, LC_ALL: 'C' } }
  const { account } = options
  if (account === null) return (file, args) => ({ file, args: [...args], options: plain })
  if ((await isReachable(options.executable, account)) && (await isReachable(options.dataDir, account))) {
    return (file, args) => ({ file, args: [...args], options: { ...plain, ...account } })
  }
  const capability = await passingCapability()
  if (capability === null || process.platform !== 'linux') {
    throw new StartError(
      `The OS user ${OS_USER}, which runs Postgres for root, cannot reach ${options.dataDir} or ` +
        `${dirname(options.executable)}; move them to where it can, or start vostro as an ordinary user.`,
    )
  }
  const setpriv = [
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`,
    `--bounding-set=-all,+${capability}`,
    '--securebits=+no_setuid_fixup',
    '--',
  ]
  return (file, args) => ({ file: 'setpriv', args: [...setpriv, file, ...args], options: plain })
}

/**
 * Whether every directory of the path lets that user through, by the mode bits alone (with an ACL the answer may be
 * false too often).
 */
async function isReachable(path: string, account: OsUser): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at)
    const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0
    if (((mode >> shift) & 0o1) === 0) return false
    if (at === dirname(at)) return true
  }
}

/**
 * Finds the weakest capability of this process that passes through directories; containers often withhold the read-only
 * one.
 */
async function passingCapability(): Promise<string | null> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`)
  if ((effective & (1n << 2n)) !== 0n) return 'dac_read_search'
  if ((effective & (1n << 1n)) !== 0n) return 'dac_override'
  return null
}
