/**
 * A real mail server for the tests that need one: `exim4` on the PATH, else Debian's package, if it can be installed
 * without a password. It listens on the loopback interface, delivers every mail into a directory of its own, and
 * refuses some: see `Mailboxes`. A test is never silently skipped: without a server it fails and says which package to
 * install.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './cluster.ts'
import { ensureDebianServer } from './debian-server.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/** Debian keeps servers out of the PATH of users. */
const EXIM = {
  title: 'a mail server',
  programs: ['exim4', '/usr/sbin/exim4'],
  versionArgument: '-bV',
  package: 'exim4-daemon-light',
  advice: 'Install exim4-daemon-light.',
} as const
/** The user of Debian's package: exim never delivers as root. */
const EXIM_USER = 'Debian-exim'

/** The account that `members` asks for. */
export const ACCOUNT = { user: 'me', password: 'p@ss' } as const

/** The local parts that the server treats differently from all others, which it takes. */
export type Mailboxes =
  /** Refused with 550. */
  | 'unknown'
  /** Refused with 451 until `acceptLater`. */
  | 'later'
  /** Refused with 550 unless the client has signed in as `ACCOUNT`. */
  | 'members'

export interface MailServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Lists the delivered mails, oldest first, as they arrived. */
  mails(): Promise<string[]>
  /** From now on takes mails to `later`. */
  acceptLater(): Promise<void>
}

/** Starts a server. @throws Error that says which package to install, when there is none and none can be installed */
export async function startMailServer(): Promise<MailServer> {
  const program = await ensureDebianServer(EXIM)
  const directory = await mkdtemp(join(tmpdir(), 'vostro-mail-'))
  await chmod(directory, 0o755)
  const port = await freePort()
  const user = process.getuid?.() === 0 ? EXIM_USER : userInfo().username
  const config = join(directory, 'exim.conf')
  await writeFile(config, configOf({ directory, port, user }), { mode: 0o644 })
  await writeFile(join(directory, 'later'), '')
  for (const name of ['spool', 'log', 'mail']) {
    await mkdir(join(directory, name))
    if (user === EXIM_USER) await chown(join(directory, name), await idOf('-u'), await idOf('-g'))
  }
  const child = spawn(program, ['-bdf', '-C', config], { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  // A test process that ends without disposal ends the server too.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const arrived = join(directory, 'mail', 'new')
  const server: MailServer = {
    port,
    url: `smtp://127.0.0.1:${port}`,
    async mails() {
      // Names begin with the time of the delivery in seconds, then in microseconds.
      const names = (await readdir(arrived).catch(() => [])).sort()
      return await Promise.all(names.map((name) => readFile(join(arrived, name), 'utf8')))
    },
    acceptLater: () => rm(join(directory, 'later'), { force: true }),
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', kill)
      kill()
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
  try {
    await until('the mail server listens', () => {
      if (child.exitCode !== null) throw new Error(`${program} did not start on 127.0.0.1:${port}.`)
      return isListening(port)
    })
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return server
}

const idOf = async (flag: '-u' | '-g'): Promise<number> => Number((await run('id', [flag, EXIM_USER])).stdout)

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

/** The settings of exim: everything is delivered into one Maildir, at once. */
function configOf({
  directory,
  port,
  user,
}: {
  readonly directory: string
  readonly port: number
  readonly user: string
}): string {
  return `
exim_user = ${user}
exim_group = ${user}
primary_hostname = mail.test
spool_directory = ${directory}/spool
log_file_path = ${directory}/log/%slog
pid_file_path = ${directory}/spool/exim.pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
host_lookup =
rfc1413_query_timeout = 0s
tls_advertise_hosts =
keep_environment =
never_users =
deliver_drop_privilege = true
acl_smtp_rcpt = recipient
acl_smtp_data = content
begin acl
recipient:
  deny local_parts = unknown
    message = 550 5.1.1 No such mailbox here
  defer local_parts = later
    condition = \${if exists{${directory}/later}{yes}{no}}
    message = 451 4.7.1 Try again later
  deny local_parts = members
    !authenticated = *
    message = 550 5.7.1 Sign in first
  accept
content:
  deny condition = \${if match{$h_subject:}{refused}}
    message = 554 5.6.0 Not with this subject
  accept
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{${ACCOUNT.user}}}{eq{$auth3}{${ACCOUNT.password}}}}}
  server_set_id = $auth2
begin routers
all:
  driver = accept
  transport = keep
begin transports
keep:
  driver = appendfile
  directory = ${directory}/mail
  maildir_format
  user = ${user}
`
}

/** The end of a letter. */
const END = '\r\n.\r\n'

/** A proxy in front of a mail server that stalls, or loses an answer, at a chosen moment. */
export class MailProxy implements AsyncDisposable {
  readonly url: string
  /** Clients send this command and get no further while it is set, until `release`. */
  stallAt: 'RCPT TO' | null = null
  /** Commands that have been stalled. */
  stalled = 0
  /** Answers to whole letters that are to be lost, each with its connection: the server has taken the letter. */
  answersToLose = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #held: (() => void)[] = []
  readonly #target: number

  private constructor(server: Server, target: number) {
    this.#server = server.on('connection', (client) => this.#accept(client))
    this.#target = target
    this.url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open({ port }: Pick<MailServer, 'port'>): Promise<MailProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new MailProxy(server, port)
  }

  #accept(client: Socket): void {
    const server = connect({ host: '127.0.0.1', port: this.#target })
    let letterEnded = false
    let isLetter = false
    let tail = ''
    const end = () => {
      for (const socket of [client, server]) {
        socket.destroy()
        this.#sockets.delete(socket)
      }
    }
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.setNoDelay(true).on('error', end).on('close', end)
    }
    client.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1')
      // Commands arrive together where the server takes them so.
      const commands = isLetter ? [] : text.split('\r\n')
      if (this.stallAt !== null && commands.some((command) => command.startsWith(this.stallAt as string))) {
        this.stalled += 1
        this.#held.push(() => server.write(bytes))
        return
      }
      tail = (tail + text).slice(-END.length)
      if (isLetter && tail === END) letterEnded = true
      else if (commands.includes('DATA')) isLetter = true
      server.write(bytes)
    })
    server.on('data', (bytes: Buffer) => {
      if (letterEnded && this.answersToLose > 0) {
        this.answersToLose -= 1
        end()
      } else client.write(bytes)
    })
  }

  /** Stalls no longer, and lets what was stalled through. */
  release(): void {
    this.stallAt = null
    for (const send of this.#held.splice(0)) send()
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }
}
