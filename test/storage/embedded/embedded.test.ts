import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'

import { StartError } from '../../../lib/base/errors.ts'
import { startEmbeddedPostgres } from '../../../storage/embedded/embedded.ts'
import type { EmbeddedOptions, EmbeddedServer } from '../../../storage/embedded/embedded.ts'
import { removeDirectory } from '../../support/remove-directory.ts'

const DEADLINE_MS = 30_000

async function makeDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'vostro-embedded-'))
  await chmod(directory, 0o711)
  t.teardown(() => removeDirectory(directory))
  return join(directory, 'data')
}

/** Starts a server that is stopped when the test ends, whatever happened to it. */
async function start(t: Test, dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedServer> {
  const server = await startEmbeddedPostgres({
    dataDir,
    log: () => undefined,
    ...options,
    settings: { shared_buffers: '32MB', ...options.settings },
  })
  t.teardown(() => server.stop())
  return server
}

/** A process of its own that holds the server, as a running vostro does. */
async function hold(t: Test, dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(join(import.meta.dirname, '../../support/embedded-holder.ts'), [dataDir], { execArgv: [] })
  t.teardown(() => child.kill('SIGKILL'))
  const [message] = await once(child, 'message', { signal: AbortSignal.timeout(DEADLINE_MS) })
  return { child, url: message.url }
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return Object.values((await client.query(sql)).rows[0] ?? {})[0]
  } finally {
    await client.end()
  }
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('It did not happen in time.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

t.test('a restart keeps the data, the address and the password, and shows neither to others', async (t) => {
  const dataDir = await makeDirectory(t)
  const first = await start(t, dataDir)
  t.match(first.url, /^postgres:\/\/vostro:[\w-]{32}@127\.0\.0\.1:\d+\/vostro$/)
  await ask(first.url, 'create table kept as select 42 as answer')
  t.equal(await ask(first.url, 'show fsync'), 'on')
  t.equal(await ask(first.url, 'show synchronous_commit'), 'on')
  t.equal(await ask(first.url, 'show server_encoding'), 'UTF8')
  t.equal(await ask(first.url, 'show listen_addresses'), '127.0.0.1')
  t.equal(await ask(first.url, 'show shared_buffers'), '32MB', 'a setting can be replaced')
  await t.rejects(ask(first.url.replace(/:[\w-]+@/, ':guess@'), 'select 1'), { code: '28P01' })
  t.equal((await stat(join(dataDir, 'postgres.json'))).mode & 0o777, 0o600)
  await first.stop()
  await first.stop()
  await t.rejects(ask(first.url, 'select 1'), { code: 'ECONNREFUSED' })

  const second = await start(t, dataDir)
  t.equal(second.url, first.url)
  t.equal(await ask(second.url, 'select answer from kept'), 42)
  t.strictSame(
    (await readdir(dataDir)).sort(),
    ['postgres', 'postgres.json', 'postgres.log'],
    'nothing half made is left',
  )
})

t.test('a second vostro on the same DATA_DIR is refused and does no harm', async (t) => {
  const dataDir = await makeDirectory(t)
  const { child, url } = await hold(t, dataDir)
  await t.rejects(
    start(t, dataDir),
    new StartError(
      `DATA_DIR ${dataDir} is in use by another running vostro (process ${child.pid}); stop it or set another DATA_DIR.`,
    ),
  )
  t.equal(await ask(url, 'select 1'), 1, 'the first one goes on')

  const guest = await start(t, dataDir, { claim: false })
  t.equal(guest.url, url, 'one that does not claim it may look')
  await guest.stop()
  t.equal(await ask(url, 'select 1'), 1, 'and leaves it running')

  child.kill('SIGTERM')
  t.strictSame(await once(child, 'exit'), [0, null])
  await start(t, dataDir)
})

t.test('of several first starts at once, one wins and the others are refused', async (t) => {
  const dataDir = await makeDirectory(t)
  const starts = await Promise.allSettled([start(t, dataDir), start(t, dataDir), start(t, dataDir)])
  t.strictSame(starts.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
  for (const result of starts) {
    if (result.status === 'rejected')
      t.match(result.reason, { name: 'StartError', message: /is in use by another running vostro/ })
  }
})

t.test('after kill -9 the orphaned server is adopted, with what was committed', async (t) => {
  const dataDir = await makeDirectory(t)
  const { child, url } = await hold(t, dataDir)
  await ask(url, 'create table kept as select 42 as answer')
  const orphan = await postmasterPid(dataDir)
  child.kill('SIGKILL')
  await once(child, 'exit')
  // The lock goes with the connection, a moment after the process.
  await until(
    async () =>
      (await ask(url, "select count(*)::int from pg_stat_activity where application_name like 'vostro instance%'")) ===
      0,
  )

  const lines: string[] = []
  const server = await start(t, dataDir, { log: (line) => lines.push(line) })
  t.match(lines[0], new RegExp(`^Postgres adopted on .*process ${orphan}`))
  t.equal(server.url, url)
  t.equal(await ask(url, 'select answer from kept'), 42)
  await server.stop()
  await t.rejects(ask(url, 'select 1'), { code: 'ECONNREFUSED' }, 'and stopped with its new owner')
})

t.test('a pid file that now names another process does not prevent the start', async (t) => {
  const dataDir = await makeDirectory(t)
  const { child, url } = await hold(t, dataDir)
  await ask(url, 'create table kept as select 42 as answer')
  const pidFile = join(dataDir, 'postgres/postmaster.pid')
  const orphan = await postmasterPid(dataDir)
  const lines = (await readFile(pidFile, 'utf8')).split('\n')
  child.kill('SIGKILL')
  await once(child, 'exit')
  process.kill(orphan, 'SIGKILL')
  await until(() =>
    ask(url, 'select 1').then(
      () => false,
      () => true,
    ),
  )
  await writeFile(pidFile, [process.ppid, ...lines.slice(1)].join('\n'))

  const server = await start(t, dataDir)
  t.equal(await ask(server.url, 'select answer from kept'), 42)
})

t.test('a server that dies under a running vostro comes back at the same address', async (t) => {
  const dataDir = await makeDirectory(t)
  const server = await start(t, dataDir)
  await ask(server.url, 'create table kept as select 42 as answer')
  const before = await postmasterPid(dataDir)
  process.kill(before, 'SIGKILL')
  await until(() =>
    ask(server.url, 'select answer from kept').then(
      (answer) => answer === 42,
      () => false,
    ),
  )
  t.not(await postmasterPid(dataDir), before)
  // The claim comes back too, a moment after the server.
  await until(() =>
    start(t, dataDir).then(
      () => false,
      (error) => /in use by another/.test(error.message),
    ),
  )
})

t.test('a first start that was killed leaves nothing that matters', async (t) => {
  const dataDir = await makeDirectory(t)
  // 2 ** 31 - 2: a process id that no system gives out.
  await mkdir(join(dataDir, 'postgres.new-2147483646-0a1b2c3d-1/base'), { recursive: true })
  await start(t, dataDir)
  t.notOk((await readdir(dataDir)).some((name) => name.includes('new')))
})

t.test('a DATA_DIR that is reached through a link is the same DATA_DIR', async (t) => {
  const dataDir = await makeDirectory(t)
  await mkdir(dataDir)
  await symlink(dataDir, `${dataDir}-link`)
  const server = await start(t, `${dataDir}-link`)
  await ask(server.url, 'create table kept as select 42 as answer')
  await t.rejects(start(t, dataDir), { message: /is in use by another running vostro/ })
})

t.test('what cannot work is refused with one sentence', async (t) => {
  const dataDir = await makeDirectory(t)
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'file'), '')
  await t.rejects(start(t, join(dataDir, 'file')), {
    name: 'StartError',
    message: /^DATA_DIR \S+ cannot be written \(EEXIST\); [^.]+\.$/,
  })

  const server = await start(t, dataDir)
  await server.stop()

  const access = await readFile(join(dataDir, 'postgres.json'), 'utf8')
  await rm(join(dataDir, 'postgres.json'))
  await t.rejects(start(t, dataDir), { name: 'StartError', message: /postgres\.json cannot be read \(ENOENT\)/ })
  await writeFile(join(dataDir, 'postgres.json'), '{}')
  await t.rejects(start(t, dataDir), { name: 'StartError', message: /does not hold the database's password and port/ })
  await writeFile(join(dataDir, 'postgres.json'), JSON.stringify({ ...JSON.parse(access), password: 'wrong' }))
  await t.rejects(start(t, dataDir), { name: 'StartError', message: /is not the database's/ })
  await writeFile(join(dataDir, 'postgres.json'), access)

  await t.rejects(start(t, dataDir, { settings: { shared_buffers: 'much' } }), {
    name: 'StartError',
    message: /^Postgres does not start in \S+ \(.*shared_buffers.*\); see postgres\.log there\.$/,
  })

  const versionFile = join(dataDir, 'postgres/PG_VERSION')
  await writeFile(versionFile, '15\n')
  await t.rejects(start(t, dataDir), { name: 'StartError', message: /holds a database of Postgres version 15/ })
  await writeFile(versionFile, '18\n')

  if (process.getuid?.() === 0) {
    const { chown } = await import('node:fs/promises')
    await chown(join(dataDir, 'postgres'), 54_321, 54_321)
    await t.rejects(start(t, dataDir), { name: 'StartError', message: /belongs to the OS user with id 54321/ })
  }
})
