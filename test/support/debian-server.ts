/**
 * Servers of Debian for the tests that need real ones: the program on the machine, else its package, if it can be
 * installed without a password. A test is never silently skipped: without a server it fails and tells which package to
 * install.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Time for the installation: a package mirror that hangs must not hang the run. */
const INSTALL_DEADLINE_MS = 90_000

export interface DebianServer {
  /** The kind of server, for the error: `a mail server`. */
  readonly title: string
  /** Names or paths of programs that serve, the preferred first. */
  readonly programs: readonly string[]
  /** The argument with which each tells its version. */
  readonly versionArgument: string
  /** The package to install where there is none. */
  readonly package: string
  /** The advice of the error. */
  readonly advice: string
}

/** Returns the name of a program that runs here. @throws Error with the advice when none does and none can be installed */
export async function ensureDebianServer(server: DebianServer): Promise<string> {
  return (await find(server)) ?? (await install(server))
}

async function find({ programs, versionArgument }: DebianServer): Promise<string | null> {
  for (const name of programs) {
    const works = await run(name, [versionArgument]).then(
      () => true,
      () => false,
    )
    if (works) return name
  }
  return null
}

async function install(server: DebianServer): Promise<string> {
  // With `-n` sudo fails instead of asking for a password.
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  // RUNLEVEL prevents the package from starting a service.
  const settings = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1']
  let reason = 'it is still not installed'
  try {
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', server.package]]) {
      const [file = 'env', ...rest] = [...prefix, ...settings, 'apt-get', ...args]
      await run(file, rest, { timeout: INSTALL_DEADLINE_MS, maxBuffer: 16_000_000 })
    }
  } catch (error) {
    reason = error instanceof Error ? (error.message.split('\n')[0] ?? error.message) : String(error)
  }
  const found = await find(server)
  if (found === null)
    throw new Error(`These tests need ${server.title} and could not install one (${reason}). ${server.advice}`)
  return found
}
