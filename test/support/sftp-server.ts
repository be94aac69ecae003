/**
 * A real SFTP server for the tests that need one: `sshd` of OpenSSH on the machine, else Debian's package, if it can be
 * installed without a password. It listens on the loopback interface, takes one key and serves one directory. A test is
 * never silently skipped: without a server it fails and says which package to install.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './cluster.ts'
import { ensureDebianServer } from './debian-server.ts'
import { until } from './until.ts'

const run = promisify(execFile)

const SSHD = {
  title: 'an SSH server',
  // sshd has to be called by its whole path.
  programs: ['/usr/sbin/sshd'],
  versionArgument: '-V',
  package: 'openssh-server',
  advice: 'Install openssh-server.',
} as const

/** Characters of the server's log that are kept. */
const SAID_MAX = 10_000
const PORTS_TRIED_MAX = 5

export interface SftpServer extends AsyncDisposable {
  readonly port: number
  readonly username: string
  /** The directory that paths of clients begin in; it holds `out`, `in` and `archive`. */
  readonly directory: string
  /** In OpenSSH's form. */
  readonly privateKey: string
  /** `SHA256:…` */
  readonly hostKey: string
  /** Stops the server; `start` starts it again at the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Starts a server. @throws Error that says which package to install, when there is none and none can be installed */
export async function startSftpServer(): Promise<SftpServer> {
  const program = await ensureDebianServer(SSHD)
  const base = await mkdtemp(join(tmpdir(), 'vostro-sftp-'))
  const directory = join(base, 'files')
  for (const name of ['', 'out', 'in', 'archive']) await mkdir(join(directory, name))
  const [hostKeyFile, userKeyFile] = [join(base, 'host_key'), join(base, 'user_key')]
  for (const file of [hostKeyFile, userKeyFile])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file])
  const authorized = join(base, 'authorized_keys')
  await writeFile(authorized, await readFile(`${userKeyFile}.pub`))
  await chmod(authorized, 0o600)
  const config = join(base, 'sshd_config')
  let port = 0
  const choosePort = async (): Promise<void> => {
    port = await freePort()
    await writeFile(config, configOf({ base, directory, port, authorized, hostKeyFile }))
  }
  const { stdout: printed } = await run('ssh-keygen', ['-lf', `${hostKeyFile}.pub`])
  const [hostKey = ''] = /SHA256:\S+/.exec(printed) ?? []
  // As root, sshd gives up its rights in this directory.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })

  let child: ReturnType<typeof spawn> | null = null
  const stop = async (): Promise<void> => {
    if (child === null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    child = null
  }
  const start = async (): Promise<void> => {
    const started = spawn(program, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] })
    child = started
    // Its own word: another process may listen at this port.
    let said = ''
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < SAID_MAX) said += text
    })
    await until('the SFTP server listens', () => {
      if (started.exitCode !== null) throw new Error(`${program} did not start on 127.0.0.1:${port}: ${said}`)
      return said.includes('Server listening on')
    })
  }
  /** Starts the server at a port of its own: between the choice of a port and its use another process may take it. */
  const startAnywhere = async (): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      await choosePort()
      try {
        return await start()
      } catch (error) {
        if (attempt === PORTS_TRIED_MAX) throw error
        child = null
      }
    }
  }
  // A test process that ends without disposal ends the server too.
  const kill = () => child?.kill('SIGKILL')
  process.once('exit', kill)
  const server: SftpServer = {
    get port() {
      return port
    },
    username: userInfo().username,
    directory,
    privateKey: await readFile(userKeyFile, 'utf8'),
    hostKey,
    stop,
    start,
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', kill)
      await stop()
      await rm(base, { recursive: true, force: true })
    },
  }
  try {
    await startAnywhere()
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return server
}

function configOf({
  base,
  directory,
  port,
  authorized,
  hostKeyFile,
}: {
  readonly base: string
  readonly directory: string
  readonly port: number
  readonly authorized: string
  readonly hostKeyFile: string
}): string {
  return [
    'ListenAddress 127.0.0.1',
    `Port ${port}`,
    `HostKey ${hostKeyFile}`,
    `PidFile ${join(base, 'sshd.pid')}`,
    `AuthorizedKeysFile ${authorized}`,
    'AuthenticationMethods publickey',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    // The keys stand in a directory for temporary files, which anybody may write to.
    'StrictModes no',
    `Subsystem sftp internal-sftp -d ${directory}`,
    '',
  ].join('\n')
}
